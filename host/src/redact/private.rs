//! `<private>…</private>`: what a person marked as not to be kept.

use std::borrow::Cow;

/// Drops the spans, nested ones included; one that is not closed drops everything to the end. In a text whose middle was
/// left out (`cut`) the beginning of a span may be missing: a stray end then drops everything before it. Adds the number
/// of spans to `dropped`.
pub(super) fn drop_spans<'t>(text: &'t str, cut: bool, dropped: &mut u64) -> Cow<'t, str> {
    let mut tags = tags(text).peekable();
    if tags.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let (mut from, mut depth) = (0, 0u32);
    for tag in tags {
        match (tag.opens, depth) {
            (true, 0) => {
                kept.push_str(&text[from..tag.start]);
                *dropped += 1;
                depth = 1;
            }
            (true, _) => depth += 1,
            (false, 0) if cut => {
                kept.clear();
                *dropped += 1;
                from = tag.end;
            }
            // Without a beginning, in a whole text: someone writes about the tag.
            (false, 0) => {}
            (false, _) => {
                depth -= 1;
                from = tag.end;
            }
        }
    }
    if depth == 0 {
        kept.push_str(&text[from..]);
    }
    if kept.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(kept) }
}

struct Tag {
    start: usize,
    end: usize,
    opens: bool,
}

/// The tags in order, in whatever case they are written.
fn tags(text: &str) -> impl Iterator<Item = Tag> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', bytes).filter_map(|start| {
        let inner = &bytes[start + 1..];
        let opens = inner.first() != Some(&b'/');
        let inner = if opens { inner } else { &inner[1..] };
        let named = inner.get(..8).is_some_and(|name| name.eq_ignore_ascii_case(b"private>"));
        named.then(|| Tag { start, end: start + if opens { 9 } else { 10 }, opens })
    })
}
