//! Questions and what answers them, from public sets.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{collections::HashMap, fs, path::Path};

/// A set of questions with what they are searched in.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) haystacks: Vec<Haystack>,
}

/// Sessions, and questions one or more of them answer.
#[derive(Default)]
pub(crate) struct Haystack {
    pub(crate) sessions: Vec<Session>,
    pub(crate) questions: Vec<Question>,
}

/// Messages that belong together. Sets of single texts have one in each.
#[derive(Clone, Default)]
pub(crate) struct Session {
    /// What is known of it besides: its date in words.
    pub(crate) title: String,
    /// Numbers those that are about the same: without them a question has no answer.
    pub(crate) group: usize,
    pub(crate) messages: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) text: String,
    /// Numbers of sessions.
    pub(crate) sessions: Vec<usize>,
    /// Numbers of a session and of a message in it.
    pub(crate) messages: Vec<(usize, usize)>,
}

/// All sets of a folder that are there.
pub(crate) fn load(folder: &Path) -> Result<Vec<Set>> {
    let mut sets = Vec::new();
    let read = |name: &str| -> Result<Option<Value>> {
        let path = folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{hash}  {name}");
        Ok(Some(serde_json::from_slice(&bytes).with_context(|| format!("{name} is not JSON"))?))
    };
    if let Some(value) = read("locomo-dev.json")? {
        let haystacks = locomo(value)?;
        let pooled = vec![pooled(&haystacks)];
        sets.push(Set { name: "LoCoMo".to_owned(), haystacks });
        sets.push(Set { name: "LoCoMo pooled".to_owned(), haystacks: pooled });
    }
    let english = read("xquad.en-dev.json")?.map(squad).transpose()?;
    let chinese = read("xquad.zh-dev.json")?.map(squad).transpose()?;
    if let (Some(english), Some(chinese)) = (&english, &chinese) {
        sets.push(Set { name: "XQuAD zh → en".to_owned(), haystacks: vec![crossed(chinese, english)?] });
    }
    let others = [("XQuAD en", english), ("XQuAD zh", chinese)];
    let more = [("JSQuAD ja", "jsquad-dev.json"), ("CMRC zh", "cmrc2018-dev.json")];
    let more = more.map(|(name, file)| Ok((name, read(file)?.map(squad).transpose()?)));
    for (name, haystack) in others.into_iter().map(Ok).chain(more).collect::<Result<Vec<_>>>()? {
        sets.extend(haystack.map(|haystack| Set { name: name.to_owned(), haystacks: vec![haystack] }));
    }
    if let Some(value) = read("cosqa-dev.json")? {
        sets.push(Set { name: "CoSQA".to_owned(), haystacks: vec![cosqa(value)?] });
    }
    ensure!(!sets.is_empty(), "none of the sets is in {}", folder.display());
    Ok(sets)
}

#[derive(Deserialize)]
struct Conversation {
    qa: Vec<Asked>,
    conversation: HashMap<String, Value>,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
}

#[derive(Deserialize)]
struct Turn {
    speaker: String,
    text: String,
    dia_id: String,
    blip_caption: Option<String>,
}

/// A conversation of two people over months is one haystack; what answers a question is told by turn ("D3:7").
fn locomo(value: Value) -> Result<Vec<Haystack>> {
    let conversations: Vec<Conversation> = serde_json::from_value(value)?;
    conversations.into_iter().enumerate().map(|(group, conversation)| talk(group, conversation)).collect()
}

