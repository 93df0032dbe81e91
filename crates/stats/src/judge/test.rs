//! Calls one judge.
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Caveat;

use super::{Context, Evidence, TrialJudge};

pub(crate) fn judged(judge: TrialJudge, record: &TrialRecord) -> Option<Caveat> {
    judged_in(judge, record, &Context::default())
}

pub(crate) fn judged_in(
    judge: TrialJudge,
    record: &TrialRecord,
    context: &Context,
) -> Option<Caveat> {
    judge(&Evidence { record, context })
}
