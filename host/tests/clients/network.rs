//! A network of its own for this program and all that it starts.

use std::{
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode, Stdio},
};

/// Set in the program that runs in such a network.
const ALONE: &str = "TOTALRECALL_TEST_ALONE";

const LOOPBACK: &str = "ip link set lo up";

/// Starts this program again in a network that has only loopback, where namespaces may be made; its exit code is then ours.
/// None: this is that program, or it is not possible here. Then what clients ask of the world still ends in the API, as far
/// as they heed the proxy in their environment.
pub(crate) fn alone() -> Option<ExitCode> {
    if std::env::var_os(ALONE).is_some() {
        return None;
    }
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        // With a user namespace too, so that one need not be root; root is root in there as well.
        command.args(["--map-root-user", "--net", "sh", "-c", script]);
        command
    };
    let probe = unshare(LOOPBACK).stdin(Stdio::null()).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        eprintln!("note: no network of their own for clients: namespaces, or `unshare` and `ip`, cannot be had here");
        return None;
    }
    let error = unshare(&format!("{LOOPBACK} && exec \"$0\" \"$@\""))
        .arg(std::env::current_exe().unwrap())
        .args(std::env::args_os().skip(1))
        .env(ALONE, "1")
        .exec();
    eprintln!("error: unshare has just worked and now does not start: {error}");
    Some(ExitCode::FAILURE)
}
