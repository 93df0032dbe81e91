//! The caveats about the figures of a trial and of a run. Each file has one caveat, or a small
//! family of related ones: functions from evidence to a caveat.
//!
//! [`asked`] says whether their advice speaks of flags or of keys.
//!
//! To add one, write a file with `judge` and its tests (one that provokes it, one near miss), and
//! add a line to [`TRIAL_JUDGES`] or [`RUN_JUDGES`].
pub mod accepts_slowly;
pub mod agents;
pub mod answer_size;
pub mod asked;
pub mod bimodal;
pub mod clocks;
pub mod compiling;
pub mod connections_missing;
pub mod cores_unused;
pub mod cpu_shared;
pub mod cpu_use;
pub mod errors;
pub(crate) mod evidence;
pub mod generator_busy;
pub mod held;
pub mod inferred_concurrency;
pub mod knee;
pub mod listen_overflows;
pub mod listen_queue;
pub mod littles_law;
pub mod logs_requests;
pub mod measured_apart;
pub mod memory_grows;
pub mod near_ceiling;
pub mod no_result;
pub mod no_steady_state;
pub mod noisy_neighbour;
pub mod not_conserved;
pub mod outside_help;
pub mod profiles_differ;
pub mod rate_not_achieved;
pub mod redirects;
mod run;
pub mod search;
pub mod send_lag;
pub mod server_closes;
pub mod server_ended;
pub mod shared_stamps;
pub mod slow_connections;
pub mod slows_down;
pub mod spread;
pub mod stalls;
pub mod stamps;
#[cfg(test)]
pub(crate) mod test;
pub mod time_goes;
pub mod unanswered;
pub mod unproved;
pub mod upstream_calls;
pub mod waits;
pub mod workers_uneven;
pub mod wrong_answers;

use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};

pub use answer_size::AnswerSize;
pub(crate) use evidence::SHORTEST_USAGE_NS;
pub use evidence::{Context, Evidence, expected_delay};
pub(crate) use noisy_neighbour::processors;
pub use run::RunCaveats;
pub(crate) use run::repetitions;

/// Judges one trial.
pub type TrialJudge = fn(&Evidence) -> Option<Caveat>;
/// Judges several trials together.
pub type RunJudge = fn(&[TrialRecord], &mut RunCaveats);

/// Every judge of a trial: the names of its caveats, and the function.
pub const TRIAL_JUDGES: &[(&[&str], TrialJudge)] = &[
    (&["no_result"], no_result::judge),
    (&["server_ended"], server_ended::judge),
    (&["server_replaced"], server_ended::judge_replaced),
    (&["no_answers"], no_result::judge_silence),
    (&["agent_missing"], agents::judge_missing),
    (&["agent_late"], agents::judge_late),
    (&["agent_doubt"], agents::judge_doubts),
    (&["agent_clock"], agents::judge_clock),
    (&["agent_silent"], agents::judge_silent),
    (&["made_again"], agents::judge_made_again),
    (&["wrong_answers"], wrong_answers::judge),
    (&["upstream_not_called", "upstream_called_more"], upstream_calls::judge),
    (&["outside_help"], outside_help::judge),
    (&["cpu_beyond"], outside_help::judge_beyond),
    (&["cpu_missing"], outside_help::judge_missing),
    (&["unbilled"], outside_help::judge_unbilled),
    (&["errors"], errors::judge),
    (&["redirects"], redirects::judge),
    (&["unanswered"], unanswered::judge),
    (&["rate_not_achieved"], rate_not_achieved::judge),
    (&["send_lag"], send_lag::judge),
    (&["generator_busy"], generator_busy::judge),
    (&["held"], held::judge),
    (&["stamps"], stamps::judge),
    (&["shared_stamps"], shared_stamps::judge),
    (&["near_ceiling"], near_ceiling::judge),
    (&["connections_missing"], connections_missing::judge),
    (&["not_conserved"], not_conserved::judge),
    (&["littles_law"], littles_law::judge),
    (&["profiles_differ"], profiles_differ::judge),
    (&["interrupted"], no_result::judge_interruption),
    (&["steal"], noisy_neighbour::judge_steal),
    (&["foreign_cpu"], noisy_neighbour::judge_foreign),
    (&["no_calm_slices"], noisy_neighbour::judge_slices),
    (&["server_not_measured"], noisy_neighbour::judge_unmeasured),
    (&["measured_apart"], measured_apart::judge),
    (&["no_steady_state"], no_steady_state::judge),
    (&["compiling"], compiling::judge),
    (&["slows_down"], slows_down::judge),
    (&["bimodal"], bimodal::judge),
    (&["slow_connections"], slow_connections::judge),
    (&["stalls"], stalls::judge),
    (&["delayed_ack"], bimodal::judge_delayed_ack),
    (&["server_closes"], server_closes::judge),
    (&["answer_size"], answer_size::judge),
    (&["memory_grows"], memory_grows::judge),
    (&["logs_requests"], logs_requests::judge),
    (&["workers_uneven"], workers_uneven::judge),
    (&["cores_unused"], cores_unused::judge),
    (&["listen_overflows"], listen_overflows::judge),
    (&["listen_queue"], listen_queue::judge),
    (&["frequency_change"], clocks::judge_frequency),
    (&["cpu_shared"], cpu_shared::judge),
    (&["accepts_slowly"], accepts_slowly::judge),
    (&["inferred_concurrency"], inferred_concurrency::judge),
    (&["waits"], waits::judge),
    (&["cpu_bound", "not_cpu_bound"], cpu_use::judge),
    (&["time_goes"], time_goes::judge),
    (&["headroom"], near_ceiling::judge_headroom),
    (&["unproved"], unproved::judge),
    (&["proof_doubted"], unproved::judge_doubted),
];

