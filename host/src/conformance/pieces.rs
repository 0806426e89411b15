//! `chunks`, `resume` and `determinism`: what an adapter says depends on the bytes of the transcript, and on nothing else.

use super::{
    compare,
    damage::line_start,
    random::Random,
    report::{Findings, Unit},
    subject::{FEED, Reading, Sample, Shape, Subject, Transcript, first_lines, read},
};
use crate::{
    event::Event,
    sandbox::{
        Adapter, SandboxError,
        parse::{Checkpoint, Origin},
    },
};

/// What is fed one byte at a time: some seconds of calls for a guest with an interpreter in it.
const BYTEWISE: usize = 8 << 10;

/// How many transcripts are fed like that.
const BYTEWISE_SAMPLES: usize = 4;

/// Most cuts inside characters of one transcript.
const INSIDE: usize = 1_000;

/// Largest state of a checkpoint. The host stores one for each transcript, and rewrites it whenever that has grown.
const STATE: usize = 1 << 20;

const TODO_CHUNKS: &str = "keep the beginning of a record until its end has come; `totalrecall_sdk::lines` shows how";

/// Any cutting gives the same.
pub(super) fn chunks(subject: &Subject<'_>) -> Findings {
    let samples = match subject.samples() {
        Ok(samples) => samples,
        Err(why) => return Findings::not_applicable(why),
    };
    let mut findings = Findings::default();
    let mut cuttings = 0;
    let mut compare = |of: &Transcript, how: &str, whole: &Reading, pieces: &[&[u8]], findings: &mut Findings| {
        cuttings += 1;
        match read(subject.adapter, &of.origin, None, pieces.iter().copied()) {
            Ok(cut) => {
                if let Some((expected, came)) = compare::readings(whole, &cut) {
                    findings.fail(of.at(), expected, format!("{how}: {came}"), TODO_CHUNKS);
                }
            }
            Err(error) => findings.fail(of.at(), "the same events", format!("{how}: {error}"), TODO_CHUNKS),
        }
    };
    for sample in &samples {
        let mut random = Random::of(&sample.of.place);
        for longest in [64, 8 << 10] {
            let how = format!("in random pieces of up to {longest} bytes");
            compare(sample.of, &how, &sample.whole, &random_pieces(sample.bytes, longest, &mut random), &mut findings);
        }
        let inside: Vec<_> = (1..sample.bytes.len()).filter(|at| is_inside(sample.bytes, *at)).take(INSIDE).collect();
        if !inside.is_empty() {
            compare(sample.of, "cut inside characters", &sample.whole, &cut(sample.bytes, &inside), &mut findings);
        }
    }
    // The shortest ones, or the beginning of them, a byte at a time.
    let mut short: Vec<_> = samples.iter().collect();
    short.sort_by_key(|sample| sample.bytes.len());
    for sample in short.into_iter().take(BYTEWISE_SAMPLES) {
        if sample.of.shape == Shape::Document && sample.bytes.len() > BYTEWISE {
            continue;
        }
        let bytes = &sample.bytes[first_lines(sample.bytes, BYTEWISE)];
        if let Ok(whole) = read(subject.adapter, &sample.of.origin, None, [bytes]) {
            let pieces: Vec<_> = bytes.chunks(1).collect();
            compare(sample.of, "one byte at a time", &whole, &pieces, &mut findings);
        }
    }
    findings.count("cuttings", cuttings);
    findings
}

fn is_inside(bytes: &[u8], at: usize) -> bool {
    bytes[at] & 0xc0 == 0x80
}

/// Most random pieces of a transcript: the rest of it is one more.
const PIECES: usize = 2_000;

fn random_pieces<'b>(bytes: &'b [u8], longest: usize, random: &mut Random) -> Vec<&'b [u8]> {
    let (mut cuts, mut at) = (Vec::new(), 0);
    while cuts.len() < PIECES {
        at += 1 + random.below(longest);
        if at >= bytes.len() {
            break;
        }
        cuts.push(at);
    }
    cut(bytes, &cuts)
}

