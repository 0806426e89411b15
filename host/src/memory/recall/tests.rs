use super::*;
use crate::memory::Trust;

const NOW: i64 = 1_800_000_000_000;

fn memory(row: i64, content: &str, importance: Importance) -> Memory {
    Memory {
        row,
        id: format!("{row:08x}"),
        content: content.to_owned(),
        category: Category::General,
        importance,
        trust: Trust::Person,
        confidence: 1.0,
        tags: Vec::new(),
        project: None,
        session: None,
        domain: None,
        ticket: None,
        created_at: NOW - 1_000 + row,
        expires_at: None,
        done_at: None,
        superseded_by: None,
        superseded_at: None,
    }
}

fn rows(recalled: &Recalled) -> Vec<i64> {
    recalled.memories.iter().map(|hit| hit.memory.row).collect()
}

fn ask(memories: &[Memory], wanted: &Wanted<'_>) -> Recalled {
    recall(memories.to_vec(), wanted, NOW, |_| Vec::new())
}

use Importance::{Critical, High, Low, Medium};

#[test]
fn without_words_what_matters_comes_first_then_the_newest() {
    let all = [memory(1, "a", Medium), memory(2, "b", Critical), memory(3, "c", Medium), memory(4, "d", Low)];
    let found = ask(&all, &Wanted::default());
    assert_eq!((rows(&found), found.total), (vec![2, 3, 1, 4], 4));
    assert_eq!(found.cut("--limit"), None);
}

#[test]
fn with_words_the_share_comes_before_what_matters() {
    let all = [
        memory(1, "The deploy key is in the vault", Low),
        memory(2, "Deploy on Fridays is forbidden", Critical),
        memory(3, "Keys are rotated", High),
        memory(4, "Nothing of it", Critical),
    ];
    let found = ask(&all, &Wanted { words: "where is the deploy key", ..Wanted::default() });
    assert_eq!(rows(&found), [1, 2, 3]);
    assert_eq!(found.memories[0].matched, Some(1.0));
    assert_eq!(found.memories[1].matched, Some(0.5));
}

#[test]
fn accents_and_chinese_are_found_from_both_sides() {
    let all = [memory(1, "Le déploiement se fait le mardi", Medium), memory(2, "生产环境的部署密钥在保险库里", Medium)];
    for (words, expected) in [
        ("déploiement", 1),
        ("DEPLOIEMENT", 1),
        ("de\u{301}ploiement", 1),
        ("部署密钥", 2),
        ("密钥在哪里", 2),
        ("库", 2),
    ] {
        assert_eq!(rows(&ask(&all, &Wanted { words, ..Wanted::default() })), [expected], "{words}");
    }
}

#[test]
fn endings_do_not_matter() {
    let all = [memory(1, "The policy on memory", Medium), memory(2, "Deployments are frozen", Medium)];
    for (words, expected) in [("policies", 1), ("memories", 1), ("deploying", 2), ("deployment", 2), ("deploy", 2)] {
        assert_eq!(rows(&ask(&all, &Wanted { words, ..Wanted::default() })), [expected], "{words}");
    }
}

#[test]
fn tags_and_names_are_words_too() {
    let mut tagged = memory(1, "x", Medium);
    tagged.tags = vec!["Billing".to_owned()];
    tagged.ticket = Some("BILL-77".to_owned());
    let all = [tagged, memory(2, "y", Medium)];
    for words in ["billing", "bill-77", "00000001"] {
        assert_eq!(rows(&ask(&all, &Wanted { words, ..Wanted::default() })), [1], "{words}");
    }
    assert_eq!(rows(&ask(&all, &Wanted { tag: Some("billing"), ..Wanted::default() })), [1]);
}

#[test]
fn what_does_not_hold_is_counted_and_shown_last_if_asked_for() {
    let mut superseded = memory(1, "a", Critical);
    superseded.superseded_at = Some(NOW - 1);
    let mut expired = memory(2, "b", Critical);
    expired.expires_at = Some(NOW);
    let mut done = memory(3, "c", Critical);
    done.done_at = Some(NOW - 1);
    let mut held = memory(4, "d", Low);
    held.expires_at = Some(NOW + 1);
    let all = [superseded, expired, done, held];
    let found = ask(&all, &Wanted::default());
    assert_eq!((rows(&found), found.ended), (vec![4], 3));
    let found = ask(&all, &Wanted { all: true, ..Wanted::default() });
    assert_eq!((rows(&found), found.ended), (vec![4, 3, 2, 1], 0));
    let ended: Vec<_> = found.memories.iter().map(|hit| hit.ended).collect();
    assert_eq!(ended, [None, Some(Ended::Done), Some(Ended::Expired), Some(Ended::Superseded)]);
}

#[test]
fn what_is_cut_is_told_with_its_number() {
    let all: Vec<_> = (1..=34).map(|row| memory(row, "deploy", if row <= 5 { Critical } else { Medium })).collect();
    let found = ask(&all, &Wanted { limit: 2, ..Wanted::default() });
    assert_eq!(
        found.cut("--limit").as_deref(),
        Some("showing 2 of 34, of which 3 critical are not shown: use --limit 34")
    );
    let found = ask(&all, &Wanted { limit: 5, ..Wanted::default() });
    assert_eq!(found.cut("limit").as_deref(), Some("showing 5 of 34: use limit 34"));
}

#[test]
fn a_project_has_its_own_and_what_holds_everywhere() {
    let of = |row, project: Option<&str>| Memory { project: project.map(str::to_owned), ..memory(row, "a", Medium) };
    let all =
        [of(1, None), of(2, Some("/w/app")), of(3, Some("/w/app/src")), of(4, Some("app")), of(5, Some("/x/app"))];
    let project = Project { path: "/w/app".to_owned(), folders: ["/w/app/src".to_owned()].into() };
    let found = ask(&all, &Wanted { project: Some(&project), ..Wanted::default() });
    assert_eq!(rows(&found), [4, 3, 2, 1]);
}

#[test]
fn importance_is_the_least_that_is_wanted() {
    let all = [memory(1, "a", Low), memory(2, "b", High), memory(3, "c", Critical)];
    assert_eq!(rows(&ask(&all, &Wanted { importance: Some(High), ..Wanted::default() })), [3, 2]);
}

proptest::proptest! {
    #[test]
    fn what_is_given_and_what_is_left_out_are_all_that_match(
        contents in proptest::collection::vec("[a-c]{1,3}( [a-c]{1,3})?", 0..30),
        words in "[a-c]{0,2}( [a-c])?",
        limit in 0..12_usize,
    ) {
        let all: Vec<_> = contents.iter().enumerate().map(|(i, text)| memory(i as i64, text, Medium)).collect();
        let cut = ask(&all, &Wanted { words: &words, limit, ..Wanted::default() });
        let whole = ask(&all, &Wanted { words: &words, limit: usize::MAX, ..Wanted::default() });
        proptest::prop_assert_eq!(cut.total, whole.memories.len());
        proptest::prop_assert_eq!(&cut.memories[..], &whole.memories[..cut.total.min(limit)]);
        proptest::prop_assert_eq!(cut.cut("x").is_some(), cut.total > limit);
    }
}
