use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn entries() -> Vec<Entry> {
    let entry = |event: &str| Entry {
        event: event.to_owned(),
        matcher: None,
        command: "/opt/tr/totalrecall".to_owned(),
        args: vec!["hook".to_owned(), event.to_owned()],
        timeout: 5,
    };
    ["SessionStart", "Stop"].map(entry).to_vec()
}

#[track_caller]
fn added(text: &str) -> (String, Made) {
    put(text.as_bytes(), &entries()).unwrap()
}

#[track_caller]
fn taken(text: &str, made: &Made) -> String {
    take(text.as_bytes(), &entries(), made).unwrap()
}

#[test]
fn hooks_are_written_in_the_manner_of_the_file() {
    let fresh = added("").0;
    insta::assert_snapshot!("fresh", fresh);
    insta::assert_snapshot!(
        "tabs_and_comments",
        added("{\n\t// Mine.\n\t\"model\": \"opus\", // the big one\n\t\"env\": {}\n\t// the end\n}\n").0
    );
    insta::assert_snapshot!(
        "hooks_of_others",
        added(
            r#"{
    "hooks": {
        "Stop": [
            { "hooks": [{ "type": "command", "command": "say done" }] },
        ],
    },
    "model": "opus",
}
"#
        )
        .0
    );
    assert_eq!(
        added(r#"{"model":"opus"}"#).0,
        r#"{"model":"opus","hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"/opt/tr/totalrecall","args":["hook","SessionStart"],"timeout":5}]}],"Stop":[{"hooks":[{"type":"command","command":"/opt/tr/totalrecall","args":["hook","Stop"],"timeout":5}]}]}}"#
    );
    let windows = added("\u{feff}{\r\n  \"model\": \"opus\"\r\n}\r\n").0;
    assert!(windows.starts_with('\u{feff}') && windows.matches('\n').count() == windows.matches("\r\n").count());
}

#[test]
fn what_is_taken_out_leaves_what_was_there() {
    for text in [
        "",
        "\n",
        "{}",
        "{}\n",
        "{ }\n",
        "{\n}\n",
        "\u{feff}{\r\n}\r\n",
        "{ /* nothing yet */ }",
        "{ // nothing yet\n}",
        "// before\n{}\n// after",
        "{\"hooks\": {}}",
        "{\"hooks\": { }, }",
        "{\"hooks\": {\"Stop\": []}}",
        "{\"hooks\": {\n  \"Stop\": [ ] // mine\n}}",
        "{\"hooks\": {\"Stop\": [{\"hooks\": []}, ] , /* x */ } /* y */ , }",
        "{\"a\": 1, \"a\": 2, \"hooks\": 3, \"hooks\": {\"Stop\": 1, \"Stop\": []}}",
        "{\n  \"a\": 1 // one\n}",
        "{\n  \"a\": [\n    1,\n    2 ]}",
        "  {\n    \"a\": 1\n  }",
        "{\t\"a\"\t:\t1\t}",
    ] {
        let (put, made) = added(text);
        assert_eq!(present(&Document::parse(put.as_bytes()).unwrap(), &entries()).len(), 2, "{put}");
        assert_eq!(taken(&put, &made), text, "of\n{put}");
        // Nothing of ours is in it, so nothing is taken.
        assert_eq!(taken(text, &made), text);
    }
}

#[test]
fn what_was_added_to_ours_stays() {
    let (put, made) = added("{\n  \"model\": \"opus\"\n}\n");
    // Another handler in our group, another group in our list, another event in our object, other times.
    let edited = put
        .replacen("          {\n", "          { \"type\": \"command\", \"command\": \"date\" },\n          {\n", 1)
        .replacen("\"timeout\": 5", "\"timeout\": 50", 2)
        .replacen("\n    ]\n  }", ",\n      { \"hooks\": [] }\n    ],\n    \"Setup\": []\n  }", 1);
    let document = Document::parse(edited.as_bytes()).unwrap();
    assert_eq!(present(&document, &entries()).len(), 2, "{edited}");
    let left = taken(&edited, &made);
    let value: Value = serde_json::from_str(&left).unwrap();
    let theirs = json!([{ "hooks": [{ "type": "command", "command": "date" }] }]);
    let hooks = json!({ "SessionStart": theirs, "Stop": [{ "hooks": [] }], "Setup": [] });
    assert_eq!(value, json!({ "model": "opus", "hooks": hooks }), "{left}");
}

