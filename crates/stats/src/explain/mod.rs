//! What limits a target: a short paragraph made from evidence.
#[cfg(test)]
mod simulated;

use pippin_model::figure::Figure;
use pippin_model::host::usage::{Role, Usage};
use pippin_model::plan::Price;
use pippin_model::result::Measured;
use pippin_model::result::histogram::Histogram;
use pippin_model::text::units::{counted, format_count, format_ns};
use pippin_model::trial::TrialRecord;
use pippin_model::trial::sequence::usage_of;
use pippin_model::workload::Service;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use crate::bottleneck::bound::{
    Bound, cpu_bound, full_in_words, given_cores, processors, services_bound,
};
use crate::judge::answer::found;
use crate::judge::evidence::{percent, single_of};
use crate::judge::inferred_concurrency::{at_a_time, least_queue, limit as concurrency_limit};
use crate::judge::no_result::{IN_WARM_UP, ended_in_warm_up};
use crate::judge::{
    Context, Evidence, SHORTEST_USAGE_NS, accepts_slowly, generator_busy, host, near_ceiling,
    rate_not_achieved, slow_connections, stalls, time_goes, unanswered, waits,
};
use crate::summary::resources::{CostFigures, median_of};

/// What limits the throughput of a target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Limit {
    /// There is no result.
    NoResult,
    /// The generator: the target may be faster.
    Generator,
    /// Its processors.
    Processor {
        /// Cores that it keeps busy.
        cores: f64,
        /// Cores that it was given.
        given: f64,
    },
    /// The database, which works while the target waits.
    Database,
    /// The number of requests that it serves at a time.
    AtATime {
        /// How many.
        requests: f64,
    },
    /// The upstream, whose processors are busy.
    Upstream,
    /// The number of connections: each waits for its answer as long as a single request does.
    Connections,
    /// How fast it accepts new connections.
    Accepting,
    /// Something for which requests wait, and which is no processor: a lock, a pool, a limit.
    Waiting,
    /// So many answers were wrong or missing that nothing is said about the others.
    WrongAnswers,
    /// Nothing: the target keeps up with the offered rate.
    NotSaturated,
    /// The target does not keep up, and nothing measured shows why.
    Unknown,
}

/// The explanation of a target's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// What limits it.
    pub limit: Limit,
    /// A paragraph: the limit with its evidence, where the time goes, what a million requests cost.
    pub text: String,
}

/// Explains the trials of one target at one step. Each trial has its own limit. The one that most
/// trials share is named, with the figures of the trial of median goodput among those, so that they
/// fit together. Trials that are too short to judge their CPU use have that of all. Costs are medians
/// over all trials.
#[must_use]
pub fn explain(trials: &[&TrialRecord], context: &Context, price: Option<&Price>) -> Explanation {
    let measured: Vec<&TrialRecord> = by_goodput(trials);
    if measured.is_empty() {
        let failure = trials.iter().find_map(|record| record.failure.as_ref());
        let was_stopped = |record: &&&TrialRecord| ended_in_warm_up(&Evidence { record, context });
        let without = match trials.iter().find(was_stopped) {
            Some(_) => format!("No result: {IN_WARM_UP}."),
            None => "No result: no load was applied.".into(),
        };
        let text = failure.map_or(without, |f| {
            format!("No result: failed at stage `{}`: {}.", f.stage.name(), f.message)
        });
        return Explanation { limit: Limit::NoResult, text };
    }
    let long = long_enough(&measured);
    if host::is_disturbed(&measured) {
        let median = Evidence { record: &long[(long.len() - 1) / 2], context };
        let (limit, reason) = on_a_disturbed_host(&median);
        let sentences = [Some(reason), costs(trials, price)];
        let text = sentences.into_iter().flatten().collect::<Vec<_>>().join(" ");
        return Explanation { limit, text };
    }
    let found: Vec<(Evidence, Limit, String)> = long
        .iter()
        .map(|record| {
            let evidence = Evidence { record, context };
            let (limit, reason) = limit(&evidence);
            (evidence, limit, reason)
        })
        .collect();
    let (record, limit, reason) = shared_by_most(&found);
    let evidence = Evidence { record, context };
    // Where nothing is known, one sentence is enough.
    let is_known = !matches!(limit, Limit::Unknown | Limit::WrongAnswers);
    let sentences = [
        Some(reason),
        stalls::find(&evidence).map(|stalls| format!("{}.", stalls.words())),
        slow_connections::find(&evidence).map(|kinds| format!("{}.", kinds.words())),
        where_time_goes(&evidence).filter(|_| is_known),
        costs(trials, price),
    ];
    Explanation { limit, text: sentences.into_iter().flatten().collect::<Vec<_>>().join(" ") }
}

