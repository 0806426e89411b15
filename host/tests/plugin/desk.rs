//! A place with the plugin's launcher in it, and with stand-ins for programs. Its name has everything that a shell could
//! stumble over.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Write as _,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::PoisonError,
};

use serde_json::Value;

/// A folder's name that is one word to whoever quotes as they should.
pub(crate) const NAME: &str = "it's \"a\" $(touch pwned) `touch pwned`; *\\ folder\nhere";

/// A program that notes what it was called with, and is done. It needs no other program.
const NOTES: &str = "#!/bin/sh
printf '%s\\0' \"$0\" \"$@\" >\"$DESK/called\"
printf '%s\\0' \"${TOTALRECALL_PLUGIN_VERSION-}\" \"${TOTALRECALL_HOME-}\" >\"$DESK/told\"
exit ${DESK_CODE-0}
";

pub(crate) struct Desk {
    dir: tempfile::TempDir,
    environment: Vec<(String, OsString)>,
    shell: Option<&'static str>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let desk = Self { dir, environment: Vec::new(), shell: None };
        for folder in [desk.work(), desk.root().join("plugin/bin"), desk.data()] {
            fs::create_dir_all(folder).unwrap();
        }
        let _nobody_starts = crate::WRITING.write().unwrap_or_else(PoisonError::into_inner);
        for file in ["totalrecall", "setup"] {
            fs::copy(crate::root().join("plugin/bin").join(file), desk.root().join("plugin/bin").join(file)).unwrap();
        }
        desk
    }

    /// With another variable.
    pub(crate) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Where the launcher is read by this shell.
    pub(crate) fn in_shell(mut self, shell: &'static str) -> Self {
        self.shell = Some(shell);
        self
    }

    pub(crate) fn is_in(&self, shell: &str) -> bool {
        self.shell == Some(shell)
    }

    /// The folder of everything; it has a harmless name.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// Where the session is.
    pub(crate) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path().join("root").join(NAME)
    }

    /// The client's own folder.
    pub(crate) fn config(&self) -> PathBuf {
        self.path().join(NAME)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.config().join("plugins/data/totalrecall-totalrecall")
    }

    /// Puts a program there that notes how it was called.
    pub(crate) fn put(&self, program: &Path) -> PathBuf {
        self.put_script(program, NOTES)
    }

    pub(crate) fn put_script(&self, program: &Path, text: impl AsRef<[u8]>) -> PathBuf {
        let program = self.path().join(program);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        let _nobody_starts = crate::WRITING.write().unwrap_or_else(PoisonError::into_inner);
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    pub(crate) fn launcher(&self) -> PathBuf {
        self.root().join("plugin/bin/totalrecall")
    }

    /// The launcher as a hook of the plugin is called. There is no other program on its PATH.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match self.shell {
            None => Command::new(self.launcher()),
            Some(shell) => {
                let mut words = shell.split(' ');
                let mut command = Command::new(find(words.next().unwrap()).unwrap());
                command.args(words).arg(self.launcher());
                command
            }
        };
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", self.path().join("nothing"))
            .env("DESK", self.path())
            .env("CLAUDE_PLUGIN_ROOT", self.root())
            .env("CLAUDE_PLUGIN_DATA", self.data())
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn launch(&self, arguments: &[&str]) -> Ran {
        Ran::of(crate::run(&mut self.command(arguments)))
    }

    /// A hook's call, which must end with 0 and complain of nothing.
    #[track_caller]
    pub(crate) fn hook(&self, event: &str, input: &str) -> Ran {
        let mut command = self.command(&["hook", event]);
        let mut child = crate::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
        // Who is not interested in the event does not read it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{event}: {ran:?}");
        ran
    }

    /// What the program was called as, and with which arguments. None when it was not.
    pub(crate) fn called(&self) -> Option<Vec<OsString>> {
        let noted = fs::read(self.path().join("called")).ok()?;
        fs::remove_file(self.path().join("called")).unwrap();
        Some(words(&noted))
    }

    /// The plugin's version and the home, as the program was told.
    pub(crate) fn told(&self) -> Vec<OsString> {
        words(&fs::read(self.path().join("told")).unwrap())
    }
}

/// A program of the system's. What the tests run has another PATH.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(program)).into_iter().find(|program| program.exists())
}

fn words(noted: &[u8]) -> Vec<OsString> {
    let noted = noted.strip_suffix(b"\0").unwrap();
    noted.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The one line that the person is shown; nothing else was printed.
    #[track_caller]
    pub(crate) fn message(&self) -> String {
        let said: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let message = said["systemMessage"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned();
        assert_eq!(said, serde_json::json!({ "systemMessage": message }));
        message
    }

    /// What the model is given; nothing else was printed.
    #[track_caller]
    pub(crate) fn context(&self) -> String {
        let said: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let context = &said["hookSpecificOutput"]["additionalContext"];
        let context = context.as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned();
        assert_eq!(
            said,
            serde_json::json!({ "hookSpecificOutput": {
                "hookEventName": "UserPromptExpansion", "additionalContext": context,
            } })
        );
        context
    }
}
