//! A loopback API that answers as a script says, and remembers what it was asked.
//!
//! It speaks as much of the Messages API as a client needs, streamed or whole. It is also the proxy that clients are told to
//! use for everything else: what they would have asked of the world is refused, and remembered as well.

mod http;
mod openai;
mod reply;

use std::{
    io,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::Duration,
};

use serde_json::{Value, json};

pub(crate) use http::Asked;
pub(crate) use reply::Reply;

/// What clients must show to be answered. Not a key of anything.
pub(crate) const KEY: &str = "dummy";

/// A running API. It ends when it is dropped, with every connection that is still held open.
pub(crate) struct Api {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    asked: Condvar,
}

#[derive(Default)]
struct State {
    /// Answers to come; the last one is never used up.
    script: Vec<Reply>,
    asked: Vec<Asked>,
    open: Vec<TcpStream>,
    ended: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Api {
    /// Starts one that gives these answers, one for each question; the last one for all that are still to come.
    pub(crate) fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api = Self { address: listener.local_addr().unwrap(), shared: Arc::default() };
        api.answer(script);
        let shared = Arc::clone(&api.shared);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(connection) = connection else { continue };
                let shared = Arc::clone(&shared);
                {
                    let mut state = shared.state();
                    if state.ended {
                        return;
                    }
                    state.open.push(connection.try_clone().unwrap());
                }
                std::thread::spawn(move || {
                    // That a client hangs up is its own affair. Ours is to hang up, which dropping one of two handles is not.
                    let _ = serve(&connection, &shared);
                    let _ = connection.shutdown(Shutdown::Both);
                });
            }
        });
        api
    }

    /// Answers like this from now on.
    pub(crate) fn answer(&self, script: impl IntoIterator<Item = Reply>) {
        let script: Vec<_> = script.into_iter().collect();
        assert!(!script.is_empty(), "an API without an answer");
        self.shared.state().script = script;
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The questions to the model so far, in the order they came, without what the client asks for itself.
    pub(crate) fn questions(&self) -> Vec<Asked> {
        self.asked().into_iter().filter(|asked| asked.is_question() && !asked.is_aside()).collect()
    }

    /// Everything it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.state().asked.clone()
    }

    /// Forgets what it was asked.
    pub(crate) fn forget(&self) {
        self.shared.state().asked.clear();
    }

    /// Waits until it has been asked so many questions; a minute at most, which is an eternity for a client.
    pub(crate) fn wait_for_questions(&self, count: usize) {
        let too_few = |state: &mut State| {
            state.asked.iter().filter(|asked| asked.is_question() && !asked.is_aside()).count() < count
        };
        let minute = Duration::from_secs(60);
        let (_state, waited) = self.shared.asked.wait_timeout_while(self.shared.state(), minute, too_few).unwrap();
        assert!(!waited.timed_out(), "the API was not asked {count} questions in a minute");
    }

    /// Panics if anything was asked that no client needs: of another host, of another path, or with another key.
    pub(crate) fn assert_asked_nothing_else(&self) {
        let others: Vec<_> = self.asked().into_iter().filter(|asked| !asked.is_expected()).collect();
        assert!(others.is_empty(), "asked for what it has no business with: {others:#?}");
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.ended = true;
        for connection in state.open.drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

/// One connection: one question, one answer.
fn serve(mut connection: &TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(asked) = http::read(connection)? else { return Ok(()) };
    let reply = {
        let mut state = shared.state();
        state.asked.push(asked.clone());
        shared.asked.notify_all();
        // A client that has handed over its object asks what to say next: that is the same question.
        match state.script.as_mut_slice() {
            _ if !asked.is_question() || asked.is_aside() || reply::is_answered(&asked.body) => None,
            [last] => Some(last.clone()),
            _ => Some(state.script.remove(0)),
        }
    };
    match (asked.method.as_str(), asked.path.as_str()) {
        ("HEAD" | "GET", "/") => http::json(&mut connection, 200, &[], &json!({})),
        ("POST", path) if path.starts_with("/v1/messages") && asked.header("x-api-key") != Some(KEY) => {
            http::json(&mut connection, 401, &[], &reply::error("authentication_error", "not the key of the tests"))
        }
        ("POST", path) if path.starts_with("/v1/messages/count_tokens") => {
            http::json(&mut connection, 200, &[], &json!({ "input_tokens": asked.body.to_string().len() / 4 }))
        }
        ("POST", openai::RESPONSES | openai::CHAT) if !asked.has_key() => {
            http::json(&mut connection, 401, &[], &json!({ "error": { "message": "not the key of the tests" } }))
        }
        ("POST", openai::RESPONSES) => {
            openai::responses(&mut connection, &reply.unwrap_or_else(|| Reply::text("done")), &asked.body)
        }
        ("POST", openai::CHAT) => {
            openai::chat(&mut connection, &reply.unwrap_or_else(|| Reply::text("done")), &asked.body)
        }
        ("POST", path) if path.starts_with("/v1/messages") => {
            reply::send(&mut connection, reply.unwrap_or_else(|| Reply::text("done")), &asked.body)
        }
        _ => http::json(&mut connection, 404, &[], &reply::error("not_found_error", "not in this API")),
    }
}

impl Asked {
    /// Is it a question to the model?
    pub(crate) fn is_question(&self) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        self.method == "POST" && ["/v1/messages", openai::RESPONSES, openai::CHAT].contains(&path)
    }

    fn has_key(&self) -> bool {
        self.header("x-api-key") == Some(KEY)
            || self.header("authorization").and_then(|it| it.strip_prefix("Bearer ")) == Some(KEY)
    }

    /// Does the client ask how to call a session? Claude Code 2.1.197 does, beside the first question, at a terminal; OpenCode
    /// always; Codex at a terminal.
    fn is_aside(&self) -> bool {
        if self.path == openai::CHAT {
            return self.body["tools"].as_array().is_none_or(Vec::is_empty);
        }
        if self.path == openai::RESPONSES {
            return self.body.to_string().contains("Generate a concise, single-line task title");
        }
        self.tools().is_empty() && self.text().contains("<session>") && self.text().contains("title")
    }

    fn is_expected(&self) -> bool {
        let known = self.is_question()
            || self.path.starts_with("/v1/messages/count_tokens")
            || (self.method == "HEAD" && self.path == "/");
        known && (self.method == "HEAD" || self.has_key())
    }

    /// All text of the conversation and the system prompt, which is what a model would read.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        gather(&self.body["system"], &mut text);
        gather(&self.body["messages"], &mut text);
        text
    }

    /// The texts since the model last said something.
    pub(crate) fn latest(&self) -> Vec<String> {
        let messages = self.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let answers = messages.iter().rposition(|message| message["role"] == "assistant").map_or(0, |at| at + 1);
        let said = messages[answers..].iter().flat_map(|message| match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            whole => vec![whole.clone()],
        });
        said.map(|block| {
            let mut text = String::new();
            gather(&block, &mut text);
            text
        })
        .collect()
    }

    /// Names of the tools that the model may call.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["name"].as_str()).collect()
    }
}

fn gather(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(all) => all.iter().for_each(|value| gather(value, text)),
        Value::Object(block) => {
            for key in ["text", "content", "input"] {
                block.get(key).into_iter().for_each(|value| gather(value, text));
            }
        }
        _ => {}
    }
}
