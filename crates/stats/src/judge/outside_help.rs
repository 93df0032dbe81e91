//! INVALID: a target had help beyond its own processes and processors, so the figures are not its
//! own. SUSPECT if this is not certain, or if its CPU time may be too low.
use pippin_model::host::usage::Role;
use pippin_model::text::units::counted;
use pippin_model::trial::outside::{Outside, Stray};
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::cost::cores_of;
use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat};

/// A helper must have worked in at least this many parts of the load. Fewer may be chance.
const SURE_LOADS: u32 = 4;
/// How far the counted processors may exceed the given ones: one clock tick for each stretch,
/// because the kernel updates the account of a running thread once a tick, plus this part.
const TICK_NS: f64 = 10_000_000.0;
const PART: f64 = 0.03;
/// No process can read and write an answer with less CPU time than this, in nanoseconds. Two system
/// calls take more, but pipelined requests share theirs.
const LEAST_NS: f64 = 100.0;
/// Fewer answers show nothing, because the clock ticks.
const FEWEST_ANSWERS: u64 = 10_000;

/// Whether a process outside of the target listened on its port or worked with its load, or threads
/// of the target were on processors that it was not given.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let outside = &evidence.record.outside;
    let strays = evidence.record.usage.as_ref().map_or(&[][..], |usage| &usage.strays);
    let mut seen: Vec<String> = strays.iter().map(|stray| of_stray(evidence, stray)).collect();
    seen.extend(outside.iter().map(in_words));
    // A database that the user started also works with the load, and is not outside help.
    let has_services = !evidence.context.services.is_empty();
    let is_sure = |outside: &Outside| match outside {
        Outside::Socket { .. } => true,
        Outside::Helper { loads, is_connected, .. } => {
            (*is_connected || *loads >= SURE_LOADS) && !has_services
        }
        Outside::Bystander { .. } => false,
    };
    let severity = if !strays.is_empty() || outside.iter().any(is_sure) {
        Severity::Invalid
    } else {
        Severity::Suspect
    };
    let follow_all = |outside: &Outside| matches!(outside, Outside::Bystander { .. });
    let advice = if strays.is_empty() && outside.iter().all(follow_all) {
        "end these processes while you measure: they take processor time with every request"
    } else {
        "see what these processes are; a target must do its work itself, on its own processors"
    };
    (!seen.is_empty()).then(|| caveat("outside_help", severity, seen.join("; "), advice))
}

fn of_stray(evidence: &Evidence, stray: &Stray) -> String {
    format!(
        "{} of process {} ({}) may run on processor {}, and the target was given {}",
        counted(stray.threads.into(), "thread"),
        stray.pid,
        stray.name,
        stray.cpus,
        evidence.record.spec.cpus.target
    )
}

/// The helpers and their help in words.
#[must_use]
pub fn in_words(outside: &Outside) -> String {
    match outside {
        Outside::Socket { pid, name } => {
            format!("process {pid} ({name}) listens on the target's port and is no part of it")
        }
        Outside::Helper { pid, name, loaded_cores, idle_cores, loads, is_connected } => format!(
            "process {pid} ({name}), which {}is no part of the target, kept {loaded_cores:.2} processors busy in {} and {idle_cores:.2} while nobody asked the target",
            if *is_connected { "the target is connected to and which " } else { "" },
            if *loads == 1 { "the load".into() } else { format!("all {loads} parts of the load") }
        ),
        Outside::Bystander { pid, name, loaded_cores, control_cores } => format!(
            "process {pid} ({name}) kept {loaded_cores:.2} processors busy with the target's load, and {control_cores:.2} while Pippin loaded a server of its own: it follows every load"
        ),
    }
}

/// Whether a target used more processors than it was given.
pub fn judge_beyond(evidence: &Evidence) -> Answer {
    let given = evidence.record.spec.cpus.target.len();
    if given == 0 {
        return Ok(None);
    }
    let usage = evidence.needs_usage()?;
    let duration_ns = usage.duration_ns as f64;
    let used = cores_of(usage, Role::Target).ok_or_else(cpu_unknown)?;
    let most = given as f64 * (1.0 + PART) + TICK_NS * evidence.stretches() / duration_ns;
    let seen = || {
        format!("the target kept {used:.2} processors busy; it was given {given} (limit {most:.2})")
    };
    let advice =
        "it runs on processors that it was not given: bind it, or give it more in the plan";
    Ok((used > most).then(|| caveat("cpu_beyond", Severity::Invalid, seen(), advice)))
}

