//! `--hooks` and `--no-hooks`: having the person's tools call us, and taking that back.

use std::path::PathBuf;

use crate::{
    clean::clean,
    cli::{
        Context, Usage,
        rules::{diff, files},
        ui,
    },
    proposal::Written,
    wiring::{Plan, TOOLS, Wiring, WiringError, title},
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Have your tools call us when a session begins and ends, by entries in their settings
    #[arg(long, group = "wiring", conflicts_with = "no_hooks")]
    hooks: bool,
    /// Take those entries out, and do nothing else
    #[arg(long, group = "wiring")]
    no_hooks: bool,
    /// Only these tools: claude-code, codex, opencode [default: those that are there]
    #[arg(long, value_name = "TOOL", value_delimiter = ',', requires = "wiring")]
    tool: Vec<String>,
    /// Show what would change in their settings, and change nothing
    #[arg(long, requires = "wiring")]
    dry_run: bool,
}

/// What became of a tool's file.
#[derive(Debug, serde::Serialize)]
pub(in crate::cli) struct Done {
    tool: String,
    file: PathBuf,
    /// Whether it was, or would be, changed.
    changed: bool,
    #[serde(flatten)]
    written: Written,
    notes: Vec<String>,
}

impl Arguments {
    pub(super) fn hooks(&self) -> bool {
        self.hooks
    }

    /// Whether nothing but this is to be done.
    pub(super) fn only(&self) -> bool {
        self.no_hooks || self.dry_run
    }

    /// Adds or takes out; says so unless that is to be told as JSON.
    pub(super) fn run(&self, context: &Context, quiet: bool) -> anyhow::Result<Vec<Done>> {
        let tools = self.tools()?;
        if self.no_hooks {
            let (done, failed) = take_back(context, &tools, self.dry_run, quiet)?;
            anyhow::ensure!(failed == 0, "{} not changed, see above", ui::counted(failed, "file was", "files were"));
            if done.is_empty() && !quiet {
                ui::say("No tool of yours has an entry of ours.");
            }
            return Ok(done);
        }
        if tools.is_empty() {
            ui::say(
                "None of your tools that could call us is there. Name one with `--tool`, as in `--tool claude-code`.",
            );
        }
        let inject = context.config.inject.clone();
        let wiring = Wiring { inject, ..Wiring::new(&context.home, context.now)? };
        let (mut done, mut failed) = (Vec::new(), 0);
        for tool in tools {
            let one = wiring.plan_add(tool).and_then(|plan| carry_out(&wiring, plan, self.dry_run, quiet));
            match one {
                Ok(one) => done.push(one),
                Err(error) => {
                    ui::error(&error.into());
                    failed += 1;
                }
            }
        }
        anyhow::ensure!(failed == 0, "{} not changed, see above", ui::counted(failed, "file was", "files were"));
        Ok(done)
    }

    fn tools(&self) -> anyhow::Result<Vec<&'static str>> {
        if self.tool.is_empty() {
            return Ok(if self.no_hooks { TOOLS.to_vec() } else { Wiring::found() });
        }
        let known = |given: &String| {
            TOOLS.into_iter().find(|tool| tool == given).ok_or_else(|| {
                Usage(format!("{given:?} is no tool that can call us; there are {}", TOOLS.join(", "))).into()
            })
        };
        self.tool.iter().map(known).collect()
    }
}

/// Takes out what is ours in files of these tools; also says how many could not be changed.
pub(in crate::cli) fn take_back(
    context: &Context,
    tools: &[&str],
    dry_run: bool,
    quiet: bool,
) -> anyhow::Result<(Vec<Done>, u64)> {
    let wiring = Wiring::new(&context.home, context.now)?;
    let (mut done, mut failed) = (Vec::new(), 0);
    for plan in wiring.plan_remove(tools)? {
        match plan.and_then(|plan| carry_out(&wiring, plan, dry_run, quiet)) {
            Ok(one) if !one.changed => {}
            Ok(one) => done.push(one),
            Err(error) => {
                ui::error(&error.into());
                failed += 1;
            }
        }
    }
    Ok((done, failed))
}

/// Makes what is planned, unless it is only to be shown.
fn carry_out(wiring: &Wiring<'_>, plan: Plan, dry_run: bool, quiet: bool) -> Result<Done, WiringError> {
    let (tool, file, notes) = (plan.tool.clone(), plan.path.clone(), plan.notes.clone());
    let (changed, adds, shown) = (plan.changes(), plan.adds(), diff(&plan.edits));
    let written = if dry_run { Written::default() } else { wiring.carry_out(plan)? };
    if !quiet {
        let what = match (adds, changed, dry_run) {
            (true, true, true) => "would call us",
            (true, true, false) => "calls us from its next session on",
            (true, false, _) => "calls us already",
            (false, _, true) => "would not call us any more",
            (false, _, false) => "does not call us any more",
        };
        let text = if !changed && !adds {
            String::new()
        } else if changed {
            format!("{} {what}:\n{shown}{}", title(&tool), files(&written))
        } else {
            format!("{} {what}: {}\n", title(&tool), clean(&file.display().to_string()))
        };
        // Whoever has closed the pipe reads no more.
        let _ = ui::print(&text);
    }
    for note in &notes {
        ui::warn(&clean(note));
    }
    Ok(Done { tool, file, changed, written, notes })
}
