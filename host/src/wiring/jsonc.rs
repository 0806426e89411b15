//! JSON as people keep it, changed without touching what is not changed: comments, order, indentation, line endings, commas at
//! the end, keys that are there twice.
//!
//! Nothing is ever written anew. A member or an element is put behind the last one, in the manner of those that are there, and
//! taking it out again gives the very bytes that were there before, whatever has been changed elsewhere meanwhile.

use std::ops::Range;

use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions, ast,
    common::{Range as Span, Ranged as _},
    parse_to_ast,
    tokens::Token,
};

/// What is to be written. Members keep their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    /// An object.
    Object(Vec<(String, Self)>),
    /// A list.
    List(Vec<Self>),
    /// A text.
    Text(String),
    /// A number.
    Number(u32),
}

/// Why a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsoncError {
    /// It is not UTF-8.
    #[error("it is not UTF-8 from byte {0} on")]
    Encoding(usize),
    /// It is not JSON, not even with comments.
    #[error("line {line}, column {column}: {what}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// Something else is where a list or an object has to be.
    #[error("line {line}: {what}")]
    Shape {
        /// Counted from 1.
        line: usize,
        /// What is there.
        what: String,
    },
}

/// A text and where everything is in it.
#[derive(Debug)]
pub(super) struct Document {
    text: String,
    /// None where there is nothing but white space and comments.
    root: Option<Node>,
    pieces: Vec<Piece>,
}

/// A value and where it is.
#[derive(Debug, Clone)]
pub(super) struct Node {
    range: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Members in their order, also those of the same name.
    Object(Vec<Member>),
    /// Elements.
    Array(Vec<Node>),
    /// A text.
    String(String),
    /// `true`.
    True,
    /// Something else.
    Other,
}

/// One name of an object, with its value.
#[derive(Debug, Clone)]
pub(super) struct Member {
    range: Range<usize>,
    /// The name.
    pub name: String,
    /// The value.
    pub value: Node,
}

#[derive(Debug, Clone)]
struct Piece {
    range: Range<usize>,
    sort: Sort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Comma,
    LineComment,
    BlockComment,
    Other,
}

impl Node {
    /// The members of an object.
    pub(super) fn members(&self) -> &[Member] {
        if let Kind::Object(members) = &self.kind { members } else { &[] }
    }

    /// The elements of an array.
    pub(super) fn elements(&self) -> &[Self] {
        if let Kind::Array(elements) = &self.kind { elements } else { &[] }
    }

    /// The value that a program finds under a name: of members of the same name, the last.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().rev().find(|member| member.name == name).map(|member| &member.value)
    }

    /// The text, if it is one.
    pub(super) fn as_str(&self) -> Option<&str> {
        if let Kind::String(text) = &self.kind { Some(text) } else { None }
    }

    /// Whether it is an object or a list without anything in it.
    pub(super) fn is_empty(&self) -> bool {
        self.children().is_empty()
    }

    fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|member| member.range.clone()).collect(),
            Kind::Array(elements) => elements.iter().map(|element| element.range.clone()).collect(),
            _ => Vec::new(),
        }
    }

    fn close(&self) -> usize {
        self.range.end - 1
    }
}

