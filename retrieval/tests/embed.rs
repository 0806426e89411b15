//! Models of a few pieces, each of which points in a direction of its own: so a vector tells into what a text was cut.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{collections::BTreeMap, fs, path::Path, time::Instant};

use proptest::prelude::*;
use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Value, json};
use tempfile::TempDir;
use totalrecall_retrieval::embed::{
    About, Bits, CompileError, LONGEST, Model, ModelError, Part, compile, compile_folder,
};

/// `##`-pieces go on a word, `[UNK]` stands for nothing that is known.
const WORD_PIECES: &[&str] = &["[UNK]", "un", "##know", "##n", "know", "n", ".", "中", "ete", "##", "unknow"];

/// With their scores. `▁` begins a word.
const UNIGRAM: &[(&str, f64)] = &[
    ("<unk>", 0.0),
    ("▁", -2.0),
    ("▁un", -5.0),
    ("known", -5.0),
    ("know", -4.0),
    ("n", -1.5),
    ("▁unk", -4.0),
    ("日本", -7.0),
];

fn word_piece() -> Value {
    let vocab: BTreeMap<_, _> = WORD_PIECES.iter().zip(0..).collect();
    json!({
        "added_tokens": [{"id": 0, "special": true}],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 20},
    })
}

fn unigram() -> Value {
    json!({
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}]},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": UNIGRAM},
    })
}

/// Writes a folder with `dims` numbers a row: piece `i` is the unit vector `i + shift`, or zeros if there is no such.
fn folder(tokenizer: &Value, pieces: usize, dims: usize, shift: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = vec![0.0_f32; pieces * dims];
    for piece in (0..pieces).filter(|piece| piece + shift < dims) {
        rows[piece * dims + piece + shift] = 1.0;
    }
    write(
        folder.path(),
        tokenizer,
        &[("embeddings", Dtype::F32, vec![pieces, dims], rows.iter().flat_map(|x| x.to_le_bytes()).collect())],
    );
    folder
}

