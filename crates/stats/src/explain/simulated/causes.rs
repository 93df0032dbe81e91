//! What must be said of each cause of a slow server, and what must not. The known truth is the
//! model server.
use pippin_model::host::usage::{MayUse, Role, RoleSample, UsageSample};
use pippin_model::load::{LoadSpec, Request, WarmUp};
use pippin_model::plan::cpus::CpuSet;
use pippin_model::plan::profile::StopRule;
use pippin_model::schedule::Schedule;
use pippin_model::text::units::Spread;
use pippin_model::trial::TrialRecord;

use super::servers::{
    answers_only, each, growing, in_turn, late_bodies, limiter, lock, pool, row_lock,
    short_backlog, slow_at_random, slow_connections, slow_ones, stalling, starved_pool, workers,
    write_lock,
};
use super::world::{MS, SECOND, Truth};
use super::{Context, explain};
use crate::judge::{judge_run, judge_trial};

/// Everything that is said about these trials of one target: explanations, caveats, advice.
fn said(records: &[TrialRecord]) -> String {
    let context = Context::default();
    let mut all = String::new();
    let mut say = |id: &str, text: &str| all.push_str(&format!("{id}: {text}\n"));
    for record in records {
        say("explanation", &explain(&[record], &context, None).text);
        for caveat in judge_trial(record, &context) {
            let severity = format!("{:?}", caveat.severity).to_uppercase();
            say(&format!("{severity} {}", caveat.id), &caveat.evidence);
            say("advice", &caveat.advice);
        }
    }
    for caveat in judge_run(records).values().flatten() {
        say(&caveat.id, &caveat.evidence);
        say("advice", &caveat.advice);
    }
    all
}

/// `must` is said of each of these loads, and `never` of none.
#[track_caller]
pub(super) fn says(loads: &[Vec<TrialRecord>], must: &[&str], never: &[&str]) {
    for (nth, records) in loads.iter().enumerate() {
        let all = said(records);
        for text in must {
            assert!(all.contains(text), "load {nth} lacks {text:?}:\n{all}");
        }
        for text in never {
            assert!(!all.contains(text), "load {nth} has {text:?}:\n{all}");
        }
    }
}

/// A closed loop, an open loop and a sweep.
fn all_kinds(server: &Truth, users: u32, per_s: f64) -> Vec<Vec<TrialRecord>> {
    vec![
        vec![server.closed(users.into())],
        vec![server.open(per_s, users.into(), 10)],
        server.sweep(&[users / 2, users]),
    ]
}

pub(super) const STALLS: &str = "stands still";

#[test]
fn one_request_in_20_that_waits_is_no_stall() {
    let server = slow_ones(20, 200 * MS, MS / 5);
    let never = [STALLS, "stood still", "SUSPECT", "at a time", "Requests wait"];
    let random = slow_at_random(20.0, 200 * MS, MS / 5);
    says(&[server.sweep(&[8, 16]), vec![random.open(500.0, 64, 10)]], &[], &never);
    says(&[vec![random.closed(16)]], &["Limited by the 16 connections"], &never);
    says(
        &[vec![server.closed(16)]],
        &[
            "Limited by the 16 connections and a few slow answers: half of the answers take at most 2",
        ],
        &never,
    );
}

#[test]
fn a_list_of_urls_has_kinds_of_answers() {
    let list = |mut record: TrialRecord| {
        let requests: Vec<Request> =
            (0..5).map(|nth| Request::get(&format!("/{nth}"), "localhost")).collect();
        record.load_spec = Some(LoadSpec { requests: requests.into(), ..LoadSpec::default() });
        record
    };
    let server = slow_ones(5, 100 * MS, MS);
    let random = slow_at_random(5.0, 100 * MS, MS);
    let loads = vec![
        vec![list(server.closed(16))],
        vec![list(random.closed(16))],
        vec![list(random.open(500.0, 64, 10))],
    ];
    says(&loads, &[], &[STALLS, "stood still", "bimodal", "at a time"]);
}

#[test]
fn a_write_lock_makes_requests_wait_and_stands_never_still() {
    let server = write_lock();
    says(
        &[vec![server.closed(64)], server.sweep(&[32, 64])],
        &["Requests wait, and not for a processor: one takes 2", "a lock"],
        &[STALLS, "stood still", "processors would", "more workers"],
    );
    says(&[vec![server.open(500.0, 64, 10)]], &["Not saturated"], &[STALLS, "stood still"]);
}

#[test]
fn one_connection_served_alone_then_the_next_stands_never_still() {
    let server = in_turn(16);
    says(&[vec![server.closed(16)]], &[], &[STALLS, "stood still", "more workers"]);
}

