//! What an example is held to: all that `totalrecall adapters test` holds a component to.

use std::{path::Path, process::Command};

use crate::built::{run, scratch};

/// With `BLESS` in the environment the golden events are written: read them.
pub(crate) fn passes(component: &Path, fixtures: &Path) {
    let mut test = Command::new(env!("CARGO_BIN_EXE_totalrecall"));
    test.args(["adapters", "test"]).arg(component).arg("--fixtures").arg(fixtures);
    if std::env::var_os("BLESS").is_some() {
        test.arg("--bless");
    }
    // Compiled components are kept with what else is kept between runs.
    run(test.env("XDG_CACHE_HOME", scratch().join("cache")));
}
