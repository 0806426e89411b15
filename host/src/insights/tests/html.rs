//! The HTML page: what every page must be, whatever its texts are. It is read with a browser's tokenizer.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use proptest::prelude::*;

use super::*;

/// What a browser finds in a page.
#[derive(Debug, Default)]
struct Found {
    errors: Vec<String>,
    open: Vec<String>,
    elements: Vec<(String, Vec<(String, String)>)>,
    text: String,
    comments: usize,
}

#[derive(Default)]
struct Reader(RefCell<Found>);

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let mut found = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => return found.tag(&tag, line),
            Token::CharacterTokens(text) if found.open.last().is_none_or(|open| open != "style") => {
                found.text.push_str(&text);
            }
            Token::CommentToken(_) => found.comments += 1,
            Token::ParseError(error) => found.errors.push(format!("line {line}: {error}")),
            Token::NullCharacterToken => found.errors.push("a NUL".into()),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Found {
    fn tag(&mut self, tag: &Tag, line: u64) -> TokenSinkResult<()> {
        let name = tag.name.to_string();
        if tag.kind == TagKind::EndTag {
            if self.open.pop().as_ref() != Some(&name) {
                self.errors.push(format!("line {line}: </{name}> ends nothing"));
            }
            return TokenSinkResult::Continue;
        }
        let attributes = tag.attrs.iter().map(|it| (it.name.local.to_string(), it.value.to_string())).collect();
        self.elements.push((name.clone(), attributes));
        if name != "meta" {
            self.open.push(name.clone());
        }
        // Likewise for a character reference, text is data in these.
        match name.as_str() {
            "title" => TokenSinkResult::RawData(RawKind::Rcdata),
            "style" => TokenSinkResult::RawData(RawKind::Rawtext),
            _ => TokenSinkResult::Continue,
        }
    }

    fn values(&self, attribute: &str) -> Vec<&str> {
        let attributes = self.elements.iter().flat_map(|(_, attributes)| attributes);
        attributes.filter(|(name, _)| name == attribute).map(|(_, value)| value.as_str()).collect()
    }
}

