//! Keys are put together at run time: a scanner that reads this repository must not take the made-up ones for real.

use super::*;
use crate::event::{Author, Channel, Edit, Message, ToolCall, ToolKind};
use proptest::prelude::*;

fn redactor() -> Redactor {
    Redactor::new(&Settings::default())
}

/// One who wants more taken out than secrets.
fn own() -> Redactor {
    let lists = Lists {
        fields: ["x-internal-key", "customer", "x-internal-key-id"].map(str::to_owned).into(),
        hosts: ["corp.example", "*.intra", "build7", "redacted"].map(str::to_owned).into(),
        private_addresses: true,
        patterns: [r"CUST-\d{4,}", r"(?i)\bproject falcon\b", "red[a-z]+"].map(str::to_owned).into(),
    };
    Redactor::new(&Settings { privacy: lists.try_into().unwrap(), ..Settings::default() })
}

/// `count` characters of `alphabet`, the same each time, with all kinds of its characters early on.
fn run(alphabet: &str, count: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 7usize;
    (0..count)
        .map(|_| {
            state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff;
            alphabet[(state >> 8) % alphabet.len()]
        })
        .collect()
}

const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A key of every format: kind and text.
fn keys() -> Vec<(&'static str, String)> {
    let a = |n| run(ALNUM, n);
    let h = |n| run(HEX, n);
    let u = |n| run(UPPER, n);
    let b = |n| run(BASE64, n);
    let join = |parts: &[&str]| parts.concat();
    vec![
        ("anthropic-key", join(&["sk-", "ant-", "api03-", &a(93), "AA"])),
        ("openai-key", join(&["sk-", &a(20), "T3Blbk", "FJ", &a(20)])),
        ("openai-key", join(&["sk-", "proj-", &a(60), "_", &a(50), "-", &a(20)])),
        ("openai-key", join(&["sk-", "svcacct-", &a(80)])),
        ("openrouter-key", join(&["sk-", "or-v1-", &h(64)])),
        ("groq-key", join(&["gs", "k_", &a(52)])),
        ("xai-key", join(&["xa", "i-", &a(80)])),
        ("replicate-key", join(&["r8", "_", &a(37)])),
        ("nvidia-key", join(&["nva", "pi-", &a(64)])),
        ("huggingface-token", join(&["h", "f_", &a(34)])),
        ("aws-access-key", join(&["AK", "IA", &u(16)])),
        ("aws-access-key", join(&["AS", "IA", &u(16)])),
        ("google-api-key", join(&["AI", "za", &a(35)])),
        ("google-oauth-secret", join(&["GOC", "SPX-", &a(28)])),
        ("google-oauth-token", join(&["ya", "29.", &a(120)])),
        ("azure-storage-key", join(&["Account", "Key=", &b(86), "=="])),
        ("azure-key", join(&["SharedAccess", "Key=", &b(43), "="])),
        ("azure-client-secret", join(&[&a(3), "8", "Q~", &a(34)])),
        ("digitalocean-token", join(&["dop", "_v1_", &h(64)])),
        ("cloudflare-key", join(&["v1", ".0-", &h(24), "-", &h(146)])),
        ("alibaba-key", join(&["LT", "AI", &a(20)])),
        ("vercel-token", join(&["vc", "p_", &a(56)])),
        ("supabase-key", join(&["sb", "p_", &h(40)])),
        ("supabase-key", join(&["sb_", "secret_", &a(31)])),
        ("databricks-token", join(&["da", "pi", &h(32)])),
        ("vault-token", join(&["hv", "s.", &a(90)])),
        ("github-token", join(&["gh", "p_", &a(36)])),
        ("github-token", join(&["gh", "o_", &a(36)])),
        ("github-token", join(&["gh", "u_", &a(36)])),
        ("github-token", join(&["gh", "s_", &a(36)])),
        ("github-token", join(&["github", "_pat_", &a(22), "_", &a(59)])),
        ("gitlab-token", join(&["gl", "pat-", &a(20)])),
        ("npm-token", join(&["np", "m_", &a(36)])),
        ("pypi-token", join(&["py", "pi-AgEIcHlwaS5vcmc", &a(70)])),
        ("rubygems-key", join(&["ruby", "gems_", &h(48)])),
        ("crates-token", join(&["ci", "o", &a(32)])),
        ("docker-token", join(&["dckr", "_pat_", &a(27)])),
        ("atlassian-token", join(&["ATA", "TT3xFf", &a(180)])),
        ("slack-token", join(&["xo", "xb-123456789012-1234567890123-", &a(24)])),
        ("slack-token", join(&["xa", "pp-1-A012-", &a(64)])),
        ("slack-webhook", join(&["https://hooks.sla", "ck.com/services/T00000000/B00000000/", &a(24)])),
        ("discord-webhook", join(&["https://discord.com/api/web", "hooks/123456789012345678/", &a(68)])),
        ("telegram-token", join(&["123456789", ":A", "A", &a(33)])),
        ("sendgrid-key", join(&["S", "G.", &a(22), ".", &a(43)])),
        ("twilio-key", join(&["S", "K", &h(32)])),
        ("mailgun-key", join(&["ke", "y-", &h(32)])),
        ("mailchimp-key", join(&[&h(32), "-u", "s12"])),
        ("stripe-key", join(&["sk", "_live_", &a(24)])),
        ("stripe-key", join(&["rk", "_test_", &a(24)])),
        ("stripe-webhook-secret", join(&["wh", "sec_", &a(32)])),
        ("shopify-token", join(&["shp", "at_", &h(32)])),
        ("linear-key", join(&["lin", "_api_", &a(40)])),
        ("notion-token", join(&["nt", "n_", &a(46)])),
        ("notion-token", join(&["sec", "ret_", &a(43)])),
        ("figma-token", join(&["fig", "d_", &a(40)])),
        ("postman-key", join(&["PM", "AK-", &h(24), "-", &h(34)])),
        ("grafana-token", join(&["gl", "sa_", &a(32), "_", &h(8)])),
        ("age-key", join(&["AGE-SECRET", "-KEY-1", &u(58)])),
        ("jwt", join(&["ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0NTY3ODkwIn0.", &a(43)])),
    ]
}

