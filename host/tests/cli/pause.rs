//! Pauses: what was said in one is never stored, however often, in however many pieces and after however many kills its
//! transcripts are read.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::OnceLock,
    time::Duration,
};

use proptest::prelude::*;
use totalrecall::{
    event::{Body, Channel, Event},
    store::{Store, WorkerLock},
};

use crate::{
    life::walk,
    sessions::{in_indexes, remember_many},
    support::{NOW, User, copy, fixture, fixtures, kept, settle},
};

/// The folder that the sessions of the fixtures were held in. It is on no machine of ours.
const DEMO: &str = "/home/dev/work/demo";

fn time(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).unwrap().to_string()
}

/// Writes the pauses as if they had been.
fn pauses(user: &User, pauses: &[(i64, Option<i64>, Option<&str>)]) {
    let rows: Vec<_> = pauses
        .iter()
        .map(|(from, until, project)| {
            let mut row = serde_json::json!({ "from": time(*from) });
            if let Some(until) = until {
                row["until"] = time(*until).into();
            }
            if let Some(project) = project {
                row["project"] = (*project).into();
            }
            row
        })
        .collect();
    fs::create_dir_all(user.state()).unwrap();
    fs::write(user.state().join("pauses.json"), serde_json::json!({ "format": 1, "pauses": rows }).to_string())
        .unwrap();
}

/// All stored events, by the name of their transcript and its key.
fn stored(user: &User) -> BTreeMap<String, Vec<Event>> {
    let store = Store::open_read_only(&user.state()).unwrap();
    let mut all = BTreeMap::new();
    for session in store.sessions().unwrap() {
        for transcript in store.transcripts(session.id).unwrap() {
            let (events, next) = store.events(transcript.id, 0, 100_000).unwrap();
            assert_eq!(next, None);
            let name = Path::new(&transcript.path).file_name().unwrap().to_string_lossy();
            all.insert(format!("{name}#{}", transcript.key), events);
        }
    }
    all.retain(|_, events| !events.is_empty());
    all
}

/// What is said in them: everything but what the session is, with line and time.
fn said<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<(u64, Option<i64>, String)> {
    events
        .into_iter()
        .filter(|event| !matches!(event.body, Body::Session(_)))
        .map(|event| (event.line, event.at, serde_json::to_string(&event.body).unwrap()))
        .collect()
}

fn session(user: &User) -> PathBuf {
    user.projects().join("3cf2385f-440a-4ac0-8d12-6dc76fa532be.jsonl")
}

fn read(user: &User) -> String {
    user.ok(&["worker", "--reconcile"]).err
}

/// Makes every transcript look rewritten, so that it is read from its beginning.
fn rewrite(user: &User) {
    for file in transcripts(user) {
        let later = fs::metadata(&file).unwrap().modified().unwrap() + Duration::from_secs(1);
        fs::File::options().write(true).open(file).unwrap().set_modified(later).unwrap();
    }
}

fn transcripts(user: &User) -> Vec<PathBuf> {
    walk(&user.home()).into_iter().filter(|file| !file.starts_with(user.state())).collect()
}

/// One who used three tools.
fn user_of_tools() -> User {
    let user = User::with("2.1.120-tui");
    for (tool, case) in [("codex", "0.171-headless"), ("opencode", "1.3-database")] {
        let transcripts = fixtures().join(tool).join(case).join("transcripts");
        totalrecall::conformance::lay_out(&transcripts, &user.home().join(kept(tool))).unwrap();
    }
    transcripts(&user).iter().for_each(|file| settle(file));
    user
}

