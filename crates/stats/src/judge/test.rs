//! Calls one judge.
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Caveat;

use super::answer::{Answer, found};
use super::{Context, Evidence};

/// What judges and explanations give.
pub(crate) trait Finding {
    fn found(self) -> Option<Caveat>;
}

impl Finding for Option<Caveat> {
    fn found(self) -> Option<Caveat> {
        self
    }
}

impl Finding for Answer {
    fn found(self) -> Option<Caveat> {
        found(self)
    }
}

pub(crate) fn judged<F: Finding>(
    judge: fn(&Evidence) -> F,
    record: &TrialRecord,
) -> Option<Caveat> {
    judged_in(judge, record, &Context::default())
}

pub(crate) fn judged_in<F: Finding>(
    judge: fn(&Evidence) -> F,
    record: &TrialRecord,
    context: &Context,
) -> Option<Caveat> {
    judge(&Evidence { record, context }).found()
}
