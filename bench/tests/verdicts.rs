//! Verdicts do not claim what is not there, and find what is: a small version of what `verdicts` measures.

use totalrecall_bench::simulation::{Rule, Shares, World, effects, exposed, nulls};

const RUNS: usize = 12;

fn rules(world: &World) -> Vec<Vec<Rule>> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..RUNS).map(|_| world.rules(&mut random)).collect()
}

#[test]
fn where_no_rule_does_anything_few_are_said_to() {
    for world in nulls() {
        let said: Vec<_> =
            rules(&world).iter().map(|rules| rules.iter().map(|rule| rule.verdict(false)).collect()).collect();
        let shares = Shares::of(&said);
        // The promise is 5 %. Of so few rules, which share their sessions, some more may be by chance.
        assert!(shares.claimed <= 0.12, "{}: {shares:?}", world.name);
        assert!(shares.rules > 0, "{}", world.name);
    }
}

#[test]
fn rules_that_remove_their_friction_are_found() {
    for world in effects().into_iter().filter(|world| world.effect == 0.0) {
        let said: Vec<_> =
            rules(&world).iter().map(|rules| rules.iter().map(|rule| rule.verdict(false)).collect()).collect();
        let shares = Shares::of(&said);
        assert!(shares.working > 0.9 && shares.worse == 0.0, "{}: {shares:?}", world.name);
    }
}

#[test]
fn comparing_naively_claims_much_that_is_not_there() {
    let picked = nulls().into_iter().find(|world| world.name.contains("by luck")).unwrap();
    let said: Vec<_> = rules(&picked).iter().map(|rules| rules.iter().map(Rule::two_proportions).collect()).collect();
    assert!(Shares::of(&said).claimed > 0.15);
}

#[test]
fn looking_every_day_is_looking_at_the_looks() {
    let rules = rules(&World::default());
    for rule in rules.iter().flatten().take(6) {
        assert_eq!(rule.verdict(true), rule.verdict(false));
    }
}

#[test]
fn a_friction_that_was_often_there_and_is_gone_is_found_after_thirty_sessions() {
    let mut random = fastrand::Rng::with_seed(7);
    let found = (0..30).filter(|_| exposed(0.7, 0.0, 30, 0.0, &mut random).working).count();
    assert!(found > 20, "{found}");
}