#[test]
fn a_multi_threaded_server_beside_the_generator_lacks_no_workers() {
    let mut record = Truth { cpu_ns: 100_000, ..pool(1_000, MS) }.closed(64);
    record.spec.cpus.target = CpuSet::default();
    record.spec.cpus.generator = CpuSet::default();
    let usage = record.usage.as_mut().unwrap();
    let target = usage.roles.get_mut(&Role::Target).unwrap();
    (target.cores, target.busiest_threads) = (Some(1.07), Some(vec![0.25; 4]));
    usage.roles.get_mut(&Role::Generator).unwrap().cores = Some(0.85);
    usage.busy_by_cpu = [(0, 0.98), (1, 0.96)].into();
    says(
        &[vec![record]],
        &["CPU-bound: it shares 2 processors with other roles, 96 % busy; the target uses 1.07"],
        &["cores_unused", "workers would"],
    );
}

#[test]
fn a_lock_around_work_lacks_no_workers() {
    let mut record = Truth { cpu_ns: 300_000, ..lock(300_000) }.closed(64);
    record.spec.cpus.target = CpuSet([0, 1].into());
    record.spec.cpus.generator = CpuSet([2].into());
    let usage = record.usage.as_mut().unwrap();
    usage.busy_by_cpu = [(0, 0.5), (1, 0.5), (2, 0.5)].into();
    usage.roles.get_mut(&Role::Target).unwrap().busiest_threads = Some(vec![0.06; 16]);
    says(&[vec![record]], &[], &["cores_unused", "workers would", STALLS]);
}

#[test]
fn bodies_43_ms_after_their_heads_are_delayed_acknowledgements() {
    let server = late_bodies();
    says(
        &all_kinds(&server, 40, 500.0),
        &[
            "SUSPECT delayed_ack: 100 % of the bodies came 38 to 47 ms after their head",
            "TCP_NODELAY",
        ],
        &[STALLS, "at a time", "Requests wait"],
    );
}

#[test]
fn a_limit_of_the_rate_is_not_a_lack_of_threads() {
    let server = limiter(MS);
    says(
        &[vec![server.closed(64)], vec![server.open(1_200.0, 64, 10)]],
        &["A limit of 1,0", "or for a limit of the rate"],
        &["raise the limit of threads", STALLS],
    );
    says(
        &[server.sweep(&[1, 8, 64])],
        &["or its rate is limited", "or for a limit of the rate"],
        &["raise the limit of threads", STALLS],
    );
}

#[test]
fn connections_that_wait_to_be_accepted_are_named() {
    // One in 5 ms, and a connection for each request.
    let server = limiter(5 * MS);
    let short = |mut record: TrialRecord| {
        record.spec.profile.connections.requests_per_connection = Some(1);
        record.usage.as_mut().unwrap().listen_queue = Some((15.0, 16));
        let measured = &mut record.load.as_mut().unwrap().measured;
        measured.connections.reconnects = 2_000;
        record
    };
    says(
        &[
            vec![short(server.closed(16))],
            server.sweep(&[16, 32]).into_iter().map(short).take(1).collect(),
        ],
        &["It accepts 200 connections/s with 0.00 of a processor busy: 15 of 16 connections wait"],
        &["threads, workers", STALLS],
    );
}

#[test]
fn memory_that_stays_of_each_request_is_a_leak() {
    let mut record = pool(1_000, MS / 10).closed_for(4, 4);
    let answers = record.load.as_ref().unwrap().measured.answered.completed as f64;
    let load = record.load.as_ref().unwrap();
    let (from_ns, to_ns) = (load.measured_from_ns, load.measured_to_ns);
    let sample = |part: f64| {
        let bytes = (10 << 20) as f64 + 20.0 * 1024.0 * answers * part;
        let role = RoleSample { rss_bytes: Some(bytes as u64), ..RoleSample::default() };
        UsageSample {
            at_ns: from_ns + ((to_ns - from_ns) as f64 * part) as u64,
            roles: [(Role::Target, role)].into(),
            ..UsageSample::default()
        }
    };
    record.samples = (0..=20).map(|nth| sample(f64::from(nth) / 20.0)).collect();
    let all = said(&[record.clone()]);
    assert!(
        all.contains("SUSPECT memory_grows") && all.contains("20.0 KiB for each answer"),
        "{all}"
    );
    // A fresh heap of a runtime: 55 to 86 MiB in 3 s.
    for (nth, sample) in record.samples.iter_mut().enumerate() {
        let role = sample.roles.get_mut(&Role::Target).unwrap();
        role.rss_bytes = Some(((55 << 20) as f64 + 31.0 * 1_048_576.0 * nth as f64 / 20.0) as u64);
    }
    says(&[vec![record]], &[], &["memory_grows"]);
}

