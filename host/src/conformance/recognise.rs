//! `recognise`: which transcripts the adapter takes for its own.

use super::{random::Random, report::Findings, subject::Subject};
use crate::transcript::HEAD;

/// How transcripts of tools begin that TotalRecall reads already: the tool, and a head of each shape that it writes.
pub const HEADS: [(&str, &str); 8] = [
    (
        "claude-code",
        r#"{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/dev/app","sessionId":"5b1a6051-0c5d-4b11-92ca-7b510f466531","version":"2.1.120","gitBranch":"main","type":"user","message":{"role":"user","content":"hello"},"uuid":"3d1c1f5e-0000-4000-8000-000000000001","timestamp":"2026-03-02T10:00:00.000Z"}
"#,
    ),
    (
        "codex",
        r#"{"timestamp":"2026-03-02T10:00:00.000Z","type":"session_meta","payload":{"id":"01a228d8-39e3-7e52-9c31-915b12f8499a","timestamp":"2026-03-02T10:00:00.000Z","cwd":"/home/dev/app","originator":"codex_exec","cli_version":"0.118.0","source":"exec","model_provider":"openai"}}
"#,
    ),
    ("codex", r#"{"session":{"timestamp":"2025-05-01T10:00:00.000Z","id":"f0b3","instructions":""},"items":[]}"#),
    (
        "gemini-cli",
        r#"{"sessionId":"f317895d-91db-4bc3-8f85-f9dd1e41ad0b","projectHash":"64891c1f78d3de6468fe0be6f20296236127124236b44f5492f252299e16e9db","startTime":"2026-03-02T10:00:00.000Z","lastUpdated":"2026-03-02T10:00:00.000Z","kind":"main"}
"#,
    ),
    (
        "gemini-cli",
        "{\n  \"sessionId\": \"0b1c2d3e-3333-4aaa-8bbb-0123456789ab\",\n  \"projectHash\": \"64891c1f78d3de6468fe0be6f20296236127124236b44f5492f252299e16e9db\",\n  \"startTime\": \"2025-11-02T09:00:00.000Z\",\n  \"messages\": []\n}\n",
    ),
    (
        "opencode",
        r#"{"id":"ses_dd726100dffeKDVCT8cNS6YAWz","version":"0.5.29","title":"A title","time":{"created":1795981701107,"updated":1795981701672}}
{"id":"msg_228d9f05d00100GtovWh48JJwf","sessionID":"ses_dd726100dffeKDVCT8cNS6YAWz","role":"user","time":{"created":1795981701213}}
"#,
    ),
    (
        "aider",
        "\n# aider chat started at 2026-03-02 10:00:00\n\n> Aider v0.86.2  \n> Model: gpt-4o with diff edit format  \n\n#### fix the build  \n",
    ),
    (
        "cursor",
        r#"{"composer":{"_v":10,"composerId":"6c9f1f2e-0000-4000-8000-00000000000a","name":"Cents","createdAt":1777885200000,"fullConversationHeadersOnly":[]}}
"#,
    ),
];

/// Yes to the fixtures' heads; no to other tools', to noise and to nothing.
pub(super) fn check(subject: &Subject<'_>) -> Findings {
    let mut findings = Findings::default();
    let adapter = subject.adapter;
    let mut own = 0;
    // Rows of a tree or a database are known by their source, and never asked about.
    let files = subject.transcripts.iter().filter(|it| it.origin.key.is_none() && !it.bytes.is_empty());
    for transcript in files {
        own += 1;
        let head = &transcript.bytes[..transcript.bytes.len().min(HEAD as usize)];
        match adapter.recognise(head) {
            Ok(true) => {}
            Ok(false) => findings.fail(
                transcript.at(),
                "yes",
                "no",
                "recognise every shape that the tool writes by the first 64 KiB",
            ),
            Err(error) => findings.fail(transcript.at(), "yes", error.to_string(), "`recognise` must not fail"),
        }
    }
    let tool = &adapter.descriptor().tool;
    let others = HEADS.iter().filter(|(other, _)| other != tool);
    let others = others.map(|(other, head)| (format!("a transcript of {other}"), head.as_bytes().to_vec()));
    let mut random = Random::of("noise");
    let noise: Vec<u8> = (0..HEAD).map(|_| random.next() as u8).collect();
    let nothing = [
        ("nothing".to_owned(), Vec::new()),
        ("100 random bytes".to_owned(), noise[..100].to_vec()),
        ("64 KiB of random bytes".to_owned(), noise),
    ];
    for (what, head) in others.chain(nothing) {
        let came = match adapter.recognise(&head) {
            Ok(false) => continue,
            Ok(true) => "yes".to_owned(),
            Err(error) => error.to_string(),
        };
        findings.fail(("", &what), "no", came, "look for something that only this tool writes");
    }
    findings.count("heads of its own", own);
    findings
}