fn write(folder: &Path, tokenizer: &Value, tensors: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) {
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let views = tensors
        .iter()
        .map(|(name, dtype, shape, bytes)| (*name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
    safetensors::serialize_to_file(views, None, &folder.join("model.safetensors")).unwrap();
}

fn about() -> About {
    About { name: "small".to_owned(), licence: "CC0-1.0".to_owned(), provenance: "made up".to_owned() }
}

fn part(folder: &TempDir) -> Part {
    Part { folder: folder.path().to_owned(), bits: Bits::Eight }
}

fn compiled(folders: &[&TempDir]) -> Vec<u8> {
    compile(about(), &folders.iter().map(|folder| part(folder)).collect::<Vec<_>>()).unwrap()
}

fn words() -> Model {
    Model::open(compiled(&[&folder(&word_piece(), WORD_PIECES.len(), WORD_PIECES.len(), 0)])).unwrap()
}

fn grams() -> Model {
    Model::open(compiled(&[&folder(&unigram(), UNIGRAM.len(), UNIGRAM.len(), 0)])).unwrap()
}

/// The numbers of the pieces in the text, and how often each is in it relative to the rarest.
fn pieces(model: &Model, text: &str) -> Vec<(usize, u32)> {
    let Some(vector) = model.embed(text) else { return Vec::new() };
    assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    let rarest = vector.iter().copied().filter(|x| *x > 0.0).fold(1.0, f32::min);
    let times = vector.iter().map(|x| (x / rarest).round() as u32).enumerate();
    times.filter(|(_, times)| *times > 0).collect()
}

#[test]
fn word_pieces_are_the_longest_first() {
    let model = words();
    assert_eq!(pieces(&model, "know"), [(4, 1)]);
    assert_eq!(pieces(&model, "unknown"), [(3, 1), (10, 1)], "unknow ##n, not un ##know ##n");
    assert_eq!(pieces(&model, "UNKNOWN. Know.n"), [(3, 1), (4, 1), (5, 1), (6, 2), (10, 1)]);
    assert_eq!(pieces(&model, "été中"), [(7, 1), (8, 1)]);
    assert_eq!(pieces(&model, "unknowx"), [], "a word that is not wholly known is not known");
    assert_eq!(pieces(&model, "nnnnnnnnnnnnnnnnnnnnn n"), [(5, 1)], "nor is one that is too long");
    assert_eq!(pieces(&model, "[UNK] "), []);
}

#[test]
fn unigrams_are_the_most_probable_ones() {
    let model = grams();
    assert_eq!(
        pieces(&model, "unknown"),
        [(2, 1), (3, 1)],
        "▁un known at -10 rather than ▁unk and three unknown characters"
    );
    assert_eq!(pieces(&model, "unk n"), [(1, 1), (5, 1), (6, 1)]);
    assert_eq!(pieces(&model, "ｕｎｋnow"), [(2, 1), (4, 1)], "full width is the same");
    assert_eq!(pieces(&model, "の日本n"), [(1, 1), (5, 1), (7, 1)]);
    assert_eq!(pieces(&model, " \n\u{3000}"), []);
}

#[test]
fn parts_are_added_up() {
    let dims = WORD_PIECES.len() + UNIGRAM.len();
    let (one, other) =
        (folder(&word_piece(), WORD_PIECES.len(), dims, 0), folder(&unigram(), UNIGRAM.len(), dims, WORD_PIECES.len()));
    let model = Model::open(compiled(&[&one, &other])).unwrap();
    assert_eq!(model.dims(), dims);
    assert_eq!(pieces(&model, "know n"), [(4, 1), (5, 1), (12, 2), (15, 1), (16, 1)]);
    assert_eq!(pieces(&model, "日本"), [(12, 1), (18, 1)], "where one part finds nothing the other is alone");
}

#[test]
fn pieces_of_zeros_cut_texts_and_mean_nothing() {
    // `know` and what comes after it in the vocabulary have no dimension.
    let folder = folder(&word_piece(), WORD_PIECES.len(), 4, 0);
    let model = Model::open(compiled(&[&folder])).unwrap();
    assert_eq!(pieces(&model, "un know"), [(1, 1)]);
    assert_eq!(pieces(&model, "unknown"), [(3, 1)], "unknow is longer than un, though it means nothing");
}

#[test]
fn weights_halves_and_mappings_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = json!({"pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "Unigram", "vocab": [["a", -1.0], ["b", -1.0], ["c", -1.0]]}});
    let halves: Vec<u8> = [0x3c00_u16, 0, 0, 0x3c00].iter().flat_map(|x| x.to_le_bytes()).collect();
    let mapping = [1_i64, 0, 1].iter().flat_map(|x| x.to_le_bytes()).collect();
    let weights = [3.0_f64, 1.0, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let embeddings = ("embeddings", Dtype::F16, vec![2, 2], halves);
    write(
        folder.path(),
        &tokenizer,
        &[embeddings, ("mapping", Dtype::I64, vec![3], mapping), ("weights", Dtype::F64, vec![3], weights)],
    );
    let vector = Model::open(compiled(&[&folder])).unwrap().embed("abc").unwrap();
    assert!((vector[1] / vector[0] - 4.0).abs() < 0.01, "{vector:?}");
}

#[test]
fn the_same_folder_makes_the_same_bytes_and_id() {
    let folder = folder(&word_piece(), WORD_PIECES.len(), WORD_PIECES.len(), 0);
    let (one, other) = (compiled(&[&folder]), compiled(&[&folder]));
    assert_eq!(one, other);
    let model = Model::open(one).unwrap();
    model.verify().unwrap();
    assert!(model.id().starts_with("small@") && model.id().len() == "small@".len() + 16);
    assert_eq!(*model.about(), about());
    let four = compile(about(), &[Part { bits: Bits::Four, ..part(&folder) }]).unwrap();
    assert_ne!(Model::open(four).unwrap().id(), model.id());
    let file = folder.path().join("model.bin");
    fs::write(&file, other).unwrap();
    assert_eq!(Model::map(&file).unwrap().embed("unknown"), model.embed("unknown"));
}

#[test]
fn a_folder_says_itself_what_it_is() {
    let model = |folder: &Path| Model::open(compile_folder(folder).unwrap()).unwrap();
    let dims = WORD_PIECES.len() + UNIGRAM.len();
    let one = folder(&word_piece(), WORD_PIECES.len(), dims, 0);
    assert_eq!(model(one.path()).about().name, one.path().file_name().unwrap().to_str().unwrap());
    let both = tempfile::tempdir().unwrap();
    assert!(matches!(compile_folder(both.path()), Err(CompileError::NoParts)));
    fs::rename(folder(&unigram(), UNIGRAM.len(), dims, WORD_PIECES.len()).keep(), both.path().join("2-unigram"))
        .unwrap();
    fs::rename(one.keep(), both.path().join("1-words")).unwrap();
    let told = json!({"name": "both", "licence": "CC0-1.0", "provenance": "made up", "bits": "4"});
    fs::write(both.path().join("about.json"), told.to_string()).unwrap();
    let model = model(both.path());
    assert_eq!(*model.about(), About { name: "both".to_owned(), ..about() });
    assert_eq!(pieces(&model, "know n"), [(4, 1), (5, 1), (12, 2), (15, 1), (16, 1)]);
}

#[test]
fn what_is_not_understood_is_named() {
    let unsupported = |change: fn(&mut Value)| {
        let mut tokenizer = word_piece();
        change(&mut tokenizer);
        match compile(about(), &[part(&folder(&tokenizer, WORD_PIECES.len(), 4, 0))]) {
            Err(CompileError::Unsupported(_, what)) => what,
            other => panic!("{other:?}"),
        }
    };
    assert!(unsupported(|json| json["pre_tokenizer"]["type"] = "ByteLevel".into()).contains("ByteLevel"));
    assert!(unsupported(|json| json["normalizer"]["type"] = "Nmt".into()).contains("Nmt"));
    assert!(unsupported(|json| json["model"] = json!({"type": "BPE"})).contains("neither"));
    let few_rows = folder(&word_piece(), 3, 4, 0);
    assert!(matches!(compile(about(), &[part(&few_rows)]), Err(CompileError::Malformed(..))));
    let wider = folder(&unigram(), UNIGRAM.len(), 5, 0);
    let whole = folder(&word_piece(), WORD_PIECES.len(), 4, 0);
    assert!(matches!(compile(about(), &[part(&whole), part(&wider)]), Err(CompileError::Dimensions(_, 5, 4))));
    assert!(matches!(compile(about(), &[]), Err(CompileError::NoParts)));
}

#[test]
fn a_text_without_end_takes_no_time() {
    for model in [words(), grams()] {
        for text in ["n", "unk", "の", "\u{fdfa}", "a\u{301}\u{327}", "n ", "."] {
            let long = text.repeat(50_000_000 / text.len());
            let start = Instant::now();
            let vector = model.embed(&long);
            assert!(start.elapsed().as_millis() < 500, "{text:?}: {:?}", start.elapsed());
            assert_eq!(vector, model.embed(&text.repeat(2 * LONGEST / text.len())), "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_embedded(text: String) {
        for model in [words(), grams()] {
            if let Some(vector) = model.embed(&text) {
                prop_assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn a_damaged_file_is_noticed(at: prop::sample::Index, flip in 1_u8.., cut: prop::sample::Index) {
        let mut bytes = compiled(&[&folder(&unigram(), UNIGRAM.len(), 8, 0)]);
        let short = bytes[..cut.index(bytes.len())].to_vec();
        prop_assert!(Model::open(short).is_err());
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let result = Model::open(bytes).and_then(|model| model.verify());
        prop_assert!(matches!(result, Err(ModelError::NotAModel | ModelError::OtherFormat(_) | ModelError::Damaged(_))));
    }
}