#[test]
fn an_eighth_of_the_connections_that_is_slow_is_named() {
    let server = slow_connections(1, 8, 25 * MS, MS);
    says(
        &all_kinds(&server, 64, 20_000.0),
        &[
            "SUSPECT slow_connections: ",
            "times as long as the others: 25.0 ms for an answer on average, the others 1.00 ms",
        ],
        &[STALLS, "bimodal", "littles_law"],
    );
    says(&[vec![server.closed(64)]], &["8 of 64 connections wait 25.0 times as long"], &[]);
}

#[test]
fn one_slow_worker_of_four_is_named() {
    const FOUR: &[(usize, u64)] = &[(1, 20 * MS), (1, MS), (1, MS), (1, MS)];
    let server = workers(FOUR);
    says(
        &[vec![server.closed(64)], server.sweep(&[32, 64])],
        &["SUSPECT slow_connections: ", "times as long as the others"],
        &[STALLS, "bimodal"],
    );
}

#[test]
fn a_pool_of_20_is_named() {
    let server = pool(20, 5 * MS);
    says(
        &[vec![server.closed(64)], vec![server.closed(32)], vec![server.open(5_000.0, 64, 10)]],
        &["Serves about 20 requests at a time"],
        &[STALLS, "Limited by"],
    );
    says(&[server.sweep(&[8, 64, 128])], &["serves about 20 requests at a time"], &[STALLS]);
}

/// Two threads that wait for 100 ms with each request, and one more after each half second, as thread
/// pools add them. The number is that of the threads on average; that it changes is said as well.
#[test]
fn a_starved_pool_serves_few_at_a_time_and_more_and_more() {
    says(
        &[vec![starved_pool(100 * MS).closed(64)]],
        &[
            "Serves about 11 requests at a time for 64 connections: a request takes 100 ms in service",
            "advice: look for what lets only so many pass at a time: threads",
            "SUSPECT no_steady_state: throughput changed by",
        ],
        &[STALLS, "stood still", "Limited by", "CPU-bound: it keeps"],
    );
}

#[test]
fn a_queue_before_two_times_four_threads_is_no_stall() {
    const TWO: &[(usize, u64)] = &[(4, 50 * MS), (4, 50 * MS)];
    let server = workers(TWO);
    says(
        &[vec![server.closed(64)], vec![server.open(200.0, 64, 10)]],
        &["Serves about 8 requests at a time"],
        &[STALLS, "stood still"],
    );
}

#[test]
fn six_connections_queue_before_four_workers() {
    let server = pool(4, 20 * MS);
    says(
        &[vec![server.closed(6)]],
        &["Serves about 4 requests at a time for 6 connections"],
        &["Limited by the 6 connections", STALLS],
    );
    says(&[vec![server.closed(4)]], &["Limited by the 4 connections: each waits 20.0 ms"], &[]);
}

#[test]
fn one_request_in_three_that_takes_longer_is_no_queue() {
    let server = slow_at_random(3.0, 100 * MS, MS);
    says(
        &[vec![server.closed(32)], vec![server.closed(8)]],
        &[],
        &["at a time", STALLS, "Requests wait"],
    );
}

#[test]
fn a_pool_of_one_is_named() {
    let server = lock(20 * MS);
    says(
        &[vec![server.closed(16)], vec![server.open(100.0, 16, 10)]],
        &[
            "Serves about 1 request at a time for 16 connections: a request takes 20.0 ms in service",
        ],
        &[STALLS],
    );
}

#[test]
fn a_row_lock_makes_requests_wait() {
    let server = row_lock();
    says(
        &[vec![server.closed(20)], server.sweep(&[16, 32])],
        &["and not for a processor", "a lock"],
        &[STALLS, "stood still"],
    );
}

#[test]
fn a_short_backlog_is_said_once() {
    let server = short_backlog(5);
    let dropped = |mut record: TrialRecord| {
        let usage = record.usage.as_mut().unwrap();
        (usage.listen_drops, usage.listen_queue) = (Some(58), Some((5.0, 6)));
        record
    };
    says(
        &[vec![dropped(server.closed(64))], vec![dropped(server.open(1_000.0, 64, 10))]],
        &["SUSPECT listen_overflows: 58 connections dropped"],
        &[STALLS, "stood still", "listen_queue", "littles_law", "slow_connections", "bimodal"],
    );
}

#[test]
fn a_processor_that_others_fill_is_not_the_targets_limit_alone() {
    let mut record = Truth { cpu_ns: 96_000, ..lock(200_000) }.closed(64);
    let usage = record.usage.as_mut().unwrap();
    (usage.busy_by_cpu, usage.other_cores) = ([(0, 0.96), (1, 0.3)].into(), Some(0.48));
    says(
        &[vec![record]],
        &["Its 1 processor is full: it used 0.48 of it, and other programs took 0.48"],
        &["CPU-bound: it keeps", "at a time"],
    );
}

