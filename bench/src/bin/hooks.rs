//! What each hook costs the client, from outside: `hooks [--bin PATH] [--launcher PATH]`. The time that passes from starting a
//! hook to its end, in turns with programs that do nothing, with an empty inbox and with a full one.
#![expect(clippy::print_stdout, reason = "a tool's output")]
#![expect(clippy::disallowed_methods, reason = "it runs the binary from outside")]

use anyhow::{Context, Result, ensure};
use clap::Parser;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Arguments {
    /// The binary.
    #[arg(long, default_value = "target/release/totalrecall")]
    bin: PathBuf,
    /// The plugin's launcher; left out where there is none.
    #[arg(long, default_value = "plugin/bin/totalrecall")]
    launcher: PathBuf,
    /// Times each hook is run.
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// Notices that wait, once none and once so many.
    #[arg(long, default_value_t = 1_000)]
    waiting: usize,
}

/// What is run.
struct Case {
    name: &'static str,
    /// Program and arguments.
    command: Vec<String>,
    input: String,
    /// Something is told at each run: the line about what is new, or what is told of earlier sessions.
    news: bool,
    memory: bool,
    /// Asides are switched on.
    asides: bool,
    times: Vec<Duration>,
    /// Runs that did not say what they should: on a busy machine an event may come later than a hook waits for it.
    missed: usize,
}

/// What is known of a file, what is asked about it, and the file.
const KNOWN: &str = "src/ledger.rs drops rows whose currency is unknown: parse_row returns None for them.";
const QUESTION: &str = "Why does the ledger drop rows whose currency is unknown?";
const FILE: &str = "work/app/crates/core/src/ledger.rs";