#[test]
fn an_entry_for_some_tools_goes_with_their_names_unless_these_were_changed() {
    let ours = [Entry { matcher: Some("Read".to_owned()), ..entries().remove(0) }];
    for text in ["{}", "{\n  \"hooks\": {\n    \"SessionStart\": [{ \"matcher\": \"Read\", \"hooks\": [] }]\n  }\n}\n"]
    {
        let (put, made) = put(text.as_bytes(), &ours).unwrap();
        assert!(put.contains("\"matcher\": \"Read\""), "{put}");
        assert_eq!(take(put.as_bytes(), &ours, &made).unwrap(), text);
    }
    let (put, made) = put(b"{}", &ours).unwrap();
    let edited = put.replace("\"Read\"", "\"Read|Grep\"");
    let left: Value = serde_json::from_str(&take(edited.as_bytes(), &ours, &made).unwrap()).unwrap();
    assert_eq!(left, json!({ "hooks": { "SessionStart": [{ "matcher": "Read|Grep", "hooks": [] }] } }));
}

#[test]
fn a_comment_never_swallows_what_follows() {
    let (put, made) = added("{\n  \"a\": 1 // one\n}\n");
    let edited = put.replacen("\n}\n", ", \"b\": 2 }\n", 1);
    let left = taken(&edited, &made);
    let document = Document::parse(left.as_bytes()).unwrap();
    assert!(document.root().unwrap().get("b").is_some(), "{left}");
}

#[test]
fn a_comment_in_what_we_made_keeps_it() {
    let (put, made) = added("{}");
    let edited = put.replacen("\"hooks\": {", "\"hooks\": { // everything that is called", 1);
    let left = taken(&edited, &made);
    assert!(left.contains("// everything that is called"), "{left}");
    Document::parse(left.as_bytes()).unwrap();
}

#[test]
fn other_texts_are_refused_with_their_place() {
    let refused = |text: &[u8]| put(text, &entries()).unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            refused(b"{\"a\": 1,\n \"b\" 2}"),
            refused(b"{\"a\": 1\n \"b\": 2}"),
            refused(b"{a: 1}"),
            refused(b"{\"a\": 'x'}"),
            refused(b"{\"a\": 1"),
            refused(b"{\"a\": 1} {}"),
            refused(b"[]"),
            refused(b"// nothing"),
            refused(b"{\n\"hooks\": []}"),
            refused(b"{\"hooks\": {\n\n\"Stop\": {}}}"),
            refused(b"\xff\xfe{\0}\0"),
            refused(&[&b"["[..]; 3000].concat()),
        ]
        .join("\n")
    );
}

#[test]
fn what_is_beyond_json_is_told() {
    let beyond = |text: &str| Document::parse(text.as_bytes()).unwrap().beyond_json();
    assert_eq!(beyond("{\"a\": [1, 2]}"), None);
    assert_eq!(beyond("{\n// x\n}"), Some((2, "a comment")));
    assert_eq!(beyond("{\"a\": [1,\n2,]}"), Some((2, "a comma behind the last one")));
}

/// White space and comments between tokens.
fn gap(comments: bool) -> impl Strategy<Value = String> {
    let plain = prop_oneof![4 => Just(""), 4 => Just(" "), 3 => Just("\n"), 2 => Just("\n  "), 1 => Just("\t"), 1 => Just("\n\n\t")];
    let comment = prop_oneof![Just(" /* c */ "), Just("// l\n"), Just(" // \"Stop\": [\n  "), Just("/**/")];
    if comments { prop_oneof![5 => plain, 2 => comment].boxed() } else { plain.boxed() }.prop_map(str::to_owned)
}

fn list(open: char, items: Vec<String>, gaps: Vec<String>, trailing: bool, close: char) -> String {
    let mut text = format!("{open}{}", gaps[0]);
    let count = items.len();
    for (at, item) in items.into_iter().enumerate() {
        let comma = if at + 1 < count || trailing { "," } else { "" };
        text += &format!("{item}{}{comma}{}", gaps[(2 * at + 1) % gaps.len()], gaps[(2 * at + 2) % gaps.len()]);
    }
    text.push(close);
    text
}

/// Values as people write them: names that are ours too, also twice, and hooks of others.
fn value(extended: bool) -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("1"),
        Just("-2.5e3"),
        Just("true"),
        Just("null"),
        Just("\"x // y\""),
        Just("\"\\\"}\\u00e9\""),
        Just("\"ü字\"")
    ];
    let gaps = move || proptest::collection::vec(gap(extended), 9);
    let name = || prop_oneof![Just("a"), Just("hooks"), Just("Stop"), Just("env"), Just("ü")];
    scalar.prop_map(str::to_owned).prop_recursive(4, 24, 4, move |inner| {
        let member = (name(), gap(extended), gap(extended), inner.clone())
            .prop_map(|(name, before, behind, value)| format!("\"{name}\"{before}:{behind}{value}"));
        let trailing = any::<bool>().prop_map(move |trailing| trailing && extended);
        prop_oneof![
            (proptest::collection::vec(member, 0..4), gaps(), trailing.clone())
                .prop_map(|(items, gaps, trailing)| (!items.is_empty() && trailing, items, gaps))
                .prop_map(|(trailing, items, gaps)| list('{', items, gaps, trailing, '}')),
            (proptest::collection::vec(inner, 0..4), gaps(), trailing)
                .prop_map(|(items, gaps, trailing)| (!items.is_empty() && trailing, items, gaps))
                .prop_map(|(trailing, items, gaps)| list('[', items, gaps, trailing, ']')),
        ]
    })
}

