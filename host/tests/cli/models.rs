//! Models that a person brings: what is found by meaning is what theirs says.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::support::{User, settle};

/// Words that mean the same to the model of [`folder`], though no other knows them; and one that does not.
const PIECES: [(&str, [f32; 4]); 4] = [
    ("[UNK]", [0.0; 4]),
    ("blorp", [0.0, 1.0, 0.0, 0.0]),
    ("snarf", [0.0, 1.0, 0.1, 0.0]),
    ("quux", [0.0, 0.0, 0.0, 1.0]),
];

/// A model as model2vec writes it.
pub(super) fn folder(user: &User, name: &str) -> String {
    let folder = user.folder().join(name);
    fs::create_dir_all(&folder).unwrap();
    let vocab: serde_json::Map<String, Value> =
        PIECES.iter().enumerate().map(|(id, (piece, _))| ((*piece).to_owned(), json!(id))).collect();
    let tokenizer = json!({
        "added_tokens": [{ "id": 0, "special": true }],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "model": { "type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 20 },
    });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let rows: Vec<u8> = PIECES.iter().flat_map(|(_, row)| row).flat_map(|x| x.to_le_bytes()).collect();
    let header =
        json!({ "embeddings": { "dtype": "F32", "shape": [4, 4], "data_offsets": [0, rows.len()] } }).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.into_bytes());
    file.extend(rows);
    fs::write(folder.join("model.safetensors"), file).unwrap();
    folder.to_string_lossy().into_owned()
}

/// One who has said two things.
pub(super) fn user() -> User {
    let user = User::new();
    for (name, prompt) in [("a", "the snarf is ready"), ("b", "the quux is red")] {
        let file = user.projects().join(format!("{name}.jsonl"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let record = json!({
            "type": "user", "uuid": format!("{name}-0000"), "parentUuid": null, "sessionId": name, "isSidechain": false,
            "cwd": "/w/a", "version": "2.1.332", "timestamp": "2026-11-20T10:00:00.000Z",
            "message": { "role": "user", "content": prompt },
        });
        fs::write(&file, format!("{record}\n")).unwrap();
        settle(&file);
    }
    user.ok(&["worker", "--reconcile"]);
    user
}

pub(super) fn found(user: &User, query: &str) -> Vec<String> {
    let ran = user.run(&["search", "--json", query]);
    let hits = ran.json()["hits"].as_array().unwrap().clone();
    hits.iter().map(|hit| hit["excerpt"].as_str().unwrap().to_owned()).collect()
}

pub(super) fn in_use(user: &User) -> Vec<String> {
    let all = user.ok(&["models", "list", "--json"]).json();
    let used = all["models"].as_array().unwrap().iter().filter(|known| known["in_use"] == true);
    used.map(|known| known["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_near_is_what_the_chosen_model_says() {
    let user = user();
    assert!(found(&user, "blorp").is_empty());
    let own = folder(&user, "own");
    let told = user.ok(&["models", "import", &own]);
    assert!(told.out.contains("4 numbers  own@") && told.err.contains("once you say"), "{told}");
    assert_eq!(in_use(&user), ["built-in"]);
    user.ok(&["models", "use", "own"]);
    assert_eq!(in_use(&user), ["own"]);
    // Vectors of two models are not compared: until they are made anew it goes by words.
    assert!(found(&user, "blorp").is_empty());
    assert_eq!(found(&user, "snarf"), ["the snarf is ready"]);
    user.ok(&["worker"]);
    assert_eq!(found(&user, "blorp"), ["the snarf is ready"]);
    user.ok(&["models", "use", "built-in"]);
    user.ok(&["reindex"]);
    assert!(found(&user, "blorp").is_empty());
}

#[test]
fn what_is_no_model_is_refused_and_leaves_nothing() {
    let user = user();
    let own = folder(&user, "own");
    for name in ["../own", ".own", "use", "built-in", "", "a/b"] {
        let ran = user.run(&["models", "import", &own, "--name", name]);
        assert_eq!(ran.code, Some(2), "{ran}");
    }
    fs::write(Path::new(&own).join("tokenizer.json"), "{}").unwrap();
    let ran = user.run(&["models", "import", &own, "--use"]);
    assert!(ran.code == Some(1) && ran.err.contains("tokenizer.json"), "{ran}");
    let ran = user.run(&["models", "use", "own"]);
    assert!(ran.code == Some(2) && ran.err.contains("there is no model `own`"), "{ran}");
    assert_eq!(user.ok(&["models", "list", "--json"]).json()["models"].as_array().unwrap().len(), 1);
    assert!(!user.state().join("models").exists());
}

#[test]
fn without_the_chosen_model_it_goes_by_words() {
    let user = user();
    user.ok(&["models", "import", &folder(&user, "own"), "--use"]);
    user.ok(&["worker"]);
    fs::write(user.state().join("models/own.bin"), "nonsense").unwrap();
    let ran = user.ok(&["search", "snarf"]);
    assert!(ran.out.contains("the snarf is ready") && ran.err.contains("searching by words alone"), "{ran}");
    let ran = user.ok(&["worker"]);
    assert!(ran.err.contains("the model own cannot be used"), "{ran}");
    assert!(user.ok(&["models", "list"]).out.contains("import it again"));
    let ran = user.ok(&["doctor"]);
    assert!(ran.out.contains("the model own cannot be used") && ran.out.contains("models use built-in"), "{ran}");
    // One that is nearly whole is not used either.
    user.ok(&["models", "import", &folder(&user, "own")]);
    let file = user.state().join("models/own.bin");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    let ran = user.ok(&["search", "snarf"]);
    assert!(ran.err.contains("is damaged") && ran.err.contains("searching by words alone"), "{ran}");
    user.ok(&["models", "use", "built-in"]);
    user.ok(&["worker"]);
    assert!(user.ok(&["doctor"]).out.contains("by words and by meaning"));
    fs::remove_dir_all(user.state().join("index/vectors")).unwrap();
    assert!(user.ok(&["doctor"]).out.contains("0% can be found by their meaning"));
}