/// A line as `totalrecall worker` leaves it.
const NEWS: &str =
    r#"{"line":"3 sessions read. New pattern: “use pnpm”.","plugin_line":"3 sessions read.","known":{}}"#;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let bin = arguments.bin.canonicalize().with_context(|| format!("no binary at {}", arguments.bin.display()))?;
    let launcher = arguments.launcher.canonicalize().ok();
    let scratch = tempfile::tempdir()?;
    println!("| notices | what | p50 ms | p95 ms | most ms | missed |\n| --: | --- | --: | --: | --: | --: |");
    for waiting in [0, arguments.waiting] {
        let home = scratch.path().join(waiting.to_string());
        fs::create_dir_all(home.join("inbox"))?;
        learn(&bin, &home)?;
        for number in 0..waiting {
            let notice = format!(
                r#"{{"transcript_path":"/nowhere/{number}.jsonl","session_id":"{number}","event":"Stop","at":1}}"#
            );
            fs::write(home.join(format!("inbox/000000000000-{number:016x}.json")), notice)?;
        }
        // Held, so that the workers that hooks start leave at once: their work is not what is measured, and would empty the inbox.
        let lock = File::create(home.join("worker.lock"))?;
        lock.try_lock()?;
        let mut cases = cases(&bin, launcher.as_deref(), &home);
        for _ in 0..arguments.runs {
            for case in &mut cases {
                if case.news {
                    fs::write(home.join("news.json"), NEWS)?;
                }
                prepare(&home, case)?;
                let (time, has_said) = run(case, &home, &bin)?;
                case.times.push(time);
                case.missed += usize::from(has_said != (case.news || case.memory || case.asides));
            }
        }
        for case in &mut cases {
            case.times.sort_unstable();
            let at = |share: f64| case.times[((case.times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
            println!(
                "| {waiting} | {} | {:.1} | {:.1} | {:.1} | {} |",
                case.name,
                at(0.5),
                at(0.95),
                at(1.0),
                case.missed
            );
            // Then what was measured is another thing.
            ensure!(case.missed < arguments.runs, "{}: not one run said what it should", case.name);
        }
        drop(lock);
    }
    Ok(())
}

fn cases(bin: &Path, launcher: Option<&Path>, home: &Path) -> Vec<Case> {
    let event = |more: &str| {
        let path = home.join("session.jsonl");
        format!(r#"{{"session_id":"s","transcript_path":"{}","cwd":"/"{more}}}"#, path.display())
    };
    let case = |name, command: &[&str], input: String, news| {
        let command = command.iter().map(|it| (*it).to_owned()).collect();
        Case { name, command, input, news, memory: false, asides: false, times: Vec::new(), missed: 0 }
    };
    let bin = bin.to_string_lossy();
    let start = event(r#","source":"startup""#);
    let mut cases = vec![
        case("`true` (baseline)", &["/bin/true"], start.clone(), false),
        case("`sh -c exit` (baseline)", &["/bin/sh", "-c", "exit"], start.clone(), false),
        case("`--version` (the program's own start)", &[&bin, "--version"], String::new(), false),
        case("SessionStart", &[&bin, "hook", "SessionStart"], start.clone(), false),
        case("SessionStart with a line", &[&bin, "hook", "SessionStart"], start.clone(), true),
        case("SessionEnd (starts a worker)", &[&bin, "hook", "SessionEnd"], event(""), false),
        case("Stop", &[&bin, "hook", "Stop"], event(""), false),
        case("SubagentStop", &[&bin, "hook", "SubagentStop"], event(""), false),
        case("PreCompact", &[&bin, "hook", "PreCompact"], event(""), false),
        case(
            "UserPromptExpansion, a command of others",
            &[&bin, "hook", "UserPromptExpansion"],
            event(r#","command_name":"compact""#),
            false,
        ),
        case("statusline", &[&bin, "statusline"], event(""), false),
    ];
    // In a repository some folders deep, as sessions are.
    let deep = home.join("work/app/crates/core/src");
    let of_project = start.replace(r#""cwd":"/""#, &format!(r#""cwd":"{}""#, deep.display()));
    let told = ["SessionStart in a repository", "SessionStart that tells of earlier sessions"];
    for (name, memory) in told.into_iter().zip([false, true]) {
        cases.push(Case { memory, ..case(name, &[&bin, "hook", "SessionStart"], of_project.clone(), false) });
    }
    let within = |more: &str| event(more).replace(r#""cwd":"/""#, &format!(r#""cwd":"{}""#, deep.display()));
    let prompt = within(&format!(r#","prompt":"{QUESTION}""#));
    let file = home.join(FILE);
    let reading = within(&format!(r#","tool_name":"Read","tool_input":{{"file_path":"{}"}}"#, file.display()));
    for (name, event, input) in [
        ("UserPromptSubmit that tells an aside", "UserPromptSubmit", &prompt),
        ("PreToolUse that tells an aside", "PreToolUse", &reading),
    ] {
        cases.push(Case { asides: true, ..case(name, &[&bin, "hook", event], input.clone(), false) });
    }
    for (name, event, input) in [
        ("UserPromptSubmit, switched off", "UserPromptSubmit", &prompt),
        ("PreToolUse, switched off", "PreToolUse", &reading),
    ] {
        cases.push(case(name, &[&bin, "hook", event], input.clone(), false));
    }
    if let Some(launcher) = launcher {
        let launcher = launcher.to_string_lossy();
        for (name, event, input) in [
            ("UserPromptSubmit, switched off, through the launcher", "UserPromptSubmit", &prompt),
            ("PreToolUse, switched off, through the launcher", "PreToolUse", &reading),
        ] {
            cases.push(case(name, &[&launcher, "hook", event], input.clone(), false));
        }
        cases.push(case("SessionStart, through the launcher", &[&launcher, "hook", "SessionStart"], start, false));
        cases.push(case("SessionEnd, through the launcher", &[&launcher, "hook", "SessionEnd"], event(""), false));
        cases.push(case("Stop, through the launcher", &[&launcher, "hook", "Stop"], event(""), false));
    }
    cases
}

/// A repository, and what is known of a file in it, in a store with its indexes.
fn learn(bin: &Path, home: &Path) -> Result<()> {
    let app = home.join("work/app");
    fs::create_dir_all(app.join(".git"))?;
    fs::create_dir_all(app.join("crates/core/src"))?;
    fs::write(app.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    for arguments in [&["remember", KNOWN][..], &["worker", "--quiet"]] {
        let mut command = Command::new(bin);
        command.args(arguments).current_dir(&app).env_clear().env("HOME", home).env("TOTALRECALL_HOME", home);
        let output = command.output().with_context(|| format!("cannot start {}", bin.display()))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// What `totalrecall worker` prepares where there is nothing of a project, as long as a budget of 800 tokens allows, and that asides are
/// wanted; nothing where it is not wanted. It was not told yet.
fn prepare(home: &Path, case: &Case) -> Result<()> {
    let inject = home.join("inject");
    if inject.exists() {
        fs::remove_dir_all(&inject)?;
    }
    if case.asides {
        fs::create_dir_all(&inject)?;
        for switch in ["on-prompt", "on-file"] {
            fs::write(inject.join(switch), r#"{"tokens":300,"milliseconds":150}"#)?;
        }
    }
    if case.memory {
        let line = |number| {
            let text = format!("- [s{number}, 2026-11-30 12:00] {}", "word ".repeat(24));
            format!(r#"{{"section":"sessions","text":"{text}","rank":50,"source":"s{number}"}}"#)
        };
        let lines: Vec<String> = (0..20).map(line).collect();
        fs::create_dir_all(inject.join("told"))?;
        fs::write(
            inject.join("everywhere.json"),
            format!(r#"{{"place":null,"lines":[{}],"left_out":{{}},"budget":800}}"#, lines.join(",")),
        )?;
    }
    Ok(())
}

/// The time from the start to the end, as the client waits for it: also until all that it writes is read; and whether a line
/// was said.
fn run(case: &Case, home: &Path, bin: &Path) -> Result<(Duration, bool)> {
    let [program, arguments @ ..] = &case.command[..] else { anyhow::bail!("nothing to run") };
    let begin = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env("TOTALRECALL_HOME", home)
        .env("CLAUDE_PLUGIN_OPTION_BINARY", bin)
        .env("LANG", "en_US.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    // What does not read its input may be gone already.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(case.input.as_bytes()));
    let output = child.wait_with_output()?;
    let time = begin.elapsed();
    ensure!(output.status.success(), "{} failed", case.name);
    Ok((
        time,
        [&b"{\"systemMessage\""[..], b"{\"hookSpecificOutput\""].iter().any(|begin| output.stdout.starts_with(begin)),
    ))
}