fn read(html: &str) -> Found {
    let options = html5ever::tokenizer::TokenizerOpts { exact_errors: true, ..Default::default() };
    let tokenizer = Tokenizer::new(Reader::default(), options);
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// All that elements and attributes may be.
const ELEMENTS: &[&str] = &[
    "article",
    "bdi",
    "blockquote",
    "body",
    "circle",
    "code",
    "details",
    "div",
    "em",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "head",
    "header",
    "html",
    "li",
    "line",
    "main",
    "meta",
    "p",
    "rect",
    "section",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];
const ATTRIBUTES: &[&str] = &[
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "charset",
    "class",
    "content",
    "cx",
    "cy",
    "dir",
    "height",
    "http-equiv",
    "id",
    "lang",
    "name",
    "preserveaspectratio",
    "r",
    "role",
    "scope",
    "stroke-width",
    "tabindex",
    "text-anchor",
    "viewbox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
];

/// What must hold of every page.
fn check(html: &str) -> Found {
    let found = read(html);
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    assert!(found.open.is_empty(), "never closed: {:?}", found.open);
    assert_eq!(found.comments, 0);
    for (name, attributes) in &found.elements {
        assert!(ELEMENTS.contains(&name.as_str()), "<{name}>");
        for (attribute, value) in attributes {
            assert!(ATTRIBUTES.contains(&attribute.to_lowercase().as_str()), "<{name} {attribute}>");
            assert!(!value.contains("://"), "<{name} {attribute}={value}>");
        }
        let has = |attribute: &str| attributes.iter().any(|(name, _)| name == attribute);
        assert!(name != "svg" || has("aria-label") || has("aria-hidden"), "a chart that says nothing");
        assert!(name != "th" || has("scope"), "a header of nothing");
    }
    let mut ids = found.values("id");
    assert!(found.values("aria-labelledby").iter().all(|id| ids.contains(id)), "{ids:?}");
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id is there twice");
    assert!(html.contains("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
    let style = include_str!("../html/style.css");
    assert!(!style.contains("url(") && !style.contains("@import") && !style.contains('<'), "it would load something");
    let is_hidden =
        |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!html.chars().any(is_hidden), "a control character");
    found
}

#[test]
fn pages_are_sound_in_every_language() {
    for language in crate::locale::languages() {
        let locale = choose(Some(language), None);
        for insights in [small().insights(unread()), ruled(), Library::default().insights(Unread::default())] {
            let found = check(&insights.html(&locale));
            assert_eq!(found.values("lang"), [language]);
            for id in ["chart-", "rule-a", "forms-", "{ $", "trends-", "category-"] {
                assert!(!found.text.contains(id), "{language}: {id}");
            }
        }
    }
}

#[test]
fn it_says_what_the_page_says() {
    let (html, page) = (check(&ruled().html(&choose(None, None))).text, ruled().page(&choose(None, None)));
    // Without the marks of Markdown, and without what HTML draws.
    let plain = |line: &str| -> String {
        line.chars().filter(|c| !"\\`*>#| -1234567890.".contains(*c) && !('▁'..='█').contains(c)).collect()
    };
    let html = plain(&html.replace('\n', ""));
    let lines = page.lines().filter(|line| !line.starts_with("| ") && !line.contains("more session"));
    for line in lines.map(plain).filter(|line| !line.is_empty()) {
        assert!(html.contains(line.trim_end_matches("·")), "{line}");
    }
}

#[test]
fn charts_say_their_numbers() {
    let html = ruled().html(&choose(None, None));
    let found = check(&html);
    let labels = found.values("aria-label");
    assert!(labels.contains(&"Sessions per week, the oldest first: 1, 1, 2, 1, 2, 2, 1, 3"), "{labels:?}");
    assert!(labels.contains(&"Sessions per week with it, the oldest first: 0, 0, 0, 0, 2, 0, 1, 3"), "{labels:?}");
    assert!(found.text.contains("0.12 (0.02–0.71)"));
    assert_eq!(html.matches("<circle").count(), 3, "rules without a ratio are not drawn");
    assert_eq!(html.matches("class=\"same\"").count(), 1, "the ratio 1 is marked");
}

fn hostile(text: &str) -> Insights {
    let mut library = Library::default();
    let signals = [
        ("user-correction", text, text, 1, None),
        ("tool-error", text, text, 2, Some(text)),
        (text, text, text, 3, None),
    ];
    library.session(9, text, &signals);
    library.session(2, text, &signals);
    library.judge(0, Category::Frustration, Form::Intent, text, text);
    library.judge(1, Category::Frustration, Form::Intent, text, text);
    library.sessions.iter_mut().for_each(|session| session.tool = text.into());
    let unread = Unread {
        failed: vec![Failed { path: text.into(), why: text.into() }],
        unknown: vec![Unknown { tool: text.into(), record: text.into(), count: 1 }],
        broken: 1,
    };
    let mut rule =
        verdict(text, Outcome::Worse, [(1, 2), (2, 2)], Some([f64::NAN, f64::INFINITY, -1.0]), Simple::Pending);
    (rule.text, rule.subject) = (text.into(), text.into());
    let insights = library.insights(unread);
    Insights { view: View { project: Some(text.into()), ..View::default() }, rules: vec![rule], ..insights }
}

#[test]
fn what_transcripts_say_stays_text() {
    for text in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "</style><script>x</script>",
        "</title></svg></code><!-- ",
        "]]><![CDATA[",
        "[a](javascript:alert(1)) ![b](http://evil.example/x.png) <http://evil.example>",
        "`<b>` ``<i>`` **<u>** &lt;s&gt; &#60;script&#62;",
        "\u{202e}\u{2066}evil\u{1b}[31m\u{0}\u{7f}\u{9b}",
        "مرحبا <b dir=rtl> עולם",
        "{ $subject } {{x}} ${x}",
        "| a | b |\n# c\n- d\n> e\n\n    f",
    ] {
        for language in crate::locale::languages() {
            check(&hostile(text).html(&choose(Some(language), None)));
        }
    }
    let found = check(&hostile("a <b>c</b> d").html(&choose(None, None)));
    assert!(found.text.contains("“a <b>c</b> d”"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_they_say(text in "[<>&\"'`*_\\\\\\[\\]()!/a-z \u{0}-\u{1f}\u{202a}-\u{202e}ا-ي]{0,40}") {
        check(&hostile(&text).html(&choose(None, None)));
    }
}
