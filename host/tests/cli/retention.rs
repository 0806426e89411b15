//! Retention: what is put away reads as before, nothing that was learned changes, and the store keeps to its cap.

use std::{
    collections::BTreeMap,
    fs,
    process::Stdio,
    time::{Duration, Instant},
};

use totalrecall::{
    chunk::{self, NewChunk},
    event::Event,
    redact::{Redactor, Settings},
    store::{Store, Told, ToldCall},
};

use crate::{
    life::walk,
    sessions::{in_indexes, indexed, read, remember_many, stored},
    support::{NOW, User, copy, fixture, fixtures, settle, tools},
};

const NATIVE: &str = "3cf2385f-440a-4ac0-8d12-6dc76fa532be";

fn now() -> i64 {
    NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

/// Runs a command as if so many days had gone by.
fn later(user: &User, days: i64, arguments: &[&str]) -> crate::support::Ran {
    let then = jiff::Timestamp::from_millisecond(now() + days * 86_400_000).unwrap();
    if !user.state().join("config.toml").exists() {
        settings(user, "");
    }
    let output = user.command(arguments).env("TOTALRECALL_NOW", then.to_string()).output().unwrap();
    crate::support::Ran::of(user, output)
}

fn later_ok(user: &User, days: i64, arguments: &[&str]) -> crate::support::Ran {
    let ran = later(user, days, arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {ran}");
    ran
}

/// Has sessions be old as early as chunks, so that a month is enough to try both.
fn settings(user: &User, text: &str) {
    fs::create_dir_all(user.state()).unwrap();
    fs::write(user.state().join("config.toml"), format!("[retention]\narchive-sessions-after-days = 30\n{text}\n"))
        .unwrap();
}

fn told(store: &Store) -> Vec<ToldCall> {
    let mut all = Vec::new();
    for sort in [Told::Shell, Told::Files] {
        store.told_calls(sort, |call| all.push(call.clone())).unwrap();
    }
    all
}

/// What is learned and counted from what is stored.
fn learned(user: &User) -> serde_json::Value {
    let store = Store::open_read_only(&user.state()).unwrap();
    let mut usage = Vec::new();
    for session in store.sessions().unwrap() {
        usage.push(format!("{:?} {}", store.usage(session.id).unwrap(), store.has_pushback(session.id).unwrap()));
    }
    drop(store);
    let mut status = user.ok(&["status", "--json"]).json()["status"].take();
    for volatile in ["bytes", "archived"] {
        status.as_object_mut().unwrap().remove(volatile);
    }
    let patterns = user.run(&["patterns", "--json", "--limit", "1000"]).out;
    serde_json::json!({ "usage": usage, "status": status, "patterns": patterns })
}

/// All lines of messages, calls and results, as `grep` finds them.
fn grepped(user: &User, archived: bool) -> Vec<String> {
    let found = user.run(&["grep", "^", "--limit", "10000", "--json"]).json();
    let lines = found["lines"].as_array().unwrap();
    assert_eq!(found["total"], lines.len());
    let told = |line: &serde_json::Value| {
        assert_eq!(line["archived"].as_bool().unwrap_or_default(), archived, "{line}");
        format!("{}:{} {} {:?} {:?}", line["id"], line["number"], line["text"], line["before"], line["after"])
    };
    lines.iter().map(told).collect()
}

#[test]
fn what_is_put_away_reads_as_before_of_every_tool() {
    let mut compared = 0;
    for tool in tools() {
        for case in fs::read_dir(fixtures().join(&tool)).unwrap() {
            let case = case.unwrap().file_name().into_string().unwrap();
            if !fixtures().join(&tool).join(&case).join("transcripts").is_dir() {
                continue;
            }
            let user = User::with_tool(&tool, &case);
            if tool == "aider" {
                fs::create_dir_all(user.state()).unwrap();
                fs::write(
                    user.state().join("config.toml"),
                    "[roots]\naider = [\"~/src\"]\n[retention]\narchive-sessions-after-days = 30\n",
                )
                .unwrap();
            }
            read(&user);
            let (events, known) = (stored(&user), learned(&user));
            let lines = grepped(&user, false);
            let mut store = Store::open(&user.state()).unwrap();
            let (calls, passages) = (told(&store), indexed(&store));
            let sessions: Vec<_> = store.sessions().unwrap().into_iter().map(|it| it.id).collect();
            for session in &sessions {
                assert!(store.archive_session(*session, now()).unwrap().is_some());
                assert!(store.archive_session(*session, now()).unwrap().is_none(), "it is away");
            }
            store.finish().unwrap();
            assert_eq!(stored(&user), events, "{tool} {case}: read from where it was put");
            assert_eq!(told(&store), calls, "{tool} {case}: rules are measured as before");
            assert_eq!(grepped(&user, true), lines, "{tool} {case}: its lines are found as before");
            let titles = indexed(&store);
            assert!(titles.len() <= sessions.len(), "{tool} {case}: of each there is its title: {titles:?}");
            assert_eq!(learned(&user), known, "{tool} {case}");
            for session in &sessions {
                assert!(store.restore_session(*session).unwrap());
                assert!(!store.restore_session(*session).unwrap(), "it is back");
            }
            store.finish().unwrap();
            assert_eq!(stored(&user), events, "{tool} {case}: back");
            let mut back: Vec<_> = indexed(&store).into_values().collect();
            let mut passages: Vec<_> = passages.into_values().collect();
            back.sort();
            passages.sort();
            assert_eq!(back, passages, "{tool} {case}");
            compared += events.values().map(Vec::len).sum::<usize>();
        }
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn it_runs_by_the_rules_and_previews_them() {
    let user = User::with("2.1.120-tui");
    copy(&fixture("2.1.332-parallel-calls"), &user.projects().join("other"));
    copy(&fixture("2.1.332-headless"), &user.projects().join("third"));
    read(&user);
    let count = user.ok(&["sessions", "--json"]).json()["total"].as_u64().unwrap();
    let preview =
        |days: i64, more: &[&str]| later(&user, days, &[&["retention", "preview", "--json"], more].concat()).json();
    // What was read a moment ago is not old, however long ago it was said.
    assert_eq!(preview(0, &[])["archive"].as_array().unwrap().len(), 0);
    assert_eq!(preview(29, &[])["archive"].as_array().unwrap().len(), 0);
    assert_eq!(preview(31, &[])["archive"].as_array().unwrap().len() as u64, count);
    // A tag keeps one; a look keeps another for some time, three keep it longer.
    user.ok(&["sessions", "tag", "s1", "Keep"]);
    user.ok(&["sessions", "show", "s2"]);
    let plan = preview(29 + 2, &[]);
    assert_eq!((plan["immune"].as_u64(), plan["looked_at"].as_u64()), (Some(1), Some(0)), "a look of 31 days ago");
    later_ok(&user, 20, &["sessions", "show", "s2"]);
    let plan = preview(31, &[]);
    assert_eq!((plan["immune"].as_u64(), plan["looked_at"].as_u64()), (Some(1), Some(1)), "{plan}");
    assert_eq!(plan["archive"].as_array().unwrap().len() as u64, count - 2);
    let text = later_ok(&user, 31, &["retention", "preview"]).out;
    assert!(text.contains("1 marked as important, 1 looked at lately"), "{text}");

    // The worker does it by itself, once a day, and says so.
    let before = learned(&user);
    let ran = later_ok(&user, 31, &["worker"]);
    assert!(ran.err.contains(&format!("{} old ones put away", count - 2)), "{ran}");
    assert!(!later_ok(&user, 31, &["worker"]).err.contains("put away"));
    assert_eq!(user.ok(&["status", "--json"]).json()["status"]["archived"].as_u64(), Some(count - 2));
    assert_eq!(learned(&user), before);
    assert!(later_ok(&user, 31, &["status"]).out.contains("put away     "));
    let listed = user.ok(&["sessions"]).out;
    assert_eq!(listed.matches("archived").count() as u64, count - 2, "{listed}");

    // Nothing is thrown away because of its age unless somebody says so.
    assert!(!later_ok(&user, 400, &["worker"]).err.contains("thrown away"));
    let plan = preview(400, &["--purge"]);
    assert!(plan["purge"].as_array().unwrap().len() as u64 >= count - 2, "{plan}");
    let id = plan["purge"][0]["id"].as_str().unwrap().to_owned();
    later_ok(&user, 400, &["restore", &id]);
    let done = later_ok(&user, 400, &["retention", "run", "--purge", "--json"]).json();
    assert_eq!(done["purged"].as_u64(), Some(plan["purge"].as_array().unwrap().len() as u64 - 1), "{done}");
    let status = user.ok(&["status", "--json"]).json()["status"].clone();
    assert_eq!(status["purged"], done["purged"]);
    let is_same = |what: &str| assert_eq!(status[what], before["status"][what], "{what}");
    ["sessions", "signals", "findings"].into_iter().for_each(is_same);
    let purged = plan["purge"][1]["id"].as_str().unwrap();
    let ran = user.run(&["restore", purged]);
    assert!(ran.code == Some(1) && ran.err.contains("was purged on"), "{ran}");
    assert!(user.ok(&["sessions", "export", purged]).out.contains("What was said in it was purged."));
    assert_eq!(user.run(&["restore", "s999"]).code, Some(2));

    // Its transcripts are not read again for nothing, and whole if they go on.
    assert!(later_ok(&user, 401, &["worker", "--reconcile"]).err.contains("0 transcripts read"));
}

#[test]
fn important_words_keep_a_session() {
    let user = User::with("2.1.120-tui");
    let path = user.projects().join(format!("{NATIVE}.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    let mut line = line_with(&text, "Wait while I think about it");
    line["uuid"] = "00000000-0000-4000-8000-000000000001".into();
    line["message"]["content"] = "DECISION: we stay with pytest".into();
    fs::write(&path, format!("{text}{line}\n")).unwrap();
    settle(&path);
    read(&user);
    let plan = later(&user, 60, &["retention", "preview", "--json"]).json();
    assert_eq!((plan["immune"].as_u64(), plan["archive"].as_array().unwrap().len()), (Some(1), 0), "{plan}");
}

#[test]
fn a_session_that_goes_on_comes_back() {
    let whole = User::with("2.1.120-tui");
    read(&whole);
    let user = User::with("2.1.120-tui");
    let path = user.projects().join(format!("{NATIVE}.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    let half = text[..text.len() / 2].rfind('\n').unwrap() + 1;
    fs::write(&path, &text[..half]).unwrap();
    settle(&path);
    read(&user);
    later_ok(&user, 40, &["retention", "run"]);
    assert!(user.ok(&["sessions"]).out.contains("archived"));
    fs::write(&path, &text).unwrap();
    later_ok(&user, 41, &["worker", "--reconcile"]);
    assert!(!user.ok(&["sessions"]).out.contains("archived"));
    assert_eq!(stored(&user), stored(&whole));
    let texts = |user: &User| {
        let mut texts: Vec<_> = indexed(&Store::open_read_only(&user.state()).unwrap()).into_values().collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(&user), texts(&whole));

    // Purged, and gone on with: read from its beginning.
    later_ok(&user, 100, &["retention", "run"]);
    later_ok(&user, 300, &["retention", "run", "--purge"]);
    assert!(user.ok(&["sessions"]).out.contains("purged"));
    let last = text.lines().rfind(|line| line.contains("\"type\":\"user\"")).unwrap();
    fs::write(&path, format!("{text}{last}\n")).unwrap();
    later_ok(&user, 301, &["worker", "--reconcile"]);
    assert!(!user.ok(&["sessions"]).out.contains("purged"));
    let events = |user: &User| stored(user).into_iter().find(|(name, _)| name.starts_with("3cf")).unwrap().1.len();
    assert!(events(&user) >= events(&whole));
    let mut all = stored(&user);
    for (name, events) in stored(&whole).into_iter().filter(|(name, _)| !name.starts_with("3cf")) {
        assert_eq!(all.remove(&name), Some(events), "its sub-agents are read again, too: {name}");
    }
}

#[test]
fn what_is_gone_is_not_analysed_again_and_what_is_away_not_read_again() {
    let user = User::with("2.1.120-tui");
    copy(&fixture("2.1.332-headless"), &user.projects().join("third"));
    read(&user);
    let path = user.projects().join(format!("{NATIVE}.jsonl"));
    let session = {
        let mut store = Store::open(&user.state()).unwrap();
        let session = store.find_session(NATIVE).unwrap().id;
        let all = store.requeue_stale("claude-code", "another adapter", now()).unwrap();
        store.finish().unwrap();
        read(&user);
        store.archive_session(session, now()).unwrap();
        let rest = store.requeue_stale("claude-code", "another adapter", now()).unwrap();
        assert_eq!(rest, all - store.transcripts(session).unwrap().len(), "the one that is away is left there");
        store.finish().unwrap();
        read(&user);
        assert!(store.purge_session(session, now()).unwrap());
        store.finish().unwrap();
        session
    };
    // The session goes on; its sub-agent's transcript is gone.
    fs::remove_dir_all(user.projects().join(NATIVE)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let last = text.lines().rfind(|line| line.contains("\"type\":\"user\"")).unwrap();
    fs::write(&path, format!("{text}{last}\n")).unwrap();
    settle(&path);
    read(&user);
    let store = Store::open_read_only(&user.state()).unwrap();
    let transcripts = store.transcripts(session).unwrap();
    assert!(transcripts.len() == 2 && transcripts.iter().any(|it| it.state == "expired"), "{transcripts:?}");
    let stale = store.stale_analyses("another analyzer").unwrap();
    for transcript in transcripts {
        assert_eq!(stale.contains(&transcript.id), transcript.state == "done", "{transcript:?}");
    }
}

#[test]
fn copies_of_what_was_purged_do_not_count() {
    let user = User::with("1.0-resume-chain");
    read(&user);
    let count = |user: &User| user.ok(&["status", "--json"]).json()["status"]["events"].as_u64().unwrap();
    let before = count(&user);
    {
        let mut store = Store::open(&user.state()).unwrap();
        let session = store.find_session("36da431a").unwrap().id;
        assert!(store.purge_session(session, now()).unwrap());
        store.finish().unwrap();
    }
    // The others are read anew: what they copied of it is still no news.
    for file in walk(&user.projects()) {
        let is_purged = file.to_string_lossy().contains("36da431a");
        if !is_purged {
            let at = fs::metadata(&file).unwrap().modified().unwrap() + Duration::from_secs(1);
            fs::File::options().write(true).open(&file).unwrap().set_modified(at).unwrap();
        }
    }
    assert!(!read(&user).contains(" 0 transcripts read"));
    assert_eq!(count(&user), before);
}

#[test]
fn chunks_are_put_away_and_come_back() {
    let user = User::new();
    user.ok(&["init"]);
    let redactor = Redactor::new(&Settings::default());
    let content = "the ledger moved to Postgres\n".repeat(400);
    let mut store = Store::open(&user.state()).unwrap();
    let save = |store: &mut Store, content: &str, summary: &str| {
        let new = NewChunk {
            content: content.into(),
            summary: summary.into(),
            tags: vec!["sql".into()],
            ..NewChunk::default()
        };
        chunk::save(store, &redactor, new, now()).unwrap().chunk
    };
    let chunk = save(&mut store, &content, "Moving the ledger");
    let kept = save(&mut store, "CRITICAL: never drop the table", "Rules");
    let passages = indexed(&store).len();
    store.finish().unwrap();
    let done = later_ok(&user, 40, &["retention", "run", "--json"]).json();
    assert_eq!(done["archived"], 1, "{done}");
    assert!(store.chunk(&chunk.id).unwrap().unwrap().archived && !store.chunk(&kept.id).unwrap().unwrap().archived);
    assert_eq!(store.archived_chunk_text(chunk.row).unwrap().unwrap().trim(), content.trim());
    let summary: Vec<_> = indexed(&store).into_values().filter(|text| text.contains("Moving the ledger")).collect();
    assert_eq!(summary.len(), 1);
    assert!(summary[0].contains("sql") && !summary[0].contains("Postgres"), "{summary:?}");
    later_ok(&user, 41, &["restore", &chunk.id]);
    assert_eq!(indexed(&store).len(), passages);
    assert!(store.chunk_text(chunk.row).unwrap().unwrap().contains("Postgres"));
    assert_eq!(later(&user, 42, &["retention", "run"]).code, Some(3), "it was looked at");
    later_ok(&user, 140, &["retention", "run"]);
    later_ok(&user, 400, &["retention", "run", "--purge"]);
    assert!(store.chunk(&chunk.id).unwrap().is_none() && store.chunk(&kept.id).unwrap().is_some());
}

#[test]
fn what_is_thrown_away_leaves_the_files_of_indexes() {
    let user = User::with("2.1.120-tui");
    let redactor = Redactor::new(&Settings::default());
    let mut store = Store::open(&user.state()).unwrap();
    let new = NewChunk { content: "The wombat digs".into(), summary: "A note".into(), ..NewChunk::default() };
    chunk::save(&mut store, &redactor, new, now()).unwrap();
    drop(store);
    remember_many(&user);
    read(&user);
    later_ok(&user, 40, &["worker"]);
    let words = ["divide", "wombat"];
    assert!(words.iter().all(|word| in_indexes(&user, word) > 0), "what is put away is taken out in time");
    later_ok(&user, 400, &["retention", "run", "--purge"]);
    for word in words {
        assert_eq!(in_indexes(&user, word), 0, "{word}");
    }
}

/// The first line of a transcript in which this stands.
fn line_with(text: &str, mark: &str) -> serde_json::Value {
    serde_json::from_str(text.lines().find(|line| line.contains(mark)).unwrap()).unwrap()
}

/// Transcripts of so many sessions, each with words of its own.
fn many(user: &User, count: usize, random: &mut fastrand::Rng) {
    let text = fs::read_to_string(fixture("2.1.120-tui").join(format!("{NATIVE}.jsonl"))).unwrap();
    let mut prompt = line_with(&text, "Create a small calc module");
    let mut reply = line_with(&text, "I'll look at the project first.");
    for number in 0..count {
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        let said: String = (0..4_000).map(|_| format!("{} ", word(random))).collect();
        for line in [&mut prompt, &mut reply] {
            line["sessionId"] = id.as_str().into();
            line["parentUuid"] = serde_json::Value::Null;
        }
        prompt["uuid"] = format!("prompt-{number}").into();
        prompt["message"]["content"] = format!("write the words {number}").into();
        reply["uuid"] = format!("reply-{number}").into();
        reply["message"]["id"] = format!("msg_{number}").into();
        reply["message"]["content"] = serde_json::json!([{ "type": "text", "text": said }]);
        let folder = user.projects().join(number.to_string());
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{id}.jsonl"));
        fs::write(&file, format!("{prompt}\n{reply}\n")).unwrap();
        settle(&file);
    }
}

/// One of some thousand words; half of all that is said are few of them.
fn word(random: &mut fastrand::Rng) -> String {
    let most = if random.bool() { 60 } else { 4_000 };
    let mut letters = fastrand::Rng::with_seed(random.u64(..most));
    (0..letters.usize(2..11)).map(|_| letters.lowercase()).collect()
}

#[test]
fn a_capped_store_stays_under_its_cap() {
    let user = User::new();
    many(&user, 150, &mut fastrand::Rng::with_seed(7));
    read(&user);
    let file = |user: &User| {
        walk(&user.state())
            .iter()
            .filter(|it| it.to_string_lossy().contains("totalrecall.db"))
            .map(|it| fs::metadata(it).unwrap().len())
            .sum::<u64>()
    };
    let whole = file(&user);
    user.ok(&["sessions", "tag", "s1", "keep"]);
    let known = user.ok(&["status", "--json"]).json()["status"].clone();
    for (percent, purges) in [(80, false), (30, true)] {
        let cap = whole * percent / 100;
        settings(&user, &format!("store-bytes = {cap}"));
        let plan = user.ok(&["retention", "preview", "--json"]).json();
        assert!(plan["archive"].as_array().unwrap().iter().all(|it| it["reason"] == "size"), "{plan}");
        // By itself, at the end of a worker's run, on another day.
        let ran = later_ok(&user, if purges { 4 } else { 2 }, &["worker"]);
        assert!(ran.err.contains("put away"), "{ran}");
        assert_eq!(ran.err.contains("thrown away"), purges, "{ran}");
        assert!(file(&user) <= cap, "{} of {cap}, of {whole}: {ran}", file(&user));
    }
    let status = user.ok(&["status", "--json"]).json()["status"].clone();
    for what in ["sessions", "signals", "findings", "done"] {
        assert_eq!(status[what], known[what], "{what}");
    }
    assert!(user.ok(&["sessions", "show", "s1", "--json"]).json()["session"]["state"] == "active");
    // A cap that cannot be kept is said so.
    settings(&user, "store-bytes = 4096");
    let ran = later(&user, 6, &["worker"]);
    assert!(ran.err.contains("bytes over `retention.store-bytes`"), "{ran}");
}

#[test]
fn a_kill_leaves_each_session_here_or_there() {
    let user = User::new();
    many(&user, 60, &mut fastrand::Rng::with_seed(11));
    read(&user);
    let before: BTreeMap<String, Vec<Event>> = stored(&user);
    let mut random = fastrand::Rng::with_seed(5);
    let then = jiff::Timestamp::from_millisecond(now() + 40 * 86_400_000).unwrap().to_string();
    let began = Instant::now();
    let mut killed = 0;
    while began.elapsed() < Duration::from_secs(20) && killed < 12 {
        let mut command = user.command(&["retention", "run"]);
        let mut run =
            command.env("TOTALRECALL_NOW", &then).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.u64(5..250)));
        run.kill().unwrap();
        run.wait().unwrap();
        killed += 1;
        assert_eq!(stored(&user), before);
    }
    later(&user, 40, &["retention", "run"]);
    assert_eq!(stored(&user), before);
    assert_eq!(user.ok(&["status", "--json"]).json()["status"]["archived"], 60);
}

#[test]
fn what_was_thrown_away_is_not_imported_again() {
    let user = User::new();
    let all = serde_json::json!({ "chunks": [{ "id": "one", "content": "How the deploy of May went wrong" }] });
    fs::write(user.folder().join("kept.json"), all.to_string()).unwrap();
    let import = |what: &str| {
        let report = later_ok(&user, 400, &["import", "json", "kept.json", "--json"]).json();
        report["chunks"][what].as_u64()
    };
    user.ok(&["import", "json", "kept.json"]);
    later_ok(&user, 40, &["retention", "run"]);
    assert_eq!(import("known"), Some(1), "it is put away");
    let done = later_ok(&user, 400, &["retention", "run", "--purge", "--json"]).json();
    assert_eq!(done["purged"].as_u64(), Some(1), "{done}");
    assert_eq!(import("forgotten"), Some(1));
}
