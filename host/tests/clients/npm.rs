//! Programs that npm installs: once for each version, kept in cargo's target folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A program of a package.
pub(crate) struct Package {
    /// What it is called when it is missed.
    pub(crate) title: &'static str,
    pub(crate) name: &'static str,
    /// None: the one that npm takes by itself, which depends on the Node.js that is here.
    pub(crate) version: Option<String>,
    /// The program in the folder that npm has installed into.
    pub(crate) find: fn(&Path) -> Option<PathBuf>,
}

impl Package {
    /// The program, installed if it was not yet. An error is a sentence that says why it is missing and what to do.
    ///
    /// Where npm gets it from is npm's configuration. Nothing of the package is run but the program.
    pub(crate) fn install(&self) -> Result<PathBuf, String> {
        let clients = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
        let base = self.name.rsplit('/').next().unwrap_or(self.name);
        let folder = clients.join(format!("{base}-{}", self.version.as_deref().unwrap_or("resolved")));
        fs::create_dir_all(&clients).unwrap();
        // Two test runs at once must not install into the same folder.
        let lock = fs::File::create(clients.join("lock")).unwrap();
        lock.lock().unwrap();
        let done = folder.join("done");
        if !done.is_file() {
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            self.npm(&folder).map_err(|why| self.missing(&why))?;
            let program =
                (self.find)(&folder).ok_or_else(|| self.missing("npm has no program of it for this system"))?;
            fs::write(&done, program.strip_prefix(&folder).unwrap().as_os_str().as_encoded_bytes()).unwrap();
        }
        Ok(folder.join(fs::read_to_string(done).unwrap()))
    }

    /// As npm wants it named.
    fn wanted(&self) -> String {
        self.version.as_ref().map_or_else(|| self.name.to_owned(), |version| format!("{}@{version}", self.name))
    }

    fn missing(&self, why: &str) -> String {
        format!(
            "{} {} could not be installed: {why}\nhint: install npm (10 or newer) and see that it reaches its registry, as \
             in `npm view {}`",
            self.title,
            self.version.as_deref().unwrap_or_default(),
            self.wanted(),
        )
    }

    fn npm(&self, folder: &Path) -> Result<(), String> {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--engine-strict=false"]);
        npm.arg("--prefix").arg(folder).arg(self.wanted());
        let output = npm.current_dir(folder).output().map_err(|error| format!("npm does not start: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("npm says\n{}", String::from_utf8_lossy(&output.stderr).trim_end()))
    }
}
