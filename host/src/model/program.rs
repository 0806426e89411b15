//! The programs that are asked: `claude`, with everything switched off that is not the question, or what the settings name.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use super::{
    Kind, MARKER, Purpose,
    answer::{self, Form, Said},
    own, tokens,
};
use crate::{
    child::{self, Ended, Output, Run},
    config, paths,
    paths::Home,
};

/// Turns that `claude` may take: the answer, and corrections of its form.
const TURNS: &str = "4";
/// Longest argument: Windows allows 32,767 characters for all of them.
const LONGEST_ARGUMENT: usize = 12_000;
/// How long a program may take to say its version.
const VERSION: Duration = Duration::from_secs(20);

/// Variables of the session that we may have been started from by a hook. The child is none of its business; the token is a
/// secret between that session and its hooks.
const OF_A_SESSION: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
];

/// A question, ready to be sent.
pub(super) struct Question<'a> {
    pub(super) purpose: Purpose,
    pub(super) instructions: &'a str,
    pub(super) input: &'a str,
    pub(super) schema: &'a str,
}

impl Question<'_> {
    /// All of it, about.
    pub(super) fn tokens(&self) -> u32 {
        [MARKER, self.instructions, self.input, self.schema].iter().map(|text| tokens(text)).sum()
    }
}

/// How a program is started.
pub(super) struct Call {
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) input: String,
    form: Form,
}

/// Asks. What is wrong with the program is part of what it says.
pub(super) fn ask(
    settings: &config::Model,
    home: &Home,
    question: &Question<'_>,
    most_usd: f64,
    stop: &AtomicBool,
) -> Said {
    let failed = |kind, why: String| Said { answer: Some(Err((kind, why))), ..Said::default() };
    let name = super::program(settings).swap_remove(0);
    let Some(program) = paths::program(&name) else {
        return failed(Kind::NotInstalled, format!("there is no program `{name}` to be found"));
    };
    // For programs that take the schema as a file.
    let schema = match schema_file(home, question.schema) {
        Ok(schema) => schema,
        Err(error) => return failed(Kind::Error, format!("could not write the schema: {error}")),
    };
    let call = match settings.command.as_slice() {
        [] => claude(settings, question, most_usd),
        [_, arguments @ ..] => other(settings, arguments, question, schema.path(), most_usd),
    };
    let run = Run {
        program: &program,
        arguments: &call.arguments,
        variables: &call.variables,
        removed: OF_A_SESSION,
        folder: &own::folder(home),
        input: &call.input,
        timeout: super::timeout(settings),
    };
    match child::run(&run, stop) {
        Ok(output) => answer::read(&output, call.form),
        Err(error) => failed(Kind::NotInstalled, format!("could not start `{}`: {error}", program.display())),
    }
}

fn schema_file(home: &Home, schema: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix(".schema-").suffix(".json").tempfile_in(home.path())?;
    file.write_all(schema.as_bytes())?;
    Ok(file)
}

/// `claude -p` without tools, hooks, MCP servers, skills, memory files and transcript: what is sent is the question and little
/// else, and nothing of it can start another session.
pub(super) fn claude(settings: &config::Model, question: &Question<'_>, most_usd: f64) -> Call {
    let mut arguments: Vec<String> = vec!["-p".to_owned()];
    let mut add = |option: &str, value: &str| arguments.extend([option.to_owned(), value.to_owned()]);
    add("--output-format", "json");
    add("--json-schema", question.schema);
    add("--model", &settings.name);
    add("--max-turns", TURNS);
    add("--max-budget-usd", &format!("{most_usd:.4}"));
    add("--settings", r#"{"disableAllHooks":true}"#);
    add("--tools", "");
    let mut input = format!("{MARKER}\n\n");
    if question.instructions.len() <= LONGEST_ARGUMENT {
        add("--system-prompt", question.instructions);
    } else {
        add("--system-prompt", "You do what the text below says, and answer in the form that is asked for.");
        input += question.instructions;
        input += "\n\n";
    }
    if settings.claude_settings {
        arguments.push("--safe-mode".to_owned());
    } else {
        add("--setting-sources", "");
    }
    arguments
        .extend(["--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"].map(str::to_owned));
    input += question.input;
    let mut variables = guarded();
    variables.extend([
        // Otherwise small models think with tens of thousands of tokens before they fill in a form.
        ("MAX_THINKING_TOKENS", "0".to_owned()),
        ("CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING", "1".to_owned()),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", settings.output_tokens.to_string()),
        // Waiting is ours: it holds across runs.
        ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
    ]);
    Call { arguments, variables, input, form: Form::Claude }
}

/// Another program: the whole question as text on its standard input. `docs/model.md` has the contract.
fn other(
    settings: &config::Model,
    arguments: &[String],
    question: &Question<'_>,
    schema: &Path,
    most_usd: f64,
) -> Call {
    let schema = schema.to_string_lossy();
    let fill = |argument: &String| argument.replace("{model}", &settings.name).replace("{schema}", &schema);
    let arguments = arguments.iter().map(fill).collect();
    let input = format!(
        "{MARKER}\n\n{}\n\nAnswer with one JSON object and nothing else. It must satisfy this JSON Schema:\n\n{}\n\n{}",
        question.instructions, question.schema, question.input
    );
    let mut variables = guarded();
    variables.extend([
        ("TOTALRECALL_MODEL", settings.name.clone()),
        ("TOTALRECALL_PURPOSE", question.purpose.name().to_owned()),
        ("TOTALRECALL_SCHEMA", schema.into_owned()),
        ("TOTALRECALL_MAX_OUTPUT_TOKENS", settings.output_tokens.to_string()),
        ("TOTALRECALL_MAX_USD", format!("{most_usd:.4}")),
    ]);
    Call { arguments, variables, input, form: Form::Any }
}

fn guarded() -> Vec<(&'static str, String)> {
    vec![(config::CHILD, "1".to_owned())]
}

/// Whether the program is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It is, at this place; `claude` also says its version.
    At(PathBuf, Option<String>),
    /// It is not.
    Missing(String),
    /// It is, and does not work: the reason.
    Broken(PathBuf, String),
}

/// Looks for the program, and asks `claude` for its version. No model is asked.
pub fn look(settings: &config::Model) -> Found {
    let name = super::program(settings).swap_remove(0);
    let Some(program) = paths::program(&name) else { return Found::Missing(name) };
    if !settings.command.is_empty() {
        return Found::At(program, None);
    }
    match version_of(&program) {
        Ok(version) => Found::At(program, Some(version)),
        Err(why) => Found::Broken(program, why),
    }
}

/// What a program says of its version.
///
/// # Errors
/// When it does not start, or does not say it; a sentence.
pub fn version_of(program: &Path) -> Result<String, String> {
    let run = Run {
        program,
        arguments: &["--version".to_owned()],
        variables: &guarded(),
        removed: OF_A_SESSION,
        folder: program.parent().unwrap_or(program),
        input: "",
        timeout: VERSION,
    };
    match child::run(&run, &AtomicBool::new(false)).map_err(|error| error.to_string())? {
        Output { ended: Ended::Exited(status), stdout, .. } if status.success() => {
            Ok(String::from_utf8_lossy(&stdout).trim().chars().take(80).collect())
        }
        _ => {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            Err(format!("`{name} --version` failed"))
        }
    }
}
