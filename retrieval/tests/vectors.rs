//! A folder of vectors: what is found in it, and what is left of it after a crash.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{collections::HashSet, fs, path::Path};

use proptest::prelude::*;
use totalrecall_retrieval::{
    Covered, Scored,
    filter::{Filter, Kinds},
    vectors::{Vectors, VectorsError, Writer},
};

const MODEL: &str = "test@1";

fn random_vector(random: &mut fastrand::Rng, dims: usize) -> Vec<f32> {
    (0..dims).map(|_| random.f32() * 2.0 - 1.0).collect()
}

fn covered(passages: u64) -> Covered {
    Covered { passages, ..Covered::default() }
}

/// Writes passages `ids`, each with a vector made of its id, in sessions of ten, kinds of five, a millisecond after another.
fn fill(folder: &Path, ids: std::ops::Range<u64>, dims: usize) {
    let mut writer = Writer::open_or_create(folder, MODEL, dims).unwrap();
    append(&mut writer, ids.clone(), dims);
    writer.commit(&covered(ids.end - 1)).unwrap();
}

fn append(writer: &mut Writer, ids: std::ops::Range<u64>, dims: usize) {
    for id in ids {
        writer.append(id, id / 10, (id % 5) as u8, Some(id as i64), &vector_of(id, dims)).unwrap();
    }
}

fn vector_of(id: u64, dims: usize) -> Vec<f32> {
    random_vector(&mut fastrand::Rng::with_seed(id), dims)
}

/// The passage is found by its own vector.
fn has(vectors: &Vectors, id: u64) -> bool {
    let found = vectors.search(&vector_of(id, vectors.dims()), 1, &Filter::default());
    found.first().is_some_and(|first| first.id == id && first.score > 0.999)
}