/// Every judge of a run: the names of its caveats, and the function.
pub const RUN_JUDGES: &[(&[&str], RunJudge)] = &[
    (&["profiles_differ"], profiles_differ::judge_run),
    (&["spread"], spread::judge_run),
    (&["answer_size", "answer_overhead"], answer_size::judge_run),
    (&["frequency_change", "clock_change"], clocks::judge_run),
    (&["knee", "inferred_concurrency"], knee::judge_run),
    (search::IDS, search::judge_run),
];

/// All caveats of one trial, the most serious first.
#[must_use]
pub fn judge_trial(record: &TrialRecord, context: &Context) -> Vec<Caveat> {
    let evidence = Evidence { record, context };
    let mut found: Vec<Caveat> =
        TRIAL_JUDGES.iter().filter_map(|(_, judge)| judge(&evidence)).collect();
    server_ended::blame_nothing_else(&mut found);
    found.sort_by_key(|caveat| std::cmp::Reverse(caveat.severity));
    found
}

/// Caveats that an agent of a fleet can find in its own part: doubts about its host and its
/// generator. All other judges need the whole load.
const OF_AN_AGENT: [&str; 6] =
    ["send_lag", "generator_busy", "near_ceiling", "steal", "foreign_cpu", "frequency_change"];

/// The doubts about an agent's host and generator, the most serious first.
#[must_use]
pub fn judge_agent(record: &TrialRecord, context: &Context) -> Vec<Caveat> {
    let mut found = judge_trial(record, context);
    found.retain(|caveat| {
        caveat.severity > Severity::Note && OF_AN_AGENT.contains(&caveat.id.as_str())
    });
    found
}

/// The caveats that need several trials, by target, the most serious first.
#[must_use]
pub fn judge_run(records: &[TrialRecord]) -> RunCaveats {
    let mut found = RunCaveats::new();
    for (_, judge) in RUN_JUDGES {
        judge(records, &mut found);
    }
    for caveats in found.values_mut() {
        caveats.sort_by_key(|caveat| std::cmp::Reverse(caveat.severity));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::verdict::Verdict;
    use std::collections::BTreeSet;

    #[test]
    fn a_clean_trial_has_notes_only() {
        for record in [
            ExampleTrial::hello(),
            ExampleTrial::open(10_000.0),
            ExampleTrial::devices(100),
            ExampleTrial::hello().counted(200),
            ExampleTrial::hello().seconds(3),
        ] {
            let found = judge_trial(&record.build(), &Context::default());
            assert!(found.iter().all(|caveat| caveat.severity == Severity::Note), "{found:?}");
        }
    }

    #[test]
    fn the_gravest_come_first() {
        let mut record = ExampleTrial::hello().generator_busy(0.97).build();
        record.usage.as_mut().unwrap().listen_drops = Some(3);
        let found = judge_trial(&record, &Context::default());
        assert_eq!(
            (found[0].id.as_str(), found[1].id.as_str()),
            ("generator_busy", "listen_overflows")
        );
        assert_eq!(Verdict::of(&found), Verdict::Invalid);
    }

    #[test]
    fn an_agent_judges_its_generator_and_not_the_load() {
        let mut record = ExampleTrial::hello().generator_busy(0.97).completed(0).build();
        record.usage.as_mut().unwrap().listen_drops = Some(3);
        let found = judge_agent(&record, &Context::default());
        assert_eq!(found.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["generator_busy"]);
        let names = TRIAL_JUDGES.iter().flat_map(|(names, _)| names.iter());
        let known: BTreeSet<_> = names.copied().collect();
        assert!(OF_AN_AGENT.iter().all(|name| known.contains(name)));
    }

    #[test]
    fn every_judge_gives_only_what_it_is_registered_for() {
        let mut record = ExampleTrial::hello().generator_busy(0.97).build();
        record.load.as_mut().unwrap().measured.requests.sent += 1;
        let context = Context::default();
        let evidence = Evidence { record: &record, context: &context };
        for (names, judge) in TRIAL_JUDGES {
            assert!(
                judge(&evidence).is_none_or(|caveat| names.contains(&caveat.id.as_str())),
                "{names:?}"
            );
        }
        let names: Vec<&str> =
            TRIAL_JUDGES.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "a name twice");
    }
}
