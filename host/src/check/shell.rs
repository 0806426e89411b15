//! The commands of a shell line, as far as a check needs them: the words of every simple command that would be run, wherever it stands
//! (in a list, a pipeline, a subshell, a substitution, behind `sudo` or in `bash -c "…"`), and no words that are only text.
//!
//! Hostile lines are bounded: every byte is looked at once at each depth, depth and commands are limited, and what is not understood is
//! left out. A grammar of the whole shell was looked at and left (`brush-parser` 0.4): twenty nested groups take it 40 ms and each
//! further one doubles that, and deep nesting ends the process.

use std::{iter::Peekable, str::CharIndices};

/// Longer lines are not looked at: no person and no model writes them, programs that embed files do.
const LONGEST: usize = 256 << 10;

/// Substitutions, subshells and `sh -c` within each other.
const DEEPEST: usize = 12;

/// Commands of one line.
const MOST: usize = 2_000;

/// Words of a line, all commands together.
const MOST_WORDS: usize = 20_000;

/// The words of each simple command of a line, assignments and redirections left out and wrappers taken off. Empty if there are none.
pub(super) fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = Found::default();
    if line.len() <= LONGEST {
        Reader::new(line, 0, &mut found).list(None);
    }
    found.commands
}

#[derive(Default)]
struct Found {
    commands: Vec<Vec<String>>,
    words: usize,
}

struct Reader<'l, 'f> {
    line: &'l str,
    chars: Peekable<CharIndices<'l>>,
    depth: usize,
    found: &'f mut Found,
    /// Words of the command that is being read; `word` is the one at hand, if any.
    words: Vec<String>,
    word: Option<String>,
    /// The next word is where a redirection goes.
    redirects: bool,
    /// Ends of heredocs whose text begins with the next line, and whether tabs before the end are allowed.
    heredocs: Vec<(String, bool)>,
    /// The next word is the end of a heredoc.
    heredoc: Option<bool>,
}

impl<'l, 'f> Reader<'l, 'f> {
    fn new(line: &'l str, depth: usize, found: &'f mut Found) -> Self {
        Self {
            line,
            chars: line.char_indices().peekable(),
            depth,
            found,
            words: Vec::new(),
            word: None,
            redirects: false,
            heredocs: Vec::new(),
            heredoc: None,
        }
    }

    /// Reads a list of commands up to its end: `)` of a substitution or subshell, a backtick, or the end of the line.
    fn list(&mut self, end: Option<char>) {
        let mut subshells = 0_usize;
        while let Some((_, c)) = self.chars.next() {
            match c {
                _ if Some(c) == end && subshells == 0 => break,
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => {
                    if let Some((_, escaped)) = self.chars.next()
                        && escaped != '\n'
                    {
                        self.push(escaped);
                    }
                }
                '$' => self.dollar(),
                '`' => self.nested(Some('`')),
                '#' if self.word.is_none() => self.skip_line(),
                '\n' => {
                    self.end_command();
                    self.skip_heredocs();
                }
                ' ' | '\t' | '\r' => self.end_word(),
                ';' | '|' | '&' if c == '&' && self.next_is('>') => self.redirection(),
                ';' | '|' | '&' => self.end_command(),
                '(' => {
                    // `f() {`, `a=(…)`, `(…)`: what is inside are commands, or words that are harmless as such.
                    subshells += 1;
                    self.end_command();
                }
                ')' => {
                    subshells = subshells.saturating_sub(1);
                    self.end_command();
                }
                '<' | '>' => self.angle(c),
                _ => self.push(c),
            }
        }
        self.end_command();
    }

