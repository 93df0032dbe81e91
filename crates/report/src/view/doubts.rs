//! Caveats by name over all targets, so that each advice is shown once, above the evidence of each
//! target.
use pippin_model::verdict::{self, Severity};
use pippin_stats::judge::order;
use pippin_stats::summary::CountedCaveat;
use serde::{Deserialize, Serialize};

use super::row::Row;
use crate::words;

/// One kind of caveat, and where it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Doubt {
    /// The caveat's name.
    pub id: String,
    /// How serious it is; the most serious if targets differ.
    pub severity: Severity,
    /// What to do about it; empty if nothing.
    pub advice: String,
    /// Where it was seen.
    pub seen: Vec<TargetEvidence>,
}

/// The evidence of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetEvidence {
    /// The target.
    pub target: String,
    /// In figures, once for each trial that differs.
    pub evidence: Vec<String>,
}

impl Doubt {
    /// Its name in words: `generator busy`.
    #[must_use]
    pub fn name(&self) -> String {
        verdict::in_words(&self.id)
    }
}

/// The advice of notes that ask for nothing.
const NOTHING_TO_DO: &str = "nothing to do";

/// All caveats of all rows, in the order of [`order`], then by name.
#[must_use]
pub fn from_rows(rows: &[Row]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    for row in rows {
        for counted in &row.caveats {
            let caveat = &counted.caveat;
            // The failure itself says it, with its log.
            if caveat.id == "no_result" && row.failure.is_some() {
                continue;
            }
            let found = doubts
                .iter_mut()
                .find(|doubt| doubt.id == caveat.id && doubt.advice == caveat.advice);
            let doubt = match found {
                Some(doubt) => doubt,
                None => {
                    doubts.push(Doubt {
                        id: caveat.id.clone(),
                        severity: caveat.severity,
                        advice: caveat.advice.clone(),
                        seen: Vec::new(),
                    });
                    let last = doubts.len() - 1;
                    &mut doubts[last]
                }
            };
            doubt.severity = doubt.severity.max(caveat.severity);
            note(doubt, &row.target.to_string(), &evidence(counted, row.trials));
        }
    }
    // "Nothing to do" only helps readers who see the caveat alone.
    for doubt in doubts.iter_mut().filter(|doubt| doubt.advice == NOTHING_TO_DO) {
        doubt.advice.clear();
    }
    doubts.sort_by(|a, b| {
        let place = |doubt: &Doubt| order::place_by(doubt.severity, &doubt.id);
        place(a).cmp(&place(b)).then_with(|| a.id.cmp(&b.id))
    });
    doubts
}

/// The evidence, with the trials in which it was found if it was not in all of them.
fn evidence(counted: &CountedCaveat, trials: u32) -> String {
    match counted.trials {
        0 => counted.caveat.evidence.clone(),
        n if n == trials => counted.caveat.evidence.clone(),
        _ => format!(
            "{} ({})",
            counted.caveat.evidence,
            words::in_trials(&counted.repetitions, trials)
        ),
    }
}

fn note(doubt: &mut Doubt, target: &str, evidence: &str) {
    match doubt.seen.iter_mut().find(|seen| seen.target == target) {
        Some(seen) if seen.evidence.iter().any(|known| known == evidence) => {}
        Some(seen) => seen.evidence.push(evidence.into()),
        None => doubt
            .seen
            .push(TargetEvidence { target: target.into(), evidence: vec![evidence.into()] }),
    }
}
