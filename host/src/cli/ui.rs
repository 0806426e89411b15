//! Printing. Colours only where a terminal shows them, and never a control character that came from a transcript.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use anstyle::{AnsiColor, Style};

use crate::{
    added::AddedError, embedding::EmbeddingError, import::ImportError, index::IndexError, insights, pause::PauseError,
    pipeline::PipelineError, proposal::RulesError, search::SearchError, store::StoreError, wiring::WiringError,
};

/// For headings.
pub(super) const BOLD: Style = Style::new().bold();
/// For what matters less.
pub(super) const DIM: Style = Style::new().dimmed();
/// For what works.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// For what needs a look.
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();
/// For what failed.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// What the person said about colours.
pub(super) fn choose_color(choice: clap::ColorChoice) {
    match choice {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// Data, to standard output.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A value as one JSON document, to standard output.
pub(super) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(print(&text)?)
}

/// Talk, to standard error. Whether it arrives matters to no one.
pub(super) fn say(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Characters of one line of others: more than any detail of a signal has.
const LINE: usize = 2_000;

/// Text of others on one line that no CI takes for a command to it: GitHub reads `::name` at the beginning of a line and
/// `##[name]` anywhere, Azure `##vso[name]`, TeamCity `##teamcity[name]`.
pub(super) fn line(text: &str) -> String {
    let clean = insights::clean(text, LINE);
    let mut line = String::with_capacity(clean.len());
    let (mut hashes, mut is_command) = (0, false);
    for c in clean.chars() {
        match c {
            '#' => hashes += 1,
            '[' if is_command => line.push(' '),
            _ => {}
        }
        is_command = hashes >= 2 && (c == '#' || c.is_alphanumeric() || c == '-');
        if !is_command && c != '#' {
            hashes = 0;
        }
        line.push(c);
    }
    if line.starts_with("::") {
        line.insert(1, ' ');
    }
    line
}

/// Something was left out or went wrong, and the rest goes on.
pub(super) fn warn(text: &str) {
    say(&format!("{WARN}warning:{WARN:#} {text}"));
}

/// The command failed: what happened, what led to it, and what to do.
pub(super) fn error(error: &anyhow::Error) {
    let mut text = format!("{BAD}error:{BAD:#} {error}");
    for cause in error.chain().skip(1) {
        let _ = write!(text, "\n  caused by: {cause}");
    }
    let hint = error
        .downcast_ref::<PipelineError>()
        .and_then(PipelineError::hint)
        .or_else(|| error.downcast_ref::<StoreError>().and_then(StoreError::hint))
        .or_else(|| error.downcast_ref::<AddedError>().and_then(AddedError::hint))
        .or_else(|| error.downcast_ref::<ImportError>().and_then(ImportError::hint))
        .or_else(|| error.downcast_ref::<IndexError>().and_then(IndexError::hint))
        .or_else(|| error.downcast_ref::<SearchError>().and_then(SearchError::hint))
        .or_else(|| error.downcast_ref::<EmbeddingError>().and_then(EmbeddingError::hint))
        .or_else(|| error.downcast_ref::<PauseError>().map(PauseError::hint))
        .or_else(|| error.downcast_ref::<RulesError>().and_then(RulesError::hint))
        .or_else(|| error.downcast_ref::<WiringError>().and_then(WiringError::hint));
    if let Some(hint) = hint {
        let _ = write!(text, "\n{BOLD}hint:{BOLD:#} {hint}");
    }
    say(&text);
}

/// `1.2 MB`, in powers of ten as tools of the field have it.
pub(super) fn bytes(count: u64) -> String {
    indicatif::DecimalBytes(count).to_string()
}

/// `1 session`, `2 sessions`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A time as people of this machine's zone read it.
pub(super) fn local_time(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map_or_else(
        |_| "?".to_owned(),
        |time| time.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// Asks a yes-or-no question on standard error; anything but a yes is a no.
pub(super) fn ask(question: &str) -> io::Result<bool> {
    let mut out = anstream::stderr();
    write!(out, "{question}")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_others_is_a_command_to_a_ci() {
        for (text, expected) in [
            ("::error::x", ": :error::x"),
            ("  \n::add-mask::x", ": :add-mask::x"),
            ("a ##[error]x", "a ## [error]x"),
            ("a ###[error]x", "a ### [error]x"),
            ("##vso[task.setvariable variable=a]b", "##vso [task.setvariable variable=a]b"),
            ("##teamcity[x] ##[y]", "##teamcity [x] ## [y]"),
            ("#\u{200b}#[x]", "## [x]"),
            ("## Heading [x]", "## Heading [x]"),
            ("#1 a[0] std::mem", "#1 a[0] std::mem"),
            ("a\n##[x]", "a ## [x]"),
        ] {
            assert_eq!(line(text), expected, "{text:?}");
        }
    }
}