/// The vector as a row keeps it: whole numbers of which the largest is 127, and their length.
fn rounded(vector: &[f32]) -> (Vec<f64>, f64) {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let rounded: Vec<f64> = vector.iter().map(|x| f64::from((x / largest * 127.0).round())).collect();
    let length = rounded.iter().map(|x| x * x).sum::<f64>().sqrt();
    (rounded, length)
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let ((a, a_length), (b, b_length)) = (rounded(a), rounded(b));
    a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() / (a_length * b_length)
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let sessions = proptest::option::of(proptest::collection::hash_set(0_u64..12, 0..6));
    let kinds = proptest::option::of(proptest::collection::vec(0_u8..5, 0..4));
    let times = (proptest::option::of(0_i64..120), proptest::option::of(0_i64..120));
    let without = proptest::collection::hash_set(0_u64..12, 0..3);
    (sessions, without, kinds, times).prop_map(|(sessions, without, kinds, (from, until))| Filter {
        sessions,
        without,
        kinds: kinds.map(Kinds::from_iter),
        from,
        until,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn few_rows_are_searched_exactly(
        seed: u64, rows in 1_u64..120, dims in 1_usize..300, k in 0_usize..150, filter in any_filter(),
        removed in proptest::collection::hash_set(0_u64..120, 0..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut random = fastrand::Rng::with_seed(seed);
        let all: Vec<Vec<f32>> = (0..rows).map(|_| random_vector(&mut random, dims)).collect();
        let mut writer = Writer::open_or_create(folder.path(), MODEL, dims).unwrap();
        for (id, vector) in all.iter().enumerate() {
            writer.append(id as u64, id as u64 / 10, (id % 5) as u8, Some(id as i64), vector).unwrap();
        }
        removed.iter().for_each(|id| writer.remove(*id));
        writer.commit(&covered(rows - 1)).unwrap();

        let query = random_vector(&mut random, dims);
        let mut expected: Vec<(u64, f64)> = (0..rows)
            .filter(|id| !removed.contains(id) && filter.admits(id / 10, (id % 5) as u8, Some(*id as i64)))
            .map(|id| (id, cosine(&query, &all[id as usize])))
            .collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1));
        let found = Vectors::open(folder.path()).unwrap().search(&query, k, &filter);
        prop_assert_eq!(found.len(), k.min(expected.len()));
        for (Scored { id, session, score }, (_, wanted)) in found.iter().zip(&expected) {
            // Not their ids: two may be equally near but for the last digit.
            prop_assert!((f64::from(*score) - wanted).abs() < 1e-5);
            prop_assert!((f64::from(*score) - cosine(&query, &all[*id as usize])).abs() < 1e-5);
            prop_assert_eq!(*session, id / 10);
        }
        prop_assert_eq!(found.iter().map(|found| found.id).collect::<HashSet<_>>().len(), found.len());
    }

    #[test]
    fn a_commit_with_flipped_bytes_is_an_error(at: prop::sample::Index, flip in 1_u8..) {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path(), 0..20, 16);
        let file = folder.path().join("commit");
        let mut bytes = fs::read(&file).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        fs::write(&file, bytes).unwrap();
        prop_assert!(Vectors::open(folder.path()).unwrap_err().asks_for_rebuild());
    }

    #[test]
    fn files_of_any_length_and_content_never_panic(cut: prop::sample::Index, which: prop::sample::Index, flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20)) {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path(), 0..20, 16);
        let mut files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| fs::metadata(file).unwrap().len() > 0);
        files.sort();
        let file = which.get(&files);
        let mut bytes = fs::read(file).unwrap();
        for (at, flip) in &flips {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        fs::write(file, bytes).unwrap();
        match Vectors::open(folder.path()) {
            Ok(vectors) => prop_assert!(vectors.search(&vector_of(3, 16), 5, &Filter::default()).len() <= 5),
            Err(error) => prop_assert!(error.asks_for_rebuild(), "{error}"),
        }
    }

    #[test]
    fn a_crash_costs_only_what_was_not_committed(tail in 0_u64..30, cuts in proptest::collection::vec(any::<prop::sample::Index>(), 8)) {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path(), 0..20, 16);
        let committed: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()).map(|entry| (entry.path(), entry.metadata().unwrap().len())).collect();
        let commit = fs::read(folder.path().join("commit")).unwrap();
        // All is written and synced, and the machine dies before the commit is replaced, with any part of the new bytes on the disk.
        fill(folder.path(), 20..20 + tail.max(1), 16);
        fs::write(folder.path().join("commit"), commit).unwrap();
        for ((file, before), cut) in committed.iter().filter(|(file, _)| !file.ends_with("commit")).zip(&cuts) {
            let added = fs::metadata(file).unwrap().len() - before;
            fs::OpenOptions::new().write(true).open(file).unwrap().set_len(before + cut.index(added as usize + 1) as u64).unwrap();
        }
        let vectors = Vectors::open(folder.path()).unwrap();
        prop_assert_eq!((vectors.len(), vectors.covered()), (20, covered(19)));
        prop_assert!((0..20).all(|id| has(&vectors, id)));
        // The next writer goes on from there.
        fill(folder.path(), 20..25, 16);
        let vectors = Vectors::open(folder.path()).unwrap();
        prop_assert_eq!(vectors.len(), 25);
        prop_assert!((0..25).all(|id| has(&vectors, id)));
    }
}

#[test]
fn a_reader_sees_what_was_there_when_it_opened() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 0..50, 64);
    let before = Vectors::open(folder.path()).unwrap();
    let mut writer = Writer::open_or_create(folder.path(), MODEL, 64).unwrap();
    append(&mut writer, 50..90, 64);
    writer.remove(7);
    assert_eq!(Vectors::open(folder.path()).unwrap().len(), 50, "not committed yet");
    writer.commit(&Covered { passages: 89, removals: 1, seal: 7 }).unwrap();
    let after = Vectors::open(folder.path()).unwrap();
    assert_eq!((before.len(), after.len()), (50, 89));
    assert!(has(&before, 7) && !has(&after, 7) && has(&after, 89));
    assert_eq!(after.covered(), Covered { passages: 89, removals: 1, seal: 7 });
}

#[test]
fn what_is_appended_after_its_removal_stays() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 0..10, 64);
    let mut writer = Writer::open_or_create(folder.path(), MODEL, 64).unwrap();
    writer.remove(4);
    append(&mut writer, 4..5, 64);
    writer.commit(&covered(9)).unwrap();
    let vectors = Vectors::open(folder.path()).unwrap();
    assert_eq!(vectors.len(), 10);
    assert!(has(&vectors, 4));
}

