//! Addresses that may be fetched from.

use std::net::IpAddr;

use ureq::http::Uri;

use super::FetchError;

fn wrong(text: &str, why: &str) -> FetchError {
    FetchError::Address { url: shown(text), why: why.to_owned() }
}

/// An absolute address of a kind that we speak.
pub(super) fn parse(text: &str) -> Result<Uri, FetchError> {
    let uri: Uri = text.parse().map_err(|_| wrong(text, "it is none"))?;
    match uri.scheme_str() {
        Some("https" | "http") if uri.host().is_some_and(|host| !host.is_empty()) => {}
        _ => return Err(wrong(text, "it must begin with https://")),
    }
    // They would be sent to whoever is there, and shown.
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(wrong(text, "it has a name or a password in it"));
    }
    Ok(uri)
}

/// An address as it may be shown: without a name or a password before the server's, and without what stands behind `?`, which lets in
/// whoever has it where a server redirects to its store.
pub fn shown(address: &str) -> String {
    let address = address.split_once('?').map_or(address, |(address, _)| address);
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
    if scheme.is_empty() { format!("{server}{path}") } else { format!("{scheme}://{server}{path}") }
}

/// Where a redirect leads to: to another address, or to another path of the same server.
pub(super) fn joined(from: &Uri, to: &str) -> Result<Uri, FetchError> {
    let scheme = from.scheme_str().unwrap_or("https");
    match to {
        "" => Err(wrong(&from.to_string(), "it redirects to nowhere")),
        _ if to.starts_with("//") => parse(&format!("{scheme}:{to}")),
        _ if to.starts_with('/') => parse(&format!("{scheme}://{}{to}", authority(from))),
        _ => parse(to),
    }
}

pub(super) fn authority(uri: &Uri) -> String {
    uri.authority().map(|authority| authority.as_str().to_ascii_lowercase()).unwrap_or_default()
}

/// Is it spoken with in plain text?
pub(super) fn is_plain(uri: &Uri) -> bool {
    uri.scheme_str() != Some("https")
}

/// Is it this machine?
pub(super) fn is_here(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_not_shown() {
        for (address, shown) in [
            ("https://ci:to/ken@a.b/c", "https://ci:to/ken@a.b/c"),
            ("https://ci:token@a.b/c@d", "https://a.b/c@d"),
            ("https://a.b/c?Signature=token", "https://a.b/c"),
            ("ci:token@a.b", "a.b"),
            ("https://a.b", "https://a.b"),
        ] {
            assert_eq!(super::shown(address), shown);
        }
        for address in ["https://ci:token@a.b/c", "ftp://a.b/c?token"] {
            let error = parse(address).unwrap_err().to_string();
            assert!(error.contains("a.b/c") && !error.contains("token"), "{error}");
        }
    }

    #[test]
    fn only_addresses_of_the_web_are_taken() {
        for text in ["https://huggingface.co", "http://127.0.0.1:8080/x", "https://a.b/c?d=e"] {
            parse(text).unwrap();
        }
        for text in
            ["", "huggingface.co", "file:///etc/passwd", "ftp://a/b", "/x", "https://", "https://me:secret@a.b/"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn redirects_lead_where_they_say() {
        let from = parse("https://a.b:444/c/d?e").unwrap();
        for (to, expected) in [
            ("/x?y=z", "https://a.b:444/x?y=z"),
            ("//c.d/x", "https://c.d/x"),
            ("https://c.d/x", "https://c.d/x"),
            ("http://c.d/x", "http://c.d/x"),
        ] {
            assert_eq!(joined(&from, to).unwrap().to_string(), expected);
        }
        for to in ["", "x", "../x", "file:///x", "javascript:x"] {
            assert!(joined(&from, to).is_err(), "{to}");
        }
    }

    #[test]
    fn this_machine_is_told() {
        for (text, here) in [
            ("http://localhost/", true),
            ("http://127.1.2.3:80/", true),
            ("http://[::1]:80/", true),
            ("http://localhost.evil.com/", false),
            ("http://128.0.0.1/", false),
        ] {
            assert_eq!(is_here(&parse(text).unwrap()), here, "{text}");
        }
    }
}