impl Document {
    /// Reads a text. What JSON5 allows beyond comments and commas at the end is none of it.
    ///
    /// # Errors
    /// `Encoding` and `Syntax`, with the place.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, JsoncError> {
        let text = std::str::from_utf8(bytes).map_err(|error| JsoncError::Encoding(error.valid_up_to()))?;
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(&text[mark..], &collect, &options).map_err(|error| JsoncError::Syntax {
            line: error.line_display(),
            column: error.column_display(),
            what: error.kind().to_string(),
        })?;
        let at = |span: Span| span.start + mark..span.end + mark;
        let piece = |token: &jsonc_parser::tokens::TokenAndRange<'_>| Piece {
            range: at(token.range()),
            sort: match token.token {
                Token::Comma => Sort::Comma,
                Token::CommentLine(_) => Sort::LineComment,
                Token::CommentBlock(_) => Sort::BlockComment,
                _ => Sort::Other,
            },
        };
        Ok(Self {
            text: text.to_owned(),
            root: parsed.value.as_ref().map(|value| node(value, &at)),
            pieces: parsed.tokens.unwrap_or_default().iter().map(piece).collect(),
        })
    }

    /// The value of the whole text.
    pub(super) fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    /// Whether there is nothing at all in it.
    pub(super) fn is_blank(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What keeps a program that reads plain JSON from reading it, and its line.
    pub(super) fn beyond_json(&self) -> Option<(usize, &'static str)> {
        let next = |at: usize| self.pieces[at + 1..].iter().find(|piece| !piece.is_comment());
        let found = self.pieces.iter().enumerate().find_map(|(at, piece)| match piece.sort {
            Sort::LineComment | Sort::BlockComment => Some((piece, "a comment")),
            Sort::Comma => {
                let closes = next(at).is_some_and(|next| matches!(&self.text[next.range.clone()], "}" | "]"));
                closes.then_some((piece, "a comma behind the last one"))
            }
            Sort::Other => None,
        });
        found.map(|(piece, what)| (self.line(piece.range.start), what))
    }

    /// That something is not what it has to be.
    pub(super) fn misshapen(&self, node: &Node, what: String) -> JsoncError {
        JsoncError::Shape { line: self.line(node.range.start), what }
    }

    /// The whole.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// How many comments there are in an object or a list.
    pub(super) fn comments_in(&self, container: &Node) -> usize {
        let inside =
            |piece: &&Piece| piece.range.start > container.range.start && piece.range.end < container.range.end;
        self.pieces.iter().filter(inside).filter(|piece| piece.is_comment()).count()
    }

    /// Puts something behind the last member (with a name) or element of a container. The second is the white space that was in
    /// an empty one, with which [`close_up`](Self::close_up) makes it as it was.
    pub(super) fn append(&self, container: &Node, name: Option<&str>, value: &Json) -> (String, Option<String>) {
        let close = container.close();
        let from = self.before(close);
        let tail = &self.text[from..close];
        let children = container.children();
        let trailing = children.last().is_some_and(|last| self.comma_after(last.end).is_some());
        let style = self.style(container);
        let inline = !children.is_empty() && !self.text[container.range.clone()].contains('\n');
        let named = name.map(|name| format!("{}:{}", quoted(name), style.space)).unwrap_or_default();
        let mut put = if inline {
            let gap = if children.len() > 1 || tail.is_empty() { style.space } else { " " };
            format!("{gap}{named}{}", style.compact(value))
        } else {
            format!("{}{}{named}{}", style.newline, style.inner, style.pretty(value, &style.inner))
        };
        if trailing {
            put.push(',');
        }
        let mut changes = Vec::new();
        if let Some(last) = children.last().filter(|_| !trailing) {
            changes.push((last.end..last.end, ",".to_owned()));
        }
        let opens_up = children.is_empty() && !tail.contains('\n');
        if opens_up {
            put += &format!("{}{}", style.newline, style.outer);
            changes.push((from..close, put));
        } else {
            changes.push((from..from, put));
        }
        (self.changed(changes), children.is_empty().then(|| tail.to_owned()))
    }

    /// Takes the member or element of this number out of a container, with its comma and the white space before it.
    pub(super) fn remove(&self, container: &Node, number: usize) -> String {
        let child = container.children()[number].clone();
        let from = self.before(child.start);
        let mut changes = Vec::new();
        let mut rest = child.end;
        if let Some(comma) = self.comma_after(child.end) {
            rest = if self.text[child.end..comma.start].trim().is_empty() { comma.end } else { child.end };
            changes.push((comma, String::new()));
        } else if number > 0 {
            let before = self.pieces.iter().rev().find(|it| it.range.end <= child.start && it.sort == Sort::Comma);
            changes.extend(before.map(|comma| (comma.range.clone(), String::new())));
        }
        // Behind `// …` the line has to end.
        let keeps_line = self.in_line_comment(from) && !self.ends_line(rest);
        let from = if keeps_line { child.start } else { from };
        changes.push((from..child.end, String::new()));
        self.changed(changes)
    }

    /// Gives an empty container the white space back that it had before its bracket.
    pub(super) fn close_up(&self, container: &Node, tail: &str) -> String {
        let close = container.close();
        let from = self.before(close);
        if !container.is_empty() || (self.in_line_comment(from) && !tail.contains('\n')) {
            return self.text.clone();
        }
        self.changed(vec![(from..close, tail.to_owned())])
    }

    /// Where the last token or comment before a place ends.
    fn before(&self, place: usize) -> usize {
        let before = self.pieces.iter().rev().find(|piece| piece.range.end <= place);
        before.map_or(0, |piece| piece.range.end)
    }

    fn in_line_comment(&self, end: usize) -> bool {
        self.pieces.iter().any(|piece| piece.range.end == end && piece.sort == Sort::LineComment)
    }

    fn ends_line(&self, from: usize) -> bool {
        self.text[from..].trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
    }

    /// The comma that follows, be it behind comments.
    fn comma_after(&self, place: usize) -> Option<Range<usize>> {
        let next = self.pieces.iter().find(|piece| piece.range.start >= place && !piece.is_comment())?;
        (next.sort == Sort::Comma).then(|| next.range.clone())
    }

    fn line(&self, place: usize) -> usize {
        self.text[..place].matches('\n').count() + 1
    }

    /// The text with parts replaced that do not overlap.
    fn changed(&self, mut changes: Vec<(Range<usize>, String)>) -> String {
        changes.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = self.text.clone();
        for (range, new) in changes.into_iter().rev() {
            text.replace_range(range, &new);
        }
        text
    }

    /// White space at the beginning of the line of a place, if nothing else is before it.
    fn indentation(&self, place: usize) -> Option<&str> {
        let line = self.text[..place].rfind('\n').map_or(0, |at| at + 1);
        let before = &self.text[line..place];
        before.trim_matches([' ', '\t', '\u{feff}']).is_empty().then(|| before.trim_start_matches('\u{feff}'))
    }

    /// The manner of what is there.
    fn style(&self, container: &Node) -> Style<'_> {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = |node: &Node| node.children().first().and_then(|child| self.indentation(child.start));
        let unit = self.root.as_ref().and_then(first).filter(|unit| !unit.is_empty()).unwrap_or("  ");
        // A bracket is behind a name, whose line is what counts.
        let line = self.text[..container.range.start].rfind('\n').map_or(0, |at| at + 1);
        let outer = self.text[line..].trim_start_matches('\u{feff}');
        let outer = &outer[..outer.len() - outer.trim_start_matches([' ', '\t']).len()];
        let inner = first(container).map_or_else(|| format!("{outer}{unit}"), str::to_owned);
        let is_tight = self.text.contains("\":") && !self.text.contains("\": ") && !self.text.contains('\n');
        Style { newline, unit, outer: outer.to_owned(), inner, space: if is_tight { "" } else { " " } }
    }
}