/// What is outside of the pauses, told from all events as simply as can be.
fn outside(all: &[Event], pauses: &[(i64, Option<i64>, Option<&str>)]) -> Vec<(u64, Option<i64>, String)> {
    let first = all.iter().find_map(|event| event.at).unwrap();
    let (mut last, mut dropped) = (first, false);
    let mut kept = Vec::new();
    for event in all {
        last = event.at.unwrap_or(last);
        let is_in = |(from, until, project): &(i64, Option<i64>, Option<&str>)| {
            *from <= last && until.is_none_or(|until| last < until) && project.is_none_or(|project| project == DEMO)
        };
        let is_summary = matches!(&event.body, Body::Message(message) if message.channel == Channel::Summary);
        if pauses.iter().any(is_in) || (dropped && is_summary) {
            dropped |= !matches!(event.body, Body::Session(_));
        } else {
            kept.push(event);
        }
    }
    said(kept)
}

/// Everything that there is to be read.
static ALL: OnceLock<BTreeMap<String, Vec<Event>>> = OnceLock::new();

proptest! {
    // Each case is three runs of the program.
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_stored_is_what_was_said_outside(
        chosen in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), -1..2_i64, 0..3_usize, any::<bool>()), 1..4),
        killed_after in prop::collection::vec(0..400_u64, 3),
    ) {
        let all = ALL.get_or_init(|| {
            let user = user_of_tools();
            read(&user);
            stored(&user)
        });
        prop_assert!(all.len() >= 4, "{:?}", all.keys());
        let mut times: Vec<i64> = all.values().flatten().filter_map(|event| event.at).collect();
        times.sort_unstable();
        let pauses_of = chosen.iter().map(|(from, until, near, project, open)| {
            let (a, b) = (*from.get(&times) + near, *until.get(&times));
            let project = [None, Some(DEMO), Some("/elsewhere")][*project];
            (a.min(b), (!open).then_some(a.max(b)), project)
        });
        let these: Vec<_> = pauses_of.collect();

        let user = user_of_tools();
        pauses(&user, &these);
        for milliseconds in killed_after {
            // In the start, in the reading, between two transcripts, in the page, or after the end.
            let mut worker =
                user.command(&["worker", "--reconcile"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(milliseconds));
            worker.kill().unwrap();
            worker.wait().unwrap();
        }
        read(&user);
        for again in [false, true] {
            if again {
                rewrite(&user);
                read(&user);
            }
            let now = stored(&user);
            for (name, events) in all {
                let got = now.get(name).map(said).unwrap_or_default();
                prop_assert_eq!(got, outside(events, &these), "{} {:?}", name, these);
            }
        }
    }
}

#[test]
fn read_in_pieces_it_is_the_same() {
    let user = User::with("2.1.120-tui");
    read(&user);
    let all = stored(&user);
    let name = format!("{}#", session(&user).file_name().unwrap().to_string_lossy());
    let times: Vec<i64> = all[&name].iter().filter_map(|event| event.at).collect();
    let these = [(times[10], Some(times[30]), Some(DEMO)), (times[50], Some(times[52]), None)];

    let pieces = User::with("2.1.120-tui");
    pauses(&pieces, &these);
    let path = session(&pieces);
    let text = fs::read(&path).unwrap();
    fs::write(&path, "").unwrap();
    let mut written = 0;
    for cut in [3_000, 5_000, 20_000, 20_001, 43_210, 60_000, 80_000, text.len()] {
        OpenOptions::new().append(true).open(&path).unwrap().write_all(&text[written..cut]).unwrap();
        written = cut;
        settle(&path);
        read(&pieces);
    }
    assert_eq!(said(&stored(&pieces)[&name]), outside(&all[&name], &these));

    let dropped = |user: &User| user.ok(&["status", "--json"]).json()["status"]["dropped"].as_u64().unwrap();
    let whole = User::with("2.1.120-tui");
    pauses(&whole, &these);
    let ran = read(&whole);
    assert!(ran.contains(&format!("; {} events left out, said while paused", dropped(&whole))), "{ran}");
    assert_eq!(dropped(&pieces), dropped(&whole), "they are counted once");
    // It is filed where it was held, though the first that was said of that was said in the pause.
    pauses(&whole, &[(0, Some(times[60]), None)]);
    rewrite(&whole);
    read(&whole);
    let sessions = Store::open_read_only(&whole.state()).unwrap().sessions().unwrap();
    assert_eq!(sessions[0].project.as_deref(), Some(DEMO));
    assert_eq!(sessions[0].title, None, "its title may be of what was said then");
    assert!(sessions[0].events > 0 && sessions[0].started_at.unwrap() >= times[60]);
}

