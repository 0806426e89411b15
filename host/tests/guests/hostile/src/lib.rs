//! An adapter that misbehaves in the way `origin.path` says, once it is fed. On anything but wasm there is nothing of it.
#![cfg(target_family = "wasm")]

use std::hint::black_box;

use totalrecall_sdk::{
    adapter_bindings::{
        self,
        exports::totalrecall::guest::parse::{Checkpoint, Descriptor, Guest, GuestParser, Origin, Outcome, TallyEntry},
    },
    types::{Author, Body, Channel, Event, Fault, Message, Place},
};

struct Component;

struct Hostile(String);

fn event(text: String) -> Event {
    let message = Message { author: Author::Human, channel: Channel::Prompt, text, omitted: 0 };
    Event { line: 1, at: None, thread: None, key: None, copied: false, body: Body::Message(message) }
}

#[expect(unconditional_recursion, reason = "that is the point")]
fn recurse(depth: u64) -> u64 {
    // On the native stack: what lies in linear memory runs into other checks.
    black_box(recurse(black_box(depth + 1))) + depth
}

impl Guest for Component {
    type Parser = Hostile;

    fn describe() -> Descriptor {
        let text = |text: &str| text.to_owned();
        Descriptor { name: text("hostile"), version: text("1"), tool: text("none"), sources: Vec::new() }
    }

    fn recognise(head: Vec<u8>) -> bool {
        head.len() == 64 << 10
    }
}

impl GuestParser for Hostile {
    fn new(origin: Origin, _: Option<Vec<u8>>) -> Self {
        if origin.path == "crash-at-once" {
            panic!();
        }
        Self(origin.path)
    }

    fn feed(&self, bytes: Vec<u8>) -> Result<Vec<Event>, Fault> {
        let size = 1 << 20;
        match self.0.as_str() {
            "echo" => Ok(vec![event(String::from_utf8_lossy(&bytes).into_owned())]),
            "loop" => loop {
                black_box(());
            },
            "memory" => {
                let mut all = Vec::new();
                loop {
                    all.push(black_box(vec![1_u8; size]));
                }
            }
            "keep-64-mb" => {
                // What a line reader does with a long line.
                let mut line = Vec::new();
                while line.len() < 64_000_000 {
                    line.extend_from_slice(&bytes);
                }
                let text = String::from_utf8_lossy(black_box(&line)).into_owned();
                Ok(vec![event(text[..10].to_owned())])
            }
            "events" => Ok((0..120_000).map(|_| event(String::new())).collect()),
            "string" => Ok(vec![event("x".repeat(100 * size))]),
            "strings" => Ok((0..200).map(|_| event("x".repeat(size))).collect()),
            "recursion" => Ok(vec![event(recurse(1).to_string())]),
            "trap" => panic!("on purpose"),
            // SAFETY: none; broken on purpose, and the host has to notice.
            "utf8" => Ok(vec![event(unsafe { String::from_utf8_unchecked(black_box(vec![0xff, 0xfe])) })]),
            "unsupported" => Err(Fault::UnsupportedFormat("v99".to_owned())),
            "malformed" => Err(Fault::Malformed(Place { line: 7, why: "a hole".to_owned() })),
            "limit" => Err(Fault::Limit("depth".to_owned())),
            "internal" => Err(Fault::Internal("oops".to_owned())),
            "big-fault" => Err(Fault::Internal("x".repeat(100 * size))),
            _ => Ok(Vec::new()),
        }
    }

    fn finish(&self) -> Result<Vec<Event>, Fault> {
        Ok(Vec::new())
    }

    fn checkpoint(&self) -> Checkpoint {
        let state = match self.0.as_str() {
            // SAFETY: none; a list that reaches far out of memory.
            "list" => unsafe { Vec::from_raw_parts(black_box(8 as *mut u8), 0x7000_0000, 0x7000_0000) },
            _ => Vec::new(),
        };
        Checkpoint { offset: u64::MAX, state }
    }

    fn tally(&self) -> Vec<TallyEntry> {
        let outcome = match self.0.as_str() {
            // SAFETY: none; an enum value that does not exist.
            "enum" => unsafe { std::mem::transmute::<u8, Outcome>(black_box(77)) },
            _ => Outcome::Broken,
        };
        vec![TallyEntry { outcome, what: String::new(), count: 1, first: 1 }]
    }
}

adapter_bindings::export_adapter_bindings!(Component with_types_in adapter_bindings);
