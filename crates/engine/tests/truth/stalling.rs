//! A server that stands still: the response time shows it, whatever the generator could send
//! meanwhile.
use pippin_model::load::{IoChoice, LoadSpec};
use pippin_model::result::LoadResult;
use pippin_testing::scripted::{Account, Answer, Script, spawn};

use crate::support::{assert_within, closed_for, ms, on_each_loop, open, quantile_ms, run};
use pippin_testing::patience::in_time;

on_each_loop!(
    a_constant_rate_shows_the_ramp,
    the_ramp_with_a_connection_for_everyone,
    a_closed_loop_hides_it
);

const RATE: f64 = 400.0;
const LENGTH_MS: u64 = 3_000;
const STALL_MS: u64 = 1_000;

/// 3 s at 400/s are 1,200 requests. The server stalls for 1 s when it has read the 400th: the one
/// that was due t before the stall's end waits t, so 400 response times lie evenly between 0 and
/// 1,000 ms, and the other 800 are near 0.
fn stalled(io: IoChoice, connections: u32) -> (LoadResult, Account) {
    let server =
        spawn(Script::always(Answer::ok(b"hello")).stall_at_request(400, ms(STALL_MS))).unwrap();
    let result = run(&open(server.address(), io, connections, RATE, LENGTH_MS));
    assert_eq!(result.measured.requests.scheduled, 1_200);
    (result, server.stop().unwrap())
}

/// The ramp, by the server's own account of when it stood still: the response times that a perfect
/// generator would see, ascending.
fn right_response_times_ms(result: &LoadResult, account: &Account) -> Vec<f64> {
    let (_, stall_end_ns) = account.stall_ns.unwrap();
    let (stall_begin_ns, _) = account.stall_ns.unwrap();
    let mut times: Vec<f64> = (0..1_200)
        .map(|number| result.measured_from_ns + (f64::from(number) * 1e9 / RATE) as u64)
        // The request that started the stall was due shortly before it.
        .map(|due_ns| {
            if due_ns + 5_000_000 >= stall_begin_ns && due_ns < stall_end_ns {
                (stall_end_ns - due_ns) as f64 / 1e6
            } else {
                0.0
            }
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn assert_shows_the_ramp(result: &LoadResult, account: &Account) {
    let right = right_response_times_ms(result, account);
    // By hand: the 120 slowest of 1,200 are the 120 that were due first, 0 to 300 ms into the
    // stall, so p90 = 1,000 - 300 = 700 ms. A little more where the stalled server wakes late.
    assert_within("p90 by hand", right[1_080], 690.0, 850.0);
    for q in [0.75, 0.8, 0.9, 0.95, 0.99] {
        let expected = right[(q * 1_200.0) as usize];
        // Above the truth by what it takes to work off the queue of 400; below it by no more than
        // the histogram's digits.
        let seen = quantile_ms(&result.measured.spans.response_time, q);
        assert_within(
            &format!("response time at {q}, right is {expected}"),
            seen,
            expected - 8.0,
            expected + 200.0,
        );
    }
    let silent = result.windows.iter().flat_map(|window| &window.silences);
    let silent_ms = silent.map(|silence| silence.length_ns).sum::<u64>() / 1_000_000;
    // At a window's end, pieces of less than 20 ms may be missing.
    assert!(silent_ms >= STALL_MS - 45, "nobody was answered for {silent_ms} ms");
    let seen = quantile_ms(&result.measured.spans.response_time, 0.5);
    assert_within("the median response time", seen, 0.0, 50.0);
    in_time(account.requests >= 1_195, || format!("{} requests", account.requests));
}

/// With 4 connections only 4 requests are under way in the stall: the service time of the other 396
/// is near 0, so its 99th percentile (12 of 1,200 are above it) knows nothing of the stall. They
/// waited in the schedule, and response time and send lag say so; but it was not the generator's
/// fault, and its own lag says that.
fn a_constant_rate_shows_the_ramp(io: IoChoice) {
    let (result, account) = stalled(io, 4);
    assert_shows_the_ramp(&result, &account);
    let spans = &result.measured.spans;
    assert_within(
        "service time p99: what coordinated omission would report",
        quantile_ms(&spans.service_time, 0.99),
        0.0,
        100.0,
    );
    assert_within("send lag p90", quantile_ms(&spans.send_lag, 0.9), 680.0, 950.0);
    assert_within("own lag p99", quantile_ms(&spans.own_lag, 0.99), 0.0, 300.0);
}

/// With 500 connections everything is sent when it is due: the send lag is small, and the service
/// time shows the ramp as well.
fn the_ramp_with_a_connection_for_everyone(io: IoChoice) {
    let (result, account) = stalled(io, 500);
    assert_shows_the_ramp(&result, &account);
    let spans = &result.measured.spans;
    assert_within("service time p90", quantile_ms(&spans.service_time, 0.9), 680.0, 950.0);
    assert_within("send lag p99", quantile_ms(&spans.send_lag, 0.99), 0.0, 300.0);
}

/// A closed loop of 4 users has 4 requests in the stall and no schedule that could tell what else
/// should have been: 4 slow ones of thousands. That is what the user asked for, and the windows
/// show the gap.
fn a_closed_loop_hides_it(io: IoChoice) {
    let server =
        spawn(Script::always(Answer::ok(b"hello")).stall_after(ms(600), ms(STALL_MS))).unwrap();
    let spec: LoadSpec = closed_for(server.address(), io, 4, 2_000);
    let result = run(&spec);
    let spans = &result.measured.spans;
    in_time(result.measured.requests.completed > 800, || format!("{:?}", result.measured.requests));
    let slow = 1.0 - spans.response_time.fraction_at_or_below(900_000_000).unwrap();
    let groups = result.measured.by_connection.groups.values();
    let (connections, answers) =
        groups.fold((0, 0), |(n, all), group| (n + group.connections, all + group.answers));
    assert_eq!((connections, answers), (4, result.measured.answered.completed));
    assert_within(
        "requests of more than 900 ms",
        slow * result.measured.requests.completed as f64,
        3.5,
        4.5,
    );
    assert_within(
        "the greatest response time",
        quantile_ms(&spans.response_time, 1.0),
        990.0,
        1_150.0,
    );
}