#[test]
fn of_a_session_in_a_pause_there_is_nothing_but_its_row() {
    let user = User::with("2.1.120-tui");
    let text = fs::read_to_string(session(&user)).unwrap();
    pauses(&user, &[(0, None, None)]);
    let ran = read(&user);
    assert!(ran.contains("Paused everywhere since 1970-01-01 00:00: what happens there is left out"), "{ran}");
    assert!(ran.contains("0 transcripts read, 2 skipped"), "{ran}");
    let status = user.ok(&["status", "--json"]).json();
    for (what, count) in [("skipped", 2), ("done", 0), ("sessions", 0), ("events", 0), ("signals", 0), ("findings", 0)]
    {
        assert_eq!(status["status"][what], count, "{what}: {status}");
    }
    // Not a word of it is in the home. The words are of a prompt and of a tool's result.
    for word in ["test_calc", "divide"] {
        assert!(text.contains(word));
        for file in walk(&user.state()) {
            let bytes = fs::read(&file).unwrap();
            let found = bytes.windows(word.len()).any(|window| window == word.as_bytes());
            assert!(!found, "{word} is in {}", file.display());
        }
    }
    // It is not read again for nothing, and learned from where the pause ended.
    assert!(read(&user).contains("0 transcripts read\n"));
    let end = NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond() - 300_000;
    pauses(&user, &[(0, Some(end), None)]);
    let mut file = OpenOptions::new().append(true).open(session(&user)).unwrap();
    let last = text.lines().rfind(|line| line.contains("\"type\":\"user\"")).unwrap();
    let mut last: serde_json::Value = serde_json::from_str(last).unwrap();
    (last["timestamp"], last["uuid"]) = (time(end).into(), "00000000-0000-4000-8000-000000000000".into());
    last["message"]["content"] = "and now something else".into();
    file.write_all(format!("{last}\n").as_bytes()).unwrap();
    settle(&session(&user));
    read(&user);
    let stored = stored(&user);
    let said = said(stored.values().flatten());
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].2.contains("and now something else"));
}

/// What was read before is read again once a pause lies over it.
#[test]
fn what_a_pause_takes_out_again_leaves_the_files_of_indexes() {
    for until in [None, Some(1)] {
        let user = User::with("2.1.120-tui");
        remember_many(&user);
        read(&user);
        assert!(in_indexes(&user, "divide") > 0);
        // Up to the last thing that was said in it, or further.
        let last = stored(&user).values().flatten().filter_map(|event| event.at).max().unwrap();
        pauses(&user, &[(0, until.map(|_| last), None)]);
        rewrite(&user);
        read(&user);
        assert_eq!(in_indexes(&user, "divide"), 0);
        // What was left out before is no reason to make them anew.
        let mark = user.state().join("index/mark");
        fs::write(&mark, "").unwrap();
        rewrite(&user);
        read(&user);
        assert!(mark.exists());
    }
}

