//! The index of words, from outside.
#![expect(clippy::unwrap_used, reason = "a test stops at what goes wrong")]

use std::{collections::HashSet, fs, path::Path};
use tempfile::TempDir;
use totalrecall_retrieval::words::*;

const ALL: Covered = Covered { passages: 1, removals: 0, seal: 5 };

fn passage(id: u64, text: &str) -> Document<'_> {
    Document {
        id,
        session: id / 10,
        kind: (id % 3) as u8,
        at: (!id.is_multiple_of(7)).then_some(id as i64 * 1000),
        text,
    }
}

/// An index with a commit after every `every` texts.
fn index(texts: &[&str], every: usize) -> (TempDir, WordIndex) {
    let folder = TempDir::new().unwrap();
    let mut writer = WordWriter::open(folder.path()).unwrap();
    for (i, batch) in texts.chunks(every).enumerate() {
        for (j, text) in batch.iter().enumerate() {
            writer.add(&passage((i * every + j) as u64, text)).unwrap();
        }
        writer.commit(&ALL).unwrap();
    }
    writer.finish().unwrap();
    let index = WordIndex::open(folder.path()).unwrap();
    (folder, index)
}

fn search(index: &WordIndex, query: &str, filter: &Filter, limit: usize) -> Vec<u64> {
    let plan = index.plan(&Query::parse(query)).unwrap();
    index.search(&plan, filter, limit).unwrap().iter().map(|scored| scored.id).collect()
}

/// Texts of words that are the rarer the higher their number.
fn texts(count: usize, seed: u64) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut word = || (1.0 / (random.f32() + 0.003)) as u32;
    (0..count).map(|i| (0..5 + i % 30).map(|_| format!("w{}x ", word())).collect()).collect()
}

#[test]
fn pruning_finds_what_looking_at_everything_does() {
    let texts = texts(3000, 1);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (_folder, index) = index(&texts, 700);
    let filters = [
        Filter::default(),
        Filter { sessions: Some((100..120).collect()), ..Filter::default() },
        Filter { kinds: Some([1].into_iter().collect()), from: Some(500_000), ..Filter::default() },
        Filter { until: Some(90_000), ..Filter::default() },
    ];
    for query in ["w1x w250x", "w30x w2x w90x w7x", "w300x", "w4x w5x"] {
        let plan = index.plan(&Query::parse(query)).unwrap();
        for filter in &filters {
            let every = index.search(&plan, &Filter::default(), 3000).unwrap();
            let admitted = |id: u64| {
                let Document { session, kind, at, .. } = passage(id, "");
                filter.admits(session, kind, at)
            };
            let expected: Vec<f32> = every.iter().filter(|s| admitted(s.id)).take(10).map(|s| s.score).collect();
            let found = index.search(&plan, filter, 10).unwrap();
            assert!(found.iter().all(|scored| admitted(scored.id)));
            let scores: Vec<f32> = found.iter().map(|scored| scored.score).collect();
            assert_eq!(scores.len(), expected.len(), "{query} {filter:?}");
            for (score, expected) in scores.iter().zip(&expected) {
                assert!((score - expected).abs() < 1e-3, "{query} {filter:?}: {scores:?} {expected:?}");
            }
        }
    }
}

#[test]
fn what_is_scanned_scores_as_what_is_indexed() {
    let texts = texts(2000, 2);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (_folder, index) = index(&texts, 2000);
    let plan = index.plan(&Query::parse("w3x w40x w110x")).unwrap();
    let indexed = index.search(&plan, &Filter::default(), 20).unwrap();
    // All of them once more: twice as many texts, and twice as many with each word, leave the scores as they are. The
    // index knows lengths to one eighth only.
    let again = texts.iter().enumerate().map(|(id, text)| passage(id as u64, text));
    let scanned = scan(&plan, again, &Filter::default(), 2000);
    for found in indexed {
        let other = scanned.iter().find(|other| other.id == found.id).unwrap();
        assert_eq!(found.session, other.session);
        assert!((found.score / other.score - 1.0).abs() < 0.05, "{found:?} {other:?}");
    }
}

#[test]
fn a_new_word_is_found_the_moment_it_is_said() {
    let (_folder, index) = index(&["old words about parsing"], 1);
    let plan = index.plan(&Query::parse("flumox parsing")).unwrap();
    let tail = [passage(5, "flumox it"), passage(6, "parsing flumox"), passage(7, "nothing")];
    let found: Vec<u64> = scan(&plan, tail, &Filter::default(), 9).iter().map(|scored| scored.id).collect();
    assert_eq!(found, [6, 5]);
    let of_session = Filter { sessions: Some(HashSet::from([1])), ..Filter::default() };
    assert!(scan(&plan, tail, &of_session, 9).is_empty());
}