/// The trials. If some are too short for the kernel's counters and all together are not, each has
/// the CPU use of all.
fn long_enough<'a>(trials: &[&'a TrialRecord]) -> Vec<Cow<'a, TrialRecord>> {
    let used: Option<Vec<&Usage>> = trials.iter().map(|record| record.usage.as_ref()).collect();
    let short = |used: &Vec<&Usage>| used.iter().any(|it| it.duration_ns < SHORTEST_USAGE_NS);
    let all = used
        .filter(short)
        .and_then(|used| usage_of(&used.into_iter().cloned().collect::<Vec<_>>()))
        .filter(|all| all.duration_ns >= SHORTEST_USAGE_NS);
    let with_all = |record: &&'a TrialRecord| match &all {
        None => Cow::Borrowed(*record),
        Some(all) => Cow::Owned(TrialRecord { usage: Some(all.clone()), ..(*record).clone() }),
    };
    trials.iter().map(with_all).collect()
}

/// The limit that more than half of the trials share, in the words of the median one of those.
fn shared_by_most<'a>(found: &[(Evidence<'a>, Limit, String)]) -> (&'a TrialRecord, Limit, String) {
    let of_kind = |kind: &Limit| -> Vec<&(Evidence<'a>, Limit, String)> {
        found.iter().filter(|(_, other, _)| is_same_kind(kind, other)).collect()
    };
    let most =
        found.iter().map(|(_, kind, _)| of_kind(kind)).max_by_key(Vec::len).unwrap_or_default();
    let typical = |group: &[&(Evidence<'a>, Limit, String)]| group.len().saturating_sub(1) / 2;
    let (evidence, limit, reason) = most[typical(&most)];
    if most.len() == found.len() {
        return (evidence.record, *limit, reason.clone());
    }
    if 2 * most.len() > found.len() {
        let of = format!("In {} of {} repetitions: ", most.len(), found.len());
        return (evidence.record, *limit, format!("{of}{reason}"));
    }
    let reason = "The repetitions disagree about what limits it, so nothing is named.".to_string();
    (evidence.record, Limit::Unknown, reason)
}

fn is_same_kind(a: &Limit, b: &Limit) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// The trials that have a result, ascending in goodput.
fn by_goodput<'a>(trials: &[&'a TrialRecord]) -> Vec<&'a TrialRecord> {
    let goodput =
        |record: &TrialRecord| record.load.as_ref().and_then(|load| load.measured.goodput_per_s());
    let mut measured: Vec<(&TrialRecord, f64)> =
        trials.iter().filter_map(|record| Some((*record, goodput(record)?))).collect();
    measured.sort_by(|a, b| a.1.total_cmp(&b.1));
    measured.into_iter().map(|(record, _)| record).collect()
}

fn limit(evidence: &Evidence) -> (Limit, String) {
    let certain =
        by_answers(evidence).or_else(|| by_generator(evidence)).or_else(|| by_accepting(evidence));
    if let Some(certain) = certain {
        return certain;
    }
    let processor = by_processor(evidence);
    if processor.is_none()
        && let Some(hanging) = by_hanging(evidence)
    {
        return hanging;
    }
    let fitting = [processor, by_service(evidence), by_concurrency(evidence)];
    let mut fitting: Vec<(Limit, String)> = fitting.into_iter().flatten().collect();
    match fitting.len() {
        0 => by_rate(evidence)
            .or_else(|| by_waiting(evidence))
            .unwrap_or_else(|| by_connections(evidence)),
        1 => fitting.swap_remove(0),
        _ => {
            (Limit::Unknown, "The figures fit more than one explanation, so none is given.".into())
        }
    }
}