/// Whether a target that Pippin started used too little CPU time to have answered.
pub fn judge_missing(evidence: &Evidence) -> Answer {
    // For a server that ran before, it is not certain which processes belong to it.
    if evidence.record.proofs.is_empty() {
        return Ok(None);
    }
    let answers = evidence.needs_measured()?.requests.completed;
    let usage = evidence.needs_usage()?;
    let used = usage.roles.get(&Role::Target).and_then(|used| used.cpu_ns);
    let used_ns = used.ok_or_else(cpu_unknown)? as f64;
    let each_ns = used_ns / answers.max(1) as f64;
    let seen = || {
        format!(
            "the target used {each_ns:.0} ns of CPU time for an answer: nobody can read and write one in that (limit {LEAST_NS:.0} ns)"
        )
    };
    let advice = "another process answers for it: look who holds its connections (`ss -tnp`)";
    // The children of an unbilled target may have answered; `unbilled` says so.
    if answers == 0 || each_ns >= LEAST_NS || usage.unbilled {
        return Ok(None);
    }
    if answers < FEWEST_ANSWERS {
        return Err(Unknown::because(format!(
            "the target used no processor time that the kernel counted for {}",
            counted(answers, "answer")
        )));
    }
    Ok(Some(caveat("cpu_missing", Severity::Invalid, seen(), advice)))
}

fn cpu_unknown() -> Unknown {
    Unknown::because("the target's processor time is not known")
}

