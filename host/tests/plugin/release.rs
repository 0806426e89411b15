//! Releases, as far as they can be tried without making one.

use yaml_rust2::{Yaml, YamlLoader};

use crate::text;

fn workflow() -> Yaml {
    YamlLoader::load_from_str(&text(".github/workflows/release.yml")).unwrap().remove(0)
}

fn jobs(workflow: &Yaml) -> impl Iterator<Item = (&str, &Yaml)> {
    workflow["jobs"].as_hash().unwrap().iter().map(|(name, job)| (name.as_str().unwrap(), job))
}

#[test]
fn it_runs_for_tags_only() {
    let workflow = workflow();
    let events = workflow["on"].as_hash().unwrap();
    assert_eq!(events.keys().map(|key| key.as_str().unwrap()).collect::<Vec<_>>(), ["push"]);
    let push = workflow["on"]["push"].as_hash().unwrap();
    assert_eq!(push.keys().map(|key| key.as_str().unwrap()).collect::<Vec<_>>(), ["tags"]);
    // Nothing else is run by CI of GitHub.
    assert_eq!(crate::names(".github/workflows"), ["release.yml"]);
}

#[test]
fn it_may_write_in_one_job_which_runs_nothing_of_ours() {
    let workflow = workflow();
    let read: Vec<_> = workflow["permissions"].as_hash().unwrap().iter().collect();
    assert_eq!(read, [(&Yaml::String("contents".into()), &Yaml::String("read".into()))]);
    for (name, job) in jobs(&workflow) {
        let writes = !job["permissions"].is_badvalue();
        assert_eq!(writes, name == "draft", "{name}");
        let checks_out = job["steps"]
            .as_vec()
            .unwrap()
            .iter()
            .any(|step| step["uses"].as_str().is_some_and(|action| action.starts_with("actions/checkout@")));
        assert_ne!(writes, checks_out, "{name}: what may write does not run what a commit brings");
    }
}

#[test]
fn actions_are_pinned_and_expressions_stay_out_of_scripts() {
    for (name, job) in jobs(&workflow()) {
        assert!(job["timeout-minutes"].as_i64().is_some(), "{name}");
        for step in job["steps"].as_vec().unwrap() {
            if let Some(action) = step["uses"].as_str() {
                let (_, commit) = action.split_once('@').unwrap();
                assert!(commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit()), "{name}: {action}");
            }
            // They would be pasted into the shell's text.
            assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{name}: {step:?}");
        }
    }
}

#[test]
fn every_target_is_built_and_told() {
    let workflow = workflow();
    let page = text("docs/release.md");
    let builds = workflow["jobs"]["build"]["strategy"]["matrix"]["include"].as_vec().unwrap();
    let targets: Vec<_> = builds.iter().map(|build| build["target"].as_str().unwrap()).collect();
    assert_eq!(targets.len(), 7);
    for target in targets {
        assert!(page.contains(&format!("`{target}`")), "{target}");
    }
    let text = text(".github/workflows/release.yml");
    assert!(text.contains("rustup target add --toolchain stable \"$TARGET\" wasm32-unknown-unknown"));
}

#[cfg(unix)]
#[test]
fn an_archive_has_the_program_and_a_checksum_that_is_right() {
    use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("totalrecall");
    fs::write(&program, "#!/bin/sh\necho it runs\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let archives = dir.path().join("a folder");
    let packed = crate::run(Command::new(crate::root().join("scripts/package")).args([
        "x86_64-unknown-linux-gnu".as_ref(),
        program.as_os_str(),
        archives.as_os_str(),
    ]));
    assert!(packed.status.success(), "{packed:?}");
    let name = format!("totalrecall-{}-x86_64-unknown-linux-gnu", env!("CARGO_PKG_VERSION"));
    let mut files: Vec<_> = fs::read_dir(&archives).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(
        files,
        [format!("{name}.tar.gz"), format!("{name}.tar.gz.sha256")].map(Into::<std::ffi::OsString>::into)
    );

    let check = ["sha256sum --check", "shasum -a 256 --check"];
    let check = check.map(|check| format!("{check} {name}.tar.gz.sha256")).join(" || ");
    let checked = crate::run(Command::new("/bin/sh").args(["-c", &check]).current_dir(&archives));
    assert!(checked.status.success(), "{checked:?}");
    let unpacked = crate::run(Command::new("tar").args(["-xzf", &format!("{name}.tar.gz")]).current_dir(&archives));
    assert!(unpacked.status.success(), "{unpacked:?}");
    let output = crate::run(&mut Command::new(archives.join(&name).join("totalrecall")));
    assert_eq!(output.stdout, b"it runs\n");
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "NOTICE"] {
        assert!(archives.join(&name).join(file).is_file(), "{file}");
    }
}
