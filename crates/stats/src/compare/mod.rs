//! Compares two sets of trials, target by target, and finds what forbids the comparison.
//!
//! | module | what it does |
//! |---|---|
//! | [`unfinished`] | which of two runs was cut short |
pub mod unfinished;

use pippin_model::figure::{Better, Figure};
use pippin_model::request::requests::Whole;
use pippin_model::run::RunHeader;
use pippin_model::run::comparable;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord, instructions};
use pippin_model::verdict::{Caveat, Severity, Verdict};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::gate::depends_on_time;
use crate::interval::bootstrap::Sample;
use crate::interval::ratio::{Ratio, ratio};
use crate::judge::answers_differ::AnswerKind;
use crate::judge::{compiling, repetitions};
use crate::rounds::calm::SliceCounts;
use crate::rounds::paired;
use crate::series::quantile::median;
use crate::summary::sample::sample;

/// How one figure changed from A to B.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Which figure.
    pub figure: Figure,
    /// A's level: within one run the geometric mean over the rounds that the ratio rests on, otherwise
    /// the median over trials.
    pub a: Option<f64>,
    /// B's level: within one run the geometric mean over the rounds that the ratio rests on, otherwise
    /// the median over trials.
    pub b: Option<f64>,
    /// B over A with its interval; `None` if the variation of a side is unknown. Its value is `b`
    /// divided by `a`.
    pub ratio: Option<Ratio>,
    /// Whether levels and ratio were taken within the rounds that both sides have. Two targets of one
    /// run that were measured apart, or met in too few rounds, were not.
    pub is_paired: bool,
}

/// Where the trials of the two sides come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// From one run: targets that were measured in turn are compared within their rounds
    /// ([`crate::rounds::paired`]).
    OneRun,
    /// From two runs, which share no rounds.
    TwoRuns,
}

/// If the interval of the ratio covers 1 and lies within this fraction of 1, little or nothing
/// changed. A wider interval shows nothing.
const NO_CHANGE: f64 = 0.05;

/// The conclusion about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// A figure or its interval is not known.
    Unknown,
    /// Certainly better.
    Better,
    /// Certainly worse.
    Worse,
    /// Any change is smaller than 5 %.
    Unchanged,
    /// The interval is too wide: there may be a change, or none.
    Inconclusive,
}

impl Judgement {
    /// The conclusion in words, for a table.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Unchanged => "no change beyond 5 %",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl Change {
    /// `B / A - 1`; `None` if a side is unknown.
    #[must_use]
    pub fn relative(&self) -> Option<f64> {
        let (a, b) = (self.a?, self.b?);
        (a > 0.0).then(|| b / a - 1.0)
    }

    /// The 95 % interval of [`Self::relative`], in the same unit: -0.12 to -0.08.
    #[must_use]
    pub fn relative_interval(&self) -> Option<(f64, f64)> {
        self.ratio.map(|ratio| (ratio.interval.low - 1.0, ratio.interval.high - 1.0))
    }

    /// The conclusion about the change.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        let (Some(relative), Some(ratio)) = (self.relative(), self.ratio) else {
            return Judgement::Unknown;
        };
        let interval = ratio.interval;
        if ratio.is_significant() {
            let is_better = (relative > 0.0) == (self.figure.better() == Some(Better::More));
            if is_better { Judgement::Better } else { Judgement::Worse }
        } else if interval.low > 1.0 - NO_CHANGE && interval.high < 1.0 + NO_CHANGE {
            Judgement::Unchanged
        } else {
            Judgement::Inconclusive
        }
    }

    /// Whether the interval excludes "no change"; `None` if there is no interval.
    #[must_use]
    pub fn is_significant(&self) -> Option<bool> {
        self.ratio.map(|ratio| ratio.is_significant())
    }
}

impl Origin {
    /// Whether these are the headers of the same run.
    #[must_use]
    pub fn from_headers(a: &RunHeader, b: &RunHeader) -> Self {
        if a.id == b.id { Self::OneRun } else { Self::TwoRuns }
    }
}

