//! Compiles a static embedding model: `compile_model FOLDER FILE`. `cargo xtask model` runs it.

use std::{error::Error, fs, path::Path};

use totalrecall_retrieval::embed::{Model, compile_folder};

#[expect(clippy::print_stdout, reason = "this is what it is run for")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, file] = arguments.as_slice() else {
        return Err("name the folder of the model and the file to write".into());
    };
    let bytes = compile_folder(Path::new(folder))?;
    fs::write(file, &bytes)?;
    let size = bytes.len();
    let model = Model::open(bytes)?;
    println!("{} of {} dimensions: {size} bytes", model.id(), model.dims());
    Ok(())
}
