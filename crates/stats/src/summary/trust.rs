//! Whether a run as a whole can be trusted, in words: the first thing that every output says.
//!
//! There are two trusts. The order of targets rests on pairs within rounds, ratios on the same
//! pairs, figures on the machine alone. On a disturbed machine neither figures nor ratios can be
//! trusted; how often the order still holds there was not measured, so it is not called trusted
//! either (docs/decisions/never-silent.md).
use pippin_model::result::Window;
use pippin_model::text::units::counted;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::{Caveat, Severity, Verdict};
use serde::{Deserialize, Serialize};

use crate::interval::unsure;
use crate::judge::host::{self, Taker};
use crate::judge::{UNKNOWN, noisy_neighbour, repetitions};
use crate::rounds::calm::SliceCounts;
use crate::series::steady::{can_tell, measured_rates};
use crate::summary::TargetSummary;

/// Whether a run can be trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// No doubt was found.
    Yes,
    /// Some results can be trusted, or some of what a result says.
    Partly,
    /// No result can be trusted as it stands.
    #[default]
    No,
}

impl Answer {
    /// As the first word of a sentence.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "Yes",
            Self::Partly => "Partly",
            Self::No => "No",
        }
    }
}

/// The verdict of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// Whether it can be trusted.
    pub answer: Answer,
    /// The reason: "other programs used 58 % of this machine".
    pub because: String,
    /// What to do; `None` if nothing.
    pub advice: Option<String>,
    /// Whether the order of targets whose ranks differ can be trusted; `None` without ranks.
    pub order: Option<bool>,
    /// Whether the ratios of targets can be trusted within their intervals; `None` without any.
    pub ratios: Option<bool>,
    /// Whether the figures themselves can be trusted within their intervals.
    pub figures: bool,
}

impl Trust {
    /// The verdict over these results, from these trials.
    #[must_use]
    pub fn from_summaries(rows: &[&TargetSummary], trials: &[TrialRecord]) -> Self {
        let measured: Vec<&TargetSummary> =
            rows.iter().copied().filter(|row| row.goodput_per_s.is_some()).collect();
        let not_shown = not_shown(&measured, trials);
        let (answer, because, advice) = reason(&measured, trials, not_shown.as_ref());
        let missing = rows.len() - measured.len();
        let (answer, because) = if missing == 0 || measured.is_empty() {
            (answer, because)
        } else {
            let has = if missing == 1 { "has" } else { "have" };
            let because = format!("{missing} of {} targets {has} no result; {because}", rows.len());
            (if answer == Answer::Yes { Answer::Partly } else { answer }, because)
        };
        let is_calm = measured.iter().all(|row| !has_any(row, &noisy_neighbour::IDS));
        let all = |is_so: &dyn Fn(&TargetSummary) -> bool| measured.iter().all(|row| is_so(row));
        let has_ranks = measured.iter().filter(|row| row.standing.rank.is_some()).count() > 1;
        let is_known = is_calm && !measured.is_empty() && all(&|row| !has_any(row, &[UNKNOWN]));
        let ratios = is_known && all(&|row| row.verdict == Some(Verdict::Valid));
        Self {
            answer,
            because,
            advice,
            order: has_ranks.then_some(is_known),
            ratios: has_ranks.then_some(ratios),
            figures: ratios && all(&|row| !row.unsure) && not_shown.is_none(),
        }
    }

    /// Which of order, ratios and figures can be trusted, in a sentence; `None` where all can, or
    /// where nothing is ranked.
    #[must_use]
    pub fn what_holds(&self) -> Option<String> {
        let yes = |is_so: bool| if is_so { "yes" } else { "no" };
        let (order, ratios) = self.order.zip(self.ratios).filter(|_| self.answer != Answer::Yes)?;
        Some(format!(
            "Order where ranks differ: {}; ratios: {}; figures: {}.",
            if order { "yes" } else { "not known" },
            yes(ratios),
            yes(self.figures)
        ))
    }

    /// In words: `Can you trust it? No: other programs used 58 % of this machine. Do: ...`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut text = format!("Can you trust it? {}: {}.", self.answer.word(), self.because);
        if let Some(holds) = self.what_holds() {
            text.push_str(&format!(" {holds}"));
        }
        if let Some(advice) = &self.advice {
            text.push_str(&format!(" Do: {advice}."));
        }
        text
    }
}

fn has_any(row: &TargetSummary, ids: &[&str]) -> bool {
    row.caveats.iter().any(|counted| {
        counted.caveat.severity > Severity::Note && ids.contains(&counted.caveat.id.as_str())
    })
}