#[test]
fn phrases_and_prefixes() {
    let (_folder, index) =
        index(&["the retry limit is five", "limit the retry", "a connection pool", "connect now", "who is it"], 2);
    let query = Query::parse("\"retry limit\"");
    let plan = index.plan(&query).unwrap();
    assert_eq!(index.search(&plan, &Filter::default(), 9).unwrap().len(), 2);
    assert_eq!(scan(&plan, [passage(1, "limit retry"), passage(2, "Retry limit")], &Filter::default(), 9)[0].id, 2);
    let mut found = search(&index, "conn*", &Filter::default(), 9);
    found.sort_unstable();
    assert_eq!(found, [2, 3]);
    assert_eq!(search(&index, "\"who is it\"", &Filter::default(), 9), [4]);
    assert!(search(&index, "\"retry nothing\"", &Filter::default(), 9).is_empty());
}

#[test]
fn identifiers_and_paths_are_phrases_wherever_they_stand() {
    let long = format!("in {}/src/main.rs line 3", "deeper/".repeat(20));
    let texts = [
        "a/b/src/main.rs",
        &long,
        "let x = store.getUserName()",
        "get_user_name",
        "src main rs",
        "the --dry-run of it",
    ];
    let (_folder, index) = index(&texts, 2);
    for (asked, expected) in [
        ("\"src/main.rs\"", &[0, 1][..]),
        ("\"main.rs\"", &[0, 1]),
        ("\"getUserName\"", &[2]),
        ("\"store.getUserName\"", &[2]),
        ("\"--dry-run\"", &[5]),
        ("\"get_user\"", &[3]),
    ] {
        let query = Query::parse(asked);
        let mut found: Vec<u64> = search(&index, asked, &Filter::default(), 9);
        found.retain(|id| query.holds(texts[*id as usize]));
        found.sort_unstable();
        assert_eq!(found, expected, "{asked}");
    }
}

#[test]
fn what_begins_so_counts_and_too_many_beginnings_are_told() {
    let many: Vec<String> =
        (0..70).map(|i| format!("conn{}{}x", char::from(b'a' + i / 26), char::from(b'a' + i % 26))).collect();
    let texts: Vec<&str> = many.iter().map(String::as_str).collect();
    let (_folder, index) = index(&texts, 70);
    let plan = index.plan(&Query::parse("conn*")).unwrap();
    assert_eq!(plan.cut_prefixes().collect::<Vec<_>>(), ["conn"]);
    assert_eq!(index.search(&plan, &Filter::default(), 100).unwrap().len(), 64);
    // Even one that is not searched for, such as a word that came up since.
    let matched = plan.matched("a connyyx");
    assert!(matched.share > 0.99 && matched.terms == ["connyyx"], "{matched:?}");
    let plan = index.plan(&Query::parse("conna*")).unwrap();
    assert_eq!((plan.cut_prefixes().count(), index.search(&plan, &Filter::default(), 100).unwrap().len()), (0, 26));
}

#[test]
fn a_word_that_is_newer_than_the_index_is_not_corrected() {
    let (_folder, index) = index(&["parser again", "buffer it"], 2);
    let mut plan = index.plan(&Query::parse("parsre bufer")).unwrap();
    plan.settle(["nothing", "they call it Parsre"]);
    assert_eq!(plan.corrections().collect::<Vec<_>>(), [("bufer", "buffer")]);
    assert!(index.search(&plan, &Filter::default(), 9).unwrap().iter().all(|found| found.id == 1));
}

#[test]
fn slips_are_corrected_only_in_words_nothing_holds() {
    let (_folder, index) =
        index(&["parser", "retry retrieval", "parser again", "port 8080", "cat", "embeddings", "parsec"], 3);
    let corrections = |query: &str| {
        let plan = index.plan(&Query::parse(query)).unwrap();
        plan.corrections().map(|(asked, taken)| format!("{asked}>{taken}")).collect::<Vec<_>>()
    };
    assert_eq!(corrections("parsre"), ["parsre>parser"]);
    assert_eq!(corrections("parsek"), ["parsek>parser", "parsek>parsec"]);
    assert_eq!(corrections("retreival"), ["retreival>retriev"]);
    assert!(corrections("cst 8081 parser").is_empty(), "too short, a number, known");
    assert_eq!(search(&index, "parsre", &Filter::default(), 9).len(), 2);
    assert!(!index.plan(&Query::parse("zzzz 9999")).unwrap().is_known());
}

