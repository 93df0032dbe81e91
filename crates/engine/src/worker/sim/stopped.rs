//! A generator that stands still: it was stopped, or its machine was away. What waits because of that
//! is its own lag, to the nanosecond, and no lag of the server.
use pippin_model::result::Spans;

use super::times::{assert_ms, counts, open};
use super::world::{Act, Script};
use super::{MS, closed, devices, play};

/// How long it stands still, in milliseconds.
pub(super) const STOPS_MS: [u64; 3] = [100, 1_000, 3_000];

/// 100/s for 20 s on one connection, answers after 8 ms, and a stop from 300 ms on. The n-th request
/// is due at 10 n ms. The one at 300 ms is late by the whole stop, and each one behind it by 2 ms
/// less, until nothing waits any more.
pub(super) fn lag_ms(n: u64, stop_ms: u64) -> u64 {
    n.checked_sub(30).map_or(0, |behind| stop_ms.saturating_sub(2 * behind))
}

#[test]
fn in_an_open_loop_all_that_waits_behind_a_stop_is_own_lag() {
    for stop_ms in STOPS_MS {
        let played = play(&open(1, 100.0, 20_000), Script::after(8 * MS).stopping(300, stop_ms));
        assert_eq!(counts(&played), [2_000, 2_000, 2_000, 0, 0, 0]);
        let spans = &played.measured().spans;
        let lags = (0..2_000).map(|n| lag_ms(n, stop_ms));
        assert_ms(&spans.own_lag, lags.clone());
        assert_ms(&spans.send_lag, lags.clone());
        assert_ms(&spans.service_time, [8; 2_000]);
        assert_ms(&spans.response_time, lags.map(|lag| lag + 8));
    }
}

/// Each request has a connection of its own: opening takes 3 ms, and the answer 5 ms.
/// The first connection is open before the schedule starts.
#[test]
fn in_an_open_loop_of_new_connections_all_that_waits_behind_a_stop_is_own_lag() {
    for stop_ms in STOPS_MS {
        let mut spec = open(1, 100.0, 20_000);
        spec.connections.requests_per_connection = Some(1);
        let script = Script::after(5 * MS).connecting(|_| vec![(3 * MS, Act::Accept)]);
        let played = play(&spec, script.stopping(300, stop_ms));
        assert_eq!(counts(&played), [2_000, 2_000, 2_000, 0, 0, 0]);
        let spans = &played.measured().spans;
        assert_ms(&spans.own_lag, (0..2_000).map(|n| lag_ms(n, stop_ms)));
        assert_ms(&spans.service_time, [5; 2_000]);
        let opening = |n| if n == 0 { 0 } else { 3 };
        assert_ms(&spans.send_lag, (0..2_000).map(|n| lag_ms(n, stop_ms) + opening(n)));
    }
}

/// The users of a closed loop are due when it starts. A generator that begins late holds them, and each second of
/// each user is in a time that is counted.
#[test]
fn in_a_closed_loop_that_begins_late_the_first_requests_have_own_lag() {
    for stop_ms in [100, 500] {
        let played = play(&closed(2, 1_005), Script::after(10 * MS).stopping(0, stop_ms));
        let spans = &played.measured().spans;
        let answers = 2 * (1_000 - stop_ms) / 10;
        assert_ms(&spans.service_time, (0..answers).map(|_| 10));
        // The last two were sent, and their answers come after the end.
        assert_ms(&spans.own_lag, (0..answers + 2).map(|n| if n < 2 { stop_ms } else { 0 }));
    }
}

/// With a connection for everyone, what was due in the stop is sent at its end.
#[test]
fn with_a_connection_for_everyone_only_what_was_due_in_the_stop_is_late() {
    for stop_ms in STOPS_MS {
        let played = play(&open(400, 100.0, 5_000), Script::after(8 * MS).stopping(300, stop_ms));
        let late = |n: u64| if n < 30 { 0 } else { (300 + stop_ms).saturating_sub(10 * n) };
        assert_ms(&played.measured().spans.own_lag, (0..500).map(late));
        assert_ms(&played.measured().spans.response_time, (0..500).map(|n| late(n) + 8));
    }
}

/// A server that has not answered yet keeps a user waiting, whether the generator stands still or
/// not: answers take 400 ms. One was due at 0, and the stop from 100 to 200 ms holds up nothing.
#[test]
fn what_the_server_holds_up_is_not_the_stop() {
    let played = play(&open(1, 10.0, 1_200), Script::after(400 * MS).stopping(110, 100));
    let spans = &played.measured().spans;
    assert_ms(&spans.own_lag, [0; 3]);
    assert_ms(&spans.send_lag, [0, 300, 600]);
}

/// 4 users whose answers take 10 ms; they are answered at 300 ms, as the stop begins. Response times
/// are those of the server, and each user was held once.
#[test]
fn a_closed_loop_sees_no_slow_server_in_a_stop() {
    for stop_ms in STOPS_MS {
        let mut spec = closed(4, 60_000);
        spec.stop.requests = Some(400);
        let played = play(&spec, Script::after(10 * MS).stopping(300, stop_ms));
        let spans = &played.measured().spans;
        assert_ms(&spans.response_time, [10; 400]);
        assert_ms(&spans.service_time, [10; 400]);
        assert_ms(&spans.own_lag, [0; 396].into_iter().chain([stop_ms; 4]));
    }
}

/// One user with a new connection each: opened at 8 n ms, in 3 ms, and answered 5 ms later. A stop
/// from 297 ms on holds up the request that could be sent at 299; one from 301 on holds up the
/// connection that would be opened at 304.
#[test]
fn in_a_closed_loop_a_stop_while_a_connection_opens_is_own_lag() {
    for (from_ms, free_ms) in [(297, 299), (301, 304)] {
        for stop_ms in STOPS_MS {
            let mut spec = closed(1, 60_000);
            spec.stop.requests = Some(100);
            spec.connections.requests_per_connection = Some(1);
            let script = Script::after(5 * MS).connecting(|_| vec![(3 * MS, Act::Accept)]);
            let played = play(&spec, script.stopping(from_ms, stop_ms));
            let spans = &played.measured().spans;
            assert_ms(&spans.response_time, [8; 100]);
            assert_ms(&spans.own_lag, [0; 99].into_iter().chain([from_ms + stop_ms - free_ms]));
        }
    }
}

/// Devices that send 2 requests: opening takes 3 ms, an answer 10 ms, a thought 20 ms, so each takes
/// 43 ms. The first of one place come at 0, 43, ... 215 ms, those of the other at 50, 93, ... 179.
/// The stop begins at 216 ms: one device is connected at 218, and another one is to come at 222.
#[test]
fn devices_see_no_slow_server_in_a_stop() {
    for stop_ms in STOPS_MS {
        let spec = devices(2, 20, [100, stop_ms + 500, 100]);
        let script = Script::after(10 * MS).connecting(|_| vec![(3 * MS, Act::Accept)]);
        let played = play(&spec, script.stopping(216, stop_ms));
        let mut spans = Spans::default();
        played.stretches.iter().for_each(|phase| spans.merge(&phase.spans));
        let (all, firsts) = (spans.response_time.count() as usize, spans.connect.count() as usize);
        assert!(all > 20 && firsts > 10, "{all} answers of {firsts} devices");
        let right = [13].repeat(firsts).into_iter().chain([10].repeat(all - firsts));
        assert_ms(&spans.response_time, right);
        let late = spans.own_lag.count() as usize - 2;
        assert_ms(&spans.own_lag, [0].repeat(late).into_iter().chain([stop_ms - 2, stop_ms - 6]));
    }
}
