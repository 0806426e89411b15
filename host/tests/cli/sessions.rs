//! Sessions as a person keeps them in order; above all, that what is deleted is gone and stays gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use totalrecall_retrieval::words::WordIndex;

use totalrecall::{
    chunk::{self, NewChunk, Sort},
    event::{Body, Event},
    memory::{self, NewMemory},
    redact::{Redactor, Settings},
    store::{PassageId, Store, WorkerLock},
};

use crate::{
    life::walk,
    support::{NOW, User, copy, fixture, settle, touch},
};

const NATIVE: &str = "3cf2385f-440a-4ac0-8d12-6dc76fa532be";

fn main_transcript(user: &User) -> PathBuf {
    user.projects().join(format!("{NATIVE}.jsonl"))
}

pub(super) fn read(user: &User) -> String {
    user.ok(&["worker", "--reconcile"]).err
}

/// Events that are stored and no copies, by the name of their transcript.
pub(super) fn stored(user: &User) -> BTreeMap<String, Vec<Event>> {
    let store = Store::open_read_only(&user.state()).unwrap();
    let mut all = BTreeMap::new();
    for session in store.sessions().unwrap() {
        for transcript in store.transcripts(session.id).unwrap() {
            let (events, _) = store.events(transcript.id, 0, 1_000_000).unwrap();
            let name = Path::new(&transcript.path).file_name().unwrap().to_string_lossy();
            all.insert(format!("{name}#{}", transcript.key), events);
        }
    }
    all
}

fn in_home(user: &User, word: &str) -> Vec<PathBuf> {
    let has = |file: &PathBuf| fs::read(file).unwrap().windows(word.len()).any(|window| window == word.as_bytes());
    walk(&user.state()).into_iter().filter(has).collect()
}

/// In how many passages and wholes a word stands by the files of the indexes, those that are left out by search included.
pub(super) fn in_indexes(user: &User, word: &str) -> u64 {
    let df = |name: &str| WordIndex::open(&user.state().join("index").join(name)).unwrap().df(word).unwrap();
    df("words") + df("groups")
}

/// So much is kept that a part of an index with it is not written anew by itself when something else is taken out.
pub(super) fn remember_many(user: &User) {
    let mut store = Store::open(&user.state()).unwrap();
    for number in 0..400 {
        let new = NewMemory { content: format!("Note number {number} is kept"), ..NewMemory::default() };
        store.add_memory(&new, 1_000).unwrap();
    }
}

/// Makes a transcript look rewritten, so that it is read from its beginning.
fn rewrite(file: &Path) {
    let later = fs::metadata(file).unwrap().modified().unwrap() + Duration::from_secs(1);
    fs::File::options().write(true).open(file).unwrap().set_modified(later).unwrap();
}

/// Every passage an index would be told of, brought up to date from the beginning.
pub(super) fn indexed(store: &Store) -> BTreeMap<i64, String> {
    let mut all = BTreeMap::new();
    for span in store.spans_after(PassageId(0), usize::MAX >> 1).unwrap() {
        store
            .read_span::<totalrecall::store::StoreError>(span, &mut |passage| {
                all.insert(passage.id.0, passage.text);
                Ok(())
            })
            .unwrap();
    }
    all
}