#[test]
fn a_plan_says_what_of_a_query_a_text_holds() {
    let (_folder, index) = index(&["parser lines", "parser", "parser", "lines drop"], 9);
    let plan = index.plan(&Query::parse("parser drop unheard")).unwrap();
    let matched = plan.matched("The parser drops lines");
    assert_eq!(matched.terms, ["parser", "drop"]);
    assert!(matched.share > 0.3 && matched.share < 0.7, "{matched:?}");
    assert!(plan.matched("a parser").share < plan.matched("a drop").share);
    assert_eq!(plan.matched("").share, 0.0);
    let plan = index.plan(&Query::parse("dropLines")).unwrap();
    assert!((plan.matched("drop the lines").share - 1.0).abs() < 1e-6);
}

#[test]
fn of_a_long_query_the_rarest_known_words_count() {
    let rare: Vec<String> = (0..40).map(|i| format!("known{i}x")).collect();
    let texts =
        [rare.join(" "), "common".to_owned(), "common too".to_owned(), format!("common {}", rare[..20].join(" "))];
    let (_folder, index) = index(&texts.each_ref().map(String::as_str), 9);
    let unknown: String = (0..40).map(|i| format!("other{i}y ")).collect();
    let plan = index.plan(&Query::parse(&format!("{unknown} common {}", rare.join(" ")))).unwrap();
    let matched = plan.matched(&texts.join(" "));
    assert!(matched.terms.len() == 40 && !matched.terms.contains(&"common".to_owned()), "{matched:?}");
}

#[test]
fn removed_documents_are_gone() {
    let (folder, before) = index(&["alpha", "alpha", "alpha", "alpha"], 2);
    let mut writer = WordWriter::open(folder.path()).unwrap();
    assert_eq!(writer.covered(), ALL);
    writer.delete(2).unwrap();
    writer.add(&passage(2, "beta")).unwrap();
    writer.delete_range(0, 1).unwrap();
    writer.commit(&Covered { passages: 4, removals: 9, seal: 6 }).unwrap();
    let index = WordIndex::open(folder.path()).unwrap();
    assert_eq!(search(&before, "alpha", &Filter::default(), 9).len(), 4);
    assert_eq!(search(&index, "alpha", &Filter::default(), 9), [3]);
    assert_eq!(search(&index, "beta", &Filter::default(), 9), [2]);
    assert_eq!((index.documents(), index.df("Beta").unwrap()), (2, 1));
    assert_eq!(index.covered(), Covered { passages: 4, removals: 9, seal: 6 });
}

#[test]
fn who_waits_for_merges_has_few_segments_and_nothing_of_what_is_gone() {
    let folder = TempDir::new().unwrap();
    for id in 1..=40 {
        let mut writer = WordWriter::open(folder.path()).unwrap();
        for part in 0..10 {
            writer.add(&passage(10 * id + part, "alpha beta")).unwrap();
        }
        // Most of what was ever added goes again.
        writer.delete_range(10 * (id - 1) + 1, 10 * (id - 1) + 9).unwrap();
        writer.commit(&Covered { passages: 10 * id + 9, ..Covered::default() }).unwrap();
        writer.finish().unwrap();
    }
    let files = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let segments = files().filter(|file| file.extension().is_some_and(|extension| extension == "idx")).count();
    assert!(segments < 10, "{segments} segments");
    let index = WordIndex::open(folder.path()).unwrap();
    assert_eq!(index.documents(), 49);
    // What a term is said to be in includes what is gone until that is taken out.
    assert!(index.df("alpha").unwrap() <= 65, "{}", index.df("alpha").unwrap());
    assert_eq!(index.covered().passages, 409);
}

#[test]
fn there_is_one_writer_and_only_what_it_committed_counts() {
    let folder = TempDir::new().unwrap();
    assert!(matches!(WordIndex::open(&folder.path().join("none")), Err(Error::Missing)));
    assert!(matches!(WordIndex::open(folder.path()), Err(Error::Missing)));
    let mut writer = WordWriter::open(folder.path()).unwrap();
    assert!(matches!(WordWriter::open(folder.path()), Err(Error::Busy)));
    writer.add(&passage(1, "alpha")).unwrap();
    writer.commit(&ALL).unwrap();
    writer.add(&passage(2, "alpha")).unwrap();
    drop(writer);
    let writer = WordWriter::open(folder.path()).unwrap();
    assert_eq!(writer.covered(), ALL);
    assert_eq!(WordIndex::open(folder.path()).unwrap().documents(), 1);
}

