//! How often verdicts claim effects that are not there, and how often they find those that are: `verdicts --runs 200 --seed 1`.
//! Looked at every day, over months, for rules that are drafted as the program drafts them.
#![expect(clippy::print_stdout, reason = "a tool's output")]

use clap::Parser;
use totalrecall_bench::simulation::{Rule, Said, Shares, World, effects, exposed, nulls};

#[derive(Parser)]
struct Arguments {
    /// Histories of each kind; each has up to ten rules.
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// Equal seeds give equal histories.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only kinds of histories whose name contains this.
    #[arg(long)]
    only: Option<String>,
}

fn main() {
    let arguments = Arguments::parse();
    let is_meant = |world: &World| arguments.only.as_ref().is_none_or(|only| world.name.contains(only.as_str()));
    println!("Rules that do nothing: share of which an effect was ever claimed (95 % interval).\n");
    println!(
        "| history | rules | verdict | working | worse | not working | nothing said | two proportions | resolved after 14 days |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for world in nulls().iter().filter(|world| is_meant(world)) {
        row(world, &arguments);
    }
    println!("\nRules that do something.\n");
    println!(
        "| history | rules | verdict | working | worse | not working | nothing said | two proportions | resolved after 14 days |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for world in effects().iter().filter(|world| is_meant(world)) {
        row(world, &arguments);
    }
    if arguments.only.is_none() {
        exposures(&arguments);
    }
}

fn row(world: &World, arguments: &Arguments) {
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let histories: Vec<Vec<Rule>> = (0..arguments.runs).map(|_| world.rules(&mut random)).collect();
    let said = |what: fn(&Rule) -> Said| {
        let said: Vec<Vec<Said>> = histories.iter().map(|rules| rules.iter().map(what).collect()).collect();
        Shares::of(&said)
    };
    let (verdict, naive, simple) = (said(|rule| rule.verdict(false)), said(Rule::two_proportions), said(Rule::simple));
    println!(
        "| {} | {} | {} ({}–{}) | {} | {} | {} | {} | {} | {} |",
        world.name,
        verdict.rules,
        percent(verdict.claimed),
        percent(verdict.interval.0),
        percent(verdict.interval.1),
        percent(verdict.working),
        percent(verdict.worse),
        percent(verdict.not_working),
        percent(verdict.nothing),
        percent(naive.claimed),
        percent(simple.working),
    );
}

/// By base rate and number of sessions before and since.
fn exposures(arguments: &Arguments) {
    println!(
        "\nBy how often the pattern came up before, and how many sessions there were before and since: share said to be working / not working.\n"
    );
    println!("| sessions | rate before | does nothing | halved | removed |\n| --: | --: | --: | --: | --: |");
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    for sessions in [10, 30, 60, 100] {
        for rate in [0.05, 0.1, 0.2, 0.4, 0.7] {
            let cells = [1.0, 0.5, 0.0].map(|effect| {
                let said: Vec<Vec<Said>> =
                    (0..arguments.runs * 2).map(|_| vec![exposed(rate, effect, sessions, 0.0, &mut random)]).collect();
                let shares = Shares::of(&said);
                format!("{} / {}", percent(shares.working), percent(shares.not_working))
            });
            println!("| {sessions} | {} | {} |", percent(rate), cells.join(" | "));
        }
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 9.95 || percent == 0.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}
