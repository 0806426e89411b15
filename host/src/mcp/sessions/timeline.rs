//! `timeline`: what happened, newest first.

use std::fmt::Write as _;

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    mcp::{
        about::About,
        desk::Desk,
        tool::{Answer, Effect, Refusal, Tool},
        words::{Limit, Room, cut, number, when},
    },
    search::timeline,
};

/// Most in a list.
const MOST: u32 = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(in crate::mcp) struct Timeline {
    /// At most so many
    #[serde(default = "number::<20>")]
    limit: u32,
    #[serde(flatten)]
    about: About,
}

/// What happened, newest first.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(in crate::mcp) struct Moments {
    moments: Vec<Moment>,
    /// How many there are
    total: u64,
}

/// Something that happened.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Moment {
    /// For get
    id: String,
    kind: String,
    at: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
}

impl Tool for Timeline {
    const NAME: &'static str = "timeline";
    const TITLE: &'static str = "What happened, newest first";
    const DESCRIPTION: &'static str = "What happened in a project or a period, newest first: sessions, what was remembered and saved, and with kinds prompt what the person \
        said. Use it to see what was done lately (project `.`), or around a day. Some 60 tokens a line. For what stands around one hit, \
        use get with neighbours.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = Moments;

    fn run(self, desk: &Desk) -> Result<Moments, Refusal> {
        let store = desk.store()?;
        let filter = self.about.filter(&store, desk)?;
        let (moments, more) = timeline(&store, &filter, Limit { asked: self.limit, most: MOST }.count())?;
        let total = (moments.len() + more) as u64;
        let moments = moments.into_iter().map(|moment| Moment {
            id: moment.id.to_string(),
            kind: moment.kind.name().to_owned(),
            at: when(moment.at),
            text: moment.text,
            project: moment.project,
        });
        Ok(Moments { total, moments: Room::default().first(moments, usize::MAX, Moment::text) })
    }
}

impl Moment {
    fn text(&self) -> String {
        let project = self.project.as_deref().map(|project| format!(" {project}")).unwrap_or_default();
        format!("{} {} {}{project}: {}", self.at, self.id, self.kind, self.text)
    }
}

impl Answer for Moments {
    fn text(&self) -> String {
        let mut text = String::new();
        for moment in &self.moments {
            let _ = writeln!(text, "{}", moment.text());
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        let none = (self.total == 0).then(|| "Nothing happened then and there that is known.".to_owned());
        let how = "a higher limit, date_to or narrower filters show others";
        none.into_iter().chain(cut(self.moments.len(), self.total, "moments", how)).collect()
    }
}
