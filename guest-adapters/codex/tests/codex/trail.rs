//! The fixtures of this adapter.

use totalrecall_codex::Codex;
use totalrecall_sdk::Parser;
use totalrecall_sdk::types::Event;
pub(crate) use totalrecall_trail::told;

pub(crate) type Case = totalrecall_trail::Case<Codex>;

pub(crate) fn case(name: &str) -> Case {
    totalrecall_trail::case(name)
}

pub(crate) fn cases() -> Vec<Case> {
    totalrecall_trail::cases()
}

pub(crate) fn parser(path: &str) -> Parser<Codex> {
    totalrecall_trail::parser(path, 16384, None)
}

/// The transcript of a case whose path has this in it.
pub(crate) fn path(case: &Case, part: &str) -> String {
    let transcripts = case.transcripts();
    let found: Vec<_> = transcripts.iter().filter(|path| path.contains(part)).collect();
    let [transcript] = found[..] else { panic!("{part} of {} is {found:?}", case.name) };
    transcript.clone()
}

/// Events of that transcript.
pub(crate) fn events(name: &str, part: &str) -> Vec<Event> {
    let case = case(name);
    case.events(&path(&case, part), 16384)
}

/// Events of these lines.
pub(crate) fn read(path: &str, lines: &[&str]) -> Vec<Event> {
    let mut parser = parser(path);
    let mut events = parser.feed((lines.join("\n") + "\n").as_bytes()).unwrap();
    events.extend(parser.finish().unwrap());
    events
}

/// What events tell, with their lines.
pub(crate) fn story(events: &[Event]) -> Vec<String> {
    events.iter().filter_map(|event| Some(format!("{} {}", event.line, told(event)?))).collect()
}