impl Piece {
    fn is_comment(&self) -> bool {
        matches!(self.sort, Sort::LineComment | Sort::BlockComment)
    }
}

struct Style<'t> {
    newline: &'static str,
    unit: &'t str,
    /// Of the line of the opening bracket.
    outer: String,
    /// Of what is inside.
    inner: String,
    /// Behind colons and commas.
    space: &'static str,
}

impl Style<'_> {
    fn compact(&self, value: &Json) -> String {
        let list = |all: Vec<String>| all.join(&format!(",{}", self.space));
        match value {
            Json::Object(members) => {
                let member =
                    |(name, value): &(String, Json)| format!("{}:{}{}", quoted(name), self.space, self.compact(value));
                format!("{{{}}}", list(members.iter().map(member).collect()))
            }
            Json::List(elements) => format!("[{}]", list(elements.iter().map(|it| self.compact(it)).collect())),
            Json::Text(text) => quoted(text),
            Json::Number(number) => number.to_string(),
        }
    }

    fn pretty(&self, value: &Json, indentation: &str) -> String {
        let inner = format!("{indentation}{}", self.unit);
        let lines = |open: char, all: Vec<String>, close: char| {
            let lines: Vec<_> = all.into_iter().map(|line| format!("{}{inner}{line}", self.newline)).collect();
            format!("{open}{}{}{indentation}{close}", lines.join(","), self.newline)
        };
        let is_plain = |value: &Json| matches!(value, Json::Text(_) | Json::Number(_));
        match value {
            Json::Object(members) if !members.is_empty() => {
                let member =
                    |(name, value): &(String, Json)| format!("{}: {}", quoted(name), self.pretty(value, &inner));
                lines('{', members.iter().map(member).collect(), '}')
            }
            // A list of words is a line.
            Json::List(elements) if !elements.iter().all(is_plain) => {
                lines('[', elements.iter().map(|it| self.pretty(it, &inner)).collect(), ']')
            }
            plain => self.compact(plain),
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn node(value: &ast::Value<'_>, at: &impl Fn(Span) -> Range<usize>) -> Node {
    let kind = match value {
        ast::Value::Object(object) => {
            let member = |it: &ast::ObjectProp<'_>| Member {
                range: at(it.range),
                name: it.name.as_str().to_owned(),
                value: node(&it.value, at),
            };
            Kind::Object(object.properties.iter().map(member).collect())
        }
        ast::Value::Array(array) => Kind::Array(array.elements.iter().map(|it| node(it, at)).collect()),
        ast::Value::StringLit(text) => Kind::String(text.value.to_string()),
        ast::Value::BooleanLit(boolean) if boolean.value => Kind::True,
        _ => Kind::Other,
    };
    Node { range: at(value.range()), kind }
}
