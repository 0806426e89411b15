/// How a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The program is not there, or cannot be started.
    NotInstalled,
    /// The program does not know an option that we need.
    Outdated,
    /// Not logged in, no credit, or not allowed.
    Auth,
    /// Too many requests, or the account's limit is reached.
    RateLimited,
    /// The service has too much to do.
    Overloaded,
    /// The service failed.
    Server,
    /// The service could not be reached.
    Network,
    /// The service does not take the question: no such model, too long.
    Rejected,
    /// The call had cost what was reserved for it before it was done.
    Budget,
    /// The model took more turns than it may.
    MaxTurns,
    /// It took too long.
    Timeout,
    /// The person pressed Ctrl-C.
    Interrupted,
    /// Something ended the program by a signal.
    Signal,
    /// The program ended with an exit code that means failure.
    Exit,
    /// The program said nothing.
    Empty,
    /// What the program said holds no JSON object.
    Garbage,
    /// The program said too much.
    TooMuch,
    /// The program was content, but the model did not answer in the form that was asked for.
    NoAnswer,
    /// Another error that the program reports.
    Error,
}

impl Kind {
    /// As it stands in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotInstalled => "not-installed",
            Self::Outdated => "outdated",
            Self::Auth => "auth",
            Self::RateLimited => "rate-limited",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Network => "network",
            Self::Rejected => "rejected",
            Self::Budget => "budget",
            Self::MaxTurns => "max-turns",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
            Self::Signal => "signal",
            Self::Exit => "exit",
            Self::Empty => "empty",
            Self::Garbage => "garbage",
            Self::TooMuch => "too-much",
            Self::NoAnswer => "no-answer",
            Self::Error => "error",
        }
    }

    /// Does it pass with time, and would asking again at once only make it worse?
    pub fn backs_off(self) -> bool {
        matches!(self, Self::RateLimited | Self::Overloaded | Self::Server | Self::Network)
    }

    /// Would every other call of the run fail in the same way?
    pub fn ends_run(self) -> bool {
        self.backs_off() || matches!(self, Self::NotInstalled | Self::Outdated | Self::Auth | Self::Interrupted)
    }

    /// What the person can do.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::NotInstalled => "install it, or name another program in `[model] command` (docs/model.md)",
            Self::Outdated => "update it: it must know `--json-schema`",
            Self::Auth => {
                "log in (`claude`, then `/login`); where Claude Code's settings hold the credentials, set \
                 `claude-settings = true` in `[model]`"
            }
            Self::RateLimited | Self::Overloaded | Self::Server | Self::Network => {
                "nothing needs to be done, calls are made again after a while"
            }
            Self::Rejected => "check `name` and `input-tokens` in `[model]`",
            Self::Budget => "what is reserved for a call follows `output-tokens` and the prices in `[model]`",
            Self::Timeout => "`timeout-seconds` in `[model]` is the limit",
            Self::Interrupted => "run it again",
            Self::Signal | Self::Exit | Self::Error => "run the program by hand to see more",
            Self::MaxTurns | Self::Empty | Self::Garbage | Self::TooMuch | Self::NoAnswer => {
                "it is asked again later; if that goes on, try another model (`name` in `[model]`)"
            }
        }
    }

    /// By the status of HTTP that the service answered with.
    pub(super) fn of_status(status: u64) -> Option<Self> {
        Some(match status {
            401..=403 => Self::Auth,
            429 => Self::RateLimited,
            529 => Self::Overloaded,
            408 | 500..=599 => Self::Server,
            400..=499 => Self::Rejected,
            _ => return None,
        })
    }

    /// By the words of a message. Claude Code has these; other programs pass on their service's, which are alike.
    pub(super) fn of_message(message: &str) -> Option<Self> {
        const WORDS: &[(Kind, &[&str])] = &[
            (Kind::Outdated, &["unknown option", "unknown argument", "unrecognized option"]),
            (
                Kind::Auth,
                &[
                    "not logged in",
                    "/login",
                    "invalid api key",
                    "authentication",
                    "oauth",
                    "unauthorized",
                    "credit balance",
                ],
            ),
            (
                Kind::RateLimited,
                &["rate limit", "rate_limit", "too many requests", "your limit", "limit reached", "quota"],
            ),
            (Kind::Overloaded, &["overloaded"]),
            (Kind::Server, &["internal server error", "bad gateway", "service unavailable"]),
            (
                Kind::Network,
                &[
                    "connection error",
                    "unable to connect",
                    "econnrefused",
                    "econnreset",
                    "enotfound",
                    "could not resolve",
                ],
            ),
            (Kind::Rejected, &["prompt is too long", "selected model", "model not found", "invalid_request"]),
        ];
        let message = message.to_lowercase();
        let status = ["api error: ", "status ", "http "].iter().find_map(|before| {
            let at = message.find(before)? + before.len();
            message.get(at..at + 3)?.parse().ok()
        });
        let by_words = || WORDS.iter().find(|(_, words)| words.iter().any(|word| message.contains(word)));
        status.and_then(Self::of_status).or_else(|| by_words().map(|(kind, _)| *kind))
    }
}
