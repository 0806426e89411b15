//! `totalrecall adapters test`

use std::{fmt::Write as _, path::PathBuf};

use anyhow::Context as _;

use super::{
    super::{Outcome, ui},
    list,
};
use crate::{
    clean::clean,
    conformance::{Check, Checked, Failure, Figure, Kit, Report, Unit, Verdict},
    paths,
    sandbox::Guest,
};

/// Hold a component to the contract, with fixtures of yours
#[derive(Debug, clap::Args)]
#[command(
    after_help = "DIR holds cases. For an adapter a case is a folder <case>/transcripts with files as the tool lays
them out (X.sql stands for the SQLite database X that its statements make), and the events that
come out are <case>/events.jsonl. For an analyzer <case>/events.jsonl is what goes in, and what
comes out is <case>/signals.jsonl. guest-adapters/README.md says what each check proves.

The component runs in the sandbox under the usual limits. No home is needed.
Exit code 1: a check failed.

Examples:
  totalrecall adapters test my-tool.wasm --fixtures fixtures --bless    write what comes out
  totalrecall adapters test my-tool.wasm --fixtures fixtures
  totalrecall adapters test my-tool.wasm --fixtures fixtures --only resume"
)]
pub(super) struct Test {
    /// The component
    file: PathBuf,
    /// Folder of the cases, or one case
    #[arg(long, value_name = "DIR")]
    fixtures: PathBuf,
    /// Write the golden files instead of comparing with them
    #[arg(long)]
    bless: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only this check; may be given again
    #[arg(long, value_name = "CHECK", value_parser = clap::builder::PossibleValuesParser::new(Check::ALL.map(Check::name)))]
    only: Vec<String>,
}

impl Test {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&self.file).with_context(|| format!("could not read {}", self.file.display()))?;
        let kit = Kit {
            cache: paths::component_cache(),
            fixtures: self.fixtures.clone(),
            bless: self.bless,
            only: self.only.iter().filter_map(|name| Check::named(name)).collect(),
        };
        let report = kit.test(&Guest::new(name, bytes))?;
        if self.json {
            ui::print_json(&report)?;
        } else {
            ui::print(&text(&report))?;
        }
        let failed = report.checks.iter().filter(|checked| matches!(checked.verdict, Verdict::Failed { .. })).count();
        if report.passed() {
            Ok(Outcome::Done)
        } else {
            anyhow::bail!("{} failed", ui::counted(failed as u64, "check", "checks"))
        }
    }
}

fn text(report: &Report) -> String {
    let component = &report.component;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{bold}{}{bold:#} {}, an {}{}",
        clean(&component.name),
        clean(&component.version),
        component.kind,
        component.tool.as_ref().map_or_else(String::new, |tool| format!(" for the transcripts of {}", clean(tool))),
        bold = ui::BOLD
    );
    let _ = writeln!(text, "  sha256   {}", component.sha256);
    let _ = writeln!(text, "  size     {}", ui::bytes(component.size));
    let _ = writeln!(text, "  imports  {}", list::imports(component.imports_wasi));
    let _ = writeln!(
        text,
        "  cases    {} with {}, {}\n",
        component.cases,
        ui::counted(component.transcripts, "transcript", "transcripts"),
        ui::bytes(component.bytes)
    );
    for checked in &report.checks {
        write_check(&mut text, checked);
    }
    text
}

fn write_check(text: &mut String, checked: &Checked) {
    let name = checked.check.name();
    match &checked.verdict {
        Verdict::Passed => {
            let proves = checked.check.proves();
            let _ = write!(text, "{good}✓{good:#} {name:<12} {proves}", good = ui::GOOD);
        }
        Verdict::Failed { .. } => {
            let _ = write!(text, "{bad}✗ {name:<12}{bad:#} {} does not hold", promise(checked.check), bad = ui::BAD);
        }
        Verdict::NotApplicable { reason } => {
            let _ = write!(text, "{dim}– {name:<12} not applicable: {}{dim:#}", clean(reason), dim = ui::DIM);
        }
    }
    let figures: Vec<_> = checked.figures.iter().map(figure).collect();
    if !figures.is_empty() {
        let _ = write!(text, "\n{dim}               {}{dim:#}", figures.join(", "), dim = ui::DIM);
    }
    text.push('\n');
    if let Verdict::Failed { failures, more } = &checked.verdict {
        for failure in failures {
            write_failure(text, failure);
        }
        if *more > 0 {
            let _ = writeln!(text, "    and {more} more");
        }
    }
}

fn promise(check: Check) -> String {
    format!("“{}”", check.proves())
}

fn write_failure(text: &mut String, failure: &Failure) {
    let place = match (failure.case.as_str(), failure.place.as_str()) {
        ("", "") => String::new(),
        ("", place) => place.to_owned(),
        (case, place) => format!("{case}: {place}"),
    };
    if !place.is_empty() {
        let _ = writeln!(text, "    {bold}{}{bold:#}", clean(&place), bold = ui::BOLD);
    }
    let _ = writeln!(text, "      expected  {}", clean(&failure.expected));
    let _ = writeln!(text, "      came      {}", clean(&failure.came));
    for line in failure.diff.iter().flat_map(|diff| diff.lines()) {
        let _ = writeln!(text, "      {dim}|{dim:#} {}", clean(line), dim = ui::DIM);
    }
    let _ = writeln!(text, "      →         {}", failure.todo);
}

fn figure(figure: &Figure) -> String {
    let Figure { name, value, unit } = figure;
    match unit {
        Unit::Count => format!("{name} {value}"),
        Unit::Bytes => format!("{name} {}", ui::bytes(*value as u64)),
        Unit::Milliseconds => format!("{name} {value:.1} ms"),
        Unit::MegabytesPerSecond => format!("{name} {value:.1} MB/s"),
    }
}