#[test]
fn they_are_listed_shown_renamed_and_tagged() {
    let user = User::with("2.1.120-tui");
    copy(&fixture("2.1.332-parallel-calls"), &user.projects().join("other"));
    read(&user);
    let listed = user.ok(&["sessions", "list", "--json"]).json();
    let count = listed["total"].as_u64().unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len() as u64, count);
    assert!(count >= 2, "{listed}");
    let times: Vec<_> = listed["sessions"].as_array().unwrap().iter().map(|it| it["ended_at"].as_i64()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let one = user.ok(&["sessions", "--limit", "1"]);
    assert!(one.err.contains(&format!("1 of {count} sessions")), "{one}");
    assert_eq!(user.run(&["sessions", "--tool", "codex"]).code, Some(3));
    assert_eq!(user.run(&["sessions", "--until", "2001-01-01"]).code, Some(3));
    assert_eq!(user.run(&["sessions", "--project", "nowhere"]).code, Some(1));
    assert!(user.ok(&["sessions", "--project", "/home/dev/work/demo"]).out.contains("demo"));

    let id = format!(
        "s{}",
        listed["sessions"].as_array().unwrap().iter().find(|it| it["native_id"] == NATIVE).unwrap()["id"]
            .as_str()
            .unwrap()
            .trim_start_matches('s')
    );
    for asked in [&*id, NATIVE, "3cf2385f"] {
        assert_eq!(user.ok(&["sessions", "show", asked, "--json"]).json()["session"]["id"], *id, "{asked}");
    }
    let shown = user.ok(&["sessions", "show", &id]).out;
    assert!(shown.contains("state        active") && shown.contains(NATIVE), "{shown}");

    // A secret is taken out, and so is what moves a cursor; the title survives another reading.
    let secret = "ghp_x7Kq2mP9vRt4LwZ8sYb3NcJ6hFd1GaEo5UiT";
    user.ok(&["sessions", "rename", &id, &format!("Fix\u{1b}[31m the\n mean {secret}")]);
    assert_eq!(in_home(&user, secret), Vec::<PathBuf>::new());
    rewrite(&main_transcript(&user));
    read(&user);
    let title = user.ok(&["sessions", "show", &id, "--json"]).json()["session"]["title"].as_str().unwrap().to_owned();
    assert!(title.starts_with("Fix the mean") && !title.contains(secret), "{title}");
    user.ok(&["sessions", "rename", &id, ""]);
    let title = user.ok(&["sessions", "show", &id, "--json"]).json()["session"]["title"].clone();
    assert!(title != "Fix the mean", "{title}");

    let tags =
        |arguments: &[&str]| user.ok(&[&["sessions", "tag", "--json"], arguments].concat()).json()["tags"].clone();
    assert_eq!(tags(&[&id, "+draft", "keep,sql"]), serde_json::json!(["draft", "keep", "sql"]));
    assert_eq!(tags(&[&id, "-DRAFT", "+x"]), serde_json::json!(["keep", "sql", "x"]));
    assert_eq!(user.run(&["sessions", "tag", &id, "--json"]).code, Some(2));
    assert_eq!(user.run(&["sessions", "tag", &id, secret]).code, Some(2));
    let tagged = user.ok(&["sessions", "--tag", "KEEP", "--json"]).json();
    assert_eq!((tagged["total"].as_u64(), &tagged["sessions"][0]["id"]), (Some(1), &serde_json::json!(id)));
    let found = indexed(&Store::open_read_only(&user.state()).unwrap());
    assert!(found.values().any(|text| text.contains("keep sql x")), "indexes are told of tags");

    for wrong in ["s99999", "none", "3c", "\u{1b}[31m"] {
        let ran = user.run(&["sessions", "show", wrong]);
        assert!(ran.code == Some(2) && ran.err.contains("there is no session") && !ran.err.contains('\u{1b}'), "{ran}");
    }
}

#[test]
fn an_id_that_two_have_is_told() {
    let user = User::new();
    for folder in ["a", "b"] {
        copy(&fixture("2.1.120-tui"), &user.projects().join(folder));
    }
    read(&user);
    for asked in [NATIVE, "3cf2385f"] {
        let ran = user.run(&["sessions", "show", asked]);
        assert!(ran.code == Some(2) && ran.err.contains("several sessions") && ran.err.contains("s2 ("), "{ran}");
    }
    user.ok(&["sessions", "show", "s2"]);
}

#[test]
fn what_is_exported_is_what_was_said() {
    let user = User::with("2.1.120-tui");
    read(&user);
    let json = user.ok(&["sessions", "export", NATIVE, "--format", "json"]).json();
    let all = stored(&user);
    let originals: usize = all.values().map(|events| events.iter().filter(|event| !event.copied).count()).sum();
    let exported: usize =
        json["transcripts"].as_array().unwrap().iter().map(|it| it["events"].as_array().unwrap().len()).sum();
    assert_eq!(exported, originals);
    let text = user.ok(&["sessions", "export", NATIVE]).out;
    assert!(text.contains("> Created `calc.py` with `add` and `mean`") && text.contains("### You"), "{text}");
    // No line of what was said is structure of the document.
    let structure = |line: &&str| line.starts_with('#') || line.starts_with("* ");
    let known = |line: &&str| {
        ["# ", "## 20", "### You", "### Agent", "### Summary", "* `", "* ``"]
            .iter()
            .any(|begin| line.starts_with(begin))
    };
    assert!(text.lines().filter(structure).all(|line| known(&line)), "{text}");
}

