//! Servers that look like others, and what must not be said of them. The known truth is the model server.
use pippin_model::result::{StepMeasured, Window};
use pippin_model::text::units::Spread;
use pippin_model::trial::Single;

use super::causes::{STALLS, says};
use super::servers::{
    answers_only, blocking_loop, coarse_timers, growing, pool, slow_at_random, slow_ones, stalling,
    steps,
};
use super::world::{MS, SECOND, Truth};
use super::{Context, explain};

/// With one user, a slow answer is all that there is.
#[test]
fn slow_answers_of_a_single_user_are_no_stalls() {
    let never = [STALLS, "stood still", "at a time", "Requests wait"];
    says(&[vec![slow_ones(200, 200 * MS, 2 * MS).closed(1)]], &[], &never);
    says(&[vec![slow_at_random(1_000.0, 2 * SECOND, 2 * MS).closed_for(1, 30)]], &[], &never);
    // Of two, both wait at one time now and then.
    says(&[vec![slow_at_random(4.0, 700 * MS, MS).closed_for(2, 30)]], &[], &never);
    says(&[vec![slow_at_random(4.0, 100 * MS, MS).closed_for(4, 30)]], &[], &never);
}

#[test]
fn an_event_loop_that_is_blocked_most_of_the_time_stands_still() {
    let server = blocking_loop(50, 100 * MS, MS / 20);
    let found = "It stands still for about 99.0 ms every 10";
    says(&[vec![server.closed(20)], server.sweep(&[8, 20])], &[found], &["at a time"]);
    let seldom = blocking_loop(5_000, 100 * MS, MS / 20);
    says(&[vec![seldom.closed(20)]], &["It stands still for about "], &[]);
}

#[test]
fn users_who_send_together_wait_for_each_other_in_no_pool() {
    let server = coarse_timers(25_000, 2 * MS);
    says(
        &[vec![server.closed(20)], vec![server.closed(64)]],
        &["Limited by the"],
        &["at a time", "Requests wait", "a few slow answers", STALLS],
    );
}

/// What a request takes alone was seen before: nothing follows from it about a server that is slower now.
#[test]
fn a_server_that_becomes_slower_has_no_pool() {
    let never = ["at a time", "Requests wait", "Limited by", STALLS];
    says(&[vec![growing(MS, 2_000.0).closed(20)]], &["nothing measured shows"], &never);
    // Its users came in the warm-up already.
    let mut record = pool(1_000, 40 * MS).closed(20);
    record.single = Some(Single { requests: 20, median_ns: 2 * MS, longest_ns: 3 * MS });
    let load = record.load.as_mut().unwrap();
    let duration_ns = SECOND;
    let warm_up = (1..=10_u32).map(|ago| Window {
        from_ns: -i64::from(ago) * SECOND as i64,
        duration_ns,
        completed: 500 + 300 * u64::from(ago),
        ..Window::default()
    });
    load.windows.extend(warm_up);
    let slower = "SUSPECT slows_down: it answers more slowly than before: up to 3,500 requests/s";
    says(&[vec![record.clone()]], &["nothing measured shows", slower], &never);
    // As fast as ever.
    record
        .load
        .as_mut()
        .unwrap()
        .windows
        .iter_mut()
        .for_each(|w| w.completed = w.completed.min(500));
    says(&[vec![record]], &["Serves about 1 request at a time"], &[]);
}

#[test]
fn a_server_that_dies_has_no_limit() {
    let server = answers_only(|request| request.at < 2 * SECOND, MS);
    says(
        &[vec![server.closed_for(20, 5)]],
        &[
            "100 % of the users waited for an answer that never came, so",
            "SUSPECT unanswered: 20 of 20",
        ],
        &["at a time", "Requests wait", "Limited by"],
    );
}

/// Users without think time begin together, and then all are at the same step.
#[test]
fn users_in_step_are_no_stalls() {
    let step = |name: &str| StepMeasured { name: name.into(), ..StepMeasured::default() };
    for users in [8, 64] {
        let mut record = steps(&[MS, MS, 200 * MS]).closed(users);
        record.load.as_mut().unwrap().measured.steps = ["a", "b", "c"].map(step).into();
        says(&[vec![record]], &[], &[STALLS, "stood still"]);
    }
}

