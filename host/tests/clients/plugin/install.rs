//! Getting the plugin into a person's Claude Code.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::person::{Person, walk};

/// Where git finds the repository: an address as a person types it, which their git is told to take from this machine.
const HOST: &str = "https://github.com/";
const REPOSITORY: &str = "someone/totalrecall";

/// What a plugin can come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A marketplace that is a folder on this machine: it runs from there.
    Folder,
    /// A marketplace that git fetches: it runs from a copy of the client's.
    Git,
    /// No marketplace: a folder, for one session.
    InPlace,
}

impl Source {
    pub(crate) const ALL: [Self; 3] = [Self::Folder, Self::Git, Self::InPlace];
}

impl Person {
    /// Their copy of this repository: what is in it, and what is about to be.
    pub(crate) fn checkout(&self) -> PathBuf {
        let copy = self.path().join("checkout");
        if copy.exists() {
            return copy;
        }
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(repository);
        let output = git.output().unwrap();
        assert!(output.status.success(), "these tests need the repository: {output:?}");
        for name in String::from_utf8(output.stdout).unwrap().split_terminator('\0') {
            // A deleted file is listed until that is committed.
            let Ok(metadata) = fs::symlink_metadata(repository.join(name)) else { continue };
            if metadata.is_file() {
                fs::create_dir_all(copy.join(name).parent().unwrap()).unwrap();
                fs::copy(repository.join(name), copy.join(name)).unwrap();
            }
        }
        copy
    }

    /// Adds the marketplace and installs the plugin, as the README says. Where there is none, every session of theirs is told
    /// of the folder.
    pub(crate) fn install(&mut self, source: Source, options: &[&str]) {
        let market = match source {
            Source::Folder => self.checkout().to_str().unwrap().to_owned(),
            Source::Git => {
                self.publish();
                REPOSITORY.to_owned()
            }
            Source::InPlace => {
                let folder = self.checkout().to_str().unwrap().to_owned();
                self.sessions_have.extend(["--plugin-dir".to_owned(), folder]);
                return;
            }
        };
        self.claude_ok(&["plugin", "marketplace", "add", &market]);
        let mut install = vec!["plugin", "install", "totalrecall@totalrecall"];
        for option in options {
            install.extend(["--config", option]);
        }
        self.claude_ok(&install);
    }

    /// Puts the repository where `git` looks for it when it is asked for the address.
    fn publish(&self) {
        let checkout = self.checkout();
        let git = |folder: &Path, arguments: &[&str]| {
            let identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.invalid"];
            let output = self.command(Path::new("git")).args(identity).args(arguments).current_dir(folder).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        git(&checkout, &["init", "--quiet", "--initial-branch=main"]);
        git(&checkout, &["add", "--all"]);
        git(&checkout, &["commit", "--quiet", "--message=All"]);
        let served = self.path().join("served");
        let bare = served.join(REPOSITORY).with_extension("git");
        git(&checkout, &["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
        // The client refuses addresses on this machine; git does not ask it.
        let rule = format!("[url \"file://{}/\"]\n\tinsteadOf = {HOST}\n", served.display());
        fs::write(self.home().join(".gitconfig"), rule).unwrap();
    }

    /// Runs `claude`, which must succeed and complain of nothing.
    #[track_caller]
    pub(crate) fn claude_ok(&self, arguments: &[&str]) -> crate::person::Ran {
        let ran: crate::person::Ran = self.claude(arguments).stdin(Stdio::null()).output().unwrap().into();
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "claude {arguments:?}:\n{ran}");
        ran
    }
}

/// All files below a folder, with what is in them.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = Vec::new();
    walk(folder, &mut files);
    let relative = |file: &PathBuf| file.strip_prefix(folder).unwrap().to_owned();
    files.iter().map(|file| (relative(file), fs::read(file).unwrap_or_default())).collect()
}
