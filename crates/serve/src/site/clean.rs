//! What a site shows of a run. First answers, places of redirections and lines of logs are on no site;
//! neither is a run whose requests were kept as they are.
use pippin_model::request::secrets::{Digests, Public};
use pippin_model::run::{RunHeader, RunRecord};
use pippin_model::trial::TrialRecord;
use pippin_stats::judge::redirects;

/// The run without these, or why it is not shown at all.
pub(super) fn record(record: RunRecord, public: &Public) -> Result<RunRecord, String> {
    let mut record = without_logs(record);
    // A text that stands for a value stays as it is, whatever the key.
    let digests = Digests::new([0; 32]);
    if holds_values(&record, public, &digests) {
        return Err("it holds values of requests or answers as they are (it was kept with --keep-requests), which may be secrets".into());
    }
    for trial in &mut record.trials {
        let kept = std::mem::replace(trial, TrialRecord::begun(trial.spec.clone(), 0));
        *trial = digests.messages(kept.for_record().into_owned());
        trial.caveats.iter_mut().for_each(redirects::without_place);
    }
    Ok(record)
}

fn without_logs(mut record: RunRecord) -> RunRecord {
    let RunRecord { header: RunHeader { targets, .. }, trials, .. } = &mut record;
    let unavailable = targets.values_mut().filter_map(|info| info.unavailable.as_mut());
    let failures = trials.iter_mut().filter_map(|trial| trial.failure.as_mut());
    unavailable.chain(failures).for_each(|failure| failure.log_tail.clear());
    record
}

/// Whether it holds values that a store keeps only where it is told to.
fn holds_values(record: &RunRecord, public: &Public, digests: &Digests) -> bool {
    let of_trial = |trial: &TrialRecord| {
        let requests = trial.load_spec.as_ref().and_then(|load| load.requests.sample_of());
        digests.trial(trial.clone(), requests) != *trial
    };
    digests.header(&record.header, public) != record.header
        || !public.workload && record.trials.iter().any(of_trial)
}
