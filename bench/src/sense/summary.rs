//! How often each variation was told apart, as a table and as JSON.
use pippin_model::figure::Figure;
use pippin_model::text::units::counted;
use pippin_stats::series::quantile::median;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::tally::{FIGURES, Observed, Tally};
use super::variations::{VARIATIONS, Wanted};
use crate::results::{self, Machine, machine};

/// How the plan was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Form {
    /// Whether it is the full form of the plan.
    pub full: bool,
    /// How many runs in a row are judged as one.
    pub joined: u32,
}

/// All runs together.
#[derive(Debug, Serialize)]
pub struct Summary {
    schema: u32,
    unix_seconds: u64,
    #[serde(flatten)]
    form: Form,
    /// Those that are judged as one count once.
    runs: usize,
    /// The time of all runs together.
    seconds: u64,
    machine: Machine,
    slices: u64,
    slices_calm: u64,
    slices_used: u64,
    variations: Vec<OfVariation>,
}

#[derive(Debug, Serialize)]
struct OfVariation {
    name: &'static str,
    about: &'static str,
    from: &'static str,
    by: Vec<OfFigure>,
    bounds: Vec<OfBound>,
}

/// The results of a variation for one figure.
#[derive(Debug, Serialize)]
struct OfFigure {
    figure: Figure,
    /// Runs in which both targets have a valid result.
    runs: usize,
    /// Runs in which the pair was told apart.
    apart: usize,
    /// The median of the ratios.
    ratio: Option<f64>,
    /// The median reach of their intervals.
    reach: Option<f64>,
    observed: Vec<Option<Observed>>,
}

#[derive(Debug, Serialize)]
struct OfBound {
    #[serde(flatten)]
    wanted: Wanted,
    /// `None` if the bound is for the other form, or there is no result.
    met: Option<bool>,
}

impl OfFigure {
    fn from_observed(figure: Figure, observed: Vec<Option<Observed>>) -> Self {
        let known: Vec<Observed> = observed.iter().flatten().copied().collect();
        let middle =
            |figure: fn(&Observed) -> f64| median(&known.iter().map(figure).collect::<Vec<_>>());
        Self {
            figure,
            runs: known.len(),
            apart: known.iter().filter(|observed| observed.apart).count(),
            ratio: middle(|observed| observed.ratio),
            reach: middle(|observed| observed.reach),
            observed,
        }
    }

    fn meets(&self, wanted: &Wanted, full: bool) -> Option<bool> {
        let counts = self.runs > 0 && (full || !wanted.full_only);
        let share = self.apart as f64 / self.runs as f64;
        counts.then_some(if wanted.at_least {
            share >= wanted.share
        } else {
            share <= wanted.share
        })
    }
}

impl Summary {
    pub fn from_tallies(tallies: &[Tally], form: Form, seconds: u64) -> Self {
        let count = |figure: fn(&Tally) -> u64| tallies.iter().map(figure).sum();
        Self {
            schema: 1,
            unix_seconds: results::unix_seconds(),
            form,
            runs: tallies.len(),
            seconds,
            machine: machine(),
            slices: count(|tally| tally.slices.made),
            slices_calm: count(|tally| tally.slices.calm),
            slices_used: count(|tally| tally.slices.used),
            variations: (0..VARIATIONS.len())
                .map(|place| of_variation(tallies, place, form.full))
                .collect(),
        }
    }

    /// The table: for each figure, in how many runs a variation was told apart, and its ratio.
    pub fn table(&self) -> String {
        let mut out = format!(
            "{}{} in {} min; {} of {} slices were calm, {} used. Told apart (ratio):\n\n{:<28}",
            counted(self.runs as u64, "run"),
            match self.form.joined {
                1 => String::new(),
                joined => format!(", each of {joined} runs in a row,"),
            },
            self.seconds.div_ceil(60),
            self.slices_calm,
            self.slices,
            self.slices_used,
            "variation"
        );
        for figure in FIGURES {
            // Writing into a String cannot fail.
            let _ = write!(out, "{:>20}", figure.to_string());
        }
        out.push_str("  bound\n");
        for of in &self.variations {
            let _ = write!(out, "{:<28}", of.about);
            for by in &of.by {
                let ratio = by.ratio.map_or_else(|| "-".into(), |ratio| format!("{ratio:.3}"));
                let _ = write!(out, "{:>20}", format!("{} of {} ({ratio})", by.apart, by.runs));
            }
            let bounds: Vec<String> = of.bounds.iter().map(in_words).collect();
            let _ = writeln!(out, "  {}", bounds.join("; "));
        }
        out
    }

    /// Writes it to a file named after the time. Returns the path.
    pub fn keep(&self, folder: &Path) -> Result<PathBuf, String> {
        results::write(folder, &format!("sense-{}", self.unix_seconds), self)
    }
}

fn of_variation(tallies: &[Tally], place: usize, full: bool) -> OfVariation {
    let variation = VARIATIONS[place];
    let by: Vec<OfFigure> = FIGURES
        .iter()
        .enumerate()
        .map(|(at, figure)| {
            OfFigure::from_observed(
                *figure,
                tallies.iter().map(|tally| tally.variations[place][at]).collect(),
            )
        })
        .collect();
    let bound = |wanted: &Wanted| OfBound {
        wanted: *wanted,
        met: by.iter().find(|by| by.figure == wanted.figure).and_then(|by| by.meets(wanted, full)),
    };
    OfVariation {
        name: variation.name,
        about: variation.about,
        from: variation.from,
        bounds: variation.wanted.iter().map(bound).collect(),
        by,
    }
}

fn in_words(bound: &OfBound) -> String {
    let Wanted { figure, at_least, share, full_only } = bound.wanted;
    let sense = if at_least { "at least" } else { "at most" };
    let met = match bound.met {
        Some(true) => "met",
        Some(false) => "MISSED",
        None if full_only => "of the full form",
        None => "unknown",
    };
    format!("{figure} {sense} {:.0} %: {met}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sense::tally::tests::run;

    #[test]
    fn the_table_says_who_was_told_apart_and_which_bounds_are_met() {
        let tally = Tally::from_record(&run()).unwrap();
        let form = Form { full: false, joined: 1 };
        let quick = Summary::from_tallies(&[tally.clone(), tally.clone()], form, 200);
        let text = quick.table();
        let line =
            |about: &str| text.lines().find(|line| line.starts_with(about)).unwrap().to_string();
        assert!(text.starts_with("2 runs in 4 min; 336 of 336 slices were calm"), "{text}");
        assert!(line("10 % more CPU time").contains("2 of 2 (1.1"), "{text}");
        assert!(line("10 % more CPU time").ends_with("cpu at least 90 %: met"), "{text}");
        assert!(line("5 % more CPU time").ends_with("of the full form"), "{text}");
        let twin = line("the same");
        assert!(twin.ends_with("goodput at most 5 %: met; cpu at most 5 %: met"), "{text}");
        // A target without a difference misses this bound.
        let full = Summary::from_tallies(&[tally], Form { full: true, ..form }, 200).table();
        assert!(full.contains("cpu at least 90 %: MISSED"), "{full}");
        assert!(serde_json::to_string(&quick).unwrap().contains("\"slices_calm\":336"));
    }
}
