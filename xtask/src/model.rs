//! Compiles a static embedding model: a folder as model2vec writes it, or one of several such, to the one file that is used.

use std::path::Path;

use anyhow::ensure;

use crate::command;

/// `model FOLDER FILE`
///
/// It runs the example that does it instead of calling the function: the crate for searching takes a minute to build, and no other
/// chore should wait for it.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    ensure!(arguments.len() == 2, "name the folder of the model and the file to write");
    let example = ["run", "--quiet", "--package", "totalrecall-retrieval", "--example", "compile_model", "--"];
    let paths = arguments.iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>()?;
    command::run(command::cargo(root).args(example).args(paths))
}
