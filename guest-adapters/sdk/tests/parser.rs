//! The parser with a trivial adapter: what becomes of good, damaged and unfinished lines.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{
    Adapter, Descriptor, Framing, Origin, Outcome, Output, Parser, Record, TallyEntry, Trouble, Verdict,
};
use totalrecall_sdk::types::{Author, Body, Channel, Event, Fault, Message};

/// Says what each record says, and how many there were before it.
#[derive(Default, Serialize, Deserialize)]
struct Echo {
    said: u64,
}

#[derive(Deserialize)]
struct Line {
    say: String,
}

impl Adapter for Echo {
    fn describe() -> Descriptor {
        Descriptor { name: "echo".into(), version: "1".into(), tool: "echo".into(), sources: Vec::new() }
    }

    fn recognise(head: &[u8]) -> bool {
        head.starts_with(b"{\"say\"")
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        let line: Line = record.decode()?;
        if line.say == "fault" {
            return Err(Fault::UnsupportedFormat("2".into()).into());
        }
        let (text, omitted) = out.cap(&format!("{}{}", self.said, line.say));
        self.said += 1;
        let body = Body::Message(Message { author: Author::Human, channel: Channel::Prompt, text, omitted });
        out.push(Event { line: record.line, at: None, thread: None, key: None, copied: false, body });
        Ok(Verdict::Understood("say".into()))
    }
}

fn parser(resume: Option<&[u8]>) -> Parser<Echo> {
    Parser::new(Origin { path: "echo.jsonl".into(), key: None, text_limit: 1000 }, resume)
}

fn texts(events: &[Event]) -> Vec<(u64, &str)> {
    let text = |event: &Event| match &event.body {
        Body::Message(message) => message.text.clone(),
        _ => String::new(),
    };
    events.iter().map(|event| (event.line, Box::leak(text(event).into_boxed_str()) as &str)).collect()
}

fn broken(tally: &[TallyEntry]) -> Vec<(&str, u64, u64)> {
    let broken = tally.iter().filter(|entry| entry.outcome == Outcome::Broken);
    broken.map(|entry| (entry.what.as_str(), entry.count, entry.first)).collect()
}

#[test]
fn damaged_lines_are_repaired_or_counted() {
    let mut parser = parser(None);
    let events = parser
        .feed(
            b"\xef\xbb\xbf{\"say\":\"a\"}\r\n\
              \n\
              {\"say\":\"b\tc \xff \\ud83d\"}\n\
              \0\0\0{\"say\":\"d\"}\n\
              \0\0\0\n\
              {\"say\":\"e\"}{\"say\":\"f\"}\n\
              {\"say\":\"torn{\"say\":\"g\"}\n\
              {\"say\":\n\
              hopeless\n\
              {\"other\":1}\n",
        )
        .unwrap();
    assert_eq!(texts(&events), [(1, "0a"), (3, "1b\tc \u{fffd} \u{fffd}"), (4, "2d"), (6, "3e"), (6, "4f"), (7, "5g")]);
    assert_eq!(
        broken(&parser.tally()),
        [
            ("NUL bytes", 1, 5),
            ("torn record", 1, 7),
            ("cut off", 1, 8),
            ("not JSON", 1, 9),
            ("unexpected shape", 1, 10)
        ]
    );
}

#[test]
fn an_unfinished_line_is_provisional() {
    let mut parser = parser(None);
    assert_eq!(parser.feed(b"{\"say\":\"a\"}\n{\"say\":\"b").unwrap().len(), 1);
    let checkpoint = parser.checkpoint();
    assert_eq!(checkpoint.offset, 12);
    assert!(parser.finish().unwrap().is_empty());
    assert!(broken(&parser.tally()).is_empty());

    let mut grown = self::parser(Some(&checkpoint.state));
    assert!(grown.feed(b"{\"say\":\"b").unwrap().is_empty());
    assert!(grown.feed(b"\"}").unwrap().is_empty());
    assert_eq!(texts(&grown.finish().unwrap()), [(2, "1b")]);
    assert_eq!(grown.tally()[0].count, 2);
}

#[test]
fn a_line_of_64_mib_is_read_and_a_longer_one_stepped_over() {
    let mut parser = parser(None);
    let part = vec![b'x'; 1 << 20];
    for (parts, broken_then) in [(63, 0), (65, 1)] {
        let mut events = parser.feed(b"{\"say\":\"").unwrap();
        for _ in 0..parts {
            events.extend(parser.feed(&part).unwrap());
        }
        events.extend(parser.feed(b"\"}\n").unwrap());
        assert_eq!(events.len(), 1 - broken_then);
        assert_eq!(broken(&parser.tally()).len(), broken_then);
    }
    assert_eq!(broken(&parser.tally()), [("line over 64 MiB", 1, 2)]);
}

#[test]
fn a_fault_stays() {
    let mut parser = parser(None);
    let fault = parser.feed(b"{\"say\":\"fault\"}\n{\"say\":\"a\"}\n").unwrap_err();
    assert_eq!(fault, Fault::UnsupportedFormat("2".into()));
    assert_eq!(parser.feed(b"{\"say\":\"b\"}\n").unwrap_err(), fault);
    assert!(matches!(self::parser(Some(b"garbage")).feed(b"").unwrap_err(), Fault::Internal(_)));
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let mut parser = parser(None);
        parser.feed(&bytes).unwrap();
        parser.finish().unwrap();
    }

    #[test]
    fn nearly_lines(text in r#"([{}"\n\\:,a]|\{"say":"|u[dD]8|\x00|"\}){0,40}"#) {
        let mut parser = parser(None);
        parser.feed(text.as_bytes()).unwrap();
        parser.finish().unwrap();
    }
}

/// A document of one record, which its tool writes anew each time.
#[derive(Default, Serialize, Deserialize)]
struct Document(Echo);

impl Adapter for Document {
    fn describe() -> Descriptor {
        Echo::describe()
    }

    fn recognise(head: &[u8]) -> bool {
        Echo::recognise(head)
    }

    fn framing(&self) -> Framing {
        Framing::Whole
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        self.0.record(record, out)
    }
}

#[test]
fn a_document_is_one_record() {
    let document = || Parser::<Document>::new(Origin { path: "echo.json".into(), key: None, text_limit: 1000 }, None);
    let mut whole = document();
    for chunk in [&b"{\n  \"sa"[..], b"y\": \"a", b"\"\n}\n"] {
        assert!(whole.feed(chunk).unwrap().is_empty());
    }
    assert_eq!(whole.checkpoint().offset, 0, "it is read from its beginning when it has changed");
    assert_eq!(texts(&whole.finish().unwrap()), [(1, "0a")]);

    let mut torn = document();
    torn.feed(b"{\n  \"say\":").unwrap();
    assert!(matches!(torn.finish(), Err(Fault::Malformed(_))), "a half is not nothing");

    let mut empty = document();
    assert!(empty.finish().unwrap().is_empty());
}
