//! Shell commands as a person would type them.

use std::borrow::Cow;

use totalrecall_sdk::json::{List, Text};

/// The script of `["bash", "-lc", "<script>"]`; the words of another command, quoted where they have to be.
pub(crate) fn command(words: &List<Text<'_>>) -> String {
    let words: Vec<&str> = words.0.iter().map(Text::as_str).collect();
    if let [shell, flag, script] = words[..]
        && is_shell(shell)
        && is_script_flag(flag)
    {
        return script.to_owned();
    }
    let quoted: Vec<_> = words.into_iter().map(quoted).collect();
    quoted.join(" ")
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    matches!(name, "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "powershell" | "pwsh" | "cmd")
}

fn is_script_flag(flag: &str) -> bool {
    matches!(flag.to_ascii_lowercase().as_str(), "-c" | "-lc" | "-ic" | "-lic" | "-command" | "/c")
}

fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+~".contains(&byte) || byte >= 0x80;
    match !word.is_empty() && word.bytes().all(plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands() {
        let command = |json: &str| super::command(&serde_json::from_str(json).unwrap());
        assert_eq!(command(r#"["bash","-lc","ls | wc"]"#), "ls | wc");
        assert_eq!(command(r#"["/bin/zsh","-c","x"]"#), "x");
        assert_eq!(command(r#"["C:\\Windows\\PowerShell.exe","-Command","dir"]"#), "dir");
        assert_eq!(command(r#"["git","commit","-m","it's"]"#), r"git commit -m 'it'\''s'");
        assert_eq!(command(r#"["bash","-lc"]"#), "bash -lc");
        assert_eq!(command("[]"), "");
    }
}
