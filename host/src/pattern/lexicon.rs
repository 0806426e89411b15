//! The words that decide how a text is read, and those that say nothing, in English, Chinese, French and Japanese.

use super::words::Piece;

/// What a word does to the words after it in its clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Negation {
    /// They are what is not wanted.
    Begins,
    /// They are what is wanted again.
    Ends,
    None,
}

/// What `word` does, given what follows it and whether the words before it are rejected.
pub(super) fn negation(word: &str, after: &[Piece], rejecting: bool) -> Negation {
    let next = match after.first() {
        Some(Piece::Word(next)) => next.as_str(),
        Some(Piece::Boundary) | None => "",
        Some(_) => "…",
    };
    match word {
        // "No, use tabs" objects to what was done; "no tabs" rejects tabs. "Not" before nothing rejects what nobody names.
        "no" | "pas" | "not" if next.is_empty() => Negation::None,
        // "Never commit without asking", "don't push before the tests have run": what follows is wanted.
        "without" | "sans" if rejecting => Negation::Ends,
        "no" | "not" | "never" | "don't" | "dont" | "doesn't" | "didn't" | "isn't" | "aren't" | "wasn't"
        | "shouldn't" | "mustn't" | "can't" | "cannot" | "won't" | "wouldn't" | "haven't" | "without" | "stop"
        | "avoid" | "quit" => Negation::Begins,
        "ne" | "pas" | "jamais" | "sans" | "arrete" | "arretez" | "evite" | "evitez" => Negation::Begins,
        "instead" if next == "of" => Negation::Begins,
        "rather" if next == "than" => Negation::Begins,
        "lieu" if matches!(next, "de" | "du" | "des") => Negation::Begins,
        "plutot" if next == "que" => Negation::Begins,
        "before" | "until" | "unless" | "avant" => Negation::Ends,
        // "No comments in the code": what follows is where.
        "in" | "for" | "dans" | "pour" => Negation::Ends,
        "to" | "on" | "into" | "from" | "at" if matches!(next, "the" | "a" | "an" | "this" | "our" | "my" | "any") => {
            Negation::Ends
        }
        "but" | "instead" | "rather" | "use" | "mais" | "plutot" | "utilise" | "utilisez" => Negation::Ends,
        _ => Negation::None,
    }
}

/// Whether the word has no content of its own.
pub(super) fn is_empty_word(word: &str) -> bool {
    EMPTY_WORDS.binary_search(&word).is_ok()
}

/// Length of the first of `words` that `text` starts with.
pub(super) fn starts_with(text: &str, words: &[&str]) -> Option<usize> {
    words.iter().find(|word| text.starts_with(**word)).map(|word| word.len())
}

/// Whether hiragana rejects what stands before it: "しないで", "ではなく".
pub(super) fn rejects_before(kana: &str) -> bool {
    [
        "ないで",
        "なくて",
        "ではなく",
        "じゃなく",
        "でなく",
        "するな",
        "せず",
        "ずに",
        "やめ",
        "いらない",
        "しない",
        "わない",
        "よりも",
    ]
    .iter()
    .any(|ending| kana.contains(ending))
}

/// Longer ones first where one begins another.
pub(super) const CHINESE_REJECTS: &[&str] = &[
    "不应该",
    "不需要",
    "没有让",
    "而不是",
    "不要",
    "不用",
    "不是",
    "不能",
    "不准",
    "不许",
    "不该",
    "不必",
    "禁止",
    "无需",
    "停止",
    "没让",
    "没叫",
    "别再",
    "别",
    "勿",
];

pub(super) const CHINESE_WANTS: &[&str] = &["而是", "改用", "要用", "改成", "换成", "应该"];

pub(super) const CHINESE_FILLERS: &[&str] = &[
    "为什么",
    "我们",
    "你们",
    "他们",
    "这个",
    "那个",
    "这样",
    "那样",
    "这里",
    "那里",
    "什么",
    "怎么",
    "已经",
    "还是",
    "就是",
    "可以",
    "需要",
    "一下",
    "一个",
    "一次",
    "说过",
    "告诉",
    "刚才",
    "刚刚",
    "总是",
    "再次",
    "之前",
    "以前",
    "再",
    "每次",
    "使用",
    "一点",
    "用",
    "没有",
    "不对",
    "错了",
    "的",
    "了",
    "吗",
    "呢",
    "吧",
    "啊",
    "呀",
    "我",
    "你",
    "请",
    "把",
    "被",
];

