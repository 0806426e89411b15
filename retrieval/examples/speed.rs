//! How long a search among vectors takes, and how much of what is nearest it finds, beside a plain scan of floats in the same run:
//! `speed [ROWS [MODEL TEXTS]]`.
//!
//! TEXTS is a file of a text a line, each embedded by MODEL: real texts are harder to tell apart than made-up vectors are, which are
//! used without it. Every five-hundredth text is a query, not a row. Build it with `--release`.

use std::{
    error::Error,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use totalrecall_retrieval::{
    Covered,
    embed::Model,
    filter::Filter,
    vectors::{Vectors, Writer},
};

const DIMS: usize = 256;
const QUERIES: usize = 200;
const K: usize = 10;

/// Rows one after the other, and queries.
type Sample = (Vec<f32>, Vec<Vec<f32>>);

#[expect(clippy::print_stdout, reason = "this is what it is run for")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows = arguments.first().map_or(Ok(100_000), |rows| rows.parse())?;
    let (all, queries) = match arguments.get(1..) {
        Some([model, texts]) => embedded(Path::new(model), Path::new(texts), rows)?,
        _ => made_up(rows),
    };
    let rows = all.len() / DIMS;

    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    let mut writer = Writer::open_or_create(folder.path(), "speed", DIMS)?;
    for (id, vector) in (0..).zip(all.chunks_exact(DIMS)) {
        writer.append(id, id / 50, (id % 5) as u8, Some(id as i64), vector)?;
    }
    writer.commit(&Covered::default())?;
    println!("{rows} rows of {DIMS}: written in {:.1?}", start.elapsed());

    let start = Instant::now();
    let vectors = Vectors::open(folder.path())?;
    println!("open: {:.1?}", start.elapsed());
    let start = Instant::now();
    vectors.search(&queries[0], K, &Filter::default());
    println!("first search: {:.1?}", start.elapsed());

    let (exact, plain) = timed(&queries, |query| scan(&all, query));
    let (found, quick) = timed(&queries, |query| ids(&vectors, query, &Filter::default()));
    let month = Filter { from: Some(rows as i64 * 9 / 10), ..Filter::default() };
    let (_, recent) = timed(&queries, |query| ids(&vectors, query, &month));
    let project =
        Filter { sessions: Some((0..rows as u64 / 50).filter(|id| id % 7 == 0).collect()), ..Filter::default() };
    let (_, part) = timed(&queries, |query| ids(&vectors, query, &project));
    let hits: usize =
        exact.iter().zip(&found).map(|(exact, found)| exact.iter().filter(|id| found.contains(id)).count()).sum();
    println!("plain scan of f32:          {plain}");
    println!("search:                     {quick}, recall@{K} {:.3}", hits as f64 / (queries.len() * K) as f64);
    println!("search, last tenth in time: {recent}");
    println!("search, sessions of 1 in 7: {part}");
    Ok(())
}

/// Vectors around 1,000 middles.
fn made_up(rows: usize) -> Sample {
    let mut random = fastrand::Rng::with_seed(7);
    let middles: Vec<f32> = (0..1_000 * DIMS).map(|_| random.f32() - 0.5).collect();
    let mut near = || {
        let middle = random.usize(..1_000) * DIMS;
        let vector = middles[middle..][..DIMS].iter().map(|x| x + random.f32() - 0.5);
        unit(vector.collect())
    };
    let queries = (0..QUERIES).map(|_| near()).collect();
    ((0..rows).flat_map(|_| near()).collect(), queries)
}

/// The vectors of a file of texts.
fn embedded(model: &Path, texts: &Path, rows: usize) -> Result<Sample, Box<dyn Error>> {
    let (model, texts) = (Model::map(model)?, fs::read_to_string(texts)?);
    let (mut all, mut queries) = (Vec::new(), Vec::new());
    for (line, vector) in texts.lines().filter_map(|text| model.embed(text)).enumerate() {
        if line % 500 == 0 && queries.len() < QUERIES {
            queries.push(vector);
        } else if all.len() < rows * DIMS {
            all.extend(vector);
        }
    }
    Ok((all, queries))
}

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.into_iter().map(|x| x / length).collect()
}

/// The baseline: the product with each row, and the best of them.
fn scan(all: &[f32], query: &[f32]) -> Vec<u64> {
    let product = |row: &[f32]| {
        // Sums that do not wait for each other: what a compiler may not do by itself, and everyone does.
        let mut sums = [0.0; 16];
        for (a, b) in row.as_chunks::<16>().0.iter().zip(query.as_chunks::<16>().0) {
            for i in 0..16 {
                sums[i] += a[i] * b[i];
            }
        }
        sums.iter().sum::<f32>()
    };
    let mut scores: Vec<(f32, u64)> = all.chunks_exact(DIMS).map(product).zip(0..).collect();
    let order = |a: &(f32, u64), b: &(f32, u64)| b.0.total_cmp(&a.0);
    scores.select_nth_unstable_by(K, order);
    scores[..K].iter().map(|(_, id)| *id).collect()
}

fn ids(vectors: &Vectors, query: &[f32], filter: &Filter) -> Vec<u64> {
    vectors.search(query, K, filter).into_iter().map(|found| found.id).collect()
}

/// What each query finds, and the middle and the twentieth slowest of a hundred.
fn timed(queries: &[Vec<f32>], search: impl Fn(&[f32]) -> Vec<u64>) -> (Vec<Vec<u64>>, String) {
    let mut times: Vec<Duration> = Vec::new();
    let found = queries.iter().map(|query| {
        let start = Instant::now();
        let found = search(query);
        times.push(start.elapsed());
        found
    });
    let found = found.collect();
    times.sort_unstable();
    let (middle, slow) = (times[times.len() / 2], times[times.len() * 95 / 100]);
    (found, format!("p50 {:.2} ms, p95 {:.2} ms", middle.as_secs_f64() * 1e3, slow.as_secs_f64() * 1e3))
}
