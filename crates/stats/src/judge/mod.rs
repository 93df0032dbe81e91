//! The caveats about the figures of a trial and of a run. Each file has one caveat, or a small
//! family of related ones: functions from evidence to a caveat.
//!
//! A judge says whether a result is true. It answers found, clear, or cannot tell ([`answer`]), and
//! is registered with what it protects. Where a judge cannot tell, the result is SUSPECT `unknown`:
//! less evidence never gives a better verdict. An explanation says what a target is like; it is
//! silent where nothing shows it, and on a disturbed host ([`host`]).
//!
//! [`option_source`] says whether their advice speaks of flags or of keys.
//!
//! To add one, write a file with `judge` and its tests (one that provokes it, one near miss), and
//! add a line to [`TRIAL_JUDGES`], [`EXPLANATIONS`], [`TARGET_JUDGES`] or [`RUN_JUDGES`].
pub mod accepts_slowly;
pub mod agents;
pub mod answer;
pub mod answer_size;
pub mod answers_differ;
pub mod bimodal;
#[cfg(test)]
mod cannot_tell;
#[cfg(test)]
mod causes;
pub mod clocks;
pub mod collections;
pub mod compiling;
pub mod connections_missing;
pub mod cores_unused;
pub mod cpu_shared;
pub mod cpu_use;
pub mod early_answers;
pub mod end_stamps;
pub mod errors;
pub(crate) mod evidence;
pub mod generator_busy;
pub mod generator_stopped;
pub mod held;
pub mod host;
pub mod impossible_times;
pub mod inferred_concurrency;
pub mod knee;
#[cfg(test)]
pub(crate) mod law;
pub mod left_out;
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
pub mod option_source;
pub mod order;
pub mod outside_help;
pub mod profiles_differ;
pub mod rate_not_achieved;
pub mod redirects;
mod run;
pub mod search;
pub mod sees_processors;
pub mod send_estimates;
pub mod send_lag;
pub mod server_closes;
pub mod server_ended;
pub mod settled;
pub mod shared_stamps;
pub mod slow_connections;
pub mod slows_down;
pub mod stalls;
pub mod stamps;
#[cfg(test)]
pub(crate) mod test;
pub mod time_goes;
mod together;
pub mod unanswered;
pub mod unproved;
pub mod unseen_server;
pub mod upstream_calls;
pub mod waits;
pub mod workers_uneven;
pub mod wrong_answers;

use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};

use Ground::{Counters, Inference};
use Protects::{Answers, Generator, Host, Statistics};
pub use answer::{Answer, Ground, Protects, Unknown};
pub use answer_size::AnswerSize;
pub(crate) use evidence::SHORTEST_USAGE_NS;
pub use evidence::{Context, Evidence, expected_delay};
pub(crate) use host::processors;
pub use run::RunCaveats;
pub(crate) use run::repetitions;
pub use together::{TARGET_JUDGES, TargetJudge, is_replaced, judge_target};

/// Judges one trial.
pub type TrialJudge = fn(&Evidence) -> Answer;
/// Says what one trial shows of its target.
pub type Explainer = fn(&Evidence) -> Option<Caveat>;
/// Judges several trials together.
pub type RunJudge = fn(&[TrialRecord], &mut RunCaveats);

