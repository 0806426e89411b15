//! The command line: it translates, and decides nothing. Data goes to standard output, talk to standard error.

mod adapters;
mod analyze;
mod check;
mod chunk;
mod config;
mod context;
mod demo;
mod doctor;
mod domains;
mod drafter;
mod export;
mod forget;
mod hook;
mod import;
mod init;
mod inject;
mod insights;
mod learn;
mod library;
mod mcp;
mod models;
mod patterns;
mod pause;
mod place;
mod progress;
mod propose;
mod recall;
mod remember;
mod retention;
mod review;
mod rules;
mod search;
mod secrets;
mod sessions;
mod spend;
mod status;
mod statusline;
mod synth;
mod ui;
mod uninstall;
mod unsaved;
mod verdicts;
mod work;

use std::{ffi::OsString, io, path::PathBuf, process::ExitCode};

use clap::{CommandFactory, Parser, Subcommand};

use context::Context;

/// How a command ended, when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Exit code 0.
    Done,
    /// Exit code 3: there was nothing to do it with.
    NothingFound,
    /// Exit code 4: it was done, and the gate that was asked for is closed.
    GateFailed,
}

/// Exit code 2: what was asked for makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Learns from the transcripts of coding agents: what went wrong, how often, and what to do about it.
#[derive(Debug, Parser)]
#[command(name = "totalrecall", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  totalrecall demo                      look at what it finds, without keeping anything
  totalrecall init                      create the home and see what a first run would read
  totalrecall reconcile && totalrecall worker
  totalrecall insights                  read the page
  totalrecall analyze session.jsonl     look at one transcript, without a home

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing found, 4 gate failed (analyze --fail-on).")]
struct Arguments {
    /// Folder of the database, the settings and insights.md [default: $TOTALRECALL_HOME or ~/.totalrecall]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    color: clap::ColorChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what it finds in your transcripts (or in bundled ones), keeping nothing
    Demo(demo::Demo),
    /// Create the home; show what there is to read and what reading it would cost
    Init(init::Init),
    /// Check everything that has to work, and say what to do about what does not
    Doctor(doctor::Doctor),
    /// What has been read, what waits, what failed
    Status(status::Status),
    /// What asking a model has cost, and what became of every call
    Spend(spend::Spend),
    /// Find new and grown transcripts and queue them
    Reconcile(work::Reconcile),
    /// Read everything that is queued, then renew insights.md
    Worker(work::Worker),
    /// Read these transcripts now, then renew insights.md
    Ingest(work::Ingest),
    /// Read OpenCode's database now, then renew insights.md
    SyncOpencode(work::SyncOpencode),
    /// Queue what failed once more
    Retry(work::Retry),
    /// Learn nothing of what happens from now on, everywhere or in a project
    Pause(pause::Pause),
    /// Learn again from what happens from now on
    Resume(pause::Resume),
    /// Remember a statement
    Remember(remember::Remember),
    /// What is remembered: without words what matters most, then the newest
    Recall(recall::Recall),
    /// Forget memories and chunks, for good
    Forget(forget::Forget),
    /// Note that todos are done
    Done(remember::Done),
    /// Texts that are saved on purpose: what a session did, how something was tracked down
    Chunk(chunk::Chunks),
    /// Look through what is stored for secrets
    Secrets(secrets::Secrets),
    /// Take over what another program learned or remembered
    Import(import::Import),
    /// The sessions that were read: list, rename, tag, delete, export
    Sessions(sessions::Sessions),
    /// Put away what is old, throw away what was put away long ago
    Retention(retention::Retention),
    /// Bring a session or chunk back that was put away
    Restore(retention::Restore),
    /// Hand over what is known of a project, as Markdown or JSON
    Export(export::Export),
    /// List the domains in use, and words to begin with
    Domains(domains::Domains),
    /// Have a model look at sessions, within the budget, once you have agreed to it
    Learn(learn::Learn),
    /// Find what was said, done, remembered or saved, by words and by meaning
    Search(search::Search),
    /// Find lines that match a regular expression, newest first
    Grep(search::GrepLines),
    /// What happened, newest first: sessions, memories, chunks
    Timeline(search::Timeline),
    /// Show what a reference such as e12.345 or s12 stands for
    Show(search::Show),
    /// The models by which search finds texts of a like meaning
    Models(models::Models),
    /// Make the indexes of search anew from the database
    Reindex(search::Reindex),
    /// Prepare what agents are told of earlier sessions when one begins, or show it
    Inject(inject::Inject),
    /// Print insights.md, or a part of it
    Insights(insights::Insights),
    /// The patterns of friction, and what you say about them
    Patterns(patterns::Patterns),
    /// Merge patterns that are the same friction in other words
    Synth(synth::Synth),
    /// Draft rules from patterns that keep coming back
    Propose(propose::Propose),
    /// List proposed rules and what became of them
    Proposals(propose::Proposals),
    /// Bring proposed rules into force
    Apply(rules::Apply),
    /// Do away with drafts for good
    Reject(rules::Reject),
    /// Take rules back that are in force
    Revert(rules::Revert),
    /// Say of each rule in force whether it works, with the counts
    Verdicts(verdicts::Verdicts),
    /// Report the signals of transcripts, without a home
    Analyze(analyze::Analyze),
    /// The components that read transcripts
    Adapters(adapters::Adapters),
    /// Take a hook's event from standard input; never fails, never waits
    Hook(hook::Hook),
    /// Print one short line for the status line of Claude Code
    Statusline(statusline::Statusline),
    /// Refuse a call of a tool that breaks a rule; a hook that you install
    Check(check::Check),
    /// Serve agents over the Model Context Protocol on standard input and output
    Mcp(mcp::Mcp),
    /// Print the settings that are in force
    Config(config::ShowConfig),
    /// Take back every rule, hooks and the cache; what you wrote stays
    Uninstall(uninstall::Uninstall),
    /// List sessions that changed much and kept nothing
    Unsaved(unsaved::Unsaved),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Runs the program and gives its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.len() == 1
        && let Some(code) = hook::Hook::alone()
    {
        return code;
    }
    // To a client, exit code 2 of its hook means that the tool may not be used. A hook that is called wrongly does not mean that.
    let is_hook = arguments.get(1).is_some_and(|name| name == "hook" || name == "check");
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() && !is_hook { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    ui::choose_color(arguments.color);
    // A hook must not fail because something else is amiss: it gets its own way, before anything is looked at.
    if let Command::Hook(hook) = &arguments.command {
        return hook.run(arguments.home);
    }
    if let Command::Check(check) = &arguments.command {
        check.run();
        return ExitCode::SUCCESS;
    }
    if let Command::Statusline(statusline) = &arguments.command {
        statusline.run(arguments.home);
        return ExitCode::SUCCESS;
    }
    match dispatch(arguments) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NothingFound) => ExitCode::from(3),
        Ok(Outcome::GateFailed) => ExitCode::from(4),
        // Whoever read our output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui::error(&error);
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

/// The reference of all commands, as Markdown: what `docs/cli.md` holds.
pub fn reference() -> String {
    let mut program = Arguments::command().term_width(100).color(clap::ColorChoice::Never);
    program.build();
    let mut text = format!(
        "# Commands\n\nGenerated from the program's own help by `cargo xtask bless`.\n\n```text\n{}```\n",
        program.render_long_help()
    );
    for command in program.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let help = command.render_long_help();
        text += &format!("\n## totalrecall {}\n\n```text\n{help}```\n", command.get_name());
        for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
            let help = inner.render_long_help();
            text += &format!("\n### {}\n\n```text\n{help}```\n", inner.get_name());
        }
    }
    text
}

