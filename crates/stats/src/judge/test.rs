//! Calls one judge, and changes clean trials.
use pippin_model::example::ExampleTrial;
use pippin_model::host::usage::{Role, RoleUse, Usage};
use pippin_model::result::{LoadResult, Measured};
use pippin_model::trial::TrialRecord;
use pippin_model::trial::slice::{Slice, SliceFigures, SliceHost, SliceQuantiles};
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

/// Changes a trial, or what is known besides it.
pub(crate) type Change = fn(&mut TrialRecord, &mut Context<'static>);

/// A clean trial of 30 s with this change.
pub(crate) fn changed(change: Change) -> (TrialRecord, Context<'static>) {
    let (mut record, mut context) = (ExampleTrial::hello().build(), Context::default());
    change(&mut record, &mut context);
    (record, context)
}

pub(crate) fn load(record: &mut TrialRecord) -> &mut LoadResult {
    record.load.as_mut().unwrap()
}

pub(crate) fn measured(record: &mut TrialRecord) -> &mut Measured {
    &mut load(record).measured
}

pub(crate) fn usage(record: &mut TrialRecord) -> &mut Usage {
    record.usage.as_mut().unwrap()
}

pub(crate) fn target(record: &mut TrialRecord) -> &mut RoleUse {
    usage(record).roles.get_mut(&Role::Target).unwrap()
}

/// The record as measured in calm slices of 6,400 answers, with these medians of the service time in
/// nanoseconds.
pub(crate) fn sliced(mut record: TrialRecord, medians_ns: &[u64]) -> TrialRecord {
    let slice = |(round, p50_ns): (u32, &u64)| Slice {
        round,
        started_unix_ns: 0,
        measured_ns: 400_000_000,
        figures: SliceFigures {
            answered: 6_400,
            service: SliceQuantiles { p50_ns: Some(*p50_ns), ..SliceQuantiles::default() },
            ..SliceFigures::default()
        },
        host: SliceHost::default(),
        calm: true,
        used: true,
    };
    record.slices = (0..).zip(medians_ns).map(slice).collect();
    record
}