/// The bytes, cut before each of these places, no piece longer than the host's.
fn cut<'b>(bytes: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for to in cuts.iter().copied().chain([bytes.len()]) {
        pieces.extend(bytes[from..to].chunks(FEED));
        from = to;
    }
    pieces
}

/// Going on from a checkpoint gives what reading on gives.
pub(super) fn resume(subject: &Subject<'_>) -> Findings {
    let samples = match subject.samples() {
        Ok(samples) => samples,
        Err(why) => return Findings::not_applicable(why),
    };
    let mut findings = Findings::default();
    let (mut resumes, mut largest) = (0, 0);
    for sample in &samples {
        let mut random = Random::of(&sample.of.place);
        let points = points(sample.bytes, &mut random);
        // Each point by itself, then all of them one after the other.
        let alone = points.iter().map(std::slice::from_ref);
        for points in alone.chain([&points[..]]) {
            resumes += points.len();
            let place = format!("{} at {points:?}", sample.of.place);
            match resumed(subject.adapter, sample, points, &mut largest) {
                Ok(Ok(reading)) => {
                    if let Some((expected, came)) = compare::readings(&sample.whole, &reading) {
                        let todo = "whatever a later record depends on, line numbers and tally included, belongs into the state";
                        findings.fail((&sample.of.case, &place), expected, came, todo);
                    }
                }
                Ok(Err((expected, came))) => {
                    let todo = "a checkpoint's offset is where the first record begins that is not dealt with";
                    findings.fail((&sample.of.case, &place), expected, came, todo);
                }
                Err(error) => {
                    let todo = "the adapter must take its own state back";
                    findings.fail((&sample.of.case, &place), "the same events", error.to_string(), todo);
                }
            }
        }
    }
    if largest > STATE {
        let (expected, came) = (format!("states of at most {STATE} bytes"), format!("one of {largest} bytes"));
        findings.fail(("", ""), expected, came, "keep hashes instead of texts, and nothing that no later record needs");
    }
    findings.count("resumes", resumes);
    findings.figure("largest state", largest as f64, Unit::Bytes);
    findings
}

/// Where a transcript may have ended when it was read first: anywhere, at the end of a line among others.
fn points(bytes: &[u8], random: &mut Random) -> Vec<usize> {
    let mut points = vec![1, bytes.len()];
    for _ in 0..3 {
        let somewhere = random.below(bytes.len());
        points.push(somewhere);
        points.extend(bytes[somewhere..].iter().position(|byte| *byte == b'\n').map(|at| somewhere + at + 1));
    }
    points.sort_unstable();
    points.dedup();
    points
}

type Promised = Result<Reading, (String, String)>;

/// Reads with an end at each of these points. The inner error is an offset that the contract does not allow.
fn resumed(
    adapter: &Adapter,
    sample: &Sample<'_>,
    points: &[usize],
    largest: &mut usize,
) -> Result<Promised, SandboxError> {
    let bytes = sample.bytes;
    let (mut settled, mut from, mut state) = (Vec::new(), 0, None::<Vec<u8>>);
    for point in points {
        let (events, checkpoint) = fed(adapter, &sample.of.origin, state.as_deref(), &bytes[from..*point])?;
        settled.extend(events);
        *largest = checkpoint.state.len().max(*largest);
        let offset = checkpoint.offset;
        let ended = bytes[..*point].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = if sample.of.shape == Shape::Document { *point } else { ended };
        match usize::try_from(offset) {
            Ok(offset) if (from..=end.max(from)).contains(&offset) => from = offset,
            _ => {
                let expected = format!(
                    "after {point} bytes, an offset from {from} to {end}, where the last record ends that is whole"
                );
                return Ok(Err((expected, format!("{offset}"))));
            }
        }
        state = Some(checkpoint.state);
    }
    let mut rest = read(adapter, &sample.of.origin, state.as_deref(), bytes[from..].chunks(FEED))?;
    *largest = rest.checkpoint.state.len().max(*largest);
    settled.append(&mut rest.settled);
    rest.settled = settled;
    Ok(Ok(rest))
}

