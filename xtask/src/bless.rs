//! Takes what golden tests get as what they expect. Look at the difference before you commit it.

use std::path::Path;

use crate::command;

/// Golden files are written by the tests themselves when `BLESS` is set, snapshots by insta.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let mut test = command::cargo(root);
    test.args(["test", "--workspace"]).args(arguments).env("BLESS", "1").env("INSTA_UPDATE", "always");
    command::run(&mut test)
}
