//! The folder that the client works in, if it says so.

use std::path::PathBuf;

/// The folder of a `file:` address. None: it is none, or of another machine.
pub(super) fn folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let path = decoded(path)?;
    // `file:///C:/work`
    let drive = path.as_bytes().get(1..3).is_some_and(|it| it[0].is_ascii_alphabetic() && it[1] == b':');
    let path = if drive { path[1..].to_owned() } else { path };
    let folder = PathBuf::from(path);
    folder.is_absolute().then_some(folder)
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_is_read_as_it_was_written() {
        let read = |uri| folder(uri).map(|folder| folder.to_string_lossy().into_owned());
        assert_eq!(read("file:///home/dev/app").as_deref(), Some("/home/dev/app"));
        assert_eq!(read("file://localhost/home/a%20b/%E4%BB%B7").as_deref(), Some("/home/a b/价"));
        for uri in ["file://host/x", "http:///x", "file:///a%2", "file:///%ff", "file:///a%00b", "file:x", ""] {
            assert_eq!(read(uri), None, "{uri}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(uri in "(file://)?(/|%|[a-f0-9]|\\PC){0,30}") {
            let _ = folder(&uri);
        }
    }
}