#[test]
fn reading_leaves_no_trace() {
    let (folder, index) = index(&["alpha"], 1);
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    // The lock files are what a reader of tantivy makes, which a folder of somebody else does not let it.
    for name in names().iter().filter(|name| name.to_string_lossy().ends_with(".lock")) {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    let before = names();
    let again = WordIndex::open(folder.path()).unwrap();
    assert_eq!(search(&again, "alpha", &Filter::default(), 9), search(&index, "alpha", &Filter::default(), 9));
    assert_eq!(names(), before);
}

#[test]
fn readers_open_while_a_writer_commits_and_merges() {
    let folder = TempDir::new().unwrap();
    let mut writer = WordWriter::open(folder.path()).unwrap();
    writer.commit(&Covered::default()).unwrap();
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut opened = 0;
            loop {
                let index = WordIndex::open(folder.path()).unwrap();
                assert_eq!(index.documents(), index.covered().passages, "what is covered is what is there");
                opened += 1;
                if index.documents() == 40 {
                    return opened;
                }
            }
        });
        for id in 1..=40 {
            writer.add(&passage(id, "alpha")).unwrap();
            writer.commit(&Covered { passages: id, ..Covered::default() }).unwrap();
        }
        assert!(reading.join().unwrap() > 1);
    });
}

#[test]
fn another_format_is_told_apart() {
    let (folder, _index) = index(&["alpha"], 1);
    let meta = folder.path().join("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, text.replace("terms-1", "terms-0")).unwrap();
    assert!(matches!(WordIndex::open(folder.path()), Err(Error::OtherFormat)));
    assert!(matches!(WordWriter::open(folder.path()), Err(Error::OtherFormat)));
}

#[test]
fn damage_is_an_error_whose_answer_is_to_build_again() {
    let texts = texts(300, 3);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (folder, _index) = index(&texts, 300);
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|file| file.extension().is_none_or(|extension| extension != "lock")) {
        let whole = fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let half = &whole[..whole.len() / 2];
        for damaged in [&[][..], half, &vec![0; whole.len()]] {
            replace(&file, damaged);
            match WordIndex::open(folder.path()) {
                Err(error) => assert!(error.is_rebuild(), "{name}: {error:?}"),
                // The list of files to clean up is the writer's, and the store of fields is empty.
                Ok(_) => assert!(name.starts_with(".managed") || name.ends_with(".store"), "{name} is not missed"),
            }
        }
        replace(&file, &whole);
    }
}

#[test]
fn flipped_bits_do_not_bring_the_process_down() {
    let texts = texts(500, 4);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (folder, _index) = index(&texts, 500);
    let mut random = fastrand::Rng::with_seed(5);
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|file| file.extension().is_none_or(|extension| extension != "lock")) {
        let whole = fs::read(&file).unwrap();
        for _ in 0..20 {
            let mut damaged = whole.clone();
            let at = random.usize(..whole.len());
            damaged[at] ^= 1 << random.u32(..8);
            replace(&file, &damaged);
            let search = || {
                let index = WordIndex::open(folder.path())?;
                index.search(&index.plan(&Query::parse("w1x w250x w9 w33y"))?, &Filter::default(), 10)
            };
            // Nobody may notice; but who does has to say so.
            assert!(search().err().is_none_or(|error| error.is_rebuild()));
        }
        replace(&file, &whole);
    }
}

/// A new file, since the old one may be mapped.
fn replace(file: &Path, bytes: &[u8]) {
    fs::remove_file(file).unwrap();
    fs::write(file, bytes).unwrap();
}

#[test]
fn an_identifier_comes_before_its_parts() {
    let filler = "the event loop waits for an event and an emitter of events emits an event";
    let texts = [
        filler,
        "class EventEmitter was removed from the event-loop after a long and winding talk about other things",
        filler,
        filler,
    ];
    let (_folder, index) = index(&texts, 2);
    assert_eq!(search(&index, "EventEmitter", &Filter::default(), 1), [1]);
    let meaningless = |query: &str| index.plan(&Query::parse(query)).unwrap().meaningless();
    // Parts count fully where there is no such whole, or where they were asked for, too; others write `event-loop` in two words.
    let plain = ["LoopEmitter", "event emitter", "an event-loop?", "EventEmitter emitter event"];
    assert_eq!(plain.map(meaningless), [0.0; 4]);
    let quoted = index.plan(&Query::parse("\"removed EventEmitter,\"")).unwrap().meaningless();
    assert!(quoted > 0.0 && quoted < 1.0, "{quoted}");
    assert_eq!(["EventEmitter", "remaved"].map(meaningless), [1.0; 2]);
}