/// Every judge of a trial: the names of its caveats, what it protects, and the function.
pub const TRIAL_JUDGES: &[(&[&str], Protects, TrialJudge)] = &[
    (&["no_result"], Answers, |evidence| Ok(no_result::judge(evidence))),
    (&["server_ended"], Answers, |evidence| Ok(server_ended::judge(evidence))),
    (&["server_replaced"], Answers, |evidence| Ok(server_ended::judge_replaced(evidence))),
    (&["no_answers"], Answers, no_result::judge_silence),
    (&["agent_missing"], Generator, |evidence| Ok(agents::judge_missing(evidence))),
    (&["agent_late"], Generator, |evidence| Ok(agents::judge_late(evidence))),
    (&["agent_doubt"], Generator, |evidence| Ok(agents::judge_doubts(evidence))),
    (&["agent_clock"], Generator, |evidence| Ok(agents::judge_clock(evidence))),
    (&["agent_silent"], Generator, |evidence| Ok(agents::judge_silent(evidence))),
    (&["same_target"], Host, |evidence| Ok(agents::judge_same_target(evidence))),
    (&["made_again"], Generator, |evidence| Ok(agents::judge_made_again(evidence))),
    (&["wrong_answers"], Answers, |evidence| Ok(wrong_answers::judge(evidence))),
    (&["upstream_not_called", "upstream_called_more"], Answers, upstream_calls::judge),
    (&["outside_help"], Answers, |evidence| Ok(outside_help::judge(evidence))),
    (&["cpu_beyond"], Answers, outside_help::judge_beyond),
    (&["cpu_missing"], Answers, outside_help::judge_missing),
    (&["unbilled"], Answers, |evidence| Ok(outside_help::judge_unbilled(evidence))),
    (&["errors"], Answers, errors::judge),
    (&["redirects"], Answers, |evidence| Ok(redirects::judge(evidence))),
    (&[answers_differ::ID], Answers, |evidence| Ok(answers_differ::judge(evidence))),
    (&["unanswered"], Answers, |evidence| Ok(unanswered::judge(evidence))),
    (&["rate_not_achieved"], Generator, rate_not_achieved::judge),
    (&["send_lag"], Generator, send_lag::judge),
    (&["generator_stopped"], Generator, generator_stopped::judge),
    (&["generator_limit", "generator_busy"], Generator, generator_busy::judge),
    (&["held"], Generator, held::judge),
    (&["stamps"], Generator, stamps::judge),
    (&["shared_stamps"], Generator, shared_stamps::judge),
    (&["end_stamps"], Generator, end_stamps::judge),
    (&["early_answers"], Generator, early_answers::judge),
    (&["impossible_times"], Generator, impossible_times::judge),
    (&["send_estimates"], Generator, send_estimates::judge),
    // A calibration is no part of the record, and most machines have none.
    (&["near_ceiling"], Generator, |evidence| Ok(near_ceiling::judge(evidence))),
    (&["connections_missing"], Generator, connections_missing::judge),
    (&["not_conserved"], Generator, not_conserved::judge),
    (&["littles_law"], Generator, littles_law::judge),
    (&["profiles_differ"], Generator, |evidence| Ok(profiles_differ::judge(evidence))),
    (&["interrupted"], Statistics, |evidence| Ok(no_result::judge_interruption(evidence))),
    (&["steal"], Host, noisy_neighbour::judge_steal),
    (&["other_programs"], Host, noisy_neighbour::judge_other_programs),
    (&["server_not_measured"], Host, |evidence| Ok(noisy_neighbour::judge_unmeasured(evidence))),
    (&["no_calm_slices"], Host, noisy_neighbour::judge_slices),
    // Most virtual machines show no frequency.
    (&["frequency_change"], Host, |evidence| Ok(clocks::judge_frequency(evidence))),
    (&["cpu_shared"], Host, |evidence| Ok(cpu_shared::judge(evidence))),
    (&["no_steady_state"], Statistics, no_steady_state::judge),
    (&["slows_down"], Statistics, |evidence| Ok(slows_down::judge(evidence))),
    // The targets before it may have no answer that could be compared.
    (&["answer_size"], Answers, |evidence| Ok(answer_size::judge(evidence))),
];

/// What a trial shows of its target: the names of the caveats, what they rest on, and the function.
pub const EXPLANATIONS: &[(&[&str], Ground, Explainer)] = &[
    (&["measured_apart"], Counters, measured_apart::judge),
    (&["compiling"], Counters, compiling::judge),
    (&["collections"], Counters, collections::judge),
    (&["sees_processors"], Counters, sees_processors::judge),
    (&["bimodal", "batches"], Inference, bimodal::judge),
    (&["slow_connections"], Inference, slow_connections::judge),
    (&["stalls"], Inference, stalls::judge),
    (&["delayed_ack"], Inference, bimodal::judge_delayed_ack),
    (&["server_closes"], Counters, server_closes::judge),
    (&["memory_grows"], Counters, memory_grows::judge),
    (&["logs_requests"], Counters, logs_requests::judge),
    (&["left_out"], Counters, left_out::judge),
    (&["workers_uneven"], Counters, workers_uneven::judge),
    (&["cores_unused"], Inference, cores_unused::judge),
    (&["listen_overflows"], Counters, listen_overflows::judge),
    (&["listen_queue"], Counters, listen_queue::judge),
    (&["accepts_slowly"], Inference, accepts_slowly::judge),
    (&["inferred_concurrency"], Inference, inferred_concurrency::judge),
    (&["waits"], Inference, waits::judge),
    (&["cpu_bound", "not_cpu_bound"], Inference, cpu_use::judge),
    (&["time_goes"], Inference, time_goes::judge),
    (&["headroom"], Inference, near_ceiling::judge_headroom),
    (&["unproved"], Counters, unproved::judge),
    (&["proof_doubted"], Counters, unproved::judge_doubted),
    (&["server_not_seen"], Counters, unseen_server::judge),
];

/// Every judge of a run: the names of its caveats, and the function.
pub const RUN_JUDGES: &[(&[&str], RunJudge)] = &[
    (&["profiles_differ"], profiles_differ::judge_run),
    (&["answer_size", "answer_overhead"], answer_size::judge_run),
    (&[answers_differ::ID], answers_differ::judge_run),
    (&["frequency_change", "clock_change"], clocks::judge_run),
    (&["knee", "inferred_concurrency"], knee::judge_run),
    (search::IDS, search::judge_run),
];

/// The caveat of a result of which something cannot be told.
pub const UNKNOWN: &str = "unknown";