#[test]
fn a_pause_holds_for_a_worker_that_is_at_it() {
    let user = User::new();
    for number in 0..150 {
        copy(&fixture("2.1.332-parallel-calls"), &user.projects().join(number.to_string()));
    }
    user.ok(&["reconcile"]);
    let mut worker = user.command(&["worker"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lock = user.state().join("worker.lock");
    while fs::read_to_string(&lock).unwrap_or_default().trim() != worker.id().to_string() {
        assert!(worker.try_wait().unwrap().is_none(), "it has ended before it was paused");
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut pause = user.command(&["pause"]);
    assert!(pause.env("TOTALRECALL_NOW", "1990-01-01T00:00:00Z").stderr(Stdio::null()).status().unwrap().success());
    assert!(worker.wait().unwrap().success());
    let status = user.ok(&["status", "--json"]).json()["status"].clone();
    let count = |what: &str| status[what].as_u64().unwrap();
    assert_eq!(count("done") + count("skipped"), 150, "{status}");
    assert!(count("skipped") > 0, "it was paused before all was read: {status}");
    // Each was read whole, or not at all.
    let whole = User::with("2.1.332-parallel-calls");
    read(&whole);
    let whole = stored(&whole).values().map(Vec::len).sum::<usize>();
    let store = Store::open_read_only(&user.state()).unwrap();
    for session in store.sessions().unwrap() {
        let transcripts = store.transcripts(session.id).unwrap();
        let events = transcripts.iter().map(|transcript| store.events(transcript.id, 0, 100_000).unwrap().0.len());
        assert_eq!(events.sum::<usize>(), whole, "{transcripts:?}");
    }
}

#[test]
fn copies_of_what_was_said_in_a_pause_are_not_learned_either() {
    // Each file of the chain begins with all of the one before, under one new time.
    let user = User::with("1.0-resume-chain");
    read(&user);
    let all = stored(&user);
    let original = &all["36da431a-7a13-435b-843f-71034dd64ae9.jsonl#"];
    let times: Vec<i64> = original.iter().filter_map(|event| event.at).collect();
    let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    let words: Vec<String> = said(original).into_iter().map(|(_, _, body)| body).collect();
    assert!(words.len() > 10);
    let copied = said(all.iter().filter(|(name, _)| !name.starts_with("36da")).flat_map(|(_, events)| events));
    assert!(copied.iter().any(|(_, _, body)| words.contains(body)), "the others hold copies");

    let user = User::with("1.0-resume-chain");
    pauses(&user, &[(*first, Some(last + 1), None)]);
    read(&user);
    for again in [false, true] {
        if again {
            rewrite(&user);
            read(&user);
        }
        let mut now = stored(&user);
        now.values_mut().for_each(|events| events.retain(|event| event.key.is_some()));
        let keys: Vec<_> = original.iter().filter_map(|event| event.key.clone()).collect();
        let left: Vec<_> = now.values().flatten().filter(|event| keys.contains(event.key.as_ref().unwrap())).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(now.len() > 2, "what came after is learned: {:?}", now.keys());
    }
}

#[test]
fn a_project_is_its_repository_with_its_worktrees_though_they_are_gone() {
    let user = User::new();
    let path = |name: &str| user.folder().canonicalize().unwrap().join(name).to_string_lossy().into_owned();
    for folder in ["app/.git/worktrees/fix", "app/src", "fix/docs", "late", "other"] {
        fs::create_dir_all(user.folder().join(folder)).unwrap();
    }
    let worktree = |name: &str| {
        fs::create_dir_all(user.folder().join("app/.git/worktrees").join(name)).unwrap();
        fs::write(path(&format!("{name}/.git")), format!("gitdir: {}\n", path(&format!("app/.git/worktrees/{name}"))))
            .unwrap();
        fs::write(path(&format!("app/.git/worktrees/{name}/gitdir")), format!("{}\n", path(&format!("{name}/.git"))))
            .unwrap();
    };
    fs::write(path("app/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    worktree("fix");
    let mut pause = user.command(&["pause", "--project", "app/src"]);
    assert!(pause.env("TOTALRECALL_NOW", "2026-01-01T00:00:00Z").status().unwrap().success());
    let kept = fs::read_to_string(user.state().join("pauses.json")).unwrap();
    assert!(kept.contains(&path("app")) && kept.contains(&path("fix")), "{kept}");
    // A worktree that is made later is seen by a hook in it.
    worktree("late");
    assert!(!hook(&user, "Stop", "late"), "it is paused there");
    assert!(fs::read_to_string(user.state().join("pauses.json")).unwrap().contains(&path("late")));
    for gone in ["fix", "late", "app"] {
        fs::remove_dir_all(user.folder().join(gone)).unwrap();
    }

    let text = fs::read_to_string(fixture("2.1.120-tui").join("3cf2385f-440a-4ac0-8d12-6dc76fa532be.jsonl")).unwrap();
    for (folder, name) in
        [("app", "a"), ("app/src", "b"), ("fix/docs", "c"), ("late", "d"), ("other", "e"), ("app-2", "f")]
    {
        let file = user.projects().join(name).join(format!("{name}.jsonl"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // Of another session each: nothing is a copy.
        let text = text.replace(DEMO, &path(folder)).replace("toolu_", &format!("toolu_{name}"));
        let text = text.replace("\"uuid\":\"", &format!("\"uuid\":\"{name}")).replace("msg_", &format!("msg_{name}"));
        fs::write(&file, text).unwrap();
        settle(&file);
    }
    let ran = read(&user);
    assert!(ran.contains("2 transcripts read, 4 skipped"), "{ran}");
    let names: Vec<_> = stored(&user).into_keys().collect();
    assert_eq!(names, ["e.jsonl#", "f.jsonl#"]);
}

/// Whether the hook of an event of a session in that folder has left a notice.
fn hook(user: &User, event: &str, cwd: &str) -> bool {
    let inbox = user.state().join("inbox");
    let count = || {
        fs::read_dir(&inbox)
            .map_or(0, |entries| entries.filter(|it| it.as_ref().unwrap().path().extension().is_some()).count())
    };
    let before = count();
    let cwd = user.folder().canonicalize().unwrap().join(cwd);
    let transcript = user.projects().join(format!("{before}.jsonl"));
    let input =
        serde_json::json!({ "transcript_path": transcript, "session_id": "s", "cwd": cwd, "hook_event_name": event });
    let mut child = user
        .command(&["hook", event])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    count() > before
}

#[test]
fn hooks_do_nothing_where_it_is_paused() {
    let user = User::with("2.1.120-tui");
    for folder in ["app", "other"] {
        fs::create_dir(user.folder().join(folder)).unwrap();
    }
    // Otherwise the worker that a hook starts takes the notices while they are counted.
    user.ok(&["init"]);
    let _worker = WorkerLock::take(&user.state()).unwrap();
    for event in ["Stop", "SessionStart", "PreCompact"] {
        assert!(hook(&user, event, "app"), "{event}");
    }
    user.ok(&["pause", "--project", "app"]);
    for event in ["Stop", "SessionStart", "SessionEnd", "PreCompact", "SubagentStop"] {
        assert!(!hook(&user, event, "app"), "{event}");
    }
    assert!(hook(&user, "Stop", "other"));
    user.ok(&["pause"]);
    assert!(!hook(&user, "Stop", "other"));
    user.ok(&["resume"]);
    assert!(hook(&user, "Stop", "other") && !hook(&user, "Stop", "app"));
    user.ok(&["resume", "--project", "app"]);
    assert!(hook(&user, "Stop", "app"));
}

#[test]
fn what_is_paused_is_said_wherever_it_matters() {
    let user = User::with("2.1.120-tui");
    fs::create_dir(user.folder().join("app")).unwrap();
    read(&user);
    let paused = |user: &User| user.ok(&["status", "--json"]).json()["paused"].clone();
    assert_eq!(paused(&user), serde_json::json!([]));
    let mut said = String::new();
    for arguments in [
        &["pause"][..],
        &["pause"],
        &["pause", "--project", "app"],
        &["resume"],
        &["resume"],
        &["insights", "--path"],
        &["reconcile"],
        &["worker"],
        &["ingest", "home/.claude/projects"],
        &["learn", "--dry-run"],
        &["resume", "--project", "app"],
        &["resume", "--project", "app"],
    ] {
        let ran = user.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran}");
        said += &format!("$ totalrecall {}\n{}", arguments.join(" "), ran.err);
    }
    insta::assert_snapshot!("pause", said);

    let now = NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let app = user.folder().canonicalize().unwrap().join("app");
    let both = serde_json::json!([{ "since": now, "project": null }, { "since": now, "project": app }]);
    let as_json = |arguments: &[&str]| {
        serde_json::from_slice::<serde_json::Value>(&user.command(arguments).output().unwrap().stdout).unwrap()
    };
    assert_eq!(as_json(&["pause", "--json"])["changed"], true);
    assert_eq!(as_json(&["pause", "--json"])["changed"], false);
    assert_eq!(as_json(&["pause", "--json", "--project", "app"])["paused"], both);
    assert_eq!(as_json(&["status", "--json"])["paused"], both);
    let status = user.ok(&["status"]).out;
    assert!(status.contains("Paused everywhere since 2026-12-01 12:00"), "{status}");
    assert_eq!(as_json(&["resume", "--json"])["paused"][0]["project"], app.to_string_lossy().as_ref());
    assert_eq!(user.run(&["pause", "--project", "nowhere"]).code, Some(1));
    // A folder that is gone can still be named.
    fs::remove_dir(user.folder().join("app")).unwrap();
    assert_eq!(
        as_json(&["resume", "--json", "--project", "app"]),
        serde_json::json!({ "changed": true, "paused": [] })
    );
    // Broken settings keep nobody from pausing.
    fs::write(user.state().join("config.toml"), "][").unwrap();
    user.ok(&["pause"]);
}

#[test]
fn a_file_of_pauses_that_cannot_be_understood_counts_as_a_pause() {
    for text in ["", "][", "{\"format\":2,\"pauses\":[]}", "{\"format\":1,\"pauses\":[{\"from\":\"yesterday\"}]}"] {
        let user = User::with("2.1.120-tui");
        fs::create_dir_all(user.state()).unwrap();
        fs::write(user.state().join("pauses.json"), text).unwrap();
        assert!(!hook(&user, "Stop", "."), "{text}");
        let ran = user.run(&["worker", "--reconcile"]);
        assert_eq!(ran.code, Some(1), "{text}: {ran}");
        assert!(ran.err.contains("pauses.json cannot be understood") && ran.err.contains("hint: Until"), "{ran}");
        assert_eq!(user.ok(&["status", "--json"]).json()["status"]["events"], 0);
        assert!(user.ok(&["status"]).out.contains("cannot be understood"));
        for command in ["pause", "resume"] {
            assert_eq!(user.run(&[command]).code, Some(1), "{command} does not write over it");
        }
        assert_eq!(fs::read_to_string(user.state().join("pauses.json")).unwrap(), text);
        fs::remove_file(user.state().join("pauses.json")).unwrap();
        assert!(read(&user).contains("2 transcripts read"));
    }
}

#[test]
fn many_at_once_leave_each_pause_whole() {
    let user = User::new();
    for folder in 0..4 {
        fs::create_dir(user.folder().join(folder.to_string())).unwrap();
    }
    let mut children = Vec::new();
    for round in 0..8 {
        for folder in ["0", "1", "2", "3"] {
            let verb = ["pause", "resume"][round % 2];
            let mut command = user.command(&[verb, "--project", folder]);
            // The real time, so that there is an order.
            command.env_remove("TOTALRECALL_NOW").stdout(Stdio::null()).stderr(Stdio::null());
            children.push(command.spawn().unwrap());
        }
    }
    // A killed one must not leave half of a file, nor its lock.
    for child in children.iter_mut().skip(1).step_by(7) {
        child.kill().unwrap();
    }
    for (index, mut child) in children.into_iter().enumerate() {
        let status = child.wait().unwrap();
        assert!(status.success() || index % 7 == 1, "{index}: {status}");
    }
    let pauses = totalrecall::pause::load(&user.state()).unwrap();
    for folder in 0..4 {
        let end = format!("/{folder}");
        let of: Vec<_> = pauses.0.iter().filter(|pause| pause.place.as_ref().unwrap().path.ends_with(&end)).collect();
        for pair in of.windows(2) {
            assert!(pair[0].until.is_some_and(|until| until <= pair[1].from), "{pair:?}");
        }
        user.ok(&["resume", "--project", &folder.to_string()]);
    }
    assert_eq!(totalrecall::pause::load(&user.state()).unwrap().open().count(), 0);
}