/// How one target at one step changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetChange {
    /// The target in A.
    pub a: TargetId,
    /// The target in B: the same, unless each side has only one target.
    pub b: TargetId,
    /// The point of a sweep or of a capacity search.
    pub step: Option<Step>,
    /// The verdict of A, as a report gives it.
    pub a_verdict: Verdict,
    /// The verdict of B, as a report gives it.
    pub b_verdict: Verdict,
    /// The answers of both sides, if they are of different kinds: what is compared is then different
    /// work.
    pub answers: Option<Answers>,
    /// What the compilers of the sides did, if one of them worked: what is compared is then not what
    /// the sides are when they are warm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiling: Option<Compiling>,
    /// The sides of which no slice was calm, if the sides are of two runs: what disturbed one did not
    /// disturb the other, so that they cannot be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<Disturbed>,
    /// Every figure, in the order of [`Figure::COMPARED`], then those that only some runs have.
    pub changes: Vec<Change>,
}

/// The sides of a comparison that were disturbed all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbed {
    /// No slice of A was calm.
    pub a: bool,
    /// No slice of B was calm.
    pub b: bool,
}

impl Disturbed {
    /// Which sides of two runs were disturbed all the time, if one was. Within one run, rounds cancel
    /// disturbances out.
    fn from_trials(a: &[&TrialRecord], b: &[&TrialRecord], origin: Origin) -> Option<Self> {
        let never_calm = |trials: &[&TrialRecord]| {
            SliceCounts::from_trials(trials.iter().copied()).is_some_and(|counts| counts.calm == 0)
        };
        let found = Self { a: never_calm(a), b: never_calm(b) };
        (origin == Origin::TwoRuns && (found.a || found.b)).then_some(found)
    }

    /// The sides in words: `A`, `B`, `A and B`.
    #[must_use]
    pub const fn sides(self) -> &'static str {
        match (self.a, self.b) {
            (true, true) => "A and B",
            (true, false) => "A",
            _ => "B",
        }
    }
}

/// The usual answers of two sides, in words: `200 with 12 bytes`, `302`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// Of A.
    pub a: String,
    /// Of B.
    pub b: String,
}

impl Answers {
    /// The answers of both sides, if they differ.
    fn from_trials(a: &[&TrialRecord], b: &[&TrialRecord]) -> Option<Self> {
        let first =
            |trials: &[&TrialRecord]| trials.iter().find_map(|it| AnswerKind::from_trial(it));
        let (a, b) = (first(a)?, first(b)?);
        a.differs(&b).then(|| Self { a: a.words(), b: b.words() })
    }
}

/// Compilers at work while two sides were measured, in words: `the JVM compiled for 24.0 % of a
/// processor while it was measured`. `None` for a side whose compiler rested, or that has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiling {
    /// Of A.
    pub a: Option<String>,
    /// Of B.
    pub b: Option<String>,
    /// Whether it was asked for: a plan that measures cold servers.
    pub is_planned: bool,
}

impl Compiling {
    /// What the compilers of both sides did, if one of them worked.
    fn from_trials(a: &[&TrialRecord], b: &[&TrialRecord]) -> Option<Self> {
        let (a, b) = (compiling::of_all(a), compiling::of_all(b));
        let severity = a.iter().chain(&b).map(|caveat| caveat.severity).max()?;
        let words = |caveat: Option<Caveat>| caveat.map(|caveat| caveat.evidence);
        Some(Self { a: words(a), b: words(b), is_planned: severity == Severity::Note })
    }
}