/// The part of the requests without a right answer from which the others say nothing about a limit.
const MOSTLY_RIGHT: f64 = 0.01;

/// Nothing limits answers that do not come, and wrong ones may be cheap.
fn by_answers(evidence: &Evidence) -> Option<(Limit, String)> {
    let measured = evidence.measured()?;
    if measured.answered.completed == 0 {
        let text = format!(
            "No answer came in {}, so nothing is said about its limit.",
            format_ns(measured.duration_ns)
        );
        return Some((Limit::NoResult, text));
    }
    let hanging = unanswered::count(measured) as f64 / measured.requests.sent.max(1) as f64;
    let share = measured.error_fraction()?.max(hanging);
    (share > MOSTLY_RIGHT.max(evidence.context.errors_allowed)).then(|| {
        let text = format!(
            "{} of the requests had no right answer, so nothing is said about what limits the others.",
            percent(share)
        );
        (Limit::WrongAnswers, text)
    })
}

/// The part of the users of a closed loop who wait for answers that never come, from which nothing is said
/// about what limits the target.
const MANY_HANG: f64 = 0.1;

/// Where many users of a closed loop got no more answers: what the others got says nothing of a limit, unless the
/// processors are full.
fn by_hanging(evidence: &Evidence) -> Option<(Limit, String)> {
    let comes_and_goes = evidence.profile().schedule.user_stages().is_some();
    if !evidence.is_closed_loop() || comes_and_goes {
        return None;
    }
    let hanging = unanswered::count(evidence.measured()?) as f64;
    let share = (hanging / (evidence.users()? * evidence.stretches())).min(1.0);
    (share >= MANY_HANG).then(|| {
        let text = format!(
            "{} of the users waited for an answer that never came, so nothing is said about what limits the target.",
            percent(share)
        );
        (Limit::WrongAnswers, text)
    })
}

fn by_accepting(evidence: &Evidence) -> Option<(Limit, String)> {
    Some((Limit::Accepting, format!("{}.", accepts_slowly::find(evidence)?.words())))
}

fn by_generator(evidence: &Evidence) -> Option<(Limit, String)> {
    use pippin_model::verdict::Severity;
    let caveat = [found(generator_busy::judge(evidence)), near_ceiling::judge(evidence)]
        .into_iter()
        .flatten()
        .find(|caveat| {
            caveat.severity == Severity::Invalid
                || [generator_busy::LIMIT, "near_ceiling"].contains(&caveat.id.as_str())
        })?;
    Some((
        Limit::Generator,
        format!("Limited by the load generator, not by the target: {}.", caveat.evidence),
    ))
}

fn by_processor(evidence: &Evidence) -> Option<(Limit, String)> {
    let (cores, given, text) = match cpu_bound(evidence)? {
        Bound::AllItsCores { cores, given, stolen, others } => {
            (cores, given, format!("{}.", full_in_words(cores, given, stolen, others)))
        }
        Bound::SomeOfItsCores { cores, given } => (
            cores,
            given,
            format!(
                "CPU-bound on {cores:.2} of its {}: it does not use the others; more workers would.",
                processors(given)
            ),
        ),
        Bound::SharedCores { cores, busy } => {
            let given = given_cores(evidence)?;
            (
                cores,
                given,
                format!(
                    "CPU-bound: it shares {} with other roles, {:.0} % busy; the target uses {cores:.2}.",
                    processors(given),
                    busy * 100.0
                ),
            )
        }
    };
    Some((Limit::Processor { cores, given }, text))
}

/// What counters prove although other programs or the hypervisor took much of the machine: whose
/// work filled the target's processors.
fn on_a_disturbed_host(evidence: &Evidence) -> (Limit, String) {
    if let Some(Bound::AllItsCores { .. }) = cpu_bound(evidence)
        && let Some(full) = by_processor(evidence)
    {
        return full;
    }
    let reason = "Pippin does not say what limits it: other programs or the hypervisor used too much of this machine, and that looks the same.";
    (Limit::Unknown, reason.into())
}

/// Cores from which services that are not full count as working.
const WORKING: f64 = 0.5;