/// All caveats of one trial, in their [`order`].
#[must_use]
pub fn judge_trial(record: &TrialRecord, context: &Context) -> Vec<Caveat> {
    let evidence = Evidence { record, context };
    let (mut found, gaps) = judged(&evidence, |_, _| true);
    found.extend(unknown(record, &gaps));
    let is_disturbed = host::is_disturbed(&[record]);
    let explained =
        EXPLANATIONS.iter().filter(|(_, ground, _)| !is_disturbed || *ground == Counters);
    found.extend(explained.filter_map(|(_, _, explain)| explain(&evidence)));
    server_ended::blame_nothing_else(&mut found);
    found.sort_by_key(order::place);
    found
}

/// What a judge protects, with the name of its first caveat and why it cannot tell.
type Gap = (Protects, &'static str, Unknown);

/// What these judges found, and where they cannot tell.
fn judged(
    evidence: &Evidence,
    is_asked: impl Fn(Protects, &[&str]) -> bool,
) -> (Vec<Caveat>, Vec<Gap>) {
    let (mut found, mut gaps) = (Vec::new(), Vec::new());
    for (ids, protects, judge) in TRIAL_JUDGES {
        if !is_asked(*protects, ids) {
            continue;
        }
        match judge(evidence) {
            Ok(caveat) => found.extend(caveat),
            Err(reason) => gaps.push((*protects, ids[0], reason)),
        }
    }
    (found, gaps)
}

/// The doubt about what cannot be told of a result. A trial without a result says why itself.
fn unknown(record: &TrialRecord, gaps: &[Gap]) -> Option<Caveat> {
    record.load.as_ref()?;
    // Several judges lack the same evidence.
    let mut texts: Vec<String> = Vec::new();
    for (place, (protects, _, reason)) in gaps.iter().enumerate() {
        if gaps[..place].iter().any(|(_, _, before)| before == reason) {
            continue;
        }
        let alike = gaps.iter().filter(|(_, _, other)| other == reason);
        let ids: Vec<String> =
            alike.map(|(_, id, _)| pippin_model::verdict::in_words(id)).collect();
        texts.push(format!("{} ({}): {reason}", protects.name(), ids.join(", ")));
    }
    (!texts.is_empty()).then(|| unknown_caveat(texts.join("; ")))
}

/// A doubt because of what is not known.
fn unknown_caveat(seen: String) -> Caveat {
    let advice = "measure longer. The evidence says which check was not possible; there may be a fault that it would have found";
    evidence::caveat(UNKNOWN, Severity::Suspect, seen, advice)
}

/// Caveats that an agent of a fleet can find in its own part: doubts about its host and its
/// generator. All other judges need the whole load.
const OF_AN_AGENT: [&str; 6] =
    ["send_lag", "generator_limit", "near_ceiling", "steal", "other_programs", "frequency_change"];

/// The doubts about an agent's host and generator, the most serious first. An agent that does not
/// watch its host shares it with another, which does.
#[must_use]
pub fn judge_agent(record: &TrialRecord, context: &Context) -> Vec<Caveat> {
    let watches_host = record.usage.is_some();
    let is_asked = |protects, ids: &[&str]| {
        OF_AN_AGENT.contains(&ids[0]) && (protects != Host || watches_host)
    };
    let (mut found, gaps) = judged(&Evidence { record, context }, is_asked);
    found.extend(unknown(record, &gaps));
    found.retain(|caveat| caveat.severity > Severity::Note);
    found.sort_by_key(order::place);
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
        caveats.sort_by_key(order::place);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::answer::found;
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
            ExampleTrial::hello().counted(20_000),
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
            ("generator_limit", "listen_overflows")
        );
        assert_eq!(Verdict::of(&found), Verdict::Suspect);
    }

    #[test]
    fn an_agent_judges_its_generator_and_not_the_load() {
        let mut record = ExampleTrial::hello().generator_busy(0.97).completed(0).build();
        record.usage.as_mut().unwrap().listen_drops = Some(3);
        let found = judge_agent(&record, &Context::default());
        assert_eq!(
            found.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(),
            ["generator_limit", "unknown"]
        );
        let names = TRIAL_JUDGES.iter().flat_map(|(names, ..)| names.iter());
        let known: BTreeSet<_> = names.copied().collect();
        assert!(OF_AN_AGENT.iter().all(|name| known.contains(name)));
    }

    #[test]
    fn every_judge_gives_only_what_it_is_registered_for() {
        let mut record = ExampleTrial::hello().generator_busy(0.97).build();
        record.load.as_mut().unwrap().measured.requests.sent += 1;
        let context = Context::default();
        let evidence = Evidence { record: &record, context: &context };
        let of_judges =
            TRIAL_JUDGES.iter().map(|(names, _, judge)| (*names, found(judge(&evidence))));
        let explained = EXPLANATIONS.iter().map(|(names, _, explain)| (*names, explain(&evidence)));
        let all: Vec<_> = of_judges.chain(explained).collect();
        for (names, caveat) in &all {
            let is_known = |caveat: &Caveat| names.contains(&caveat.id.as_str());
            assert!(caveat.as_ref().is_none_or(is_known), "{names:?}");
        }
        let names: Vec<&str> = all.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "a name twice");
    }
}