/// Words that hold a character which is a filler elsewhere.
pub(super) const CHINESE_WHOLE: &[&str] = &[
    "用户", "用例", "用法", "用途", "应用", "通用", "引用", "调用", "费用", "作用", "常用", "专用", "利用", "可用",
    "启用", "禁用", "复用", "占用", "我国", "你好", "目的", "为了", "了解", "再见",
];

/// Characters without content at the end of a run.
pub(super) const CHINESE_EMPTY: &str = "用要是在又都也就还和与说让给去来做改只先得着过很太对错不没该想这那它";

/// Likewise for kanji between kana.
pub(super) const JAPANESE_EMPTY: &str = "使下言前何私君今違度毎";

/// Sorted by bytes. Folded: without the marks of the Latin script.
const EMPTY_WORDS: &[&str] = &[
    "a", "abord", "about", "actually", "add", "added", "adding", "again", "ai", "ainsi", "all", "alors", "already",
    "also", "always", "am", "an", "and", "any", "are", "as", "asked", "at", "au", "aussi", "aux", "avant", "avec",
    "avoir", "be", "because", "been", "before", "being", "bien", "but", "by", "ca", "can", "car", "ce", "cela", "ces",
    "cet", "cette", "change", "could", "d", "dans", "de", "deja", "demande", "des", "devrais", "devrait", "did", "dis",
    "dit", "do", "does", "doing", "dois", "doit", "doivent", "donc", "done", "du", "elle", "en", "encore", "est", "et",
    "etre", "every", "faire", "fais", "fait", "faut", "first", "fois", "for", "from", "get", "go", "had", "has",
    "have", "he", "her", "here", "hey", "hm", "hmm", "how", "i", "i'd", "i'll", "i'm", "i've", "if", "il", "ils", "in",
    "instead", "into", "is", "it", "it's", "its", "j", "je", "just", "l", "la", "le", "les", "let", "let's", "lets",
    "leur", "lieu", "like", "ma", "mais", "make", "me", "mean", "meant", "merci", "mes", "moi", "mon", "more", "much",
    "must", "my", "ne", "need", "needs", "no", "non", "nope", "nos", "not", "notre", "nous", "now", "of", "ok", "okay",
    "on", "one", "only", "or", "ou", "our", "out", "par", "pas", "peux", "plait", "please", "plus", "plutot", "pour",
    "pourquoi", "pouvez", "prefer", "put", "qu", "que", "qui", "quoi", "rather", "really", "remember", "s", "sa",
    "said", "say", "see", "ses", "should", "si", "so", "some", "son", "sont", "sorry", "stay", "still", "stp", "sur",
    "svp", "t", "ta", "te", "tell", "tes", "than", "that", "that's", "the", "their", "them", "then", "there", "these",
    "they", "thing", "things", "think", "this", "those", "time", "times", "to", "toi", "told", "ton", "too",
    "toujours", "tout", "tu", "un", "une", "until", "us", "use", "used", "using", "utilise", "utiliser", "utilisez",
    "ve", "very", "veux", "voila", "vos", "votre", "voudrais", "voulais", "vous", "wait", "want", "wanted", "was",
    "way", "we", "well", "were", "what", "what's", "when", "where", "which", "why", "will", "with", "would", "wrong",
    "y", "you", "you're", "your", "ダメ", "ノー",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_searched() {
        assert!(EMPTY_WORDS.is_sorted(), "{:?}", EMPTY_WORDS.windows(2).find(|w| w[0] > w[1]));
    }

    #[test]
    fn longer_words_come_first() {
        for table in [CHINESE_REJECTS, CHINESE_WANTS, CHINESE_FILLERS] {
            for (index, word) in table.iter().enumerate() {
                assert!(!table[..index].iter().any(|earlier| word.starts_with(earlier)), "{word} is never reached");
            }
        }
    }
}
