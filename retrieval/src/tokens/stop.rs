//! Words that say how something is asked, not what.

/// English and French function words, folded. French ones that are English words with a meaning are left out (`car`,
/// `son`, `pour`, `plus`).
const STOP: &[&str] = &[
    // English: articles, pronouns, prepositions, conjunctions.
    "a", "an", "the", "this", "that", "these", "those", "i", "me", "my", "mine", "myself", "we", "us", "our", "ours",
    "you", "your", "yours", "he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs",
    "about", "after", "against", "at", "before", "between", "by", "during", "for", "from", "in", "into", "of", "off",
    "on", "onto", "out", "over", "through", "to", "under", "until", "up", "upon", "with", "within", "without", "and",
    "as", "because", "but", "if", "nor", "or", "so", "than", "then", "though", "while", "there", "here", "not", "no",
    // English: verbs that help, and words of asking.
    "am", "are", "be", "been", "being", "is", "was", "were", "do", "does", "did", "doing", "done", "had", "has", "have",
    "having", "can", "could", "may", "might", "must", "shall", "should", "will", "would", "dont", "doesnt", "didnt",
    "isnt", "wasnt", "arent", "werent", "cant", "couldnt", "wont", "wouldnt", "shouldnt", "hasnt", "havent", "hadnt",
    "how", "what", "when", "where", "which", "who", "whom", "whose", "why", "some", "any", "such", "own", "same",
    "very", "too", "also", "just", "let", "please", // French.
    "le", "la", "les", "un", "une", "des", "du", "de", "ce", "cet", "cette", "ces", "je", "moi", "mon", "ma", "mes",
    "tu", "toi", "tes", "il", "elle", "lui", "nous", "notre", "nos", "vous", "votre", "vos", "ils", "elles", "leur",
    "leurs", "on", "se", "sa", "ses", "au", "aux", "avec", "chez", "dans", "en", "par", "sans", "sous", "sur", "vers",
    "et", "ou", "mais", "donc", "ni", "que", "qui", "quoi", "dont", "quand", "comment", "pourquoi", "quel", "quelle",
    "quels", "quelles", "est", "sont", "etait", "etaient", "ete", "etre", "ai", "avons", "avez", "ont", "avait",
    "avaient", "avoir", "ne", "pas", "y", "ca", "cela", "si",
];

/// Whether a folded word (as [`pieces`](super::pieces) gives it) is left out of queries.
pub fn is_stop(word: &str) -> bool {
    STOP.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_folded_and_spares_words_with_a_meaning() {
        let mut folded = String::new();
        for word in STOP {
            folded.clear();
            super::super::fold::fold(word, &mut folded);
            assert_eq!(&folded, word);
        }
        assert!(is_stop("what") && is_stop("quelle"));
        assert!(!is_stop("car") && !is_stop("son") && !is_stop("test"));
    }
}
