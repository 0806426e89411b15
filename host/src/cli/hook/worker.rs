//! The worker that a hook starts.

use std::process::{Command, Stdio};

use crate::paths::Home;

/// How much of the processor it leaves to others: as `nice` does where nothing is said.
#[cfg(unix)]
const NICENESS: i32 = 10;

/// `DETACHED_PROCESS`, `CREATE_NEW_PROCESS_GROUP`, `BELOW_NORMAL_PRIORITY_CLASS`
#[cfg(windows)]
const ON_ITS_OWN: u32 = 0x0000_0008 | 0x0000_0200 | 0x0000_4000;

/// Starts `worker` so that it lives on when the client ends its process group, and leaves the processor to whoever wants it.
/// That one is running already is the second worker's matter.
#[expect(clippy::disallowed_methods, reason = "it starts ourselves")]
pub(super) fn start(home: &Home) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut worker = Command::new(program);
    worker
        .args(["worker", "--quiet", "--reconcile", "--home"])
        .arg(home.path())
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    {
        std::os::unix::process::CommandExt::process_group(&mut worker, 0);
        // Inherited by the worker; we have nothing more to do.
        let _ = rustix::process::nice(NICENESS);
    }
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(&mut worker, ON_ITS_OWN);
    let _ = worker.spawn();
}
