//! How Aider puts things. Its words have been stable since 0.2x; where they changed, both are known.

/// Is it one of Aider's questions, with its answer?
pub(crate) fn is_question(text: &str) -> bool {
    text.contains("(Y)es/(N)o")
}

/// The answer to a question, in lower case: `y`, `n`, `a` (all), `s` (skip all), `d` (don't ask again).
pub(crate) fn answer(question: &str) -> Option<char> {
    let (_, answer) = question.rsplit_once("]:")?;
    answer.trim().chars().next().map(|answer| answer.to_ascii_lowercase())
}

/// The command that was typed to be run: `/run …`, `!…`, `/test …`, `/git …`.
pub(crate) fn shell(text: &str) -> Option<&str> {
    if let Some(command) = text.strip_prefix('!') {
        return Some(command.trim()).filter(|command| !command.is_empty());
    }
    if text.starts_with("/git ") {
        return Some(text[1..].trim());
    }
    let command = text.strip_prefix("/run ").or_else(|| text.strip_prefix("/test "))?;
    Some(command.trim()).filter(|command| !command.is_empty())
}

/// Is it a command of Aider's? A path at the beginning is none. `/ask` and the like are followed by their words, typed for
/// the person.
pub(crate) fn is_command(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/') else { return false };
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Does Aider begin a message with it whose end is another's beginning?
pub(crate) fn begins(text: &str) -> bool {
    const KNOWN: [&str; 22] = [
        "Tokens: ",
        "Applied edit to ",
        "Did not apply edit to ",
        "Skipping edits to ",
        "Commit ",
        "The LLM did not conform to the edit format",
        "# Fix any errors below",
        "Retrying in ",
        "^C ",
        "Only ",
        "You can use /undo",
        "Added ",
        "Running ",
        "Aider v",
        "Main model: ",
        "Model: ",
        "Removed: ",
        "Now at: ",
        "Repo-map: ",
        "Git repo: ",
        "Weak model: ",
        "litellm.",
    ];
    is_question(text) || KNOWN.iter().any(|start| text.starts_with(start))
}

/// Lines that say nothing of use.
pub(crate) fn is_idle(text: &str) -> bool {
    const IDLE: [&str; 15] = [
        "Weak model: ",
        "Editor model: ",
        "Git repo: ",
        "Git working dir: ",
        "Repo-map: ",
        "Added ",
        "You can use /undo",
        "https://",
        "Restored previous conversation history",
        "Use /help ",
        "Newer aider version",
        "Update git ",
        "Now at: ",
        "Running ",
        "Committing ",
    ];
    text.is_empty() || IDLE.iter().any(|start| text.starts_with(start))
}

/// The HTTP status of an error of the model's service, none where it has no status; none at all for another text.
pub(crate) fn service_error(text: &str) -> Option<Option<u16>> {
    if text.starts_with("Model ") && text.ends_with(" has hit a token limit!") {
        return Some(None);
    }
    if text.starts_with("Empty response received from LLM") || text.starts_with("Unexpected error: ") {
        return Some(None);
    }
    // `litellm.RateLimitError: …`; before 0.6x without the prefix.
    let (name, _) = text.strip_prefix("litellm.").unwrap_or(text).split_once(':')?;
    let name = name.rsplit('.').next().unwrap_or(name);
    let known = name.len() > 5 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let status = match name {
        "BadRequestError" | "ContextWindowExceededError" | "ContentPolicyViolationError" | "InvalidRequestError" => 400,
        "AuthenticationError" => 401,
        "PermissionDeniedError" => 403,
        "NotFoundError" => 404,
        "UnprocessableEntityError" => 422,
        "RateLimitError" => 429,
        "InternalServerError" => 500,
        "BadGatewayError" => 502,
        "ServiceUnavailableError" => 503,
        "Timeout" => 504,
        "APIError" | "APIConnectionError" | "APIResponseValidationError" | "BudgetExceededError" => return Some(None),
        _ if known && text.starts_with("litellm.") && name.ends_with("Error") => return Some(None),
        _ => return None,
    };
    Some(Some(status))
}

/// The figures of `Tokens: 12k sent, 2.5k cache write, 10k cache hit, 300 received. Cost: …`: sent, written, hit, received.
pub(crate) fn tokens(text: &str) -> Option<[u64; 4]> {
    let figures = text.strip_prefix("Tokens: ")?;
    let figures = figures.split(". Cost").next().unwrap_or(figures).trim_end_matches('.');
    let mut found = [0; 4];
    // Up to 0.3x thousands were set apart by commas.
    for figure in figures.replace(", ", "\n").lines() {
        let (number, what) = figure.split_once(' ')?;
        let place = ["sent", "cache write", "cache hit", "received"].iter().position(|name| *name == what)?;
        found[place] = number_of(&number.replace(',', ""))?;
    }
    Some(found)
}

/// `860`, `2.5k`, `12k`, `1.2M`.
fn number_of(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1_000),
        b'M' => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    let (whole, tenths) = digits.split_once('.').unwrap_or((digits, ""));
    let whole: u64 = whole.parse().ok()?;
    let tenth = tenths.chars().next().map_or(Some(0), |digit| digit.to_digit(10))?;
    whole.checked_mul(unit)?.checked_add(u64::from(tenth) * unit / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(tokens("Tokens: 5.0k sent, 60 received."), Some([5000, 0, 0, 60]));
        assert_eq!(
            tokens(
                "Tokens: 12k sent, 2.5k cache write, 10k cache hit, 300 received. Cost: $0.02 message, $0.06 session."
            ),
            Some([12_000, 2500, 10_000, 300])
        );
        assert_eq!(
            tokens("Tokens: 2,911 sent, 371 received. Cost: $0.00066 request, $0.0026 session."),
            Some([2911, 0, 0, 371])
        );
        assert_eq!(tokens("Tokens: many"), None);
        assert_eq!(number_of("99999999999999999999M"), None);
    }

    #[test]
    fn errors_of_the_service() {
        assert_eq!(service_error("litellm.RateLimitError: RateLimitError: quota"), Some(Some(429)));
        assert_eq!(service_error("litellm.APIConnectionError: OllamaException -"), Some(None));
        assert_eq!(service_error("BadRequestError: x"), Some(Some(400)));
        assert_eq!(service_error("openai.RateLimitError: x"), Some(Some(429)));
        assert_eq!(service_error("Model gpt-4 has hit a token limit!"), Some(None));
        assert_eq!(service_error("SyntaxError: invalid syntax"), None);
        assert_eq!(service_error("litellm is great: x"), None);
    }

    #[test]
    fn what_was_typed() {
        assert_eq!(shell("/run cargo test"), Some("cargo test"));
        assert_eq!(shell("!ls"), Some("ls"));
        assert_eq!(shell("/git log"), Some("git log"));
        assert_eq!((shell("/running late"), shell("/test")), (None, None));
        assert!(is_command("/add a.py") && is_command("/read-only x") && !is_command("/home/dev is full"));
        assert_eq!(answer("Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: n"), Some('n'));
        assert_eq!(answer("no question"), None);
    }
}