impl TargetChange {
    /// The conclusion about one of its changes. A redirection is no better than an answer, however
    /// fast it is, so nothing is concluded about sides with different answers. Nor about times and
    /// rates of a side whose compiler was at work, unless the plan asked for cold servers; nor where
    /// nothing was calm.
    #[must_use]
    pub fn judgement(&self, change: &Change) -> &'static str {
        if self.disturbed.is_some() && depends_on_time(change.figure) {
            return "not comparable";
        }
        let is_cold = self.still_compiled().is_some() && depends_on_time(change.figure);
        match change.judgement() {
            Judgement::Better | Judgement::Worse | Judgement::Unchanged
                if self.answers.is_some() =>
            {
                "the answers differ"
            }
            Judgement::Better | Judgement::Worse | Judgement::Unchanged if is_cold => {
                "a side still compiled"
            }
            judgement => judgement.words(),
        }
    }

    /// The compilers at work that nobody asked for.
    #[must_use]
    pub fn still_compiled(&self) -> Option<&Compiling> {
        self.compiling.as_ref().filter(|compiling| !compiling.is_planned)
    }
}

/// A whole comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Targets on both sides.
    pub targets: Vec<TargetChange>,
    /// Targets that only A has.
    pub only_a: Vec<TargetId>,
    /// Targets that only B has.
    pub only_b: Vec<TargetId>,
}

/// The seed of every comparison of stored runs, so that two runs always have the same intervals.
pub const SEED: u64 = 1;

/// One side of a comparison.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The trials that are compared.
    pub trials: &'a [TrialRecord],
    /// The verdict of a target at a step, as the report of its run gives it.
    pub verdict: &'a dyn Fn(&TargetId, Option<Step>) -> Verdict,
}

/// Compares B's trials with A's: targets of the same name at the same step; if each side has
/// exactly one target, these two, whatever their names. [`differences`] says whether that makes
/// sense.
pub fn compare<R: Rng + ?Sized>(
    a: Side<'_>,
    b: Side<'_>,
    origin: Origin,
    rng: &mut R,
) -> Comparison {
    let (a_names, b_names) = (names(a.trials), names(b.trials));
    let is_pair = a_names.len() == 1 && b_names.len() == 1;
    let (a_groups, b_groups) = (repetitions(a.trials), repetitions(b.trials));
    let mut targets = Vec::new();
    for (a_target, step, a_trials) in &a_groups {
        let matching = b_groups
            .iter()
            .find(|(b_target, b_step, _)| step == b_step && (is_pair || a_target == b_target));
        if let Some((b_target, _, b_trials)) = matching {
            targets.push(TargetChange {
                a: (*a_target).clone(),
                b: (*b_target).clone(),
                step: *step,
                a_verdict: (a.verdict)(a_target, *step),
                b_verdict: (b.verdict)(b_target, *step),
                answers: Answers::from_trials(a_trials, b_trials),
                compiling: Compiling::from_trials(a_trials, b_trials),
                disturbed: Disturbed::from_trials(a_trials, b_trials, origin),
                changes: compared(a_trials, b_trials)
                    .map(|figure| change(figure, a_trials, b_trials, origin, rng))
                    .collect(),
            });
        }
    }
    let missing = |of: &[TargetId], side: fn(&TargetChange) -> &TargetId| {
        of.iter()
            .filter(|name| !targets.iter().any(|change| side(change) == *name))
            .cloned()
            .collect()
    };
    Comparison {
        only_a: missing(&a_names, |change| &change.a),
        only_b: missing(&b_names, |change| &change.b),
        targets,
    }
}

/// The figures that are compared: instructions only where a side has them, and one counter counted them.
fn compared<'a>(a: &'a [&TrialRecord], b: &'a [&TrialRecord]) -> impl Iterator<Item = Figure> + 'a {
    let both = || a.iter().chain(b).copied();
    let is_counted = both().any(|trial| Figure::Instructions.read(trial).is_some())
        && instructions::are_alike(both());
    Figure::COMPARED.into_iter().chain(is_counted.then_some(Figure::Instructions))
}

