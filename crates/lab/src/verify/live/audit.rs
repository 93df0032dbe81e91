//! Steps that are compared with the table `products`, one after the other, beside a load that writes it.
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::meanwhile::Meanwhile;
use crate::verify::Verdict;
use crate::verify::stored::{Auditor, Flaw};

/// How often a step is taken, after a first one of each: rarely, because no figure shows this work.
const STEP_EVERY: Duration = Duration::from_millis(200);

/// What an auditor has found beside the loads of a target.
#[derive(Debug, Default)]
pub struct Findings(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    /// Steps whose answers were compared.
    compared: u64,
    /// Steps that had no answer.
    unanswered: u64,
    /// Why the first of these had none.
    first_unanswered: Option<String>,
    /// What was wrong first.
    wrong: Option<String>,
}

impl Findings {
    fn note(&self, taken: Result<(), Flaw>) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match taken {
            Ok(()) => found.compared += 1,
            Err(Flaw::Unanswered(why)) => {
                found.unanswered += 1;
                found.first_unanswered.get_or_insert(why);
            }
            Err(Flaw::Wrong(why)) => {
                found.compared += 1;
                found.wrong.get_or_insert(why);
            }
        }
    }

    fn is_settled(&self) -> bool {
        self.read(|found| found.wrong.is_some())
    }

    fn read<T>(&self, read: impl FnOnce(&Found) -> T) -> T {
        read(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many steps had no answer, so that nobody knows what they have done.
    pub fn unanswered(&self) -> u64 {
        self.read(|found| found.unanswered)
    }

    /// Whether all that was compared was right.
    ///
    /// # Errors
    /// What was wrong first.
    pub fn verdict(&self) -> Verdict {
        self.read(|found| found.wrong.clone().map_or(Ok(()), Err))
    }

    /// Why nothing is known; `None` where something was compared.
    pub fn doubt(&self) -> Option<String> {
        self.read(|found| {
            let why = found.first_unanswered.as_deref().unwrap_or("the load was too short");
            (found.compared == 0).then(|| {
                format!("no step beside the load had an answer, so that nothing shows whether reads under load are fresh: {why}")
            })
        })
    }

    /// What is said of steps without an answer, if there are any.
    pub fn remark(&self) -> Option<String> {
        self.read(|Found { compared, unanswered, first_unanswered, .. }| {
            let why = first_unanswered.as_ref()?;
            Some(format!(
                "{unanswered} of {} steps beside the load had no answer; the first: {why}",
                compared + unanswered
            ))
        })
    }
}

/// Takes each step once when a load has begun, and then one so often, until one is wrong.
///
/// # Errors
/// If there is no thread.
pub fn audit_meanwhile(mut auditor: Auditor, findings: Arc<Findings>) -> Result<Meanwhile, String> {
    Meanwhile::start("audit", STEP_EVERY, move |turns| {
        // The load has begun by then.
        if !turns.next() {
            return;
        }
        let before = findings.unanswered();
        for _ in 0..auditor.round() {
            findings.note(auditor.step());
            if findings.is_settled() || findings.unanswered() > before {
                break;
            }
        }
        while !findings.is_settled() && turns.next() {
            findings.note(auditor.step());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_a_doubt_or_a_remark_and_what_is_wrong_a_failure() {
        let findings = Findings::default();
        assert!(findings.doubt().unwrap().ends_with("the load was too short"));
        findings.note(Err(Flaw::Unanswered("GET /: late".into())));
        assert!(findings.doubt().unwrap().ends_with("GET /: late"));
        assert_eq!((findings.unanswered(), findings.verdict()), (1, Ok(())));
        findings.note(Ok(()));
        assert_eq!(findings.doubt(), None);
        let remark = "1 of 2 steps beside the load had no answer; the first: GET /: late";
        assert_eq!(findings.remark().as_deref(), Some(remark));
        assert!(!findings.is_settled());
        for wrong in ["old", "older"] {
            findings.note(Err(Flaw::Wrong(wrong.into())));
        }
        assert!(findings.is_settled());
        assert_eq!(findings.verdict(), Err("old".into()));
    }
}
