//! Small charts. Each says in words what it shows, and every number in it stands in the text beside it, too.

use maud::{Markup, html};

use crate::insights::phrases::times;
use crate::verdict::{Interval, Outcome};

/// A single session is no peak: bars are full from this many sessions a week.
const FULL_BAR: u32 = 4;

/// Sessions per week, without numbers: the size of a word.
pub(super) fn spark(counts: &[u32], label: &str) -> Markup {
    const STEP: usize = 12;
    const WIDTH: usize = 9;
    const HEIGHT: f64 = 28.0;
    let top = f64::from(counts.iter().copied().max().unwrap_or(0).max(FULL_BAR));
    html! {
        svg.spark viewBox={ "0 0 " (STEP * counts.len()) " " (HEIGHT) } role="img" aria-label=(label) {
            @for (index, count) in counts.iter().enumerate() {
                @let height = (f64::from(*count) / top * (HEIGHT - 2.0)).max(1.5);
                rect .bar[*count > 0] .none[*count == 0] x=(STEP * index) y=(number(HEIGHT - height))
                    width=(WIDTH) height=(number(height)) {}
            }
        }
    }
}

/// Sessions per week, with numbers and days.
pub(super) fn columns(counts: &[u32], days: &[String], label: &str) -> Markup {
    const STEP: usize = 44;
    const BASE: f64 = 96.0;
    let top = f64::from(counts.iter().copied().max().unwrap_or(0).max(FULL_BAR));
    html! {
        svg.columns viewBox={ "0 0 " (STEP * counts.len()) " 114" } role="img" aria-label=(label) {
            @for (index, (count, day)) in counts.iter().zip(days).enumerate() {
                @let height = (f64::from(*count) / top * 78.0).max(1.0);
                @let middle = STEP * index + STEP / 2;
                rect .bar[*count > 0] .none[*count == 0] x=(STEP * index + 5) y=(number(BASE - height))
                    width=(STEP - 10) height=(number(height)) {}
                @if *count > 0 {
                    text x=(middle) y=(number(BASE - height - 4.0)) text-anchor="middle" { (count) }
                }
                text x=(middle) y="110" text-anchor="middle" { (day) }
            }
        }
    }
}

/// A bar as long as its share of the longest; the number stands beside it.
pub(super) fn share(of: usize, longest: usize) -> Markup {
    let width = of as f64 / longest.max(1) as f64 * 100.0;
    html! {
        svg.share viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect.bar width=(number(width)) height="8" {}
        }
    }
}

/// A rule's interval in the plot: its number in the list, what became of it, the interval.
pub(super) struct Row {
    pub(super) number: usize,
    pub(super) outcome: Outcome,
    pub(super) ratio: Interval,
}

/// Words of the plot.
pub(super) struct Words<'a> {
    pub(super) label: &'a str,
    pub(super) rarer: &'a str,
    pub(super) more_often: &'a str,
}

/// Ends of the plot's scale, which is logarithmic: half as often is as far from 1 as twice as often.
const ENDS: (f64, f64) = (0.05, 20.0);
/// Where the scale lies, within a width of 360.
const SCALE: (f64, f64) = (26.0, 240.0);

fn place(ratio: f64) -> f64 {
    let (low, high) = (ENDS.0.ln(), ENDS.1.ln());
    let share = (ratio.max(f64::MIN_POSITIVE).ln() - low) / (high - low);
    SCALE.0 + share.clamp(0.0, 1.0) * (SCALE.1 - SCALE.0)
}

/// Intervals of ratios, one below the other, with the ratio 1 marked.
pub(super) fn forest(rows: &[Row], words: &Words<'_>) -> Markup {
    const STEP: usize = 22;
    const TOP: usize = 18;
    let base = TOP + STEP * rows.len();
    html! {
        svg.forest viewBox={ "0 0 360 " (base + 22) } role="img" aria-label=(words.label) {
            text x=(number(place(1.0) - 6.0)) y="11" text-anchor="end" { (words.rarer) }
            text x=(number(place(1.0) + 6.0)) y="11" { (words.more_often) }
            @for ratio in [0.1, 0.3, 1.0, 3.0, 10.0] {
                @let x = number(place(ratio));
                line .same[ratio == 1.0] x1=(x) x2=(x) y1=(TOP - 2) y2=(base) {}
                text x=(x) y=(base + 15) text-anchor="middle" { (ratio) }
            }
            @for (index, row) in rows.iter().enumerate() {
                @let (y, ratio) = (TOP + STEP * index + STEP / 2, row.ratio);
                text x="14" y=(y + 4) text-anchor="end" { (row.number) }
                line class=(tone(row.outcome)) x1=(number(place(ratio.low))) x2=(number(place(ratio.high)))
                    y1=(y) y2=(y) stroke-width="2" {}
                circle class=(tone(row.outcome)) cx=(number(place(ratio.middle))) cy=(y) r="4" {}
                text x="358" y=(y + 4) text-anchor="end" {
                    (times(ratio.middle)) " (" (times(ratio.low)) "–" (times(ratio.high)) ")"
                }
            }
        }
    }
}

/// The class of an outcome's colour, which never stands alone.
pub(super) fn tone(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Working => "good",
        Outcome::NotWorking | Outcome::Worse => "bad",
        Outcome::TooEarly | Outcome::NotEnoughData => "unsure",
    }
}

/// A coordinate; a tenth is finer than any screen shows.
fn number(number: f64) -> String {
    let rounded = (number * 10.0).round() / 10.0;
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_logarithmic_and_ends() {
        let one = place(1.0);
        assert!((one - place(0.5) - (place(2.0) - one)).abs() < 1e-9);
        assert_eq!((place(0.0), place(f64::INFINITY)), SCALE);
        assert_eq!((place(-1.0), place(f64::MAX)), SCALE);
    }

    #[test]
    fn nothing_divides_by_nothing() {
        for markup in [spark(&[0; 8], ""), spark(&[], ""), columns(&[0; 8], &[], ""), share(0, 0)] {
            assert!(!markup.into_string().contains("NaN"));
        }
    }
}