/// Whether some CPU time of the target may be missing, because its children are never waited for
/// and no control group counts them, or because a process left the group.
pub fn judge_unbilled(evidence: &Evidence) -> Option<Caveat> {
    let usage = evidence.record.usage.as_ref()?;
    if usage.left_group {
        let seen = "a process of the target left its control group, which counted less CPU time than the processes used; the larger figure is shown, and may lack what its children used";
        let advice = "see why it changes its control group (/proc/PID/cgroup); no server needs to";
        return Some(caveat("unbilled", Severity::Suspect, seen.into(), advice));
    }
    let seen = "a process of the target ignores the death of its children (SIGCHLD), and the kernel then bills their CPU time to nobody";
    let advice = "run Pippin where it may make a control group of version 2, or read the target's CPU time as a lower bound";
    usage.unbilled.then(|| caveat("unbilled", Severity::Suspect, seen.into(), advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Context;
    use crate::judge::test::{judged, judged_in};
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::TrialRecord;
    use pippin_model::workload::Service;

    /// `pippin compare URL URL`: a server with two workers uses more than one processor, and nobody gave
    /// it any.
    #[test]
    fn a_server_that_ran_before_was_given_nothing_and_is_not_beyond_it() {
        let mut record = ExampleTrial::hello().target_cores(1.8, 1).build();
        assert!(judged(judge_beyond, &record).is_some());
        record.spec.cpus.target.0.clear();
        assert_eq!(judged(judge_beyond, &record), None);
    }

    /// A packet sniffer or an audit daemon takes time, and helps nobody.
    #[test]
    fn who_follows_every_load_is_no_helper() {
        let mut record = ExampleTrial::hello().build();
        let (name, loaded_cores, control_cores) = ("tcpdump".into(), 0.4, 0.35);
        record.outside = vec![Outside::Bystander { pid: 77, name, loaded_cores, control_cores }];
        let found = judged(judge, &record).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.evidence.contains("77 (tcpdump)"), "{}", found.evidence);
        assert!(found.advice.starts_with("end these processes"), "{}", found.advice);
        record.outside.push(helper(SURE_LOADS));
        assert_eq!(judged(judge, &record).unwrap().severity, Severity::Invalid);
    }

    fn helper(loads: u32) -> Outside {
        let (name, loaded_cores, idle_cores) = ("burn".into(), 0.83, 0.0);
        Outside::Helper { pid: 77, name, loaded_cores, idle_cores, loads, is_connected: false }
    }

    #[test]
    fn a_tier_that_the_target_is_connected_to_is_no_chance() {
        let mut one = helper(1);
        if let Outside::Helper { is_connected, .. } = &mut one {
            *is_connected = true;
        }
        let found = judged(judge, &with(vec![one])).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        let text = "process 77 (burn), which the target is connected to and which is no part";
        assert!(found.evidence.starts_with(text), "{}", found.evidence);
    }

    fn with(outside: Vec<Outside>) -> TrialRecord {
        TrialRecord { outside, ..ExampleTrial::hello().build() }
    }

    #[test]
    fn who_helps_is_named() {
        assert_eq!(judged(judge, &with(Vec::new())), None);
        let found = judged(judge, &with(vec![helper(12)])).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert_eq!(
            found.evidence,
            "process 77 (burn), which is no part of the target, kept 0.83 processors busy in all 12 parts of the load and 0.00 while nobody asked the target"
        );
        let found =
            judged(judge, &with(vec![Outside::Socket { pid: 9, name: "daemon".into() }])).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.evidence.contains("process 9 (daemon) listens on the target's port"));
    }

    #[test]
    fn a_few_loads_may_be_chance_and_a_database_works_with_the_load() {
        assert_eq!(judged(judge, &with(vec![helper(3)])).unwrap().severity, Severity::Suspect);
        let services = [Service::Postgres];
        let context = Context { services: &services, ..Context::default() };
        let found = judged_in(judge, &with(vec![helper(12)]), &context).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
    }

    #[test]
    fn threads_on_other_processors_are_named() {
        let mut record = with(Vec::new());
        let stray = Stray { pid: 5, name: "cheat".into(), threads: 2, cpus: "1".into() };
        record.usage.as_mut().unwrap().strays = vec![stray];
        let found = judged(judge, &record).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(
            found.evidence.starts_with("2 threads of process 5 (cheat) may run on processor 1"),
            "{}",
            found.evidence
        );
    }

    fn used(cores: f64) -> TrialRecord {
        let mut record = ExampleTrial::hello().build();
        let usage = record.usage.as_mut().unwrap();
        let target = usage.roles.get_mut(&Role::Target).unwrap();
        target.cores = Some(cores);
        target.cpu_ns = Some((cores * usage.duration_ns as f64) as u64);
        record
    }

    #[test]
    fn more_processors_than_given_are_seen_and_rounding_is_not() {
        assert_eq!(used(1.0).spec.cpus.target.len(), 1);
        assert_eq!(judged(judge_beyond, &used(1.03)), None);
        let found = judged(judge_beyond, &used(1.66)).unwrap();
        assert!(found.evidence.contains("1.66 processors busy; it was given 1"));
        let mut unbound = used(1.66);
        unbound.spec.cpus.target.0.clear();
        assert_eq!(judged(judge_beyond, &unbound), None);
    }

    #[test]
    fn an_answer_takes_some_time() {
        let answers = used(1.0).load.unwrap().measured.requests.completed as f64;
        let seconds = used(1.0).usage.unwrap().duration_ns as f64 / 1e9;
        let of_each = |ns: f64| used(ns * answers / 1e9 / seconds);
        assert_eq!(judged(judge_missing, &of_each(110.0)), None);
        let found = judged(judge_missing, &of_each(40.0)).unwrap();
        assert!(found.evidence.contains("40 ns of CPU time for an answer"), "{}", found.evidence);
        let mut few = of_each(40.0);
        few.load.as_mut().unwrap().measured.requests.completed = FEWEST_ANSWERS - 1;
        assert_eq!(judged(judge_missing, &few), None);
    }

    #[test]
    fn unbilled_children_are_a_doubt() {
        let mut record = used(0.5);
        assert_eq!(judged(judge_unbilled, &record), None);
        record.usage.as_mut().unwrap().unbilled = true;
        assert_eq!(judged(judge_unbilled, &record).unwrap().severity, Severity::Suspect);
        let usage = record.usage.as_mut().unwrap();
        (usage.unbilled, usage.left_group) = (false, true);
        let found = judged(judge_unbilled, &record).unwrap();
        assert!(found.severity == Severity::Suspect && found.evidence.contains("left its control"));
    }
}
