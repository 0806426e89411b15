//! How often an answer is missed, and how often one is seen where there is none.

use crate::{data::Set, legs::Indexed};
use anyhow::Result;
use totalrecall_retrieval::embed::Model;
use totalrecall_retrieval::filter::Filter;
use totalrecall_retrieval::fuse::Confidence::{self, Likely, Maybe};

/// Prints it. Each question is asked twice: of everything, and of everything but what is about the same as its answer.
/// Sets with one conversation a haystack are left out, where nothing would be left.
pub(crate) fn measure(sets: &[Set], model: &Model) -> Result<()> {
    println!("\n| set | answer missed | seen in nothing | not likely | likely in nothing |");
    println!("| --- | --: | --: | --: | --: |");
    for set in sets.iter().filter(|set| set.haystacks.len() == 1) {
        let haystack = &set.haystacks[0];
        let indexed = Indexed::new(haystack, model)?;
        let (mut answered, mut empty) = (Vec::new(), Vec::new());
        for question in &haystack.questions {
            let group = haystack.sessions[question.sessions[0]].group;
            let others = haystack.sessions.iter().enumerate().filter(|(_, session)| session.group != group);
            let others = Filter { sessions: Some(others.map(|(i, _)| i as u64 + 1).collect()), ..Filter::default() };
            let confidence =
                |filter: &Filter| anyhow::Ok(indexed.find(&question.text, filter, model)?.evidence.confidence());
            answered.push(confidence(&Filter::default())?);
            empty.push(confidence(&others)?);
        }
        let below = |least| 1.0 - share(&answered, least);
        println!(
            "| {} | {:.3} | {:.3} | {:.3} | {:.3} |",
            set.name,
            below(Maybe),
            share(&empty, Maybe),
            below(Likely),
            share(&empty, Likely)
        );
    }
    Ok(())
}

fn share(of: &[Confidence], least: Confidence) -> f64 {
    of.iter().filter(|confidence| **confidence >= least).count() as f64 / of.len().max(1) as f64
}
