//! Secrets that are told by what is around them: tokens of three parts, passwords in URLs, headers, cookies.

use super::run::{Class, Runs, boundary};
use super::span::Span;
use super::value::{Setting, is_key, is_password, is_stand_in};

/// Longest user part of a URL, and longest line of a header, that is looked at.
const USERINFO: usize = 1024;
const LINE: usize = 8192;

/// A JSON Web Token (or an encrypted one): `eyJ…`, a point, another `eyJ…` or four more parts. One that was cut off
/// after its second part still counts.
pub(super) fn jwt(text: &[u8], at: usize, runs: &mut Runs) -> Option<Span> {
    if !boundary(text, at) {
        return None;
    }
    let end = runs.end(text, at, Class::Dotted);
    let token = &text[at..end];
    let mut points = memchr::memchr_iter(b'.', token);
    let first = points.next()?;
    let signed = token[first + 1..].starts_with(b"eyJ") && token.len() - first > 8;
    let encrypted = points.nth(2).is_some() && token.len() > 100;
    let end = end - usize::from(token.ends_with(b"."));
    (first >= 12 && (signed || encrypted)).then(|| Span::structure(at, end, "jwt"))
}

/// The password of `scheme://user:password@host`, or a token that stands for the user; `at` is where `://` was seen.
pub(super) fn url(text: &[u8], at: usize) -> Option<Span> {
    if !text[..at].last().is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let start = at + 3;
    let window = &text[start..text.len().min(start + USERINFO)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>')
    };
    let window = &window[..window.iter().position(ends).unwrap_or(window.len())];
    let user_end = memchr::memrchr(b'@', window)?;
    let host = window.get(user_end + 1)?;
    if !host.is_ascii_alphanumeric() && !matches!(host, b'[' | b'$' | b'{') && *host < 0x80 {
        return None;
    }
    let user = &window[..user_end];
    match memchr::memchr(b':', user) {
        Some(colon) => {
            let password = &user[colon + 1..];
            let refers = password.is_empty()
                || matches!(password[0], b'$' | b'{' | b'*' | b'%' | b'<')
                || password.starts_with(b"[redacted")
                || password.iter().all(|b| matches!(b, b'x' | b'X' | b'.'));
            (!refers).then(|| Span::structure(start + colon + 1, start + user_end, "url-password"))
        }
        None => is_key(user, Setting::Bare).then(|| Span::structure(start, start + user_end, "url-password")),
    }
}

/// The credentials after `Bearer `, which ends at `at`.
pub(super) fn bearer(text: &[u8], at: usize, runs: &mut Runs) -> Option<Span> {
    let end = runs.end(text, at, Class::Credentials);
    let token = &text[at..end];
    let end = end - token.iter().rev().take_while(|b| matches!(b, b'.' | b':')).count();
    let token = &text[at..end];
    let long = token.len() >= 32 && !is_stand_in(token) && token.iter().any(u8::is_ascii_digit);
    (long || is_key(token, Setting::Quoted)).then(|| Span::structure(at, end, "bearer-token"))
}

/// The credentials after `Basic `, which ends at `at`: base64 of `user:password`.
pub(super) fn basic(text: &[u8], at: usize, runs: &mut Runs) -> Option<Span> {
    let end = runs.end(text, at, Class::Base64);
    let coded = text.get(at..end)?;
    (coded.len() >= 8 && decodes_to_pair(coded)).then(|| Span::structure(at, end, "basic-credentials"))
}

/// Is this base64 of printable text with a colon? That tells credentials from prose (`Basic authentication`).
fn decodes_to_pair(coded: &[u8]) -> bool {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bits, mut held, mut colon) = (0u32, 0, false);
    for byte in coded.iter().take(1024).take_while(|&&byte| byte != b'=') {
        let Some(six) = value(*byte) else { return false };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            let decoded = (bits >> held) as u8;
            bits &= (1 << held) - 1;
            colon |= decoded == b':';
            if decoded < 0x20 || decoded == 0x7f {
                return false;
            }
        }
    }
    colon
}

/// The values in a `Cookie:` or `Set-Cookie:` header, whose name's `ookie` ends at `at`. Gives where the header ends,
/// so that it is read once.
pub(super) fn cookies(text: &[u8], at: usize, spans: &mut Vec<Span>) -> Option<usize> {
    let mut from = at + text[at..].iter().take(4).take_while(|b| matches!(b, b'"' | b'\'' | b'\\')).count();
    if text.get(from) != Some(&b':') {
        return None;
    }
    from += 1;
    from += text[from..].iter().take(8).take_while(|b| matches!(b, b' ' | b'"' | b'\'' | b'\\' | b'[')).count();
    let window = &text[from..text.len().min(from + LINE)];
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\');
    let line = &window[..window.iter().position(ends).unwrap_or(window.len())];
    let mut offset = 0;
    for pair in line.split(|&byte| byte == b';') {
        if let Some(equals) = memchr::memchr(b'=', pair) {
            let name = pair[..equals].trim_ascii().to_ascii_lowercase();
            let attribute = matches!(
                name.as_slice(),
                b"path" | b"domain" | b"expires" | b"max-age" | b"samesite" | b"priority" | b"version"
            );
            let value = &pair[equals + 1..];
            let value = &value[..value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len())];
            if !attribute && value.len() >= 8 && value.iter().any(u8::is_ascii_alphanumeric) && !is_stand_in(value) {
                let start = from + offset + equals + 1;
                spans.push(Span::structure(start, start + value.len(), "cookie"));
            }
        }
        offset += pair.len() + 1;
    }
    Some(from + line.len())
}

/// The password in `curl -u user:password` (or `--user`), and the one given to `sshpass -p`; `at` is the end of the
/// command's name.
pub(super) fn command_line(text: &[u8], at: usize) -> Option<Span> {
    let sshpass = text[..at].ends_with(b"sshpass ");
    let flags: &[&[u8]] = if sshpass { &[b" -p"] } else { &[b" -u", b" --user"] };
    // With the space that ends the name: it also begins the flag.
    let at = at - 1;
    let window = &text[at..text.len().min(at + LINE)];
    let line = &window[..memchr::memchr(b'\n', window).unwrap_or(window.len())];
    for flag in flags {
        let Some(found) = memchr::memmem::find(line, flag) else { continue };
        let mut start = found + flag.len();
        start += line[start..].iter().take_while(|b| matches!(b, b' ' | b'=' | b'"' | b'\'' | b'\\')).count();
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\');
        let value = &line[start..];
        let value = &value[..value.iter().position(ends).unwrap_or(value.len())];
        let skip = if sshpass { 0 } else { memchr::memchr(b':', value).map_or(value.len(), |colon| colon + 1) };
        let password = &value[skip..];
        let refers = password.is_empty() || is_stand_in(password);
        if !refers && (sshpass || is_password(password, Setting::Plain) || password.len() >= 8) {
            return Some(Span::structure(at + start + skip, at + start + value.len(), "password"));
        }
    }
    None
}
