//! The model that is shipped, as a part of the executable, against the figures of another implementation: the `tokenizers` library
//! and the rows before they were rounded (`models/how/golden.py`).
#![expect(clippy::unwrap_used, reason = "tests")]

use serde::Deserialize;
use totalrecall_retrieval::embed::Model;

static SHIPPED: &[u8] = include_bytes!("../../models/static-multilingual.bin");

/// A new one makes the vectors of everybody anew.
const ID: &str = "static-multilingual@b435371ad25bcef9";

#[derive(Deserialize)]
struct Golden {
    texts: Vec<String>,
    /// Of each text with each: the cosine.
    cosines: Vec<Vec<f32>>,
}

fn model() -> Model {
    Model::open(SHIPPED).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn it_is_whole_and_small() {
    let model = model();
    model.verify().unwrap();
    assert_eq!((model.id(), model.dims()), (ID, 256));
    assert_eq!(model.about().licence, "MIT AND Apache-2.0");
    // It is copied into the cache of every client.
    assert!(SHIPPED.len() <= 10_000_000, "{}", SHIPPED.len());
}

#[test]
fn it_says_what_the_reference_says() {
    let model = model();
    let golden: Golden = serde_json::from_str(include_str!("golden/model.json")).unwrap();
    let vectors: Vec<Vec<f32>> = golden.texts.iter().map(|text| model.embed(text).unwrap()).collect();
    for (row, a) in vectors.iter().enumerate() {
        for (column, b) in vectors.iter().enumerate() {
            let (found, expected) = (cosine(a, b), golden.cosines[row][column]);
            let texts = (&golden.texts[row], &golden.texts[column]);
            assert!((found - expected).abs() < 0.03, "{texts:?}: {found} instead of {expected}");
        }
    }
}

#[test]
fn a_question_is_near_its_answer_in_another_language_and_in_code() {
    let model = model();
    let texts = [
        "The database connection is closed after thirty seconds without a query.",
        "The weather in summer is hot and dry.",
        "def read_lines(path):\n    with open(path) as file:\n        return file.read().splitlines()",
    ];
    let nearest = |question: &str| {
        let question = model.embed(question).unwrap();
        let likeness = |text: &str| cosine(&question, &model.embed(text).unwrap());
        (0..texts.len()).max_by(|a, b| likeness(texts[*a]).total_cmp(&likeness(texts[*b]))).unwrap()
    };
    assert_eq!(nearest("数据库连接什么时候关闭?"), 0);
    assert_eq!(nearest("夏天的天气怎么样?"), 1);
    assert_eq!(nearest("データベース接続はいつ切れますか"), 0);
    assert_eq!(nearest("Quand la connexion à la base de données est-elle fermée ?"), 0);
    assert_eq!(nearest("load the lines of a text file into a list"), 2);
}

#[test]
fn nothing_known_is_no_vector() {
    assert_eq!(model().embed(""), None);
    assert_eq!(model().embed("\u{1F389} …"), None);
    assert_eq!(model().embed("Соединение закрыто."), None, "rather than as every other text of this script");
}