fn talk(group: usize, mut conversation: Conversation) -> Result<Haystack> {
    let mut haystack = Haystack::default();
    let mut sessions = HashMap::new();
    let mut places = HashMap::new();
    for number in 1..=conversation.conversation.len() {
        let Some(turns) = conversation.conversation.remove(&format!("session_{number}")) else { continue };
        let turns: Vec<Turn> = serde_json::from_value(turns)?;
        let session = haystack.sessions.len();
        sessions.insert(number, session);
        for (message, turn) in turns.iter().enumerate() {
            places.insert(turn.dia_id.clone(), (session, message));
        }
        let text = |turn: Turn| {
            let picture = turn.blip_caption.map(|caption| format!(" [{caption}]")).unwrap_or_default();
            format!("{}: {}{picture}", turn.speaker, turn.text)
        };
        let title = conversation.conversation.get(&format!("session_{number}_date_time")).and_then(Value::as_str);
        let title = title.unwrap_or_default().to_owned();
        haystack.sessions.push(Session { title, group, messages: turns.into_iter().map(text).collect() });
    }
    for asked in conversation.qa {
        let evidence = asked.evidence.iter().flat_map(|text| text.split([';', ' ', ',']));
        let mut question = Question { text: asked.question, sessions: Vec::new(), messages: Vec::new() };
        for turn in evidence {
            let number = turn.strip_prefix('D').and_then(|rest| rest.split(':').next()?.parse().ok());
            question.sessions.extend(number.and_then(|number: usize| sessions.get(&number)));
            question.messages.extend(places.get(turn));
        }
        question.sessions.sort_unstable();
        question.sessions.dedup();
        question.messages.dedup();
        if !question.sessions.is_empty() {
            haystack.questions.push(question);
        }
    }
    Ok(haystack)
}

/// All of them in one: there is more that is like the answer, and is not.
fn pooled(haystacks: &[Haystack]) -> Haystack {
    let mut pooled = Haystack::default();
    for haystack in haystacks {
        let first = pooled.sessions.len();
        pooled.sessions.extend_from_slice(&haystack.sessions);
        pooled.questions.extend(haystack.questions.iter().map(|question| Question {
            text: question.text.clone(),
            sessions: question.sessions.iter().map(|session| first + session).collect(),
            messages: question.messages.iter().map(|(session, message)| (first + session, *message)).collect(),
        }));
    }
    pooled
}

#[derive(Deserialize)]
struct Squad {
    data: Vec<Article>,
}

#[derive(Deserialize)]
struct Article {
    paragraphs: Vec<Paragraph>,
}

#[derive(Deserialize)]
struct Paragraph {
    context: String,
    qas: Vec<Asked>,
}

/// Each paragraph answers its questions.
fn squad(value: Value) -> Result<Haystack> {
    let squad: Squad = serde_json::from_value(value)?;
    let mut haystack = Haystack::default();
    for (group, article) in squad.data.into_iter().enumerate() {
        for paragraph in article.paragraphs {
            let session = haystack.sessions.len();
            haystack.sessions.push(Session { group, messages: vec![paragraph.context], ..Session::default() });
            haystack.questions.extend(paragraph.qas.into_iter().map(|asked| Question {
                text: asked.question,
                sessions: vec![session],
                messages: vec![(session, 0)],
            }));
        }
    }
    Ok(haystack)
}

/// The questions of one language, the texts of the other.
fn crossed(questions: &Haystack, texts: &Haystack) -> Result<Haystack> {
    ensure!(questions.sessions.len() == texts.sessions.len(), "the two languages of XQuAD do not match");
    Ok(Haystack { sessions: texts.sessions.clone(), questions: questions.questions.clone() })
}

#[derive(Deserialize)]
struct Pair {
    doc: String,
    code: String,
    label: u8,
}

/// A question and a function, which answers it (1) or does not (0). The same function may be there twice.
fn cosqa(value: Value) -> Result<Haystack> {
    let pairs: Vec<Pair> = serde_json::from_value(value)?;
    let mut haystack = Haystack::default();
    let mut numbers = HashMap::new();
    for pair in pairs {
        let session = *numbers.entry(pair.code.clone()).or_insert_with(|| {
            let group = haystack.sessions.len();
            haystack.sessions.push(Session { group, messages: vec![pair.code], ..Session::default() });
            group
        });
        if pair.label == 1 {
            let messages = vec![(session, 0)];
            haystack.questions.push(Question { text: pair.doc, sessions: vec![session], messages });
        }
    }
    Ok(haystack)
}
