//! Models that can be fetched. Those that have a name here are pinned: to a revision, which a repository cannot change, and to the
//! size and hash of each file, so that it makes no difference which mirror they come from. Revisions, sizes and hashes are those
//! that several projects state which pin the same revisions, and which agree; a test holds the table to its shape.
//!
//! Any other one in the form of model2vec can be named by its repository and revision. Then what came first is what it is.

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFile {
    /// Its name.
    pub name: &'static str,
    /// How many bytes it has, and their SHA-256. None: that is not known.
    pub pinned: Option<(u64, &'static str)>,
}

/// A model that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// What it is called here.
    pub name: String,
    /// Its repository.
    pub repository: String,
    /// The commit of that: 40 hexadecimal digits.
    pub revision: String,
    /// Under which licence it is published, as an SPDX expression. Empty: that is not known.
    pub licence: &'static str,
    /// What it is good for.
    pub about: &'static str,
    /// What is fetched of it.
    pub files: [PublishedFile; 2],
}

const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";

/// Files of two models that have the same vocabulary.
const TOKENIZER_32M: (u64, &str) = (1_493_150, "7d75cbc54318138807c401b0f0c9721117c628b39de8e8e0edb6cb17e0ee7d18");

struct Row {
    name: &'static str,
    revision: &'static str,
    about: &'static str,
    weights: (u64, &'static str),
    tokenizer: (u64, &'static str),
}

/// All of these are by Minish and under the licence MIT.
const ROWS: [Row; 5] = [
    Row {
        name: "potion-base-8M",
        revision: "bf8b056651a2c21b8d2565580b8569da283cab23",
        about: "English, small",
        weights: (30_236_760, "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"),
        tokenizer: (683_666, "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50"),
    },
    Row {
        name: "potion-base-32M",
        revision: "1e5a03f8eeb2c98b928fbbd846f22f816360919f",
        about: "English",
        weights: (129_210_456, "99f6c33204c9231a7391871b7a3c91409b532c8f587a9ea44fc282303d8dec28"),
        tokenizer: TOKENIZER_32M,
    },
    Row {
        name: "potion-retrieval-32M",
        revision: "6fc8051fab2a1e0ee76689cf08c853792ac285e7",
        about: "English, made for searching",
        weights: (129_210_456, "07609e5bd33aad37900b3fd62f4ec96f6daec88ca4d46b9d8b928bfababf6ea0"),
        tokenizer: TOKENIZER_32M,
    },
    Row {
        name: "potion-code-16M-v2",
        revision: "e9d2a44ca6a05ac6685f3b23709ea57eb7352d5b",
        about: "code, and English about it",
        weights: (32_490_072, "75cf7a6c2171b230ad19b1e7d8e0b1aee86da5a02af8e7cacedd9921d227623c"),
        tokenizer: (1_024_340, "107bbdcbad4bff1d299b7a4c3a2fb17c52890688b7dd0e4c9deab79d3c4f3d45"),
    },
    Row {
        name: "potion-multilingual-128M",
        revision: "73908c3438cf03b6a01bcb9611d62b23d0726f08",
        about: "101 languages",
        weights: (512_361_560, "14b5eb39cb4ce5666da8ad1f3dc6be4346e9b2d601c073302fa0a31bf7943397"),
        tokenizer: (18_616_131, "19f1909063da3cfe3bd83a782381f040dccea475f4816de11116444a73e1b6a1"),
    },
];

impl Published {
    fn of(row: &Row) -> Self {
        Self {
            name: row.name.to_owned(),
            repository: format!("minishlab/{}", row.name),
            revision: row.revision.to_owned(),
            licence: "MIT",
            about: row.about,
            files: [(TOKENIZER, row.tokenizer), (WEIGHTS, row.weights)]
                .map(|(name, pinned)| PublishedFile { name, pinned: Some(pinned) }),
        }
    }

    /// The model that is meant by a name of the table, or by `OWNER/REPOSITORY@REVISION`. None: it is neither.
    pub fn named(asked: &str) -> Option<Self> {
        if let Some(row) = ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(asked)) {
            return Some(Self::of(row));
        }
        let (repository, revision) = asked.split_once('@')?;
        let (owner, name) = repository.split_once('/')?;
        // They become parts of an address.
        let is_part = |text: &str| {
            !text.is_empty()
                && !text.starts_with('.')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        };
        let is_revision = revision.len() == 40 && revision.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        if !is_part(owner) || !is_part(name) || !is_revision {
            return None;
        }
        // One of the table by its other name.
        let pinned = ROWS.iter().map(Self::of).find(|it| it.repository == repository && it.revision == revision);
        Some(pinned.unwrap_or_else(|| Self {
            name: name.to_owned(),
            repository: repository.to_owned(),
            revision: revision.to_owned(),
            licence: "",
            about: "",
            files: [TOKENIZER, WEIGHTS].map(|name| PublishedFile { name, pinned: None }),
        }))
    }

    /// Bytes to fetch, as far as that is known.
    pub fn bytes(&self) -> Option<u64> {
        self.files.iter().map(|file| file.pinned.map(|(bytes, _)| bytes)).sum()
    }
}

/// Those that have a name.
pub fn published() -> Vec<Published> {
    ROWS.iter().map(Published::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_has_a_name_is_pinned() {
        let is_hex = |text: &str, length| text.len() == length && text.bytes().all(|it| it.is_ascii_hexdigit());
        for model in published() {
            assert!(is_hex(&model.revision, 40), "{model:?}");
            for file in &model.files {
                let (bytes, sha256) = file.pinned.unwrap();
                assert!(bytes > 100_000 && is_hex(sha256, 64), "{model:?}");
            }
            assert_eq!(Published::named(&model.name.to_lowercase()).as_ref(), Some(&model));
            let long = format!("{}@{}", model.repository, model.revision);
            assert_eq!(Published::named(&long).as_ref(), Some(&model));
            // The head of the table is 80 bytes and padding; rows are of 256 or 512 numbers of 2 or 4 bytes.
            assert_eq!((model.files[1].pinned.unwrap().0 - 88) % 512, 0, "{model:?}");
        }
    }

    #[test]
    fn others_are_named_by_repository_and_revision() {
        let revision = "0123456789abcdef0123456789abcdef01234567";
        let own = Published::named(&format!("acme/own-model.2@{revision}")).unwrap();
        assert_eq!((own.name.as_str(), own.bytes()), ("own-model.2", None));
        for wrong in
            ["acme/own", "acme/own@main", "own@0123", "a/../b@", "../x", "acme/own/x@", "acme/o?n@", "/own@", "acme/@"]
        {
            let whole = if wrong.ends_with('@') { format!("{wrong}{revision}") } else { wrong.to_owned() };
            assert_eq!(Published::named(&whole), None, "{whole}");
        }
    }
}