#[test]
fn a_deleted_session_is_gone_and_stays_gone() {
    let user = User::with("2.1.120-tui");
    read(&user);
    let before = stored(&user);
    let redactor = Redactor::new(&Settings::default());
    let now = NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    {
        let mut store = Store::open(&user.state()).unwrap();
        for (sort, content) in [(Sort::Snapshot, "a snapshot of divide"), (Sort::Session, "saved by intention")] {
            let new = NewChunk { content: content.into(), sort, session: Some(NATIVE.into()), ..NewChunk::default() };
            chunk::save(&mut store, &redactor, new, now).unwrap();
        }
        let new = NewMemory { content: "use pytest".into(), session: Some(NATIVE.into()), ..NewMemory::default() };
        memory::remember(&mut store, &redactor, new, now).unwrap();
        store.finish().unwrap();
    }
    user.ok(&["sessions", "tag", NATIVE, "draft"]);
    for word in ["test_calc", "divide"] {
        assert!(!in_home(&user, word).is_empty(), "{word}");
    }
    assert!(in_indexes(&user, "divide") > 0);
    fs::write(user.state().join("insights.html"), "what divide was about").unwrap();

    // It is not done unasked, and not while a worker reads.
    assert_eq!(user.run(&["sessions", "delete", NATIVE]).code, Some(2));
    let dry = user.ok(&["sessions", "delete", NATIVE, "--dry-run"]);
    assert!(dry.err.contains("2 transcripts") && dry.err.contains("1 memory and 2 chunks were saved in it"), "{dry}");
    let lock = WorkerLock::take(&user.state()).unwrap();
    let ran = user.run(&["sessions", "delete", NATIVE, "--yes"]);
    assert!(ran.code == Some(1) && ran.err.contains("try again when it has ended"), "{ran}");
    drop(lock);
    assert_eq!(stored(&user), before);

    let ran = user.ok(&["sessions", "delete", NATIVE, "--yes"]);
    assert!(ran.err.contains("Deleted 1 session with") && ran.err.contains("2 transcripts are left unread"), "{ran}");
    let nowhere = |when: &str| {
        for word in ["test_calc", "divide"] {
            assert_eq!(in_home(&user, word), Vec::<PathBuf>::new(), "{word} {when}");
        }
        assert_eq!(in_indexes(&user, "divide"), 0, "{when}");
        let status = user.ok(&["status", "--json"]).json()["status"].clone();
        for (what, count) in [("sessions", 0), ("events", 0), ("signals", 0), ("findings", 0), ("deleted", 2)] {
            assert_eq!(status[what], count, "{what} {when}: {status}");
        }
    };
    nowhere("at once");
    assert_eq!(user.run(&["sessions"]).code, Some(3));
    let store = Store::open_read_only(&user.state()).unwrap();
    assert!(indexed(&store).values().all(|text| !text.contains("divide")));
    assert_eq!(store.chunks().unwrap().len(), 1, "what was saved on purpose stays");
    assert_eq!(store.count_memories().unwrap(), 1);
    drop(store);

    // Read again, grown, replaced, gone and copied back, retried, named: it is not read.
    assert!(read(&user).contains("0 transcripts read\n"));
    nowhere("after a worker");
    let text = fs::read_to_string(main_transcript(&user)).unwrap();
    let last = text.lines().rfind(|line| line.contains("\"type\":\"user\"")).unwrap();
    OpenOptions::new()
        .append(true)
        .open(main_transcript(&user))
        .unwrap()
        .write_all(format!("{last}\n").as_bytes())
        .unwrap();
    settle(&main_transcript(&user));
    read(&user);
    nowhere("after it grew");
    fs::remove_file(main_transcript(&user)).unwrap();
    read(&user);
    fs::write(main_transcript(&user), &text).unwrap();
    touch(&main_transcript(&user), Duration::from_secs(700));
    read(&user);
    nowhere("after it was copied back");
    user.run(&["retry"]);
    read(&user);
    nowhere("after a retry");
    let path = main_transcript(&user).to_string_lossy().into_owned();
    let ran = user.ok(&["ingest", &path]);
    assert!(ran.err.contains("is left unread: its session was deleted on 2026-12-01"), "{ran}");
    nowhere("after it was named");
    // Nor is a copy of it somewhere else, nor a sub-agent that it had later.
    let elsewhere = user.projects().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join(format!("{NATIVE}.jsonl")), &text).unwrap();
    settle(&elsewhere.join(format!("{NATIVE}.jsonl")));
    read(&user);
    assert_eq!(stored(&user), BTreeMap::new());
    let agents = user.projects().join(NATIVE).join("subagents");
    let agent = walk(&agents).into_iter().find(|file| file.extension().is_some_and(|it| it == "jsonl")).unwrap();
    fs::copy(&agent, agents.join("agent-a0000000000000000.jsonl")).unwrap();
    settle(&agents.join("agent-a0000000000000000.jsonl"));
    read(&user);
    assert_eq!(stored(&user), BTreeMap::new());
    assert!(user.ok(&["status"]).out.contains("4 transcripts of sessions that you deleted"));

    // It can be let in again.
    fs::remove_dir_all(&elsewhere).unwrap();
    fs::remove_file(agents.join("agent-a0000000000000000.jsonl")).unwrap();
    let listed = user.ok(&["sessions", "undelete"]).out;
    assert_eq!(listed.lines().count(), 4, "{listed}");
    let ran = user.ok(&["sessions", "undelete", &path]);
    assert!(ran.err.contains("4 transcripts are read again"), "{ran}");
    read(&user);
    let mut after = stored(&user);
    after.retain(|name, _| before.contains_key(name));
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert_eq!(user.run(&["sessions", "undelete", &path]).code, Some(3));
}