#[test]
fn every_key_format_is_found_and_named() {
    let redactor = redactor();
    for (kind, key) in keys() {
        for around in [("", ""), ("use ", " now"), ("\"", "\","), ("X=", "\n"), ("\\n", "\\n"), ("(", ")."), ("`", "`")]
        {
            let text = format!("{}{key}{}", around.0, around.1);
            let redacted = redactor.redact(&text);
            assert!(redacted.contains(&format!("[redacted:{kind}]")), "{text}\n{redacted}");
            let secret = &key[key.len() - 8..];
            assert!(!redacted.contains(secret) || kind == "mailchimp-key", "{text}\n{redacted}");
            assert_eq!(redactor.redact(&redacted), redacted, "not stable");
        }
    }
}

#[test]
fn secrets_are_told_by_their_names() {
    let hex = run(HEX, 32);
    let key = run(ALNUM, 24);
    for (text, secret, kind) in [
        (format!("DB_PASSWORD={}", "hunter2"), "hunter2", "password"),
        (format!("export API_KEY={key}"), &*key, "api-key"),
        (format!("{{\"password\": \"{}\"}}", "tr0ub4dor&3"), "tr0ub4dor&3", "password"),
        (format!("{{\\\"apiKey\\\": \\\"{key}\\\"}}"), &key, "api-key"),
        (format!("api_key: {key}"), &key, "api-key"),
        (format!("  client_secret = \"{key}\" # mine"), &key, "secret"),
        (format!("aws_secret_access_key = {}", run(BASE64, 40)), &run(BASE64, 40), "aws-secret-key"),
        (format!("AWS_SECRET_ACCESS_KEY={}", run(BASE64, 40)), &run(BASE64, 40), "aws-secret-key"),
        (format!("deploy --token {key} --force"), &key, "token"),
        (format!("deploy --token={key}"), &key, "token"),
        (format!("let token: &str = \"{key}\";"), &key, "token"),
        (format!("config[\"secret_key\"] = '{key}'"), &key, "secret"),
        (format!("client.setAccessToken(\"{key}\")"), &key, "token"),
        (format!("<password>{}</password>", "s3cretPa55"), "s3cretPa55", "password"),
        (format!("x-api-key: {hex}"), &hex, "api-key"),
        (format!("curl 'https://h/x?access_token={key}&page=2'"), &key, "token"),
        (format!("//registry.example/:_authToken={key}"), &key, "token"),
        (format!("SIGNING_KEY={hex}"), &hex, "key"),
        (format!("STRIPE_KEY={hex}"), &hex, "key"),
        (format!("credentials: \"{key}\""), &key, "credential"),
        (format!("Authorization: Bearer {key}"), &key, "bearer-token"),
        (format!("-H \"authorization: bearer {hex}\""), &hex, "bearer-token"),
        (format!("Authorization: Basic {}", "YWxpY2U6c2VjcmV0"), "YWxpY2U6c2VjcmV0", "basic-credentials"),
        (format!("Authorization: {key}"), &key, "authorization"),
        (format!("Set-Cookie: sid={key}; Path=/; HttpOnly"), &key, "cookie"),
        (format!("-H 'Cookie: theme=dark; session={key}'"), &key, "cookie"),
        (format!("postgres://app:{}@db:5432/x", "pw"), ":pw@", "url-password"),
        (format!("redis://:{key}@cache:6379"), &key, "url-password"),
        (format!("https://{key}@git.example/x.git"), &key, "url-password"),
        (format!("curl -u alice:{} https://x", "letmein99"), "letmein99", "password"),
        (format!("https://x.blob.core/c?sv=1&sig={}%3D", run(ALNUM, 43)), &run(ALNUM, 43), "azure-sas-signature"),
        (
            format!("AWS_SECRET_ACCESS_KEY={}{}", "wJalrXUtnFEMI/K7MDENG/bPxRfi", "CYEXAMPLEKEY"),
            "MDENG",
            "aws-secret-key",
        ),
        (format!("aws_secret_access_key = /{}", run(BASE64, 39)), &run(BASE64, 39), "aws-secret-key"),
        (format!("api_key = \"{}{}\"", "abcdefghij", "1234567890"), "abcdefghij", "api-key"),
        (format!("PASSWORD={}", "#Pa55w0rd!"), "Pa55", "password"),
        (format!("HEROKU_API_KEY={}", "01234567-89ab-cdef-0123-456789abcdef"), "89ab-cdef", "api-key"),
    ] {
        let redacted = redactor().redact(&text).into_owned();
        assert!(redacted.contains(&format!("[redacted:{kind}]")), "{text}\n{redacted}");
        assert!(!redacted.contains(secret), "{text}\n{redacted}");
        assert_eq!(redactor().redact(&redacted), redacted, "not stable");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let sha = run(HEX, 40);
    let long = run(BASE64, 3000);
    let integrity = run(BASE64, 86);
    for text in [
        &*format!("commit {sha}\nAuthor: A <a@b.c>"),
        "\"id\": \"550e8400-e29b-41d4-a716-446655440000\"",
        "session_id=550e8400-e29b-41d4-a716-446655440000 token=550e8400-e29b-41d4-a716-446655440000",
        &*format!("data:image/png;base64,{long}"),
        &*format!("\"integrity\": \"sha512-{integrity}==\""),
        &*format!("checksum = \"{}\"", run(HEX, 64)),
        "{\"input_tokens\": 12345, \"max_tokens\": 4096, \"cache_read_input_tokens\":18273645}",
        "const token = getAccessToken();",
        "let password = user_password;",
        "password: string; token?: string | null",
        "fn check(password: &str, token: Token) -> bool {",
        "password = os.environ[\"DB_PASSWORD\"]",
        "API_KEY=${API_KEY}",
        "api_key: <your-api-key-here-1234>",
        "token = process.env.GITHUB_TOKEN1",
        "PASSWORD=xxxxxxxx",
        "password: ********",
        "secretName: my-app-tls-secret-2",
        "\"forgot_password\": \"Forgot your password?\"",
        "PWD=/home/dev/project",
        "TOKEN_FILE=/run/secrets/token",
        "tokenizer = AutoTokenizer.from_pretrained(\"bert-base-uncased-2024\")",
        "eos_token=\"<|endoftext|>\", pad_token=\"[PAD12345678]\"",
        "nextPageToken: \"CAUQAA12345678901234\"",
        "Basic authentication and Bearer tokens are supported.",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "see https://example.com/a:b@c and git@github.com:a/b.git",
        "http://localhost:8080/@vite/client",
        "postgres://user:${DB_PASS}@host/db",
        "risk-free task-based desk-bound sk-learn-pipeline",
        "npm_config_registry npm_lifecycle_event",
        "if text.contains(\"-----BEGIN PRIVATE KEY-----\") { return Err(Secret) }",
        "-----BEGIN CERTIFICATE-----\nMIIBkTCB+wIJAKHBfpegPjMCMA0GCSqG\n-----END CERTIFICATE-----",
        "the cookie: a small file; cookies = requests.cookies",
        "PUBLIC_KEY=abcdef0123456789abcdef0123456789",
        "cache_key: \"a1b2c3d4e5f60718293a4b5c6d7e8f90\"",
        "tokens: 1234567",
        "key-value store, key-down event",
        "class Foo { private readonly secretService: SecretService1; }",
        "[redacted:token]: abcdefgh12345678zz",
    ] {
        assert_eq!(redactor().redact(text), text);
    }
}

fn pem() -> (String, String, String) {
    let body: Vec<String> = (0..20).map(|i| run(BASE64, 64 + i)[i..].to_owned()).collect();
    (
        ["-----BEGIN RSA PRIV", "ATE KEY-----\n"].concat(),
        body.join("\n"),
        ["\n-----END RSA PRIV", "ATE KEY-----"].concat(),
    )
}

#[test]
fn private_keys_go_whole_or_cut_off() {
    let (begin, body, end) = pem();
    let first = &body[..64];
    let last = &body[body.len() - 64..];
    let numbered: String =
        format!("{begin}{body}{end}").lines().enumerate().map(|(i, line)| format!("{:>6}→{line}\n", i + 1)).collect();
    let cut_tail: String = numbered.lines().skip(5).collect::<Vec<_>>().join("\n");
    for text in [
        format!("a {begin}{body}{end} b"),
        format!("a {begin}{body}"),
        format!("{body}{end} b"),
        format!("a {}", begin.clone() + &body).replace('\n', "\\n"),
        format!("{{\"private_key\": \"{begin}{body}{end}\\n\"}}").replace('\n', "\\n"),
        format!("{body}{end}").replace('\n', "\\n"),
        numbered.clone(),
        cut_tail,
        numbered.lines().take(9).collect::<Vec<_>>().join("\n"),
        format!("{begin}Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{body}{end}"),
    ] {
        let mut counts = Counts::default();
        let redacted = redactor().redact_counted(&text, &mut counts).into_owned();
        assert!(redacted.contains("[redacted:private-key]"), "{text}\n{redacted}");
        assert!(!redacted.contains(first) && !redacted.contains(last), "{text}\n{redacted}");
        assert_eq!(redactor().redact(&redacted), redacted);
    }
    let between = format!("before\n{begin}{body}{end}\nafter");
    assert_eq!(redactor().redact(&between), "before\n[redacted:private-key]\nafter");
}

fn message(text: &str, omitted: u64) -> Event {
    let body = Message { author: Author::Human, channel: Channel::Prompt, text: text.to_owned(), omitted };
    Event { line: 1, at: None, thread: None, key: None, copied: false, body: Body::Message(body) }
}

fn prepared(text: &str, omitted: u64) -> (String, u64, Counts) {
    let mut counts = Counts::default();
    let mut event = message(text, omitted);
    redactor().prepare(&mut event, &mut counts);
    let Body::Message(message) = event.body else { unreachable!() };
    (message.text, message.omitted, counts)
}

#[test]
fn private_spans_go() {
    for (text, omitted, expected) in [
        ("a <private>b</private> c", 0, "a  c"),
        ("a <PRIVATE>b</Private>", 0, "a "),
        ("a <private>b <private>c</private> d</private> e", 0, "a  e"),
        ("a <private>b <private>c</private> d", 0, "a "),
        ("a <private>b", 0, "a "),
        ("about </private> tags", 0, "about </private> tags"),
        ("head b</private> tail", 7, " tail"),
        ("no tags", 0, "no tags"),
    ] {
        assert_eq!(prepared(text, omitted).0, expected, "{text}");
    }
    assert_eq!(prepared("<private>a</private><private>b</private>", 0).2.iter().collect::<Vec<_>>(), [("private", 2)]);
}

#[test]
fn long_texts_keep_head_and_tail_and_count_the_rest() {
    let text = "word ".repeat(10_000);
    let (kept, omitted, _) = prepared(&text, 3);
    assert!(kept.len() <= 16 * 1024 && kept.starts_with("word ") && kept.ends_with("word "));
    assert!(omitted as usize - 3 + kept.len() >= text.len());
}

#[test]
fn all_texts_of_a_call_are_prepared() {
    let secret = ["gh", "p_", &run(ALNUM, 36)].concat();
    let text = format!("x {secret} y");
    let call = ToolCall {
        id: "1".to_owned(),
        name: "Write".to_owned(),
        kind: ToolKind::Edit,
        paths: vec![text.clone()],
        command: Some(text.clone()),
        edits: vec![Edit { path: text.clone(), removed: text.clone(), added: text.clone() }],
        input: text,
        omitted: 0,
    };
    let mut event = Event { line: 1, at: None, thread: None, key: None, copied: false, body: Body::ToolCall(call) };
    let mut counts = Counts::default();
    redactor().prepare(&mut event, &mut counts);
    assert!(!format!("{event:?}").contains(&secret));
    assert_eq!(counts.iter().collect::<Vec<_>>(), [("github-token", 6)]);
}

/// Text that is full of what one's own rules look for.
fn own_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,4}",
        "[ \n\t:=\"'\\\\,.@/<>()\\[\\]{}-]{1,3}",
        prop::sample::select(vec![
            "x-internal-key",
            "X_INTERNAL_KEY",
            "customer",
            "corp.example",
            "a.",
            ".intra",
            "build7",
            "10.1.2.3",
            "172.20.0.1",
            "fd12:",
            "::1",
            "CUST-12345",
            "Project Falcon",
            "[redacted:field]",
            "[redacted:",
            "redacted",
            "-",
            "]",
            "x",
            "é東",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

/// Text that is full of marks and of what comes near them.
fn marked_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,6}",
        "[ \n\t:=\"'\\\\,;@/.<>()-]{1,4}",
        "[A-Za-z0-9+/_-]{8,48}",
        prop::sample::select(vec![
            "password",
            "token=",
            "secret: ",
            "api_key=\"",
            "://",
            "://a:b",
            "@",
            "Bearer ",
            "Basic ",
            "Cookie: a=",
            "eyJ",
            "sk-",
            "-----BEGIN ",
            "PRIVATE KEY-----",
            "-----END ",
            "<private>",
            "</private>",
            "\\n",
            "\\\"",
            "[redacted:token]",
            "[redacted:",
            "]",
            "curl -u a:",
            "AccountKey=",
            "sig=",
            ":AA",
            "Q~",
            "12345678",
            "SG.",
            "é東",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in marked_text()) {
        let redactor = redactor();
        let once = redactor.redact(&text);
        prop_assert_eq!(redactor.redact(&once), once.as_ref());
    }

    #[test]
    fn redacting_twice_is_redacting_once_with_rules_of_ones_own(text in marked_text(), more in own_text()) {
        let redactor = own();
        for text in [format!("{text}{more}"), format!("{more}{text}"), more.clone()] {
            let once = redactor.redact(&text);
            prop_assert_eq!(redactor.redact(&once), once.as_ref(), "{}", text);
        }
    }

    #[test]
    fn what_one_names_survives_nowhere(before in own_text(), after in own_text(), left in "[ \n\"'(]", right in "[ \n\"')]") {
        for secret in ["db.corp.example", "10.20.30.40", "fd00:1::7f", "CUST-77012"] {
            let redacted = own().redact(&format!("{before}{left}{secret}{right}{after}")).into_owned();
            prop_assert!(!redacted.contains(secret), "{}", redacted);
        }
    }

    #[test]
    fn no_key_survives_wherever_it_stands(
        before in marked_text(),
        after in marked_text(),
        left in "[ \n\"'=,(]",
        right in "[ \n\"',)]",
        key in prop::sample::select(keys()),
    ) {
        let text = format!("{before}{left}{}{right}{after}", key.1);
        let redacted = redactor().redact(&text).into_owned();
        prop_assert!(!redacted.contains(&key.1), "{}\n{}", text, redacted);
    }

    #[test]
    fn no_key_survives_the_cut(
        offset in 0usize..260,
        head in any::<bool>(),
        key in prop::sample::select(keys()),
        filler in prop::sample::select(vec!["word ", "x", "東京", "a-b_c."]),
    ) {
        let limit = 2048;
        let redactor = Redactor::new(&Settings { text_limit: limit, ..Settings::default() });
        // Puts the key across the place where the head ends, or where the tail begins.
        let near = (limit / 2).saturating_sub(offset);
        let long = filler.repeat(3 * limit / filler.len());
        let near = long.floor_char_boundary(near);
        let text = if head { format!("{} {} {long}", &long[..near], key.1) } else { format!("{long} {} {}", key.1, &long[..near]) };
        let mut event = message(&text, 0);
        redactor.prepare(&mut event, &mut Counts::default());
        let Body::Message(message) = event.body else { unreachable!() };
        prop_assert!(message.text.len() <= limit + 64);
        // What stays of the key where it is whole (the beginning of a webhook's address) may stay here too.
        let stays = redactor.redact(&key.1).find('[').unwrap_or(0);
        for part in key.1.as_bytes()[stays..].windows(20) {
            let part = std::str::from_utf8(part).unwrap();
            prop_assert!(!message.text.contains(part), "{} of {} in {}", part, key.1, message.text);
        }
    }
}

#[test]
fn what_one_names_is_taken_out() {
    let redactor = own();
    for (text, expected) in [
        ("X-Internal-Key: abc def\nnext", "X-Internal-Key: [redacted:field]\nnext"),
        ("curl -H 'x-internal-key: abc def' u", "curl -H 'x-internal-key: [redacted:field]' u"),
        ("X_INTERNAL_KEY=12 next", "X_INTERNAL_KEY=[redacted:field] next"),
        ("{\"x-internal-key\": 7, \"a\": 1}", "{\"x-internal-key\": [redacted:field], \"a\": 1}"),
        ("{\"customer\": \"Jane \\\"J\\\" Doe\"}", "{\"customer\": \"[redacted:field]\"}"),
        ("{\\\"customer\\\":\\\"Jane\\\"}", "{\\\"customer\\\":\\\"[redacted:field]\\\"}"),
        ("{\"customer\": [\"Jane\", \"Joe\"], \"b\": 2}", "{\"customer\": [redacted:field], \"b\": 2}"),
        ("{\"customer\": {\"name\": \"Jane\"}}", "{\"customer\": [redacted:field]}"),
        ("--customer Jane", "--customer [redacted:field]"),
        ("<customer>Jane Doe</customer>", "<customer>[redacted:field]</customer>"),
        ("the customer said: no; customers: 4; my-customer: x", "the customer said: no; customers: 4; my-customer: x"),
        ("ssh db1.corp.example.", "ssh [redacted:host]."),
        ("https://git.CORP.example:8443/x and wiki.intra", "https://[redacted:host]:8443/x and [redacted:host]"),
        ("corp.example.com notcorp.example build77", "corp.example.com notcorp.example build77"),
        (
            "at build7: 10.0.0.1:80, 172.16.3.4/12, 192.168.1.1",
            "at [redacted:host]: [redacted:address]:80, [redacted:address]/12, [redacted:address]",
        ),
        (
            "8.8.8.8 172.32.0.1 1.10.0.0.1 v10.0.0.1.2 10.0.300.1",
            "8.8.8.8 172.32.0.1 1.10.0.0.1 v10.0.0.1.2 10.0.300.1",
        ),
        (
            "[fd00::1]:80 fd12:3456::a, fdab: no 2001:fd00::1",
            "[[redacted:address]]:80 [redacted:address], fdab: no 2001:fd00::1",
        ),
        ("for CUST-1234 in Project Falcon", "for [redacted:pattern] in [redacted:pattern]"),
    ] {
        assert_eq!(redactor.redact(text), expected, "{text}");
    }
    let far = format!("{}CUST-123456", "x".repeat(30_000));
    assert!(redactor.redact(&far).ends_with("x[redacted:pattern]"));
    assert_eq!(Redactor::new(&Settings::default()).redact("10.0.0.1 corp.example"), "10.0.0.1 corp.example");
}

/// Not a measurement: a bound that quadratic rules would break by orders of magnitude, on however busy a machine.
#[test]
fn hostile_texts_take_linear_time() {
    let (redactor, own) = (redactor(), own());
    for piece in [
        "customer: [",
        "customer: [\n",
        "customer: \"\\",
        "customer:",
        "corp.example.",
        "a.corp.examplecorp.example",
        "fd00:",
        "10.0.0.",
        "CUST-",
        "[redacted:pattern",
        "[redacted:field]",
        "token=",
        "password:\"",
        "eyJ",
        "eyJ.",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "Bearer ",
        "cookie: a=b;",
        "sk-",
        "SG.",
        "curl ",
        "ghp_",
        "Q~",
        ":AA1",
        "-us1",
        "<private>",
        "\\\"secret\\\":\\\"",
        "_KEY",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        let start = std::time::Instant::now();
        redactor.redact(&text);
        own.redact(&text);
        assert!(start.elapsed().as_secs() < 60, "{piece}: {:?}", start.elapsed());
    }
}
