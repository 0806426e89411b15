//! `domains`: the fields of projects that memories and chunks are about.

use super::{Context, Outcome, library, ui};

/// What people who have none yet may begin with. Any other word is as good.
const SUGGESTED: [&str; 13] = [
    "api",
    "architecture",
    "build",
    "data",
    "dependencies",
    "deployment",
    "documentation",
    "frontend",
    "operations",
    "performance",
    "security",
    "testing",
    "tooling",
];

/// List the domains in use, and words to begin with
#[derive(Debug, clap::Args)]
#[command(after_help = "A domain is there as soon as something is remembered or saved under it.")]
pub(super) struct Domains {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Domains {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let used = match library::store(context)? {
            Some(store) => store.all_marks("domain")?,
            None => Vec::new(),
        };
        let is_new = |word: &&&str| !used.iter().any(|(domain, _)| domain.eq_ignore_ascii_case(word));
        let suggested: Vec<&str> = SUGGESTED.iter().filter(is_new).copied().collect();
        if self.json {
            let used: Vec<_> =
                used.iter().map(|(domain, count)| serde_json::json!({ "domain": domain, "count": count })).collect();
            context.print_json(&serde_json::json!({ "domains": used, "suggested": suggested }))?;
            return Ok(Outcome::Done);
        }
        let mut text = String::new();
        for (domain, count) in &used {
            text += &format!("{:<20} {count}\n", ui::line(domain));
        }
        context.print(&text)?;
        ui::say(&format!(
            "{}others to begin with: {}",
            if used.is_empty() { "No domain is in use; " } else { "" },
            suggested.join(", ")
        ));
        Ok(Outcome::Done)
    }
}
