//! `action.yml`: its script is run with bash, as GitHub's runner does it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use yaml_rust2::{Yaml, YamlLoader};

use crate::support::{Ran, User, copy, fixture};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn action() -> Yaml {
    YamlLoader::load_from_str(&fs::read_to_string(repository().join("action.yml")).unwrap()).unwrap().remove(0)
}

/// The one step: its script, and its variables with the names of the inputs that they hold.
fn step() -> (String, BTreeMap<String, String>) {
    let action = action();
    let steps = action["runs"]["steps"].as_vec().unwrap();
    assert_eq!(steps.len(), 1);
    let variables = steps[0]["env"].as_hash().unwrap().iter();
    let variables = variables.map(|(name, value)| (name.as_str().unwrap().into(), value.as_str().unwrap().into()));
    (steps[0]["run"].as_str().unwrap().to_owned(), variables.collect())
}

impl User {
    /// Runs the action in the user's folder. Inputs that are not given have their defaults.
    fn act(&self, inputs: &[(&str, &str)]) -> Ran {
        let (script, variables) = step();
        let action = action();
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script])
            .current_dir(self.folder())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.home())
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .env("GITHUB_OUTPUT", self.folder().join("outputs"))
            .env("GITHUB_STEP_SUMMARY", self.folder().join("summary.md"));
        for (name, value) in variables {
            let given = value.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}"));
            let value = match given {
                Some(input) => {
                    let default = action["inputs"][input]["default"].as_str().unwrap();
                    inputs.iter().find(|(name, _)| *name == input).map_or(default, |(_, value)| value)
                }
                None => {
                    assert_eq!(value, "${{ github.action_path }}");
                    "/nonexistent"
                }
            };
            command.env(name, value);
        }
        Ran::of(self, command.output().unwrap())
    }

    fn outputs(&self) -> String {
        fs::read_to_string(self.folder().join("outputs")).unwrap()
    }

    /// A program that notes its arguments, each ended by a NUL, and ends with 0.
    fn recorder(&self) -> String {
        let program = self.folder().join("recorder");
        fs::write(&program, "#!/bin/bash\nprintf '%s\\0' \"$@\" > arguments\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program.to_str().unwrap().to_owned()
    }

    fn recorded(&self) -> Vec<String> {
        let recorded = fs::read_to_string(self.folder().join("arguments")).unwrap();
        recorded.split_terminator('\0').map(str::to_owned).collect()
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_totalrecall");

#[test]
fn inputs_reach_the_script_as_variables_only() {
    let (script, variables) = step();
    assert!(!script.contains("${{"), "an input in the script would be run as code");
    let inputs = action()["inputs"].as_hash().unwrap().len();
    assert_eq!(variables.values().filter(|value| value.starts_with("${{ inputs.")).count(), inputs);
}

#[test]
fn hostile_inputs_are_data() {
    let hostile = [
        "$(touch x)",
        "`touch x`",
        "'; touch x; '",
        "\"; touch x; \"",
        "a\" b' $HOME *",
        "--output=x",
        "x\n::error::y",
    ];
    for text in hostile {
        let user = User::new();
        let recorder = user.recorder();
        user.act(&[
            ("paths", text),
            ("fail-on", text),
            ("allow-unreadable", "true"),
            ("format", text),
            ("output", text),
            ("binary", &recorder),
        ]);
        let mut expected = vec![
            "analyze".to_owned(),
            "--github".to_owned(),
            format!("--format={text}"),
            format!("--output={text}"),
            format!("--fail-on={text}"),
            "--allow-unreadable".to_owned(),
            "--".to_owned(),
        ];
        // One path a line.
        expected.extend(text.lines().map(str::to_owned));
        assert_eq!(user.recorded(), expected, "{text:?}");
        assert_eq!(user.outputs(), "result=passed\n");
        for input in ["binary", "if-nothing-found", "allow-unreadable"] {
            let ran = user.act(&[(input, text), ("paths", "home"), ("binary", &recorder)]);
            assert_eq!(ran.code, Some(2), "{input} {text:?}:\n{ran}");
        }
        assert!(!user.folder().join("x").exists(), "{text:?}");
    }
    let user = User::new();
    let ran = user.act(&[("binary", "eval"), ("paths", "$(touch x)")]);
    assert!(ran.code == Some(2) && !user.folder().join("x").exists(), "{ran}");
}

#[test]
fn the_action_reports_and_fails_as_it_is_told() {
    let user = User::with("2.1.120-tui");
    let passed = user.act(&[("binary", PROGRAM)]);
    assert_eq!((passed.code, user.outputs().as_str()), (Some(0), "result=passed\n"), "{passed}");
    let summary = fs::read_to_string(user.folder().join("summary.md")).unwrap();
    assert!(summary.contains("signals of friction in 1 session"), "{summary}");

    let failed =
        user.act(&[("binary", PROGRAM), ("fail-on", "tool-error>0"), ("format", "sarif"), ("output", "a b.sarif")]);
    assert_eq!(failed.code, Some(4), "{failed}");
    assert!(user.outputs().ends_with("result=gate-failed\n") && failed.out.contains("\ntool-error: "), "{failed}");
    let sarif = fs::read_to_string(user.folder().join("a b.sarif")).unwrap();
    assert!(sarif.contains("\"ruleId\":\"tool-error\""), "{sarif}");

    let wrong = user.act(&[("binary", PROGRAM), ("fail-on", "tool-eror>0")]);
    assert!(wrong.code == Some(2) && wrong.out.contains("did you mean tool-error?"), "{wrong}");
}

#[test]
fn no_transcript_is_an_error_unless_it_may_be() {
    let user = User::new();
    for inputs in [&[][..], &[("paths", "home")]] {
        let inputs = [inputs, &[("binary", PROGRAM)]].concat();
        assert_eq!(user.act(&inputs).code, Some(3));
        let ran = user.act(&[&inputs[..], &[("if-nothing-found", "ignore")]].concat());
        assert_eq!(ran.code, Some(0), "{ran}");
        assert!(user.outputs().ends_with("result=nothing-found\n"));
    }
}

#[test]
fn what_a_transcript_says_is_no_command_to_the_runner() {
    let user = User::new();
    copy(&fixture("2.1.120-tui"), &user.projects());
    let ran = user.act(&[("binary", PROGRAM), ("paths", "home\n::error::from a path")]);
    let lines: Vec<&str> = ran.out.lines().collect();
    let token = lines[0].strip_prefix("::stop-commands::").unwrap();
    assert_eq!(token.len(), 32);
    let end = lines.iter().position(|line| *line == format!("::{token}::")).unwrap();
    assert!(
        lines[1..end]
            .iter()
            .any(|line| line.contains(": :error::from a path") || line.contains("::error::from a path"))
    );
    assert!(lines[1..end].iter().all(|line| !line.trim_start().starts_with("::")), "{ran}");
}

#[test]
fn the_examples_are_yaml_and_name_inputs_that_there_are() {
    let page = fs::read_to_string(repository().join("docs/ci.md")).unwrap();
    let examples: Vec<_> = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(examples.len() >= 3);
    let documents: Vec<_> = examples.iter().flat_map(|example| YamlLoader::load_from_str(example).unwrap()).collect();
    let steps = documents[0]["jobs"]["agent"]["steps"].as_vec().unwrap();
    let ours = steps.iter().find(|step| step["uses"].as_str().is_some_and(|it| it.contains("/totalrecall@"))).unwrap();
    for input in ours["with"].as_hash().unwrap().keys() {
        assert!(!action()["inputs"][input.as_str().unwrap()].is_badvalue(), "{input:?}");
    }
    for (input, _) in action()["inputs"].as_hash().unwrap() {
        assert!(page.contains(&format!("`{}`", input.as_str().unwrap())), "{input:?} is documented");
    }
}
