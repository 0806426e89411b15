//! Parts of a library: what is counted, and what stays what it is.

use super::*;
use crate::pattern::Share;

fn project(name: &str) -> View {
    let folder = format!("/home/ana/work/{name}");
    View { project: Some(folder.clone()), folders: [folder].into(), ..View::default() }
}

fn find<'a>(insights: &'a Insights, kind: &str) -> &'a Pattern {
    insights.patterns.iter().find(|pattern| pattern.kind == kind).unwrap()
}

#[test]
fn a_project_counts_its_own_sessions_of_patterns_that_are_the_same_everywhere() {
    let library = small();
    let (all, website) = (library.insights(unread()), library.insights_in(&project("website"), unread()));
    assert_eq!((website.sessions, website.projects), (5, 1));
    let (of_all, of_website) = (find(&all, "user-correction"), find(&website, "user-correction"));
    assert_eq!(
        (&of_all.id, &of_all.subject, of_all.category),
        (&of_website.id, &of_website.subject, of_website.category)
    );
    assert_eq!((of_all.occurrences, of_website.occurrences), (3, 2));
    assert!(of_website.evidence.iter().all(|place| place.project == "/home/ana/work/website"));
    assert_eq!(find(&website, "tool-error").trend.recent, Share { with: 1, of: 3 }, "only sessions of the project");
    assert!(website.patterns.iter().all(|pattern| pattern.kind != "permission-denied"));
    assert_eq!(website.weeks.sessions, [0, 0, 2, 0, 1, 2, 0, 0]);
    assert_eq!(website.unread, Unread::default(), "what could not be read is of no project");
}

#[test]
fn a_period_counts_what_ended_in_it() {
    let library = small();
    let last_ten_days = View { since: Some(NOW - 10 * DAY), ..View::default() };
    let insights = library.insights_in(&last_ten_days, unread());
    assert_eq!(insights.sessions, 4);
    let error = find(&insights, "tool-error");
    assert_eq!((error.occurrences, error.count), (4, 4));
    assert!(error.first_seen >= NOW - 10 * DAY);
    assert_eq!(error.trend, find(&library.insights(unread()), "tool-error").trend, "trends look back further");
    assert!(insights.patterns.iter().all(|pattern| pattern.kind != "churn"));
}

#[test]
fn a_period_that_is_over_is_looked_at_from_its_end() {
    let library = small();
    let july = View { since: Some(NOW - 50 * DAY), until: Some(NOW - 20 * DAY), ..View::default() };
    let insights = library.insights_in(&july, unread());
    assert_eq!(insights.sessions, 6);
    assert_eq!(insights.weeks.ends[7], NOW - 20 * DAY);
    assert_eq!(insights.weeks.sessions.iter().sum::<u32>(), 7, "with the one before the period");
    let error = find(&insights, "tool-error");
    assert_eq!((error.occurrences, error.trend.weeks), (2, [0, 0, 0, 0, 0, 0, 1, 1]));
    let expected = crate::pattern::strength(2, 2.0 + 1.0 / 24.0, 2, 14.0);
    assert!((error.strength - expected).abs() < 0.01, "{} {expected}", error.strength);
}

#[test]
fn views_compose() {
    let library = small();
    let view = View { since: Some(NOW - 10 * DAY), ..project("billing") };
    let insights = library.insights_in(&view, unread());
    assert_eq!(insights.sessions, 3);
    let page = insights.page(&choose(None, None));
    assert!(page.contains("Only the project `/home/ana/work/billing`."), "{page}");
    assert!(page.contains("Only sessions that ended from 2026-08-10 to 2026-08-20"), "{page}");
    let json = serde_json::to_value(&insights).unwrap();
    assert_eq!(json["view"]["folders"], serde_json::json!(["/home/ana/work/billing"]));
    assert_eq!(json["view"]["since"], NOW - 10 * DAY);
}

#[test]
fn an_empty_view_is_not_an_empty_library() {
    let insights = small().insights_in(&project("elsewhere"), unread());
    let page = insights.page(&choose(None, None));
    assert!(page.contains("No session that was read is of this project and period."), "{page}");
    assert!(!page.contains("totalrecall init") && !page.contains("## "), "{page}");
}

#[test]
fn a_view_has_the_rules_that_are_of_it() {
    let rules = ruled().rules;
    let of = |view: &View, seen: &[&str]| {
        let seen = seen.iter().map(|id| (*id).to_owned()).collect();
        small().insights_in(view, Unread::default()).with_rules(rules.clone(), 1, &seen)
    };
    assert_eq!(of(&View::default(), &[]).rules.len(), 5);
    let website = of(&project("website"), &["p-gone-0123456789"]);
    assert_eq!(website.rules.len(), 1);
    let page = website.page(&choose(None, None));
    assert!(page.contains("of all sessions that a rule is for, not only of those above"), "{page}");
    assert!(!page.contains("waits"), "what waits is of no project: {page}");
    assert!(of(&View { until: Some(NOW - 21 * DAY), ..View::default() }, &[]).rules.is_empty());
}