/// The same bytes give the same, whoever looks on, and what `feed` gave stays.
pub(super) fn determinism(subject: &Subject<'_>) -> Findings {
    let samples = match subject.samples() {
        Ok(samples) => samples,
        Err(why) => return Findings::not_applicable(why),
    };
    let mut findings = Findings::default();
    let mut runs = 0;
    for sample in &samples {
        for (how, run) in [
            ("a second time", again as fn(&Adapter, &Sample<'_>) -> Result<Reading, SandboxError>),
            ("with checkpoint and tally asked for on the way", looked_on),
        ] {
            runs += 1;
            let differs = match run(subject.adapter, sample) {
                Ok(reading) => {
                    let state = |reading: &Reading| format!("a state of {} bytes", reading.checkpoint.state.len());
                    compare::readings(&sample.whole, &reading).or_else(|| {
                        let same = reading.checkpoint.state == sample.whole.checkpoint.state;
                        (!same).then(|| (state(&sample.whole), format!("{}, and others", state(&reading))))
                    })
                }
                Err(error) => Some(("the same events".to_owned(), error.to_string())),
            };
            if let Some((expected, came)) = differs {
                let todo = "use nothing but the bytes: no clock, no random numbers, no order of a hash table; `checkpoint` and `tally` change nothing";
                findings.fail(sample.of.at(), expected, format!("{how}: {came}"), todo);
            }
        }
        // What was settled when the transcript was shorter is settled still.
        let half = sample.bytes.len() / 2;
        runs += 1;
        let Ok((shorter, _)) = fed(subject.adapter, &sample.of.origin, None, &sample.bytes[..half]) else { continue };
        let settled = &sample.whole.settled[..shorter.len().min(sample.whole.settled.len())];
        if let Some((came, expected)) = compare::lists("settled event", settled, &shorter) {
            let todo = "`feed` gives only what no later record changes; hold the rest back for `finish`";
            findings.fail(sample.of.at(), expected, format!("when more followed: {came}"), todo);
        }
    }
    findings.count("runs", runs);
    findings
}

/// Feeds and takes a checkpoint, without an end: half a document may well be none.
fn fed(
    adapter: &Adapter,
    origin: &Origin,
    state: Option<&[u8]>,
    bytes: &[u8],
) -> Result<(Vec<Event>, Checkpoint), SandboxError> {
    let mut parser = adapter.parser(origin, state)?;
    let mut settled = Vec::new();
    for piece in bytes.chunks(FEED) {
        settled.extend(parser.feed(piece)?);
    }
    Ok((settled, parser.checkpoint()?))
}

fn again(adapter: &Adapter, sample: &Sample<'_>) -> Result<Reading, SandboxError> {
    read(adapter, &sample.of.origin, None, sample.bytes.chunks(FEED))
}

/// Places where a checkpoint is taken: at ends of lines, so that how it is cut is not what is tested.
const LOOKS: usize = 8;

fn looked_on(adapter: &Adapter, sample: &Sample<'_>) -> Result<Reading, SandboxError> {
    let mut parser = adapter.parser(&sample.of.origin, None)?;
    let mut settled = Vec::new();
    let mut cuts: Vec<_> = (1..LOOKS).map(|look| line_start(sample.bytes, sample.bytes.len() * look / LOOKS)).collect();
    cuts.dedup();
    for piece in cut(sample.bytes, &cuts) {
        settled.extend(parser.feed(piece)?);
        parser.checkpoint()?;
        parser.tally()?;
    }
    let checkpoint = parser.checkpoint()?;
    let provisional = parser.finish()?;
    let tally = parser.tally()?;
    Ok(Reading { settled, checkpoint, provisional, tally, memory: parser.memory() })
}
