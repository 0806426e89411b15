//! What a construction does in a conversation, whatever language it is in.

/// Kinds of cue. A kind counts once in a text, however many of its constructions are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cue {
    /// "No, …", "that's wrong", "not what I asked".
    Rejection,
    /// "you removed …", "why did you …".
    Blame,
    /// "I said …", "as I wrote".
    Insistence,
    /// "should be …", "was supposed to".
    Expectation,
    /// "don't …", "never …".
    Prohibition,
    /// "stop", "wait".
    Stop,
    /// A question that objects: "wouldn't that …?", "do we really need …?".
    Objection,
    /// "what about …?"
    MildObjection,
    /// "instead", "could we …", "I'd rather".
    Alternative,
    /// "put it back", "leave it as it was".
    Undo,
    /// "still failing", "same error", "now it never …".
    StillFailing,
    /// "doesn't work", "fails".
    Failure,
    /// "a bit much", "I don't think", "misleading".
    Doubt,
    /// "hmm", "actually".
    Hedge,
    /// "but", "though".
    But,
    /// "we usually", "our style".
    Convention,
    /// "only X", "not all".
    Limit,
    /// "seriously", "??", 🙄.
    Sarcasm,
    /// "great", "it works": speaks against.
    Praise,
    /// "yes", "go ahead": speaks against.
    Consent,
    /// "sorry, continue", "let me … first": speaks against.
    Resume,
    /// "just wondering", "what is …?": speaks against.
    Curiosity,
    /// "now add …": speaks against.
    Task,
    /// "I changed my mind", "the client wants": speaks against.
    OwnChange,
}
