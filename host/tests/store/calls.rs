//! Asking a program that fails in every way, and asking from several processes, under one budget.
#![cfg(unix)]

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use totalrecall::{
    config::Config,
    model::{self, Kind, Model, ModelError, Purpose, Refusal, Request},
    paths::Home,
    store::{Call, CallOutcome, Store},
};

const CHILD: &str = "TOTALRECALL_TEST_CHILD";

/// The stand-in. Its first argument is what it does.
const STAND_IN: &str = r#"
case "$1" in
  good)      cat >/dev/null; echo '{"findings": [1]}' ;;
  keeps)     cat >"$2"; env >"$2.env"; pwd >"$2.cwd"; echo '{}' ;;
  costs)     cat >/dev/null
             echo '{"structured_output":{"a":1},"total_cost_usd":'"$2"',"usage":{"input_tokens":10,"output_tokens":5},"model":"m-1"}' ;;
  empty)     cat >/dev/null ;;
  garbage)   cat >/dev/null; echo 'I would rather not.' ;;
  envelope)  cat >/dev/null; echo '{"type":"result","is_error":true,"result":"boom","usage":{}}' ;;
  status)    cat >/dev/null; echo '{"is_error":true,"api_error_status":'"$2"',"result":"API Error"}'; exit 1 ;;
  hang)      sleep 600 & echo $! $$ >"$2"; sleep 600 ;;
  signal)    kill -KILL $$ ;;
  partial)   printf '{"findings": ['; exit 0 ;;
  flood)     while :; do echo 'nothing but words, and more of them, and no end'; done ;;
  mutters)   i=0; while [ $i -lt 20000 ]; do echo 'warning: something is amiss, and this line is long' >&2; i=$((i+1)); done
             echo '{"a": 1}' ;;
  deaf)      exec <&-; echo '{"a": 1}' ;;
  leaves)    (sleep 600 & echo $! >"$2") ; echo '{"a": 1}' ;;
  code)      echo 'the key is password=hunter2hunter2' >&2; exit "$2" ;;
esac
"#;

struct Lab {
    dir: tempfile::TempDir,
    home: Home,
    config: Config,
    stop: AtomicBool,
}

impl Lab {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::choose(Some(dir.path().join("home"))).unwrap();
        let mut config = Config::default();
        config.model.timeout_seconds = 60;
        config.model.calls_per_run = 1000;
        let lab = Self { dir, home, config, stop: AtomicBool::new(false) };
        fs::write(lab.script(), STAND_IN).unwrap();
        lab
    }

    fn script(&self) -> String {
        self.dir.path().join("stand-in.sh").to_string_lossy().into_owned()
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).to_string_lossy().into_owned()
    }

    /// The person agrees to a stand-in that does this.
    fn agree(&mut self, arguments: &[&str]) -> Store {
        let script = self.script();
        self.config.model.command =
            ["/bin/sh", script.as_str()].iter().chain(arguments).map(|argument| (*argument).to_owned()).collect();
        let mut store = Store::open(self.home.path()).unwrap();
        model::agree(&mut store, &self.config.model, 0).unwrap();
        store
    }

    fn model(&self) -> Model<'_> {
        Model::new(&self.config, &self.home, 0, &self.stop)
    }
}

fn ask(model: &mut Model<'_>, store: &mut Store, input: &str) -> Result<model::Answer, ModelError> {
    let schema = json!({"type": "object"});
    let instructions = "Say something.";
    model.ask(store, &Request { purpose: Purpose::Findings, subject: "s", instructions, input, schema: &schema })
}

