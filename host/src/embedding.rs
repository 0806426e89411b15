//! The model that says what texts mean.

use std::sync::LazyLock;

use totalrecall_retrieval::embed::Model;

/// It is a part of the executable, which the system maps into memory: opening it reads its header and nothing else.
static BUILT_IN: LazyLock<Option<Model>> =
    LazyLock::new(|| Model::open(include_bytes!("../../models/static-multilingual.bin").as_slice()).ok());

/// The model that is part of the program. None would mean that the program was built with a damaged one, which a test rules
/// out; search would go by words alone.
pub fn built_in() -> Option<&'static Model> {
    BUILT_IN.as_ref()
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_sound_and_knows_what_is_near() {
        let model = super::built_in().unwrap();
        model.verify().unwrap();
        let near = |a: &str, b: &str| -> f32 {
            let (a, b) = (model.embed(a).unwrap(), model.embed(b).unwrap());
            a.iter().zip(&b).map(|(a, b)| a * b).sum()
        };
        let asked = "the database connection fails";
        assert!(near(asked, "数据库连接失败") > near(asked, "今天天气很好") + 0.2);
        assert!(
            near("read a file into a string", "fn read_to_string(path)")
                > near("read a file into a string", "fn sleep(ms)")
        );
    }
}
