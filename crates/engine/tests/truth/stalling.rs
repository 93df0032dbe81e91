//! A server that stands still: the response time shows it, whatever the generator could send
//! meanwhile.
use pippin_model::load::IoChoice;
use pippin_model::result::LoadResult;
use pippin_testing::scripted::{Account, Answer, Script, spawn};

use crate::support::{assert_within, ms, on_each_loop, open, quantile_ms, run};
use pippin_testing::patience::in_time;

on_each_loop!(a_constant_rate_shows_the_ramp,);

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