fn dispatch(arguments: Arguments) -> anyhow::Result<Outcome> {
    let home = arguments.home;
    match arguments.command {
        Command::Demo(command) => command.run(),
        Command::Init(command) => command.run(&Context::new(home)?),
        Command::Doctor(command) => command.run(home),
        Command::Status(command) => command.run(&Context::new(home)?),
        Command::Spend(command) => command.run(&Context::new(home)?),
        Command::Reconcile(command) => command.run(&Context::new(home)?),
        Command::Worker(command) => command.run(&Context::new(home)?),
        Command::Ingest(command) => command.run(&Context::new(home)?),
        Command::SyncOpencode(command) => command.run(&Context::new(home)?),
        Command::Retry(command) => command.run(&Context::new(home)?),
        Command::Pause(command) => command.run(home),
        Command::Resume(command) => command.run(home),
        Command::Remember(command) => command.run(&Context::new(home)?),
        Command::Recall(command) => command.run(&Context::new(home)?),
        Command::Forget(command) => command.run(&Context::new(home)?),
        Command::Done(command) => command.run(&Context::new(home)?),
        Command::Chunk(command) => command.run(&Context::new(home)?),
        Command::Secrets(command) => command.run(&Context::new(home)?),
        Command::Import(command) => command.run(home),
        Command::Sessions(command) => command.run(&Context::new(home)?),
        Command::Retention(command) => command.run(&Context::new(home)?),
        Command::Restore(command) => command.run(&Context::new(home)?),
        Command::Export(command) => command.run(&Context::new(home)?),
        Command::Domains(command) => command.run(&Context::new(home)?),
        Command::Learn(command) => command.run(&Context::new(home)?),
        Command::Search(command) => command.run(&Context::new(home)?),
        Command::Grep(command) => command.run(&Context::new(home)?),
        Command::Timeline(command) => command.run(&Context::new(home)?),
        Command::Show(command) => command.run(&Context::new(home)?),
        Command::Models(command) => command.run(&Context::new(home)?),
        Command::Reindex(command) => command.run(&Context::new(home)?),
        Command::Inject(command) => command.run(&Context::new(home)?),
        Command::Insights(command) => command.run(&Context::new(home)?),
        Command::Patterns(command) => command.run(&Context::new(home)?),
        Command::Synth(command) => command.run(&Context::new(home)?),
        Command::Propose(command) => command.run(&Context::new(home)?),
        Command::Proposals(command) => command.run(&Context::new(home)?),
        Command::Apply(command) => command.run(&Context::new(home)?),
        Command::Reject(command) => command.run(&Context::new(home)?),
        Command::Revert(command) => command.run(&Context::new(home)?),
        Command::Verdicts(command) => command.run(&Context::new(home)?),
        Command::Analyze(command) => command.run(home),
        Command::Adapters(command) => command.run(home),
        Command::Mcp(command) => command.run(home),
        Command::Config(command) => command.run(home),
        Command::Uninstall(command) => command.run(&Context::new(home)?),
        Command::Unsaved(command) => command.run(&Context::new(home)?),
        Command::Hook(_) | Command::Check(_) | Command::Statusline(_) => Ok(Outcome::Done),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "totalrecall", &mut script);
            ui::print(&String::from_utf8_lossy(&script))?;
            Ok(Outcome::Done)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
