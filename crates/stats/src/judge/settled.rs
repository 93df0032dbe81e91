//! The caveats of a trial as its record keeps them, and the verdict that follows: what was judged from
//! the record, what was seen when its target was stopped, and what the target's manifest says of both.
use pippin_model::run::RunHeader;
use pippin_model::target::manifest::Deviation;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity, Verdict};

use super::{Context, judge_trial};

/// The caveats that are seen where a target is started and stopped, with their severity. Nothing else in
/// a record shows them again.
pub const SEEN_AT_THE_STOP: [(&str, Severity); 4] = [
    ("unclean_stop", Severity::Suspect),
    ("memory_limit", Severity::Suspect),
    ("log_cut", Severity::Note),
    ("database_shared", Severity::Suspect),
];
/// What stands between the evidence of a caveat and the words of a manifest.
const SAYS: &str = " (the manifest says: ";

/// All caveats of a trial, with its verdict. `before` are the trials that were kept before it;
/// `at_the_stop` is what was seen when its target was stopped.
#[must_use]
pub fn settle(
    record: &TrialRecord,
    header: &RunHeader,
    before: &[TrialRecord],
    at_the_stop: Vec<Caveat>,
) -> (Vec<Caveat>, Verdict) {
    let context = Context::of_run(header, before, &record.spec);
    let mut caveats = judge_trial(record, &context);
    caveats.extend(at_the_stop);
    name_deviations(&mut caveats, record, header);
    let verdict = if record.failure.is_some() { Verdict::Invalid } else { Verdict::of(&caveats) };
    (caveats, verdict)
}

/// What a kept trial was seen to do when its target was stopped, before its manifest was asked.
#[must_use]
pub fn seen_at_the_stop(record: &TrialRecord) -> Vec<Caveat> {
    let seen = |caveat: &Caveat| {
        let (_, severity) = SEEN_AT_THE_STOP.into_iter().find(|(id, _)| *id == caveat.id)?;
        let evidence = caveat.evidence.split(SAYS).next().unwrap_or_default().into();
        Some(Caveat { severity, evidence, ..caveat.clone() })
    };
    record.caveats.iter().filter_map(seen).collect()
}

/// If the target's manifest names it as a deviation, a doubt is a note.
fn name_deviations(caveats: &mut [Caveat], record: &TrialRecord, header: &RunHeader) {
    let info = header.targets.get(&record.spec.target);
    let Some(manifest) = info.and_then(|info| info.manifest.as_ref()) else { return };
    for caveat in caveats.iter_mut().filter(|it| it.severity == Severity::Suspect) {
        let named = |deviation: &&Deviation| deviation.caveat.as_ref() == Some(&caveat.id);
        if let Some(deviation) = manifest.deviations.iter().find(named) {
            caveat.severity = Severity::Note;
            caveat.evidence = format!("{}{SAYS}{})", caveat.evidence, deviation.what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run::hello;

    #[test]
    fn what_was_seen_at_the_stop_is_the_same_before_and_after_a_manifest_was_asked() {
        let mut run = hello();
        let record = &mut run.trials[0];
        let advice = "see its log".to_string();
        let seen = Caveat {
            id: "unclean_stop".into(),
            severity: Severity::Suspect,
            evidence: "it was killed".into(),
            advice,
        };
        let (severity, evidence) =
            (Severity::Note, format!("{}{SAYS}it ends slowly)", seen.evidence));
        record.caveats = vec![Caveat { severity, evidence, ..seen.clone() }];
        assert_eq!(seen_at_the_stop(record), [seen]);
    }
}
