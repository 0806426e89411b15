//! How Claude Code calls us, as far as its files tell: by the plugin, by entries in its settings, by both, or not at all.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::paths;

/// Name of the plugin; what follows `@` is the marketplace's.
const PLUGIN: &str = "totalrecall";

/// The plugin, as it is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// `totalrecall@marketplace`.
    pub id: String,
    /// The folder that it runs from.
    pub folder: PathBuf,
    /// The version that its manifest there says. None: there is none to be read.
    pub version: Option<String>,
    /// It is switched on.
    pub is_enabled: bool,
    /// The program that the person named for it.
    pub binary: Option<String>,
    /// Where it keeps what is its own.
    pub data: PathBuf,
}

/// An entry in settings that calls us.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The settings.
    pub file: PathBuf,
    /// The event.
    pub event: String,
    /// The program, as written there.
    pub program: String,
}

/// What Claude Code's files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooked {
    /// The plugin, once for each marketplace that it was installed from.
    pub plugins: Vec<Plugin>,
    /// Entries in settings.
    pub entries: BTreeSet<Entry>,
    /// Settings that switch all hooks off.
    pub switched_off: Vec<PathBuf>,
    /// Files that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

impl Hooked {
    /// Looks at Claude Code's folder and at the settings of the folder `here`.
    pub fn look(folder: &Path, here: Option<&Path>) -> Self {
        let mut hooked = Self::default();
        // Later ones take precedence.
        let mut files = vec![folder.join("settings.json")];
        for name in ["settings.json", "settings.local.json"] {
            files.extend(here.map(|here| here.join(".claude").join(name)).filter(|file| *file != files[0]));
        }
        let settings: Vec<_> =
            files.into_iter().filter_map(|file| hooked.read(&file).map(|value| (file, value))).collect();
        for (file, value) in &settings {
            if value["disableAllHooks"] == true {
                hooked.switched_off.push(file.clone());
            }
            hooked.entries.extend(entries(file, value));
        }
        let installed = hooked.read(&folder.join("plugins/installed_plugins.json")).unwrap_or_default();
        let is_ours = |id: &str| id.split_once('@').is_some_and(|(name, _)| name == PLUGIN);
        for (id, installs) in installed["plugins"].as_object().into_iter().flatten().filter(|(id, _)| is_ours(id)) {
            let Some(path) = installs[0]["installPath"].as_str() else { continue };
            hooked.plugins.push(plugin(folder, id, path, settings.iter().map(|(_, value)| value)));
        }
        hooked
    }

    /// Is there anything that would call us?
    pub fn is_called(&self) -> bool {
        !self.entries.is_empty() || self.plugins.iter().any(|plugin| plugin.is_enabled)
    }

    fn read(&mut self, file: &Path) -> Option<Value> {
        let why = match fs::read(file).map(|bytes| serde_json::from_slice(&bytes)) {
            Ok(Ok(value)) => return Some(value),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.unreadable.push((file.to_owned(), why));
        None
    }
}

fn plugin<'a>(folder: &Path, id: &str, path: &str, settings: impl Iterator<Item = &'a Value>) -> Plugin {
    let (mut is_enabled, mut binary, mut source) = (false, None, PathBuf::from(path));
    let market = id.split_once('@').map_or("", |(_, market)| market);
    for value in settings {
        is_enabled = value["enabledPlugins"][id].as_bool().unwrap_or(is_enabled);
        binary = value["pluginConfigs"][id]["options"]["binary"].as_str().map(str::to_owned).or(binary);
        // From a folder of this machine it is run where it lies, though it was copied (seen with 2.1.332).
        let from = &value["extraKnownMarketplaces"][market]["source"];
        if let (Some("directory"), Some(path)) = (from["source"].as_str(), from["path"].as_str()) {
            source = PathBuf::from(path);
        }
    }
    let manifest = fs::read(source.join(".claude-plugin/plugin.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
    let name: String = id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    Plugin {
        id: id.to_owned(),
        version: manifest["version"].as_str().map(str::to_owned),
        folder: source,
        is_enabled,
        binary: binary.filter(|binary| !binary.is_empty()),
        data: folder.join("plugins/data").join(name),
    }
}

impl Plugin {
    /// The program that its launcher finds. The error is where it looked in vain.
    ///
    /// # Errors
    /// When there is none.
    pub fn program(&self) -> Result<PathBuf, String> {
        if let Some(named) = &self.binary {
            return paths::program(named)
                .ok_or_else(|| format!("there is no program {named}, which the plugin's options name"));
        }
        let own = self.data.join("bin").join(if cfg!(windows) { "totalrecall.exe" } else { "totalrecall" });
        paths::program(&own.to_string_lossy())
            .or_else(|| paths::program(PLUGIN))
            .ok_or_else(|| format!("there is neither {} nor `{PLUGIN}` on the PATH", own.display()))
    }
}

/// The entries of settings that call `totalrecall hook EVENT`.
fn entries(file: &Path, settings: &Value) -> Vec<Entry> {
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().into_iter().flatten() {
        let handlers =
            groups.as_array().into_iter().flatten().flat_map(|group| group["hooks"].as_array().into_iter().flatten());
        for handler in handlers {
            let command = handler["command"].as_str().unwrap_or_default();
            let arguments: Vec<&str> =
                handler["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let program = match arguments[..] {
                ["hook", ..] => Some(command),
                // A line for a shell.
                [] => command.split_once(" hook ").map(|(program, _)| program),
                _ => None,
            };
            let program = program.map(|program| program.trim().trim_matches(['"', '\'']));
            let is_ours = |program: &&str| Path::new(program).file_stem().is_some_and(|stem| stem == PLUGIN);
            if let Some(program) = program.filter(is_ours) {
                found.push(Entry { file: file.to_owned(), event: event.clone(), program: program.to_owned() });
            }
        }
    }
    found
}