fn by_service(evidence: &Evidence) -> Option<(Limit, String)> {
    let cores = evidence.cores(Role::Services)?;
    let target = evidence.cores(Role::Target)?;
    let is_full = services_bound(evidence);
    let services = evidence.context.services;
    let with = |what: &str| {
        let full = if is_full { ", which is at the limit of its processors" } else { "" };
        format!(
            "Waiting for {what}{full}: services keep {cores:.2} cores busy, the target {target:.2}."
        )
    };
    if services.contains(&Service::Postgres)
        && (is_full || (evidence.is_saturating() && cores > target && cores >= WORKING))
    {
        return Some((Limit::Database, with("the database")));
    }
    (is_full && services.contains(&Service::Upstream))
        .then(|| (Limit::Upstream, with("the upstream")))
}

fn by_concurrency(evidence: &Evidence) -> Option<(Limit, String)> {
    let (load, requests) = concurrency_limit(evidence)?;
    let text = format!(
        "Serves about {} at a time for {}: a request takes {} in service and {} in all, and the processors are not what it waits for. A limit of {} requests/s would look the same.",
        at_a_time(requests),
        counted(load.connections.round() as u64, "connection"),
        format_ns((load.unqueued_s * 1e9) as u64),
        format_ns((load.mean_service_s * 1e9) as u64),
        format_count(load.throughput_per_s)
    );
    Some((Limit::AtATime { requests }, text))
}

fn by_rate(evidence: &Evidence) -> Option<(Limit, String)> {
    if evidence.is_saturating() {
        return None;
    }
    let right = evidence.measured().and_then(Measured::goodput_per_s);
    let right = format_count(right.unwrap_or(0.0));
    let busy = evidence.cores(Role::Target).zip(given_cores(evidence));
    let busy = busy.map_or(String::new(), |(cores, given)| {
        format!(" with {cores:.2} of its {} busy", processors(given))
    });
    let waiting = waits::find(evidence);
    Some(match found(rate_not_achieved::judge(evidence)) {
        None if evidence.is_closed_loop() => of_thinking_users(evidence, &right, &busy),
        None => {
            let text = not_saturated("it keeps up with the offered load,", &right, &busy);
            let waits = waiting.map_or(String::new(), |waiting| format!(" {}.", waiting.words()));
            (Limit::NotSaturated, text + &waits)
        }
        Some(caveat) if waiting.is_some() => (
            Limit::Waiting,
            format!("It does not keep up ({}){busy}. {}.", caveat.evidence, waiting?.words()),
        ),
        Some(caveat) => (
            Limit::Unknown,
            format!("It does not keep up ({}){busy}; nothing measured shows why.", caveat.evidence),
        ),
    })
}

/// Users who think between requests ask for less if they wait longer, so that only a request alone shows
/// whether they are served as fast as they ask.
fn of_thinking_users(evidence: &Evidence, right: &str, busy: &str) -> (Limit, String) {
    let got = format!("Its users, who think between requests, got {right} requests/s{busy}");
    match waits::find(evidence) {
        Some(waiting) => (Limit::Waiting, format!("{got}. {}.", waiting.words())),
        None if are_served_at_once(evidence) => {
            let whose = "its users, who think between requests, ask for no more than";
            (Limit::NotSaturated, not_saturated(whose, right, busy))
        }
        None => (Limit::Unknown, format!("{got}; nothing measured shows whether they waited.")),
    }
}

fn not_saturated(why: &str, right: &str, busy: &str) -> String {
    let comma = if busy.is_empty() { "" } else { "," };
    format!("Not saturated: {why} {right} requests/s{comma}{busy}.")
}

/// Whether half of the answers take less than [`waits::TIMES`] as long as a request that was alone
/// before the load.
fn are_served_at_once(evidence: &Evidence) -> bool {
    let alone = single_of(evidence.record).map(|single| single.median_ns as f64);
    let median = evidence.measured().and_then(|all| all.spans.service_time.quantile_ns(0.5));
    alone.zip(median).is_some_and(|(alone, median)| (median as f64) < waits::TIMES * alone)
}

fn by_waiting(evidence: &Evidence) -> Option<(Limit, String)> {
    Some((Limit::Waiting, format!("{}.", waits::find(evidence)?.words())))
}

