//! How good a ranking is.

/// Averages over questions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scores {
    questions: f64,
    hit: [f64; 3],
    recall: [f64; 3],
    reciprocal: f64,
    ndcg: f64,
}

/// Where rankings are cut.
const CUTS: [usize; 3] = [1, 5, 10];

impl Scores {
    /// Head of the table that [`Scores::row`] is a row of.
    pub(crate) const HEAD: &str = "hit@1 | hit@5 | hit@10 | R@1 | R@5 | R@10 | MRR | nDCG@10";

    /// Takes a ranking in. `gold` is not empty.
    pub(crate) fn add<T: PartialEq>(&mut self, ranking: &[T], gold: &[T]) {
        self.questions += 1.0;
        for (i, cut) in CUTS.into_iter().enumerate() {
            let found = ranking.iter().take(cut).filter(|found| gold.contains(found)).count();
            self.hit[i] += f64::from(u8::from(found > 0));
            self.recall[i] += found as f64 / gold.len() as f64;
        }
        let first = ranking.iter().position(|found| gold.contains(found));
        self.reciprocal += first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        let gain = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
        let ranks = (0..ranking.len().min(10)).filter(|rank| gold.contains(&ranking[*rank]));
        self.ndcg += ranks.map(gain).sum::<f64>() / (0..gold.len().min(10)).map(gain).sum::<f64>();
    }

    /// The averages, as cells of a table.
    pub(crate) fn row(&self) -> String {
        let cells = self.hit.iter().chain(&self.recall).chain([&self.reciprocal, &self.ndcg]);
        let cells: Vec<String> = cells.map(|sum| format!("{:.3}", sum / self.questions.max(1.0))).collect();
        cells.join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_first_counts_most() {
        let mut scores = Scores::default();
        scores.add(&[3, 1, 2], &[1, 9]);
        assert_eq!(scores.row(), "0.000 | 1.000 | 1.000 | 0.000 | 0.500 | 0.500 | 0.500 | 0.387");
        scores.add(&[7], &[7]);
        assert_eq!(scores.row(), "0.500 | 1.000 | 1.000 | 0.500 | 0.750 | 0.750 | 0.750 | 0.693");
    }
}