/// A pool whose requests work on several processors is one.
#[test]
fn a_pool_that_works_on_several_processors_is_named() {
    let on = |given: u64, threads: usize, truth: Truth, users: u64| {
        let mut record = truth.closed(users);
        record.spec.cpus.target = pippin_model::plan::cpus::CpuSet((0..given as u32).collect());
        let usage = record.usage.as_mut().unwrap();
        let target = usage.roles.get_mut(&pippin_model::host::usage::Role::Target).unwrap();
        let each = target.cores.unwrap() / threads as f64;
        target.busiest_threads = Some(vec![each; threads]);
        usage.busy_by_cpu = (0..given as u32).map(|cpu| (cpu, 0.2)).collect();
        record
    };
    let with_cpu = |cpu_ns, truth| Truth { cpu_ns, ..truth };
    says(
        &[vec![on(8, 16, with_cpu(MS, pool(16, 8 * MS)), 64)]],
        &["Serves about 16 requests at a time"],
        &[],
    );
    says(
        &[vec![on(4, 10, with_cpu(MS / 2, pool(10, 5 * MS)), 200)]],
        &["Serves about 10 requests at a time"],
        &[],
    );
}

/// What the workload itself waits says as little of a server that is slower now.
#[test]
fn a_server_with_a_known_wait_that_becomes_slower_has_no_pool() {
    let delay = Spread { mean_ns: 2 * MS, jitter: 0.0 };
    let context = Context { expected_delay: Some(delay), ..Context::default() };
    for users in [20, 200] {
        let record = growing(2 * MS, 2_000.0).closed(users);
        let text = explain(&[&record], &context, None).text;
        assert!(!text.contains("at a time"), "{text}");
    }
}

/// One that takes twice as long after ten seconds has no queue.
#[test]
fn a_server_that_becomes_a_little_slower_has_no_pool() {
    for answers in [10_000.0, 15_000.0] {
        says(&[vec![growing(20 * MS, answers).closed(20)]], &[], &["at a time", "Requests wait"]);
    }
}

/// The answers of a pool come many at a time.
#[test]
fn a_pool_whose_answers_come_in_bursts_has_not_become_slower() {
    for (slots, service_ns, users, seconds) in
        [(64, 3 * SECOND, 200, 60), (500, 3 * SECOND, 1_000, 60), (100, SECOND / 10, 400, 10)]
    {
        says(
            &[vec![pool(slots, service_ns).closed_for(users, seconds)]],
            &["requests at a time for"],
            &["slows_down", STALLS],
        );
    }
}

/// A freeze is a freeze, and the pool is what it was.
#[test]
fn a_freeze_is_no_slower_server() {
    let frozen = stalling(20 * MS, |now| {
        (now % (20 * SECOND) > 6 * SECOND && now % (20 * SECOND) < 9 * SECOND).then_some(9 * SECOND)
    });
    says(&[vec![frozen.closed(50)]], &["It stood still once, for 3"], &["slows_down"]);
}

/// One request that hangs in each of some slices is not many users.
#[test]
fn hanging_requests_are_counted_per_slice() {
    let mut record = answers_only(|request| request.user != 7, 20 * MS).closed(20);
    let few = explain(&[&record], &Context::default(), None).text;
    assert!(!few.contains("of the users waited"), "{few}");
    record.load.as_mut().unwrap().measured.spans.open_age.record_n(5 * SECOND, 39);
    let many = explain(&[&record], &Context::default(), None).text;
    assert!(many.starts_with("100 % of the users waited"), "{many}");
}

/// In open loops and with users who think, too.
#[test]
fn a_server_that_becomes_slower_keeps_no_request_waiting() {
    says(&[vec![growing(MS, 1_000.0).open(500.0, 64, 8)]], &[], &["Requests wait"]);
}

/// Pipelined requests of one connection wait for each other.
#[test]
fn one_slow_answer_of_a_pipeline_is_no_stall() {
    let mut record = slow_ones(200, 200 * MS, 2 * MS).closed(1);
    record.spec.profile.connections.pipeline = 8;
    says(&[vec![record]], &[], &[STALLS]);
}