/// Whole files, most of which hooks can be put into.
fn settings(extended: bool) -> impl Strategy<Value = String> {
    let theirs = r#"{"matcher":"","hooks":[{"type":"command","command":"say"}]}"#;
    let group = prop_oneof![Just(theirs.to_owned()), value(extended)];
    let events = (prop_oneof![Just("Stop"), Just("Setup")], gap(extended), proptest::collection::vec(group, 0..3))
        .prop_flat_map(move |(event, space, groups)| {
            proptest::collection::vec(gap(extended), 9).prop_map(move |gaps| {
                let groups = list('[', groups.clone(), gaps, false, ']');
                format!("\"{event}\":{space}{groups}")
            })
        });
    let hooks = (proptest::collection::vec(events, 0..3), proptest::collection::vec(gap(extended), 9))
        .prop_map(|(events, gaps)| format!("\"hooks\": {}", list('{', events, gaps, false, '}')));
    let member = (prop_oneof![Just("a"), Just("env"), Just("ü")], value(extended))
        .prop_map(|(name, value)| format!("\"{name}\": {value}"));
    let members = proptest::collection::vec(prop_oneof![3 => member, 1 => hooks], 0..4);
    let around = (gap(extended), gap(extended), any::<bool>(), any::<bool>());
    (members, proptest::collection::vec(gap(extended), 9), any::<bool>(), around).prop_map(
        move |(members, gaps, trailing, (before, behind, mark, crlf))| {
            let trailing = trailing && extended && !members.is_empty();
            let text = format!("{before}{}{behind}", list('{', members, gaps, trailing, '}'));
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if mark { format!("\u{feff}{text}") } else { text }
        },
    )
}

/// What a person may write instead of a value, with what stands around it.
const EDITS: [&str; 8] = [
    "2",
    "[{}, // one\n]",
    "/* edit */ 2",
    "2 /* edit */",
    "2 // edit\n",
    "\n\n\t2\n",
    "2, \"new\": { \"hooks\": [] }",
    "2, 3 // edit\n",
];

fn with_hooks(mut value: Value) -> Value {
    for entry in entries() {
        let handler =
            json!({ "type": "command", "command": entry.command, "args": entry.args, "timeout": entry.timeout });
        let list = &mut value["hooks"][&entry.event];
        if list.is_null() {
            *list = json!([]);
        }
        list.as_array_mut().unwrap().push(json!({ "hooks": [handler] }));
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn adding_and_taking_out_leaves_the_same_bytes(text in settings(true)) {
        let Ok((put, made)) = put(text.as_bytes(), &entries()) else { return Ok(()) };
        let document = Document::parse(put.as_bytes()).unwrap();
        prop_assert_eq!(present(&document, &entries()).len(), 2, "{}", put);
        prop_assert_eq!(taken(&put, &made), text, "of\n{}", put);
    }

    #[test]
    fn a_program_reads_what_was_there_and_our_hooks(text in settings(false)) {
        let Ok((put, made)) = put(text.as_bytes(), &entries()) else { return Ok(()) };
        let read = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).unwrap();
        prop_assert_eq!(read(&put), with_hooks(read(&text)), "{}", put);
        // However it was written anew since.
        if !text.contains("\"hooks\":") || text.matches("\"hooks\"").count() == 1 {
            let again = serde_json::to_string_pretty(&read(&put)).unwrap();
            prop_assert_eq!(read(&taken(&again, &made)), read(&text), "{}", again);
        }
    }

    #[test]
    fn what_is_changed_elsewhere_stays_changed(text in settings(true), at in any::<prop::sample::Index>(), edit in prop::sample::select(&EDITS[..])) {
        // What is changed is marked, so that it is found again between our hooks.
        const MARK: &str = "\"@\"";
        let places: Vec<_> = text.match_indices("1").chain(text.match_indices("null")).collect();
        let Some((place, word)) = (!places.is_empty()).then(|| *at.get(&places)) else { return Ok(()) };
        let mut text = text.clone();
        text.replace_range(place..place + word.len(), MARK);
        let Ok((put, made)) = put(text.as_bytes(), &entries()) else { return Ok(()) };
        let (text, put) = (text.replace(MARK, edit), put.replace(MARK, edit));
        if Document::parse(text.as_bytes()).is_ok() {
            prop_assert_eq!(taken(&put, &made), text, "of\n{}", put);
        }
    }
}