#[test]
fn copies_of_a_deleted_session_go_with_it_and_do_not_come_back() {
    // Each file of the chain begins with all of the one before.
    let user = User::with("1.0-resume-chain");
    read(&user);
    let name = "36da431a-7a13-435b-843f-71034dd64ae9";
    let all = stored(&user);
    let original = &all[&format!("{name}.jsonl#")];
    let keys: BTreeSet<&String> = original.iter().filter(|it| !it.copied).filter_map(|it| it.key.as_ref()).collect();
    let text = |event: &Event| match &event.body {
        Body::Message(message) => Some(message.text.clone()),
        Body::ToolResult(result) => Some(result.text.clone()),
        _ => None,
    };
    let others: String = all
        .iter()
        .filter(|(file, _)| !file.starts_with(name))
        .flat_map(|(_, events)| events)
        .filter(|event| !event.key.as_ref().is_some_and(|key| keys.contains(key)))
        .map(|event| serde_json::to_string(&event.body).unwrap())
        .collect();
    let words: Vec<String> = original
        .iter()
        .filter_map(text)
        .filter_map(|text| text.lines().map(str::trim).find(|line| line.len() > 20).map(str::to_owned))
        .filter(|line| !others.contains(line.as_str()) && !line.contains(['"', '\\']))
        .collect();
    assert!(words.len() > 3, "{words:?}");
    assert!(words.iter().any(|word| !in_home(&user, word).is_empty()));
    let copied = all.iter().filter(|(file, _)| !file.starts_with(name)).flat_map(|(_, events)| events);
    assert!(copied.filter(|it| it.key.as_ref().is_some_and(|key| keys.contains(key))).count() > 10, "there are copies");

    // One of them is put away: copies in there go, too.
    {
        let mut store = Store::open(&user.state()).unwrap();
        let away = store.find_session("41487c82").unwrap().id;
        store.archive_session(away, 0).unwrap();
        store.finish().unwrap();
    }
    let ran = user.ok(&["sessions", "delete", name, "--yes", "--json"]).json();
    assert!(ran["copies"].as_u64().unwrap() > 10, "{ran}");
    let is_clean = |when: &str| {
        for word in &words {
            assert_eq!(in_home(&user, word), Vec::<PathBuf>::new(), "{word} {when}");
        }
        for (file, events) in stored(&user) {
            let copies = events.iter().filter(|it| it.key.as_ref().is_some_and(|key| keys.contains(key)));
            assert_eq!(copies.count(), 0, "{file} {when}");
        }
    };
    is_clean("at once");
    read(&user);
    is_clean("after a worker");
    walk(&user.projects()).iter().filter(|file| file.extension().is_some()).for_each(|file| rewrite(file));
    read(&user);
    is_clean("after all was read anew");
    let sessions = user.ok(&["sessions", "--json"]).json();
    assert!(sessions["total"].as_u64().unwrap() >= 2, "what came after is still known: {sessions}");
}

