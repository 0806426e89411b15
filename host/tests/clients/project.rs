//! A project with a test that fails, and how the model mends it.

use serde_json::json;

use crate::{api::Reply, person::Person};

/// What the test says when it fails.
pub(crate) const FAILURE: &str = "FAIL test_add: expected 5, got -1";

const CODE: &str = "add() { echo $(($1 - $2)); }\n";
const TEST: &str = r#". ./calc.sh
got=$(add 2 3)
[ "$got" = 5 ] || { echo "FAIL test_add: expected 5, got $got"; exit 1; }
echo "ok test_add"
"#;

/// The last thing that the model says.
pub(crate) const MENDED: &str = "Mended: add() used the wrong operator.";

impl Person {
    /// Puts the project where they work.
    pub(crate) fn break_tests(&self) {
        std::fs::write(self.work().join("calc.sh"), CODE).unwrap();
        std::fs::write(self.work().join("test.sh"), TEST).unwrap();
    }

    /// The model runs the test, which fails, looks, mends, and runs it again, which passes: five answers.
    pub(crate) fn mending(&self) -> Vec<Reply> {
        let file = self.work().join("calc.sh");
        let test = || ("Bash", json!({ "command": "sh test.sh", "description": "Run the tests" }));
        let edit = json!({ "file_path": file, "old_string": "$1 - $2", "new_string": "$1 + $2" });
        vec![
            Reply::calling("I run the tests first.", [test()]),
            Reply::calling("It subtracts. I look.", [("Read", json!({ "file_path": file }))]),
            Reply::calling("", [("Edit", edit)]),
            Reply::calling("Once more.", [test()]),
            Reply::text(MENDED),
        ]
    }

    /// The test passes.
    pub(crate) fn is_mended(&self) -> bool {
        std::fs::read_to_string(self.work().join("calc.sh")).unwrap().contains("$1 + $2")
    }
}