#[test]
fn many_dead_rows_are_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 0..3_000, 64);
    let before = Vectors::open(folder.path()).unwrap();
    let size = || fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>();
    let full = size();
    let mut writer = Writer::open_or_create(folder.path(), MODEL, 64).unwrap();
    (0..1_500).for_each(|id| writer.remove(id * 2));
    writer.commit(&covered(2_999)).unwrap();
    assert!(size() < full * 6 / 10, "{} of {full}", size());
    // It goes on in the new files, and those who read the old ones have them still.
    append(&mut writer, 3_000..3_010, 64);
    writer.commit(&covered(3_009)).unwrap();
    let after = Vectors::open(folder.path()).unwrap();
    assert_eq!((before.len(), after.len()), (3_000, 1_510));
    assert!(has(&before, 0) && !has(&after, 0) && has(&after, 1) && has(&after, 3_009));
}

#[test]
fn another_model_is_an_error_until_all_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 0..10, 64);
    let error = Writer::open_or_create(folder.path(), "other@2", 32).unwrap_err();
    assert!(matches!(error, VectorsError::OtherModel { .. }) && error.asks_for_rebuild());
    let mut writer = Writer::rebuild(folder.path(), "other@2", 32).unwrap();
    append(&mut writer, 0..5, 32);
    assert_eq!(
        Vectors::open(folder.path()).unwrap().model(),
        MODEL,
        "readers have the old ones until the first commit"
    );
    writer.commit(&covered(4)).unwrap();
    let vectors = Vectors::open(folder.path()).unwrap();
    assert_eq!((vectors.model(), vectors.dims(), vectors.len()), ("other@2", 32, 5));
    assert!(has(&vectors, 4));
}

#[test]
fn there_is_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let first = Writer::open_or_create(folder.path(), MODEL, 64).unwrap();
    assert!(matches!(Writer::open_or_create(folder.path(), MODEL, 64), Err(VectorsError::Locked(_))));
    assert!(matches!(Writer::rebuild(folder.path(), MODEL, 64), Err(VectorsError::Locked(_))));
    drop(first);
    Writer::open_or_create(folder.path(), MODEL, 64).unwrap();
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Vectors::open(folder.path()), Err(VectorsError::Absent(_))));
    fill(folder.path(), 1..1, 64);
    let vectors = Vectors::open(folder.path()).unwrap();
    assert!(vectors.is_empty() && vectors.search(&[1.0; 64], 10, &Filter::default()).is_empty());
    fill(folder.path(), 1..4, 64);
    let vectors = Vectors::open(folder.path()).unwrap();
    assert!(vectors.search(&[0.0; 64], 10, &Filter::default()).is_empty(), "no direction");
    assert!(vectors.search(&[1.0; 63], 10, &Filter::default()).is_empty(), "of another model");
    assert!(matches!(
        Writer::open_or_create(folder.path(), MODEL, 64).unwrap().append(9, 9, 0, Some(0), &[1.0]),
        Err(VectorsError::Dimensions { found: 1, wanted: 64 })
    ));
}

/// 20,000 rows in clusters, as texts are: the sketches must not lose what is nearest.
#[test]
fn sketches_find_most_of_what_is_nearest() {
    let (folder, dims) = (tempfile::tempdir().unwrap(), 256);
    let mut random = fastrand::Rng::with_seed(5);
    let topics: Vec<Vec<f32>> = (0..200).map(|_| random_vector(&mut random, dims)).collect();
    let near = |topic: &[f32], random: &mut fastrand::Rng| -> Vec<f32> {
        topic.iter().map(|x| x + (random.f32() * 2.0 - 1.0)).collect()
    };
    let mut writer = Writer::open_or_create(folder.path(), MODEL, dims).unwrap();
    let mut all = Vec::new();
    for id in 0..20_000 {
        let vector = near(&topics[random.usize(..topics.len())], &mut random);
        writer.append(id, 0, 0, Some(0), &vector).unwrap();
        all.push(vector);
    }
    writer.commit(&covered(19_999)).unwrap();
    let vectors = Vectors::open(folder.path()).unwrap();
    let mut hits = 0;
    for topic in &topics[..20] {
        let query = near(topic, &mut random);
        let mut exact: Vec<(u64, f64)> = (0..).zip(&all).map(|(id, vector)| (id, cosine(&query, vector))).collect();
        exact.sort_by(|a, b| b.1.total_cmp(&a.1));
        let found: HashSet<u64> =
            vectors.search(&query, 10, &Filter::default()).into_iter().map(|found| found.id).collect();
        hits += exact[..10].iter().filter(|(id, _)| found.contains(id)).count();
    }
    assert!(hits >= 195, "{hits} of 200");
}