fn names(records: &[TrialRecord]) -> Vec<TargetId> {
    let mut names: Vec<TargetId> =
        records.iter().map(|record| record.spec.target.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// How a figure changed from `a` to `b`, each the trials of one target at one step.
pub(crate) fn change<R: Rng + ?Sized>(
    figure: Figure,
    a: &[&TrialRecord],
    b: &[&TrialRecord],
    origin: Origin,
    rng: &mut R,
) -> Change {
    if let Some(of_slices) = of_slices(figure, a, b, origin) {
        return of_slices;
    }
    let of = |trials: &[&TrialRecord]| {
        trials.iter().filter_map(|record| sample(figure, record)).collect::<Vec<Sample>>()
    };
    let centre =
        |samples: &[Sample]| median(&samples.iter().map(|sample| sample.value).collect::<Vec<_>>());
    let (a, b) = (of(a), of(b));
    Change { figure, a: centre(&a), b: centre(&b), ratio: ratio(&b, &a, rng), is_paired: false }
}

/// The change between two targets of one run that were measured in slices; `None` for others, or if
/// the scatter of their ratio is unknown.
fn of_slices(
    figure: Figure,
    a: &[&TrialRecord],
    b: &[&TrialRecord],
    origin: Origin,
) -> Option<Change> {
    if origin == Origin::TwoRuns {
        return None;
    }
    let found = paired::compare(a, b, figure)?;
    Some(Change {
        figure,
        a: Some(found.first),
        b: Some(found.second),
        ratio: Some(found.ratio),
        is_paired: found.is_within_rounds,
    })
}

/// A difference between the two sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What: `"profile"`, `"processor"`, `"go/net-http: digest"`.
    pub what: String,
    /// On side A.
    pub a: String,
    /// On side B.
    pub b: String,
    /// Whether it forbids the comparison unless the user insists.
    pub refuses: bool,
}

/// What differs between two runs. A different profile, workload, number of workers or machine
/// forbids the comparison. A different kernel, host name, or version of Pippin or of a target is
/// only reported, because it may be what the user compares.
#[must_use]
pub fn differences(a: &RunHeader, b: &RunHeader) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut compare = |what: &str, refuses: bool, a: String, b: String| {
        if a != b {
            found.push(Difference { what: what.into(), a, b, refuses });
        }
    };
    for (a, b) in comparable::facts(a).into_iter().zip(comparable::facts(b)) {
        if a.value != b.value {
            let (of_a, of_b) = comparable::apart(&a.value, &b.value);
            compare(a.what, a.refuses, of_a, of_b);
        }
    }
    // Older runs do not have this.
    if let (Some(a), Some(b)) = (&a.requests, &b.requests) {
        let known = |whole: &Whole| format!("{} of digest {}", whole.count, whole.digest);
        compare("requests", true, known(a), known(b));
    }
    for (name, before) in &a.targets {
        let Some(after) = b.targets.get(name) else { continue };
        compare(
            &format!("{name}: digest"),
            false,
            text(before.digest.clone()),
            text(after.digest.clone()),
        );
        compare(
            &format!("{name}: versions"),
            false,
            before.versions_in_words(),
            after.versions_in_words(),
        );
    }
    found
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "unknown".into(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;
    use crate::interval::bootstrap::Basis;
    use crate::simulated::test_noise::Noise;
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::run::{closed, header};
    use pippin_model::example::slices::Rounds;

    fn trials(target: &str, completed: [u64; 5]) -> Vec<TrialRecord> {
        completed
            .iter()
            .map(|n| ExampleTrial::hello().target(target).completed(*n).build())
            .collect()
    }

    /// Compares trials that nobody doubts.
    fn compare(
        a: &[TrialRecord],
        b: &[TrialRecord],
        origin: Origin,
        rng: &mut impl Rng,
    ) -> Comparison {
        let verdict = |_: &TargetId, _| Verdict::Valid;
        let side = |trials| Side { trials, verdict: &verdict };
        super::compare(side(a), side(b), origin, rng)
    }

    fn around(n: u64) -> [u64; 5] {
        [n, n + n / 1_000, n - n / 1_000, n + n / 2_000, n - n / 2_000]
    }

    #[test]
    fn a_loss_of_ten_percent_is_significant_and_none_is_not() {
        let (a, same, slower) = (
            trials("a/a", around(300_000)),
            trials("a/a", around(300_030)),
            trials("a/a", around(270_000)),
        );
        let mut noise = Noise::new(1);
        let found = compare(&a, &slower, Origin::TwoRuns, &mut noise.0);
        let goodput = found.targets[0].changes[0];
        assert!((goodput.relative().unwrap() + 0.1).abs() < 1e-9);
        assert_eq!(goodput.is_significant(), Some(true));
        let p50 = found.targets[0].changes[1];
        assert!(p50.relative().unwrap() > 0.1, "by Little's law the times grow: {p50:?}");
        let unchanged = compare(&a, &same, Origin::TwoRuns, &mut noise.0);
        assert_eq!(unchanged.targets[0].changes[0].is_significant(), Some(false));
    }

    #[test]
    fn nothing_is_concluded_where_the_answers_are_of_different_kinds() {
        let a = trials("a/a", around(300_000));
        let mut b = trials("a/a", around(900_000));
        for trial in &mut b {
            let status = &mut trial.load.as_mut().unwrap().measured.status;
            status.codes = [(302, 900_000)].into();
        }
        let found = compare(&a, &b, Origin::TwoRuns, &mut Noise::new(1).0).targets.remove(0);
        let words = Answers { a: "200 with 12 bytes".into(), b: "302".into() };
        assert_eq!(found.answers, Some(words));
        assert_eq!(found.judgement(&found.changes[0]), "the answers differ");
    }

    #[test]
    fn targets_of_one_run_are_compared_within_its_rounds() {
        // The host varies between half and full speed from round to round, which hides 10 %.
        let rounds = Rounds { host: 0.3, slice: 0.01, start: 0.0, ..Rounds::default() };
        let (a, b) = (rounds.trials("a/a", 10_000.0, 20.0), rounds.trials("b/b", 9_000.0, 20.0));
        let of = |origin| compare(&a, &b, origin, &mut Noise::new(4).0).targets[0].changes[0];
        let paired = of(Origin::OneRun);
        assert!(paired.is_paired && paired.judgement() == Judgement::Worse, "{paired:?}");
        assert!((paired.relative().unwrap() + 0.1).abs() < 0.02, "{paired:?}");
        // Each metric's levels give its ratio, in the unit of the trials' own figures.
        for change in &compare(&a, &b, Origin::OneRun, &mut Noise::new(4).0).targets[0].changes {
            let Some(ratio) = change.ratio.filter(|_| change.is_paired) else { continue };
            let (level, other) = (change.a.unwrap(), change.b.unwrap());
            assert!((other / level / ratio.value - 1.0).abs() < 1e-9, "{change:?}");
            let own = sample(change.figure, &a[0]).unwrap().value;
            assert!((0.5..2.0).contains(&(level / own)), "{change:?} beside {own}");
        }
        let apart = of(Origin::TwoRuns);
        assert!(!apart.is_paired && apart.ratio != paired.ratio, "{apart:?}");
        // Trials without slices have no rounds.
        let (a, b) = (trials("a/a", around(1_000)), trials("b/b", around(900)));
        let found = compare(&a, &b, Origin::OneRun, &mut Noise::new(5).0);
        assert!(!found.targets[0].changes[0].is_paired);
        assert!(found.targets[0].changes[0].ratio.is_some());
    }

    #[test]
    fn two_runs_are_not_comparable_where_nothing_was_calm() {
        let rounds = Rounds { slice: 0.01, start: 0.0, ..Rounds::default() };
        let a = rounds.trials("a/a", 10_000.0, 20.0);
        let mut b = a.clone();
        let of = |b: &[TrialRecord], origin| {
            compare(&a, b, origin, &mut Noise::new(4).0).targets.remove(0)
        };
        let said = |of: &TargetChange| -> Vec<&str> {
            of.changes.iter().map(|change| of.judgement(change)).collect()
        };
        let calm = of(&b, Origin::TwoRuns);
        assert!(calm.disturbed.is_none() && !said(&calm).contains(&"not comparable"));
        let mut slices = b.iter_mut().flat_map(|trial| &mut trial.slices);
        let spared = slices.next().unwrap();
        spared.calm = true;
        slices.for_each(|slice| slice.calm = false);
        assert_eq!(of(&b, Origin::TwoRuns).disturbed, None, "one slice was calm");
        b[0].slices[0].calm = false;
        let disturbed = of(&b, Origin::TwoRuns);
        assert_eq!(disturbed.disturbed, Some(Disturbed { a: false, b: true }));
        for (change, said) in disturbed.changes.iter().zip(said(&disturbed)) {
            assert_eq!(said == "not comparable", depends_on_time(change.figure), "{change:?}");
        }
        // Within one run, rounds cancel disturbances out.
        assert_eq!(of(&b, Origin::OneRun).disturbed, None);
    }

    #[test]
    fn targets_are_matched_by_name_and_two_alone_with_each_other() {
        let mut a = trials("a/a", around(1_000));
        a.extend(trials("b/b", around(1_000)));
        let mut b = trials("b/b", around(1_000));
        b.extend(trials("c/c", around(1_000)));
        let found = compare(&a, &b, Origin::TwoRuns, &mut Noise::new(2).0);
        let show = |names: &[TargetId]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            (found.targets.len(), show(&found.only_a), show(&found.only_b)),
            (1, vec!["a/a".into()], vec!["c/c".into()])
        );
        let pair = compare(
            &trials("a/a", around(1_000)),
            &trials("c/c", around(1_000)),
            Origin::TwoRuns,
            &mut Noise::new(3).0,
        );
        assert_eq!((pair.targets.len(), pair.only_a.len(), pair.only_b.len()), (1, 0, 0));
    }

    #[test]
    fn apples_and_peaches_are_refused_and_a_new_kernel_is_told() {
        let a = header("hello", "Hello", closed(), &["go/net-http"]);
        assert!(differences(&a, &a).is_empty());
        let mut b = a.clone();
        b.host.kernel = Some("6.9".into());
        assert!(
            differences(&a, &b)
                .iter()
                .all(|difference| difference.what == "kernel" && !difference.refuses)
        );
        b.host.cpus = 64;
        b.plan.profile = ExampleTrial::open(5.0).build().spec.profile;
        b.workload.id = "page".into();
        let refused: Vec<String> = differences(&a, &b)
            .into_iter()
            .filter(|difference| difference.refuses)
            .map(|difference| difference.what)
            .collect();
        assert_eq!(refused, ["workload", "profile", "number of processors"]);
    }

    #[test]
    fn a_wide_interval_is_inconclusive_and_a_narrow_one_shows_that_nothing_changed() {
        let change = |figure, low, value, high| {
            let interval = Interval { low, high, basis: Basis::Trials };
            let ratio = Some(Ratio { value, interval });
            Change { figure, a: Some(1.0), b: Some(value), ratio, is_paired: false }.judgement()
        };
        assert_eq!(change(Figure::Goodput, 0.34, 1.1, 3.53), Judgement::Inconclusive);
        assert_eq!(change(Figure::Goodput, 0.97, 1.01, 1.04), Judgement::Unchanged);
        assert_eq!(change(Figure::Goodput, 1.01, 1.1, 1.2), Judgement::Better);
        assert_eq!(change(Figure::P99, 1.01, 1.1, 1.2), Judgement::Worse);
        let unknown =
            Change { figure: Figure::Cpu, a: Some(1.0), b: None, ratio: None, is_paired: false };
        assert_eq!(unknown.judgement(), Judgement::Unknown);
    }
}