fn reason(
    measured: &[&TargetSummary],
    trials: &[TrialRecord],
    not_shown: Option<&NotShown>,
) -> (Answer, String, Option<String>) {
    if measured.is_empty() {
        return (Answer::No, "no target has a result".into(), None);
    }
    let disturbed = measured.iter().filter(|row| has_any(row, &noisy_neighbour::IDS)).count();
    // A quieter machine would not make a result of those that are INVALID.
    let is_void = measured.iter().all(|row| row.verdict == Some(Verdict::Invalid));
    if disturbed > 0 && !is_void {
        // Pairs of a disturbed and a calm target are bent, so half of them is enough.
        let answer = if 2 * disturbed >= measured.len() { Answer::No } else { Answer::Partly };
        let (because, advice) = match noisy_neighbour::perhaps_tiers(&trials.iter().collect::<Vec<_>>()) {
            Some((who, advice)) => (format!("{}; {who}", of_host(trials)), advice),
            None => (of_host(trials), "stop the other programs (`pippin doctor` shows them), or use another machine, and measure again".into()),
        };
        return (answer, because, Some(advice));
    }
    let doubted: Vec<&TargetSummary> =
        measured.iter().copied().filter(|row| row.verdict != Some(Verdict::Valid)).collect();
    let sound = measured.len() - doubted.len();
    let Some(worst) = doubted.iter().copied().max_by_key(|row| row.verdict) else {
        return match not_shown {
            Some(NotShown { what, advice }) => {
                let because = format!("no doubt was found, but {what}");
                (Answer::Partly, because, Some((*advice).into()))
            }
            None if measured.iter().any(|row| row.unsure) => {
                let because = "no doubt was found, but some figures are known to more than +-10 % only: read their intervals";
                (Answer::Partly, because.into(), None)
            }
            None => (Answer::Yes, "it was looked at, and no doubt was found".into(), None),
        };
    };
    let gravest = gravest(worst);
    let doubt = gravest
        .map_or_else(String::new, |caveat| format!(" {}: {}", caveat.name(), caveat.evidence));
    let verdict = worst.verdict.unwrap_or(Verdict::Invalid);
    let advice = gravest.map(|caveat| caveat.advice.clone()).filter(|advice| !advice.is_empty());
    // A single result is meant by itself; its figure is known as far as its interval says.
    let only_unsure = doubted.iter().all(|row| is_only_unsure(row));
    let answer = if sound > 0 || only_unsure { Answer::Partly } else { Answer::No };
    let because = if measured.len() == 1 {
        format!("it is {verdict},{doubt}")
    } else {
        format!(
            "{sound} of {} results are VALID; {} is {verdict},{doubt}",
            measured.len(),
            worst.target
        )
    };
    (answer, because, advice)
}

/// What results without a doubt do not show, and what to do.
struct NotShown {
    what: String,
    advice: &'static str,
}

/// A step of a sweep that is INVALID, how well the figures of a load that changes are known, or whether
/// a server was warm; `None` if nothing of it is open.
fn not_shown(measured: &[&TargetSummary], trials: &[TrialRecord]) -> Option<NotShown> {
    let steps: Vec<Vec<&TrialRecord>> = repetitions(trials)
        .into_iter()
        .filter(|(_, step, _)| matches!(step, Some(Step::Connections { .. })))
        .map(|(_, _, group)| group)
        .collect();
    let is_void =
        |record: &&TrialRecord| record.verdict == Verdict::Invalid || record.load.is_none();
    let invalid = steps.iter().filter(|group| group.iter().any(is_void)).count();
    if invalid > 0 {
        let all = counted(steps.len() as u64, "step");
        let verb = if invalid == 1 { "is" } else { "are" };
        let what = format!("{invalid} of {all} {verb} INVALID or failed");
        return Some(NotShown { what, advice: "see the reason of each step" });
    }
    let changes = trials.iter().any(|record| record.spec.profile.changes());
    let has_interval = |row: &&TargetSummary| row.ranked.is_some_and(|it| it.interval.is_some());
    if changes && !measured.iter().all(has_interval) {
        let what = "a load that changes has no interval: how well its figures are known is not";
        return Some(NotShown { what: what.into(), advice: "repeat it (--repeat 3)" });
    }
    trials.iter().any(is_perhaps_cold).then(|| NotShown {
        what: "it was too short, with hardly a warm-up, to show whether the server was warm".into(),
        advice: "measure for at least 8 s, or warm up (--warm-up auto)",
    })
}

/// A warm-up of this length was chosen by somebody who knows the server; a shorter one shows nothing.
const LONG_NS: u64 = 2_000_000_000;

/// Whether a trial had hardly a warm-up, and too few windows show whether the server was warm. A load of a
/// fixed number of requests measures a cold one on purpose.
fn is_perhaps_cold(record: &TrialRecord) -> bool {
    let Some(load) = &record.load else { return false };
    let rates = measured_rates(load, |window: &Window| window.completed);
    record.spec.profile.stop.duration_ns.is_some()
        && !record.spec.profile.changes()
        && load.warm_up.steady != Some(true)
        && load.warm_up.duration_ns < LONG_NS
        && !can_tell(&rates)
}

fn gravest(row: &TargetSummary) -> Option<&Caveat> {
    row.caveats.first().map(|counted| &counted.caveat).filter(|it| it.severity > Severity::Note)
}

/// Whether nothing is doubted of a row but how narrow its interval is.
fn is_only_unsure(row: &TargetSummary) -> bool {
    let mut doubts =
        row.caveats.iter().map(|it| &it.caveat).filter(|it| it.severity > Severity::Note);
    doubts.all(|caveat| caveat.id == unsure::ID)
}

/// What others took of the machine, the greater of both, and how many slices were calm.
fn of_host(trials: &[TrialRecord]) -> String {
    let all: Vec<&TrialRecord> = trials.iter().collect();
    let counts = SliceCounts::from_trials(trials);
    let share = |by: Taker| match &counts {
        Some(counts) => match by {
            Taker::Hypervisor => counts.steal,
            Taker::OtherPrograms => counts.others,
        },
        None => host::taken(&all, by).ok().map(|taken| taken.share),
    };
    let takers = [
        ("other programs used", share(Taker::OtherPrograms)),
        ("the hypervisor took", share(Taker::Hypervisor)),
    ];
    let known = takers.into_iter().filter_map(|(who, share)| Some((who, share?)));
    let Some((who, most)) = known.reduce(|a, b| if b.1 > a.1 { b } else { a }) else {
        return "other programs or the hypervisor disturbed it; how much they took is unknown"
            .into();
    };
    let calm = counts.map_or_else(String::new, |counts| {
        let were = if counts.calm == 1 { "was" } else { "were" };
        format!(", and {} of {} slices {were} calm", counts.calm, counts.made)
    });
    format!("{who} {:.0} % of this machine{calm}", most * 100.0)
}
