//! The settings of the Python TotalRecall, and what they are called here. They are reported, never written: the person decides.

use std::path::PathBuf;

use toml::{Table, Value};

use super::{
    folder::Folder,
    report::{Matter, Settings},
};
use crate::{config::Config, paths};

/// Its `config.toml`.
#[derive(Default)]
pub(super) struct Old {
    table: Table,
    pub(super) rules_file: String,
    claude_md: String,
}

/// What becomes of a setting.
enum Here {
    /// It is this one, of this section.
    Is(&'static str, &'static str),
    /// An adapter of this name is switched on or off.
    Adapter(&'static str),
    /// There is none; why.
    None(&'static str),
}

/// Its settings, with what it came with (those of the program, not of its README, which says otherwise) and what they are here.
const SETTINGS: &[(&str, &str, &str, Here)] = &[
    ("models", "extract", "\"claude-sonnet-4-6\"", Here::Is("model", "name")),
    ("models", "synth", "\"claude-sonnet-4-6\"", Here::None("one model is asked for everything: `name` of `[model]`")),
    ("limits", "max_input_tokens", "20000", Here::Is("model", "input-tokens")),
    ("limits", "synth_every_n_sessions", "20", Here::Is("patterns", "synth-every")),
    ("limits", "catalog_topk", "40", Here::Is("model", "catalogue")),
    ("sources", "claude_code", "true", Here::Adapter("claude-code")),
    ("sources", "codex", "false", Here::Adapter("codex")),
    ("sources", "opencode", "false", Here::Adapter("opencode")),
    ("privacy", "store_snippets", "false", Here::Is("model", "store-snippets")),
    (
        "internal",
        "analysis_marker_env",
        "\"TOTALRECALL_ANALYSIS\"",
        Here::None("the variable that marks sessions of its own has one name here, which cannot be changed"),
    ),
    ("phase2", "propose_top_n", "10", Here::Is("rules", "top")),
    ("phase2", "propose_min_occ", "3", Here::Is("rules", "min-occurrences")),
    ("phase2", "resolved_after_days", "14", Here::Is("rules", "resolved-after-days")),
    (
        "phase2",
        "rules_file",
        "\"~/.claude/totalrecall-rules.md\"",
        Here::None("it is where the rules that were taken over are"),
    ),
    (
        "phase2",
        "claude_md",
        "\"~/.claude/CLAUDE.md\"",
        Here::None("it is where the rules that were taken over are read from"),
    ),
];

impl Old {
    pub(super) fn read(folder: &Folder, skipped: &mut Vec<Matter>) -> Self {
        let text = folder.text("config.toml").unwrap_or_else(|why| {
            skipped.push(Matter { what: "config.toml".to_owned(), why });
            None
        });
        let table = text.unwrap_or_default().parse::<Table>().unwrap_or_else(|error| {
            skipped.push(Matter { what: "config.toml".to_owned(), why: format!("it is damaged: {}", error.message()) });
            Table::new()
        });
        let path = |name: &str, default: &str| {
            let set = table.get("phase2").and_then(|it| it.get(name)).and_then(Value::as_str);
            set.unwrap_or(default).to_owned()
        };
        Self {
            rules_file: path("rules_file", "~/.claude/totalrecall-rules.md"),
            claude_md: path("claude_md", "~/.claude/CLAUDE.md"),
            table,
        }
    }

    pub(super) fn rules_file(&self) -> Option<PathBuf> {
        paths::expand(&self.rules_file)
    }

    pub(super) fn claude_md(&self) -> Option<PathBuf> {
        paths::expand(&self.claude_md)
    }

    /// Those that were changed, and lines that say the same here as far as that is not so already.
    pub(super) fn report(&self, config: &Config) -> Settings {
        let mut report = Settings::default();
        let mut lines: Vec<(&str, String)> = Vec::new();
        // What is in force here, by the names it is written with.
        let ours = Table::try_from(config).unwrap_or_default();
        for (section, name, default, here) in SETTINGS {
            let Some(value) = self.table.get(*section).and_then(|it| it.get(*name)) else { continue };
            if value.to_string() == *default {
                continue;
            }
            let why = match here {
                Here::Is(to, called) if ours.get(*to).and_then(|it| it.get(*called)) == Some(value) => {
                    format!("{value}, as `{called}` of `[{to}]` is here")
                }
                Here::Is(to, called) => {
                    lines.push((to, format!("{called} = {value}")));
                    format!("{value}; it is `{called}` of `[{to}]` here")
                }
                Here::Adapter(adapter) if value.as_bool() == Some(config.reads(adapter)) => {
                    format!("{value}, as `{adapter}` of `[adapters]` is here")
                }
                Here::Adapter(adapter) => {
                    lines.push(("adapters", format!("{adapter} = {value}")));
                    format!("{value}; it is `{adapter}` of `[adapters]` here")
                }
                Here::None(why) => format!("{value}; {why}"),
            };
            report.changed.push(Matter { what: format!("{section}.{name}"), why });
        }
        for (section, values) in &self.table {
            let names = values.as_table().into_iter().flat_map(Table::keys);
            for name in names.filter(|name| !SETTINGS.iter().any(|(of, it, ..)| of == section && it == name)) {
                let why = "the old program does not know it either".to_owned();
                report.changed.push(Matter { what: format!("{section}.{name}"), why });
            }
        }
        lines.sort();
        let mut open = "";
        for (section, line) in lines {
            if section != open {
                report.lines.push(format!("[{section}]"));
                open = section;
            }
            report.lines.push(line);
        }
        report
    }
}