    fn next_is(&mut self, wanted: char) -> bool {
        self.chars.peek().is_some_and(|(_, c)| *c == wanted)
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn single_quoted(&mut self) {
        self.word.get_or_insert_default();
        for (_, c) in self.chars.by_ref() {
            if c == '\'' {
                return;
            }
            self.word.get_or_insert_default().push(c);
        }
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some((_, c)) = self.chars.next() {
            match c {
                '"' => return,
                '\\' => {
                    if let Some((_, escaped)) = self.chars.next() {
                        match escaped {
                            '\n' => {}
                            '"' | '\\' | '$' | '`' => self.push(escaped),
                            _ => {
                                self.push('\\');
                                self.push(escaped);
                            }
                        }
                    }
                }
                '$' => self.dollar(),
                '`' => self.nested(Some('`')),
                _ => self.push(c),
            }
        }
    }

    /// `$(…)`, `$((…))`, `${…}`, `$'…'`, `$name`.
    fn dollar(&mut self) {
        match self.chars.peek().map(|(_, c)| *c) {
            Some('(') => {
                self.chars.next();
                self.nested(Some(')'));
            }
            Some('{') => {
                self.word.get_or_insert_default().push_str("${");
                self.chars.next();
                let mut braces = 1_usize;
                for (_, c) in self.chars.by_ref() {
                    self.word.get_or_insert_default().push(c);
                    braces = match c {
                        '{' => braces + 1,
                        '}' => braces - 1,
                        _ => braces,
                    };
                    if braces == 0 {
                        break;
                    }
                }
            }
            _ => self.push('$'),
        }
    }

    /// A substitution: its commands are run, its output is a part of the word, which is then not known.
    fn nested(&mut self, end: Option<char>) {
        self.word.get_or_insert_default().push('\u{fffd}');
        let start = self.chars.peek().map_or(self.line.len(), |(at, _)| *at);
        if self.depth >= DEEPEST {
            self.skip_to(end);
            return;
        }
        let rest = &self.line[start..];
        let mut inner = Reader::new(rest, self.depth + 1, self.found);
        inner.list(end);
        let next = inner.chars.peek().map_or(rest.len(), |(at, _)| *at);
        while self.chars.peek().is_some_and(|(at, _)| *at < start + next) {
            self.chars.next();
        }
    }

    fn skip_to(&mut self, end: Option<char>) {
        let mut open = 0_usize;
        for (_, c) in self.chars.by_ref() {
            match c {
                _ if Some(c) == end && open == 0 => return,
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// `<`, `>`, `>>`, `>&`, `<<`, `<<-`, `<<<`, `<(`, with a number before that is no word.
    fn angle(&mut self, first: char) {
        if self.next_is('(') {
            self.chars.next();
            self.nested(Some(')'));
            return;
        }
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        if first == '<' && self.next_is('<') {
            self.chars.next();
            if self.next_is('<') {
                self.chars.next();
                self.end_word();
                self.redirects = true;
                return;
            }
            let tabs = self.next_is('-');
            if tabs {
                self.chars.next();
            }
            self.end_word();
            self.heredoc = Some(tabs);
            return;
        }
        self.redirection();
    }

    fn redirection(&mut self) {
        self.end_word();
        while self.chars.peek().is_some_and(|(_, c)| matches!(c, '>' | '&' | '|')) {
            self.chars.next();
        }
        self.redirects = true;
    }

    fn skip_line(&mut self) {
        while self.chars.peek().is_some_and(|(_, c)| *c != '\n') {
            self.chars.next();
        }
    }

    /// The text of heredocs is no command.
    fn skip_heredocs(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.heredocs) {
            loop {
                let Some((start, _)) = self.chars.peek().copied() else { return };
                let line = self.line[start..].lines().next().unwrap_or_default();
                self.skip_line();
                self.chars.next();
                if line.trim_end_matches('\r') == end || (tabs && line.trim_start_matches('\t') == end) {
                    break;
                }
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if let Some(tabs) = self.heredoc.take() {
            self.heredocs.push((word, tabs));
        } else if std::mem::take(&mut self.redirects) {
            // Where output goes is no word of the command.
        } else {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirects = false;
        self.heredoc = None;
        let words = std::mem::take(&mut self.words);
        self.run(&words);
    }

    /// Takes a simple command apart until what is really run is found.
    fn run(&mut self, words: &[String]) {
        let mut words = words;
        while let Some((first, rest)) = words.split_first() {
            if is_assignment(first) || KEYWORDS.contains(&first.as_str()) {
                words = rest;
                continue;
            }
            if self.found.commands.len() >= MOST || self.found.words >= MOST_WORDS {
                return;
            }
            self.found.words += words.len();
            self.found.commands.push(words.to_vec());
            let program = name(first);
            if SHELLS.contains(&program) {
                self.script(rest);
                return;
            }
            if program == "eval" {
                self.line_of(&rest.join(" "));
                return;
            }
            let Some(options) = wrapper(program) else { return };
            words = unwrapped(rest, options);
        }
    }

    /// `bash -c "…"`, `bash -lc '…'`.
    fn script(&mut self, words: &[String]) {
        let flag = words.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'));
        if let Some(script) = flag.and_then(|flag| words[flag + 1..].iter().find(|word| !word.starts_with('-'))) {
            self.line_of(script);
        }
    }

    fn line_of(&mut self, line: &str) {
        if self.depth < DEEPEST {
            Reader::new(line, self.depth + 1, self.found).list(None);
        }
    }
}

/// Words of the shell before which, or behind which, a command begins.
const KEYWORDS: &[&str] =
    &["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time", "coproc", "fi", "done"];

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish"];

/// Options that take a word of their own, of programs that run what stands behind them.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D", "-T"]),
    ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "-S"]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
    ("nohup", &[]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("timeout", &["-s", "-k"]),
    ("time", &["-f", "-o"]),
    ("xargs", &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"]),
    ("watch", &["-n"]),
    ("setsid", &[]),
    ("npx", &["-p", "--package"]),
    ("bunx", &[]),
    ("pnpx", &[]),
    ("uvx", &["--from", "--with", "-p"]),
];

fn wrapper(program: &str) -> Option<&'static [&'static str]> {
    WRAPPERS.iter().find(|(name, _)| *name == program).map(|(_, options)| *options)
}

/// What a wrapper runs: behind its options, assignments and, for `timeout`, the time.
fn unwrapped<'w>(mut words: &'w [String], options: &[&str]) -> &'w [String] {
    while let Some((first, rest)) = words.split_first() {
        if first == "--" {
            return rest;
        }
        if options.contains(&first.as_str()) {
            words = rest.get(1..).unwrap_or_default();
        } else if first.starts_with('-') || is_assignment(first) || is_time(first) {
            words = rest;
        } else {
            return words;
        }
    }
    words
}

/// `30`, `1.5m`: no program's name.
fn is_time(word: &str) -> bool {
    let number = word.trim_end_matches(['s', 'm', 'h', 'd']);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// A program's name without its folder.
pub(super) fn name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<String> {
        commands(line).into_iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn every_command_of_a_line_is_found() {
        for (line, expected) in [
            ("cd a && npm install x; git push | tee log", vec!["cd a", "npm install x", "git push", "tee log"]),
            ("(cd a; npm ci)", vec!["cd a", "npm ci"]),
            ("echo $(git push -f) `npm i`", vec!["git push -f", "npm i", "echo \u{fffd} \u{fffd}"]),
            ("x=\"$(git push)\" make", vec!["git push", "make"]),
            ("if test -f x; then npm i; fi", vec!["test -f x", "npm i"]),
            ("for f in *; do rm -rf \"$f\"; done", vec!["for f in *", "rm -rf $f"]),
            ("FOO=1 BAR='a b' cargo test -- --nocapture", vec!["cargo test -- --nocapture"]),
            ("sudo -u root env A=1 npm i", vec!["sudo -u root env A=1 npm i", "env A=1 npm i", "npm i"]),
            ("timeout 30s npm i", vec!["timeout 30s npm i", "npm i"]),
            ("ls | xargs -n 1 rm -f", vec!["ls", "xargs -n 1 rm -f", "rm -f"]),
            ("bash -lc 'cd x && npm i'", vec!["bash -lc cd x && npm i", "cd x", "npm i"]),
            ("npm i > out.txt 2>&1 < in", vec!["npm i"]),
            ("npm i &> out.txt && ls", vec!["npm i", "ls"]),
            ("npm i &\nls", vec!["npm i", "ls"]),
            ("git \\\n  push", vec!["git push"]),
            ("diff <(git push) y", vec!["git push", "diff \u{fffd} y"]),
            ("git 'pu'sh \"--force\"", vec!["git push --force"]),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn text_is_no_command() {
        for (line, expected) in [
            ("echo 'npm install; git push'", vec!["echo npm install; git push"]),
            ("git commit -m \"never git push && npm install\"", vec!["git commit -m never git push && npm install"]),
            ("cat <<EOF > x\nnpm install\ngit push\nEOF\nls", vec!["cat", "ls"]),
            ("cat <<-'E O' | sh\n\tnpm install\n\tE O\nls", vec!["cat", "sh", "ls"]),
            ("grep x <<< 'npm install'", vec!["grep x"]),
            ("ls # npm install", vec!["ls"]),
            ("echo a#b", vec!["echo a#b"]),
            ("echo \\$(ls", vec!["echo $", "ls"]),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn hostile_lines_are_bounded() {
        for line in [
            "$(".repeat(50_000),
            "(".repeat(100_000),
            "`".repeat(99_999),
            "\"$(".repeat(50_000),
            "bash -c '".repeat(20_000),
            "sudo ".repeat(40_000),
            "eval ".repeat(40_000),
            "cat <<A\n".repeat(20_000),
            "'".into(),
            "${".repeat(90_000),
            "a;".repeat(100_000),
            "x ".repeat(100_000),
            "é<<".repeat(40_000),
        ] {
            let begin = std::time::Instant::now();
            let found = commands(&line);
            assert!(found.len() <= MOST);
            assert!(begin.elapsed().as_secs() < 5, "{}", &line[..8]);
        }
    }

    proptest::proptest! {
        #[test]
        fn anything_is_read(line in "[a-c$()`'\"\\\\<>|&;\n é{}#=-]{0,200}") {
            commands(&line);
        }
    }
}