/// How asking once fails.
fn failure(arguments: &[&str]) -> (Kind, String, Vec<Call>) {
    let mut lab = Lab::new();
    let mut store = lab.agree(arguments);
    match ask(&mut lab.model(), &mut store, "input") {
        Err(ModelError::Failed { kind, why, .. }) => (kind, why, store.calls(0).unwrap()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_is_a_row() {
    let mut lab = Lab::new();
    let mut store = lab.agree(&["good"]);
    let answer = ask(&mut lab.model(), &mut store, "input").unwrap();
    assert_eq!(answer.value, json!({"findings": [1]}));
    let [call] = store.calls(0).unwrap().try_into().unwrap();
    assert_eq!((call.id, call.outcome, call.command.as_str()), (answer.call, CallOutcome::Ok, "/bin/sh"));
    assert!(call.is_estimated() && call.usd() > 0.0 && call.usd() < call.reserved_usd, "{call:?}");
    store.mark_call_empty(call.id).unwrap();
    assert_eq!(store.calls(0).unwrap()[0].outcome, CallOutcome::OkEmpty);
}

#[test]
fn what_the_program_says_of_cost_and_model_is_kept() {
    let mut lab = Lab::new();
    let mut store = lab.agree(&["costs", "0.4"]);
    let answer = ask(&mut lab.model(), &mut store, "input").unwrap();
    assert_eq!((answer.cost_usd, answer.model.as_str()), (0.4, "m-1"));
    let [call] = store.calls(0).unwrap().try_into().unwrap();
    assert_eq!((call.cost_usd, call.input_tokens, call.output_tokens), (Some(0.4), Some(10), Some(5)));
    // More than was reserved, and it counts.
    assert!(call.reserved_usd < 0.1 && store.spent(call.at).unwrap() > 0.39, "{call:?}");
}

#[test]
fn the_program_gets_the_question_without_secrets_the_guard_and_an_empty_folder() {
    let mut lab = Lab::new();
    let kept = lab.file("kept");
    let mut store = lab.agree(&["keeps", &kept, "{model}", "{schema}"]);
    ask(&mut lab.model(), &mut store, "He said: export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ456789").unwrap();
    let read = |name: &str| fs::read_to_string(format!("{kept}{name}")).unwrap();
    let input = read("");
    assert!(input.starts_with(model::MARKER), "{input}");
    assert!(input.contains("Say something.") && input.contains(r#"{"type":"object"}"#), "{input}");
    assert!(input.contains("He said: export") && !input.contains("ghp_0123"), "{input}");
    let variables = read(".env");
    assert!(variables.contains("TOTALRECALL_ANALYSIS=1\n") && variables.contains("TOTALRECALL_MODEL=sonnet\n"));
    let folder = model::folder(&lab.home);
    assert_eq!(Path::new(read(".cwd").trim()), folder.canonicalize().unwrap());
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    // The schema was there, and is gone.
    let left = fs::read_dir(lab.home.path()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.contains("schema")));
}

#[test]
fn every_failure_has_its_kind_and_a_sentence() {
    for (arguments, kind) in [
        (&["empty"][..], Kind::Empty),
        (&["garbage"], Kind::Garbage),
        (&["envelope"], Kind::Error),
        (&["status", "429"], Kind::RateLimited),
        (&["status", "529"], Kind::Overloaded),
        (&["status", "500"], Kind::Server),
        (&["status", "401"], Kind::Auth),
        (&["signal"], Kind::Signal),
        (&["partial"], Kind::Garbage),
        (&["flood"], Kind::TooMuch),
        (&["code", "3"], Kind::Exit),
        (&["code", "75"], Kind::RateLimited),
    ] {
        let (failed, why, calls) = failure(arguments);
        assert_eq!(failed, kind, "{arguments:?}: {why}");
        assert_eq!((calls[0].outcome, calls[0].kind.as_deref()), (CallOutcome::Failed, Some(kind.name())));
        assert_eq!(calls[0].why.as_deref(), Some(why.as_str()));
        assert!(why.len() > 40 && !why.contains("hunter2"), "{why}");
        // Nothing is known of what it cost, so it may have cost all that was reserved.
        assert_eq!(calls[0].usd(), calls[0].reserved_usd, "{arguments:?}");
    }
}

#[test]
fn a_program_that_is_not_there_costs_nothing_and_ends_the_run() {
    let mut lab = Lab::new();
    lab.config.model.command = vec!["totalrecall-no-such-program".to_owned()];
    let mut store = Store::open(lab.home.path()).unwrap();
    model::agree(&mut store, &lab.config.model, 0).unwrap();
    let mut model = lab.model();
    let error = ask(&mut model, &mut store, "input").unwrap_err();
    assert!(matches!(error, ModelError::Failed { kind: Kind::NotInstalled, .. }) && error.ends_run(), "{error}");
    assert!(matches!(ask(&mut model, &mut store, "input"), Err(ModelError::Refused(Refusal::RunEnded { .. }))));
    assert_eq!(store.spent(store.calls(0).unwrap()[0].at).unwrap(), 0.0);
}

#[test]
fn what_does_not_read_its_input_or_mutters_at_length_is_heard() {
    let long = "words ".repeat(12_000);
    for arguments in [&["deaf"][..], &["mutters"]] {
        let mut lab = Lab::new();
        let mut store = lab.agree(arguments);
        assert_eq!(ask(&mut lab.model(), &mut store, &long).unwrap().value, json!({"a": 1}), "{arguments:?}");
    }
}

fn is_alive(file: &str) -> bool {
    let pids = fs::read_to_string(file).unwrap();
    let pid = pids.split_whitespace().next().unwrap();
    // A zombie that nobody reaps is dead, too.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_hangs_is_ended_with_all_it_started() {
    let mut lab = Lab::new();
    lab.config.model.timeout_seconds = 1;
    let file = lab.file("pid");
    let mut store = lab.agree(&["hang", &file]);
    let began = Instant::now();
    let error = ask(&mut lab.model(), &mut store, "input").unwrap_err();
    assert!(matches!(error, ModelError::Failed { kind: Kind::Timeout, .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(30));
    wait_until(|| !is_alive(&file));
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_program_leaves_behind_is_ended() {
    let mut lab = Lab::new();
    let file = lab.file("pid");
    let mut store = lab.agree(&["leaves", &file]);
    assert_eq!(ask(&mut lab.model(), &mut store, "input").unwrap().value, json!({"a": 1}));
    wait_until(|| !is_alive(&file));
}

#[test]
fn ctrl_c_ends_the_program() {
    let mut lab = Lab::new();
    let file = lab.file("pid");
    let mut store = lab.agree(&["hang", &file]);
    thread::scope(|scope| {
        scope.spawn(|| {
            wait_until(|| fs::read_to_string(&file).is_ok_and(|pid| !pid.is_empty()));
            lab.stop.store(true, Ordering::Relaxed);
        });
        let mut model = lab.model();
        let error = ask(&mut model, &mut store, "input").unwrap_err();
        assert!(matches!(error, ModelError::Failed { kind: Kind::Interrupted, .. }), "{error}");
        assert!(matches!(ask(&mut model, &mut store, "input"), Err(ModelError::Refused(Refusal::Stopped))));
    });
}

fn wait_until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came to be");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn nothing_is_asked_before_the_person_agreed_or_after_it_was_withdrawn() {
    let mut lab = Lab::new();
    let mut store = lab.agree(&["good"]);
    model::withdraw(&mut store).unwrap();
    let refused = |lab: &Lab, store: &mut Store| match ask(&mut lab.model(), store, "input") {
        Err(ModelError::Refused(Refusal::NotAgreed(why))) => why,
        other => panic!("{other:?}"),
    };
    refused(&lab, &mut store);
    model::agree(&mut store, &lab.config.model, 0).unwrap();
    lab.config.model.usd_per_day = 1.5;
    assert!(refused(&lab, &mut store).contains("1.50"));
    lab.config.model.usd_per_day = 0.5;
    lab.config.model.command[0] = "/bin/bash".to_owned();
    assert!(refused(&lab, &mut store).contains("/bin/bash"));
    assert_eq!(store.calls(0).unwrap(), []);
}

#[test]
fn a_question_that_is_too_long_is_not_asked_and_the_run_goes_on() {
    let mut lab = Lab::new();
    let mut store = lab.agree(&["good"]);
    let mut model = lab.model();
    let error = ask(&mut model, &mut store, &"长".repeat(20_001)).unwrap_err();
    assert!(matches!(error, ModelError::Refused(Refusal::TooLong { .. })) && !error.ends_run(), "{error}");
    ask(&mut model, &mut store, "short").unwrap();
}

#[test]
fn a_run_makes_as_many_calls_as_it_may() {
    let mut lab = Lab::new();
    lab.config.model.calls_per_run = 2;
    let mut store = lab.agree(&["good"]);
    let mut model = lab.model();
    for _ in 0..2 {
        ask(&mut model, &mut store, "input").unwrap();
    }
    assert!(matches!(ask(&mut model, &mut store, "input"), Err(ModelError::Refused(Refusal::RunCalls { limit: 2 }))));
    ask(&mut lab.model(), &mut store, "input").unwrap();
}

#[test]
fn what_passes_with_time_is_waited_for_across_runs_and_longer_each_time() {
    let mut lab = Lab::new();
    let mut store = lab.agree(&["status", "529"]);
    let mut model = lab.model();
    assert!(ask(&mut model, &mut store, "input").unwrap_err().ends_run());
    assert!(matches!(ask(&mut model, &mut store, "input"), Err(ModelError::Refused(Refusal::RunEnded { .. }))));
    // Another run, a minute too early.
    let Err(ModelError::Refused(Refusal::BackingOff { until })) = ask(&mut lab.model(), &mut store, "input") else {
        panic!("it does not wait");
    };
    let at = store.calls(0).unwrap()[0].at;
    assert!((60_000..180_000).contains(&(until - at)), "{}", until - at);
    // Runs that begin when the wait is over.
    let mut waits = Vec::new();
    for _ in 0..12 {
        let now = store.backoff().unwrap().unwrap().until;
        let mut model = Model::new(&lab.config, &lab.home, now, &lab.stop);
        ask(&mut model, &mut store, "input").unwrap_err();
        waits.push((store.backoff().unwrap().unwrap().until - now) / 60_000);
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360, 360]);
    let now = store.backoff().unwrap().unwrap().until;
    fs::write(lab.script(), "cat >/dev/null; echo '{}'").unwrap();
    ask(&mut Model::new(&lab.config, &lab.home, now, &lab.stop), &mut store, "input").unwrap();
    assert_eq!(store.backoff().unwrap(), None);
}

#[test]
fn a_hundred_calls_that_fail_in_every_way_do_not_overspend_and_none_is_lost() {
    let modes: &[&[&str]] = &[
        &["empty"],
        &["garbage"],
        &["envelope"],
        &["signal"],
        &["partial"],
        &["code", "3"],
        &["code", "1"],
        &["status", "400"],
        &["costs", "0.001"],
    ];
    let mut lab = Lab::new();
    lab.config.model.usd_per_day = 3.0;
    let (mut made, mut refused) = (0, 0);
    let now = 1_900_000_000_000;
    for mode in modes.iter().cycle().take(100) {
        let mut store = lab.agree(mode);
        match ask(&mut Model::new(&lab.config, &lab.home, now, &lab.stop), &mut store, &"words ".repeat(500)) {
            Ok(_) | Err(ModelError::Failed { .. }) => made += 1,
            Err(ModelError::Refused(Refusal::DayBudget { .. })) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    let store = Store::open(lab.home.path()).unwrap();
    let calls = store.calls(0).unwrap();
    assert_eq!((calls.len(), made + refused), (made, 100));
    assert!(made > 40 && refused > 10, "{made} {refused}");
    assert!(calls.iter().all(|call| call.outcome != CallOutcome::Running && call.usd() > 0.0));
    let failed = calls.iter().filter(|call| call.outcome == CallOutcome::Failed);
    assert!(failed.clone().count() > 30 && failed.clone().all(|call| call.kind.is_some() && call.why.is_some()));
    let spent = store.spent(now).unwrap();
    assert!(spent <= 3.0 && spent > 2.8, "{spent}");
    // A new day.
    let mut store = lab.agree(&["good"]);
    ask(&mut Model::new(&lab.config, &lab.home, now + 86_400_000, &lab.stop), &mut store, "input").unwrap();
}

#[test]
#[ignore = "what the other tests start as a process"]
fn child() {
    let (Ok(role), Ok(home)) = (env::var(CHILD), env::var("TOTALRECALL_TEST_HOME")) else { return };
    let config: Config = toml::from_str(&role).unwrap();
    let home = Home::choose(Some(home.into())).unwrap();
    let stop = AtomicBool::new(false);
    let mut store = Store::open(home.path()).unwrap();
    let mut model = Model::new(&config, &home, 1_900_000_000_000, &stop);
    while !matches!(ask(&mut model, &mut store, "input"), Err(ModelError::Refused(_))) {}
}

fn start(lab: &Lab) -> std::process::Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "calls::child", "--ignored", "--nocapture"])
        .env(CHILD, toml::to_string(&lab.config).unwrap())
        .env("TOTALRECALL_TEST_HOME", lab.home.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn processes_that_ask_at_the_same_time_keep_to_the_budget_together() {
    let mut lab = Lab::new();
    lab.config.model.usd_per_day = 2.0;
    let mut store = lab.agree(&["partial"]);
    let children: Vec<_> = (0..3).map(|_| start(&lab)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let calls = store.calls(0).unwrap();
    let spent = store.spent(1_900_000_000_000).unwrap();
    let each = calls[0].reserved_usd;
    assert!(spent <= 2.0 && spent > 2.0 - each, "{spent} of {} calls", calls.len());
    assert!(calls.iter().all(|call| call.outcome == CallOutcome::Failed));
    // Nobody is there any more, so nothing was running when the next one came.
    assert_eq!(store.settle_calls().unwrap(), 0);
}

#[test]
fn calls_of_a_process_that_was_killed_are_settled_by_the_next_run_and_stay_spent() {
    let mut lab = Lab::new();
    let file = lab.file("pid");
    let mut store = lab.agree(&["hang", &file]);
    let mut child = start(&lab);
    wait_until(|| fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')));
    let (calls, spent) = (store.calls(0).unwrap(), |store: &Store| store.spent(1_900_000_000_000).unwrap());
    assert_eq!((calls.len(), calls[0].outcome), (1, CallOutcome::Running));
    assert_eq!(spent(&store), calls[0].reserved_usd);
    let before = spent(&store);

    // While it lives, its call is its own.
    fs::write(lab.script(), "cat >/dev/null; echo '{}'").unwrap();
    ask(&mut lab.model(), &mut store, "input").unwrap();
    assert_eq!(store.calls(0).unwrap().iter().filter(|call| call.outcome == CallOutcome::Running).count(), 1);

    child.kill().unwrap();
    child.wait().unwrap();
    let pids = fs::read_to_string(&file).unwrap();
    ask(&mut lab.model(), &mut store, "input").unwrap();
    let calls: Vec<Value> = store.calls(0).unwrap().iter().map(|call| json!([call.outcome, call.kind])).collect();
    assert!(
        calls.contains(&json!(["failed", "killed"])) && !calls.iter().any(|call| call[0] == "running"),
        "{calls:?}"
    );
    assert!((spent(&store) - before).abs() < 1e-9);
    // What it had started lives on; only this test knows of it any more.
    let group = format!("-{}", pids.split_whitespace().nth(1).unwrap());
    assert!(Command::new("/bin/sh").args(["-c", "kill -KILL \"$0\"", &group]).status().unwrap().success());
}