#[test]
fn users_who_think_offer_no_load_to_keep_up_with() {
    let think = Spread { mean_ns: SECOND, jitter: 0.0 };
    let mut record = Truth { think_ns: SECOND, ..pool(1_000, MS) }.closed(20);
    record.spec.profile.schedule = Schedule::Closed { think: Some(think) };
    says(
        &[vec![record]],
        &["Not saturated: its users, who think between requests, ask for no more than 20"],
        &["keeps up with the offered load", STALLS],
    );
}

#[test]
fn a_load_of_10_ms_says_nothing_of_a_queue_on_average() {
    let mut record = pool(1_000, MS / 10).counted(64, 2_000);
    record.usage.as_mut().unwrap().listen_queue = Some((32.0, 64));
    record.samples.truncate(2);
    says(&[vec![record]], &[], &["listen_queue", "accepts_slowly"]);
}

#[test]
fn a_listing_that_grows_slower_is_named() {
    let server = growing(40 * MS, 10_000.0);
    says(
        &[vec![server.open(100.0, 64, 300)]],
        &["SUSPECT slows_down: answers get slower: p90 rose from"],
        &[STALLS, "stood still"],
    );
}

#[test]
fn a_pool_that_an_open_loop_overruns_is_named() {
    let server = pool(4, 21 * MS);
    says(
        &[vec![server.open(400.0, 1_000, 10)]],
        &["Serves about 4 requests at a time", "21.0 ms in service"],
        &[STALLS, "Not saturated"],
    );
}

#[test]
fn a_dead_server_has_no_limit() {
    let server = answers_only(|_| false, MS);
    says(
        &all_kinds(&server, 10, 100.0),
        &["No answer came in 10.0 s, so nothing is said about its limit", "unanswered"],
        &["Limited by", "0 ns", STALLS, "littles_law", "keeps up"],
    );
}

#[test]
fn two_users_of_64_who_wait_are_named_whatever_p99_says() {
    let server = answers_only(|request| request.user % 32 != 7, 40 * MS);
    says(
        &[vec![server.closed_for(64, 5)]],
        &["SUSPECT unanswered: 2 of 64 users waited up to 5.00 s for an answer that never came"],
        &[STALLS, "littles_law"],
    );
}

#[test]
fn every_33rd_request_that_hangs_is_named() {
    let server = answers_only(|request| request.nth % 33 != 32, 40 * MS);
    says(
        &[vec![server.open(100.0, 1_000, 6)]],
        &["SUSPECT unanswered: 1", "requests waited up to 5."],
        &[STALLS],
    );
}

#[test]
fn one_user_who_gets_all_answers_is_the_servers_doing() {
    let server = answers_only(|request| request.user == 0, MS);
    says(
        &[vec![server.closed_for(64, 5)]],
        &["SUSPECT unanswered: 1 of 64 users got all answers: 63 waited up to 5.00 s"],
        &["littles_law", "idle, counted twice", STALLS],
    );
}

#[test]
fn a_freeze_is_named_with_one_occurrence() {
    let server = stalling(MS, |now| {
        (2 * SECOND..2 * SECOND + 1_500 * MS).contains(&now).then_some(2 * SECOND + 1_500 * MS)
    });
    says(
        &[vec![server.closed_for(16, 4)], vec![server.open(1_000.0, 2_000, 4)]],
        &["SUSPECT stalls: It stood still once, for 1.50 s, 2.00 s after the begin"],
        &["at a time", "littles_law"],
    );
}

#[test]
fn a_slow_first_answer_of_a_cold_server_is_no_freeze() {
    let server = stalling(MS, |now| (now < SECOND).then_some(SECOND));
    let mut record = server.counted(16, 20_000);
    assert_eq!(record.spec.profile.warm_up, WarmUp::None);
    record.spec.profile.stop = StopRule::requests(20_000);
    says(&[vec![record]], &[], &[STALLS, "stood still"]);
}

#[test]
fn a_quota_is_no_stall_of_the_servers_own() {
    // 30 ms of each 100 ms.
    let server = stalling(MS / 2, |now| each(100 * MS, 70 * MS, now));
    let throttled = |mut record: TrialRecord| {
        let may_use =
            MayUse { cpus: CpuSet([0].into()), quota: Some(0.3), periods: 100, throttled: 98 };
        record.usage.as_mut().unwrap().may_use = Some(may_use);
        record
    };
    let all = all_kinds(&server, 16, 5_000.0).into_iter();
    let all = all.map(|records| records.into_iter().map(throttled).collect());
    says(&all.collect::<Vec<_>>(), &[], &[STALLS, "stood still"]);
    // Where nobody knows of the quota, it is among what to look for.
    says(
        &[vec![server.closed(16)]],
        &[
            "It stands still for about 69.0 ms every 100 ms",
            "a CPU quota of its container (cpu.max)",
        ],
        &[],
    );
}