/// The median answer takes less than this many times as long as a request that is alone, although
/// the mean takes longer: a few slow answers keep the connections waiting.
const FEW_ARE_SLOW: f64 = 2.0;

fn by_connections(evidence: &Evidence) -> (Limit, String) {
    let Some(cores) = evidence.cores(Role::Target) else {
        return (Limit::Unknown, without_cpu_use(evidence));
    };
    let times = evidence.measured().map(|measured| &measured.spans.service_time);
    let Some(mean) = times.and_then(Histogram::mean_ns).map(|ns| ns as u64) else {
        return (Limit::Unknown, "No time of an answer is known, nor what limits it.".into());
    };
    let connections = evidence.connections().unwrap_or(0.0).round() as u64;
    let connections = counted(connections, "connection");
    let median = times.and_then(|times| times.quantile_ns(0.5)).unwrap_or(mean);
    let given = given_cores(evidence)
        .map_or(String::new(), |given| format!(" of its {}", processors(given)));
    let wait = match (evidence.context.expected_delay, evidence.single()) {
        (Some(delay), _) => {
            format!(", of which the workload itself waits {}", format_ns(delay.mean_ns))
        }
        (None, Some(single)) => {
            format!(", and a request that is alone takes {}", format_ns(single.median_ns))
        }
        (None, None) => String::new(),
    };
    let is_short = |ns: u64, times: f64| {
        evidence.single_ns().is_some_and(|single_ns| (ns as f64) < times * single_ns)
    };
    let is_without_queue = is_short(mean, least_queue(evidence));
    if is_without_queue {
        let text = format!(
            "Limited by the {connections}: each waits {} for its answer{wait}. The target keeps {cores:.2}{given} busy.",
            format_ns(mean)
        );
        return (Limit::Connections, text);
    }
    if is_short(median, FEW_ARE_SLOW) {
        let text = format!(
            "Limited by the {connections} and a few slow answers: half of the answers take at most {}, and the mean is {}{wait}. The target keeps {cores:.2}{given} busy.",
            format_ns(median),
            format_ns(mean)
        );
        return (Limit::Connections, text);
    }
    let text = format!(
        "The target keeps {cores:.2}{given} busy, and a request takes {}{wait}; nothing measured shows what limits it.",
        format_ns(mean)
    );
    (Limit::Unknown, text)
}

/// Why the processors say nothing about a limit: their use was not measured, or the kernel's
/// counters are too coarse for so short a load.
fn without_cpu_use(evidence: &Evidence) -> String {
    match &evidence.record.usage {
        Some(usage) => format!(
            "Too short to tell what limits it: CPU use covers {}, and {} are needed. Measure longer.",
            format_ns(usage.duration_ns),
            format_ns(SHORTEST_USAGE_NS)
        ),
        None => "CPU use is unknown for this trial, so its limit is unknown too.".into(),
    }
}

fn where_time_goes(evidence: &Evidence) -> Option<String> {
    let mut parts = time_goes::parts(evidence)?;
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown: Vec<String> = parts
        .iter()
        .filter(|(_, share)| *share >= 0.05)
        .map(|(name, share)| format!("{:.0} % {name}", share * 100.0))
        .collect();
    Some(format!("Time of a request: {}.", shown.join(", ")))
}