#[test]
fn one_of_several_sessions_of_a_database_comes_back_by_name() {
    let user = User::with_tool("opencode", "1.18-fork-and-subagent");
    read(&user);
    let before = stored(&user);
    let listed = user.ok(&["sessions", "--json"]).json();
    let ids: Vec<String> =
        listed["sessions"].as_array().unwrap().iter().map(|it| it["native_id"].as_str().unwrap().to_owned()).collect();
    assert!(ids.len() >= 2, "{listed}");
    let (one, other) = (&*ids[0], &*ids[1]);
    user.ok(&["sessions", "delete", one, other, "--yes"]);
    read(&user);
    let without = stored(&user);
    assert!(without.len() < before.len());

    // What they have in common means both, and then nothing is done.
    let path = walk(&user.home()).into_iter().find(|file| file.ends_with("opencode.db")).unwrap();
    for asked in [path.to_str().unwrap(), "opencode.db", "opencode:", "ses_"] {
        let ran = user.run(&["sessions", "undelete", asked]);
        assert!(ran.code == Some(2) && ran.err.contains("several deleted sessions"), "{asked}: {ran}");
        assert!(ran.err.contains(&format!("opencode:{one} (deleted 2026-12-01")) && ran.err.contains(other), "{ran}");
    }
    for asked in ["nothing", "ses", ""] {
        let ran = user.run(&["sessions", "undelete", asked]);
        assert!(ran.code == Some(3) && ran.err.contains("no deleted session is called"), "{asked}: {ran}");
    }
    assert_eq!(stored(&user), without);

    user.ok(&["sessions", "undelete", &format!("opencode:{one}")]);
    read(&user);
    let with_one = stored(&user);
    let is_of = |name: &str, id: &str| name.ends_with(&format!("#{id}"));
    assert!(with_one.keys().any(|name| is_of(name, one)) && !with_one.keys().any(|name| is_of(name, other)));
    user.ok(&["sessions", "undelete", other]);
    read(&user);
    // What one of them copied from the other is told by the other.
    let originals = |mut all: BTreeMap<String, Vec<Event>>| {
        all.values_mut().for_each(|events| events.retain(|event| !event.copied));
        all
    };
    assert_eq!(originals(stored(&user)), originals(before), "all of it is as it was");
    assert_eq!(user.run(&["sessions", "undelete"]).code, Some(3));
}

#[test]
fn what_was_deleted_leaves_the_files_of_indexes() {
    let user = User::with("2.1.120-tui");
    read(&user);
    let remember = |text: &str| user.ok(&["remember", text, "--json"]).json()["id"].as_str().unwrap().to_owned();
    let id = remember("The aardvark is shy");
    read(&user);
    assert!(in_indexes(&user, "aardvark") > 0);
    let ran = user.ok(&["forget", &id, "--yes"]);
    assert!(!ran.err.contains("worker"), "{ran}");
    assert_eq!(in_indexes(&user, "aardvark"), 0, "there are few");
    assert_eq!(user.run(&["search", "aardvark"]).code, Some(3));
    assert_eq!(user.ok(&["search", "divide"]).code, Some(0), "the rest is there");

    // Where there are many nobody waits for it.
    Store::open(&user.state()).unwrap().set_meta("next-passage", "30000").unwrap();
    let (first, second) = (remember("The pangolin is shy"), remember("The quokka is not"));
    remember_many(&user);
    read(&user);
    let ran = user.ok(&["forget", &first, "--yes"]);
    assert!(ran.err.contains("with one of the next runs of the worker"), "{ran}");
    assert!(in_indexes(&user, "pangolin") > 0);
    assert_eq!(user.run(&["search", "pangolin"]).code, Some(3), "it is not found in the meantime");
    read(&user);
    assert_eq!(in_indexes(&user, "pangolin"), 0);
    // Nor are they made anew again and again.
    let made = || Store::open(&user.state()).unwrap().meta("indexes-made-anew").unwrap().unwrap();
    let first = made();
    user.ok(&["forget", &second, "--yes"]);
    read(&user);
    assert_eq!(made(), first);
    assert!(in_indexes(&user, "quokka") > 0);
    assert_eq!(user.run(&["search", "quokka"]).code, Some(3));
    let mut later = user.command(&["worker"]);
    assert!(later.env("TOTALRECALL_NOW", "2026-12-01T13:00:01Z").output().unwrap().status.success());
    assert_ne!(made(), first);
    assert_eq!(in_indexes(&user, "quokka"), 0);
}