fn costs(trials: &[&TrialRecord], price: Option<&Price>) -> Option<String> {
    let of = CostFigures::from_trials(trials);
    let of = price.map_or_else(|| of.clone(), |price| of.clone().at(price));
    let roles = [
        (of.target_cpu_s_per_million, "target"),
        (of.services_cpu_s_per_million, "services"),
        (of.generator_cpu_s_per_million, "generator"),
    ];
    // A second per million is a microsecond per request.
    let in_words = |us: f64| format_ns((us * 1e3).round() as u64);
    let shown: Vec<String> = roles
        .iter()
        .filter_map(|(us, name)| Some(format!("{name} {}", in_words((*us)?))))
        .collect();
    if shown.is_empty() {
        return None;
    }
    let money = of.money_per_million.zip(of.currency.as_ref());
    let money = money.map_or(String::new(), |(money, currency)| {
        format!(" That is {money:.4} {currency} per million requests.")
    });
    let energy = of.energy_j_per_million.map_or(String::new(), |joules| {
        format!(
            " Energy per million requests: {} J, with generator and idling.",
            format_count(joules)
        )
    });
    let counted = median_of(trials, |trial| Figure::Instructions.read(trial));
    let counted = counted.map_or(String::new(), |count| {
        format!(" Instructions per request: {}.", format_count(count))
    });
    Some(format!("CPU per request: {}.{counted}{money}{energy}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::usage::RoleUse;
    use pippin_model::text::units::Spread;
    use pippin_model::trial::{Failure, Stage};

    fn explained(record: &TrialRecord, context: &Context) -> Explanation {
        explain(&[record], context, None)
    }

    #[test]
    fn a_full_processor() {
        let found =
            explained(&ExampleTrial::hello().target_cores(0.98, 1).build(), &Context::default());
        assert_eq!(found.limit, Limit::Processor { cores: 0.98, given: 1.0 });
        assert!(
            found.text.starts_with(
                "CPU-bound: it keeps 0.98 of its 1 processor busy. Time of a request: 89 % headers"
            ),
            "{}",
            found.text
        );
        assert!(
            found.text.ends_with("CPU per request: target 98.0 µs, generator 40.0 µs."),
            "{}",
            found.text
        );
    }

    #[test]
    fn a_load_that_is_too_short_is_not_said_to_lack_its_cpu_use() {
        let mut record = ExampleTrial::hello().target_cores(0.5, 1).build();
        record.usage.as_mut().unwrap().duration_ns = 800_000_000;
        let found = explained(&record, &Context::default());
        assert_eq!(found.limit, Limit::Unknown);
        let short =
            "Too short to tell what limits it: CPU use covers 800 ms, and 900 ms are needed.";
        assert!(found.text.starts_with(short), "{}", found.text);
        record.usage = None;
        let found = explained(&record, &Context::default());
        assert!(found.text.starts_with("CPU use is unknown"), "{}", found.text);
    }

    #[test]
    fn trials_that_are_too_short_are_explained_together() {
        let short = |cores: f64, ms: u64| {
            let mut record = ExampleTrial::hello().target_cores(cores, 1).build();
            let usage = record.usage.as_mut().unwrap();
            usage.duration_ns = ms * 1_000_000;
            let target = usage.roles.get_mut(&Role::Target).unwrap();
            target.cpu_ns = Some((cores * usage.duration_ns as f64) as u64);
            record
        };
        let limit_of = |trials: &[TrialRecord]| {
            let trials: Vec<&TrialRecord> = trials.iter().collect();
            explain(&trials, &Context::default(), None).limit
        };
        let bound = Limit::Processor { cores: 0.96, given: 1.0 };
        assert_eq!(limit_of(&[short(0.99, 600), short(0.93, 600)]), bound);
        assert_eq!(limit_of(&[short(0.99, 400), short(0.93, 400)]), Limit::Unknown);
        let mut held_up = short(0.97, 600);
        held_up.load = ExampleTrial::hello().generator_busy(0.98).build().load;
        assert_eq!(limit_of(&[held_up.clone(), held_up, short(0.93, 600)]), Limit::Generator);
        let free = limit_of(&[short(0.99, 600), short(0.5, 600)]);
        assert!(!matches!(free, Limit::Processor { .. }), "{free:?}");
    }

    #[test]
    fn energy_is_told_where_it_is_known() {
        let mut record = ExampleTrial::hello().build();
        let usage = record.usage.as_mut().unwrap();
        usage.energy_uj = Some(usage.duration_ns / 100);
        let found = explained(&record, &Context::default());
        let rate = record.load.as_ref().unwrap().measured.throughput_per_s().unwrap();
        let joules = format_count(10.0 / rate * 1e6);
        assert!(
            found.text.ends_with(&format!(
                " Energy per million requests: {joules} J, with generator and idling."
            )),
            "{}",
            found.text
        );
    }

    #[test]
    fn a_processor_that_the_hypervisor_shares_out_is_as_full() {
        let mut record = ExampleTrial::hello().target_cores(0.8, 1).build();
        assert_ne!(
            explained(&record, &Context::default()).limit,
            Limit::Processor { cores: 0.8, given: 1.0 }
        );
        // Time taken from the generator's processor does not matter.
        record.usage.as_mut().unwrap().stolen_by_cpu = [(0, 0.02), (1, 0.3)].into();
        assert_ne!(
            explained(&record, &Context::default()).limit,
            Limit::Processor { cores: 0.8, given: 1.0 }
        );
        record.usage.as_mut().unwrap().stolen_by_cpu = [(0, 0.15), (1, 0.0)].into();
        let found = explained(&record, &Context::default());
        assert_eq!(found.limit, Limit::Processor { cores: 0.8, given: 1.0 });
        assert!(
            found.text.starts_with(
                "CPU-bound: it keeps 0.80 of its 1 processor busy, and the hypervisor took 0.15."
            ),
            "{}",
            found.text
        );
    }

    #[test]
    fn the_published_rails_and_a_free_proxy() {
        let context = Context {
            expected_delay: Some(Spread::exactly(500_000_000)),
            services: &[Service::Upstream],
            ..Context::default()
        };
        let rails = ExampleTrial::hello()
            .connections(100)
            .seconds(60)
            .completed(487)
            .response_ms(10_200.0)
            .target_cores(0.1, 1);
        let rails = rails.windows(|second| if second % 5 == 0 { 9.0 } else { 10.0 }).build();
        let found = explained(&rails, &context);
        assert!(matches!(found.limit, Limit::AtATime { requests } if requests.round() == 5.0));
        assert!(found.text.starts_with("Serves about 5 requests at a time for 100 connections: a request takes 500 ms in service and 10.2 s in all"), "{}", found.text);
        let free = ExampleTrial::hello()
            .connections(100)
            .completed(5_900)
            .response_ms(507.0)
            .target_cores(0.1, 1)
            .build();
        let found = explained(&free, &context);
        assert_eq!(found.limit, Limit::Connections);
        assert!(
            found.text.contains(
                "each waits 507 ms for its answer, of which the workload itself waits 500 ms"
            ),
            "{}",
            found.text
        );
    }

    #[test]
    fn the_database_the_generator_and_the_rate() {
        let mut record = ExampleTrial::hello().target_cores(0.3, 1).build();
        record
            .usage
            .as_mut()
            .unwrap()
            .roles
            .insert(Role::Services, RoleUse { cores: Some(0.95), ..RoleUse::default() });
        let context = Context { services: &[Service::Postgres], ..Context::default() };
        let found = explained(&record, &context);
        assert_eq!(found.limit, Limit::Database);
        assert!(
            found.text.contains(
                "at the limit of its processors: services keep 0.95 cores busy, the target 0.30"
            ),
            "{}",
            found.text
        );
        assert_eq!(
            explained(&ExampleTrial::hello().generator_busy(0.98).build(), &Context::default())
                .limit,
            Limit::Generator
        );
        let open = explained(&ExampleTrial::open(10_000.0).build(), &Context::default());
        assert_eq!(open.limit, Limit::NotSaturated);
        assert!(open.text.starts_with("Not saturated: it keeps up with the offered load, 10,000 requests/s, with 0.50 of its 1 processor busy."), "{}", open.text);
        assert_eq!(
            explained(&ExampleTrial::open(10_000.0).unsent(60_000).build(), &Context::default())
                .limit,
            Limit::Unknown
        );
    }

    #[test]
    fn no_result_and_money() {
        let mut failed = ExampleTrial::hello().build();
        (failed.load, failed.failure) = (
            None,
            Some(Failure {
                stage: Stage::Start,
                message: "exited with status 1".into(),
                log_tail: vec![],
            }),
        );
        assert_eq!(
            explained(&failed, &Context::default()).text,
            "No result: failed at stage `start`: exited with status 1."
        );
        let record = ExampleTrial::hello().target_cores(0.9, 1).build();
        let price = Price { per_hour: 0.4, cores: 4, currency: "EUR".into() };
        let found = explain(&[&record], &Context::default(), Some(&price));
        assert!(found.text.ends_with("That is 0.0025 EUR per million requests."), "{}", found.text);
    }
}
