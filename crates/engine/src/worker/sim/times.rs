//! Figures whose right values are worked out on paper, to the nanosecond.
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use pippin_model::example::ExampleTrial;
use pippin_model::load::{Arrivals, LoadSpec, Schedule, Stage, StopRule, WarmUp};
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{ConnectionGroup, ErrorKind};
use pippin_stats::judge::{Context, judge_trial};

use super::world::{Act, Script, ok};
use super::{MS, Played, closed, devices, play};

/// An open loop of so many requests per second for so long.
pub(super) fn open(connections: u32, per_s: f64, duration_ms: u64) -> LoadSpec {
    let stage = Stage { duration_ns: duration_ms * MS, from_per_s: per_s, to_per_s: per_s };
    LoadSpec {
        schedule: Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage] },
        stop: StopRule { duration_ns: None, requests: None },
        ..closed(connections, 1)
    }
}

/// A span holds these values and no others, in nanoseconds.
#[track_caller]
fn assert_ns(seen: &Histogram, right_ns: impl IntoIterator<Item = u64>) {
    let mut right = Histogram::new();
    right_ns.into_iter().for_each(|ns| right.record(ns));
    assert_eq!(seen.summary(), right.summary());
}

/// A span holds these values and no others, in milliseconds.
#[track_caller]
pub(super) fn assert_ms(seen: &Histogram, right_ms: impl IntoIterator<Item = u64>) {
    assert_ns(seen, right_ms.into_iter().map(|ms| ms * MS));
}

/// Scheduled, sent, completed, failed, censored, unsent.
pub(super) fn counts(played: &Played) -> [u64; 6] {
    let it = &played.measured().requests;
    [it.scheduled, it.sent, it.completed, it.failed, it.censored, it.unsent]
}

pub(super) fn errors(played: &Played) -> Vec<(ErrorKind, u64)> {
    played.measured().errors.iter().map(|(kind, count)| (*kind, *count)).collect()
}

/// Requests are sent at 0, 10, ... 990 ms; the answer to the last comes as the load ends.
#[test]
fn a_user_sends_when_its_answer_comes() {
    let played = play(&closed(1, 1_000), Script::after(10 * MS));
    assert_eq!(counts(&played), [100, 100, 99, 0, 1, 0]);
    let spans = &played.measured().spans;
    assert_ms(&spans.service_time, [10; 99]);
    assert_ms(&spans.response_time, [10; 99]);
    assert_ms(&spans.own_lag, [0; 100]);
}

/// 100/s, answered after 1 ms; but what comes from 300 to 490 ms is answered at 501 ms: the request
/// due at 10 n ms waits for 501 - 10 n ms. These are 20 requests, and one connection is left.
#[test]
fn a_stall_is_in_the_response_time_of_everybody_who_met_it() {
    let stalled = |nth: u64| if (30..50).contains(&nth) { 501 - 10 * nth } else { 1 };
    let played = play(
        &open(21, 100.0, 1_000),
        Script::answering(move |asked| vec![(stalled(asked.nth) * MS, ok())]),
    );
    assert_eq!(counts(&played), [100, 100, 100, 0, 0, 0]);
    let spans = &played.measured().spans;
    assert_ms(&spans.response_time, (0..100).map(stalled));
    assert_eq!(spans.response_time.max_ns().map(|ns| ns / MS), Some(201));
    assert_ms(&spans.send_lag, [0; 100]);
}

/// Every seventh answer of 1,000 takes long, each another time: 10 ms and 1 ms for each before it. The
/// twenty slowest are the last twenty of them, with the instants at which they were sent.
#[test]
fn the_slowest_are_named_each_with_its_instant() {
    let takes = |nth: u64| if nth % 7 == 3 { 10 + nth / 7 } else { 1 };
    let spec = LoadSpec { slowest: 20, ..open(400, 1_000.0, 1_000) };
    let played = play(&spec, Script::answering(move |asked| vec![(takes(asked.nth) * MS, ok())]));
    let right: Vec<(u64, u64)> = (0..1_000u64)
        .filter(|nth| nth % 7 == 3)
        .rev()
        // What is not answered within the load has no time.
        .filter(|nth| nth + takes(*nth) < 1_000)
        .take(20)
        .map(|nth| (nth * MS, takes(nth) * MS))
        .collect();
    let slowest = &played.measured().slowest.requests;
    // The load begins at an instant of its own.
    let began_ns = slowest[0].sent_unix_ns - right[0].0;
    let seen: Vec<(u64, u64)> =
        slowest.iter().map(|one| (one.sent_unix_ns - began_ns, one.response_ns.unwrap())).collect();
    assert_eq!(seen, right);
    assert!(slowest.iter().all(|one| one.status == Some(200) && one.request == "GET /"));
    let connections: BTreeSet<u32> = slowest.iter().map(|one| one.connection).collect();
    assert_eq!(connections.len(), 20, "each has a connection of its own: {connections:?}");
}

/// A request that times out is among them, with the time that was waited and without a status.
#[test]
fn a_request_that_times_out_is_one_of_the_slowest() {
    let mut spec = LoadSpec { slowest: 2, ..closed(1, 500) };
    spec.timeouts.request_ns = 120 * MS;
    let script =
        Script::answering(|asked| if asked.nth == 2 { vec![] } else { vec![(10 * MS, ok())] });
    let played = play(&spec, script);
    let seen = played.measured().slowest.requests.iter();
    let seen: Vec<_> = seen.map(|one| (one.response_ns.unwrap() / MS, one.status)).collect();
    assert_eq!(seen, [(120, None), (10, Some(200))]);
}

/// 100/s on one connection whose answers take 25 ms, as below: each request that was sent has a row.
#[test]
fn each_request_has_a_row_with_its_instants() {
    let spec = LoadSpec { samples: 100, ..open(1, 100.0, 200) };
    let sample = play(&spec, Script::after(25 * MS)).sample.unwrap();
    let began_ns = sample.requests[0].intended_unix_ns;
    let rows: Vec<_> = sample
        .rows()
        .map(|one| {
            assert_eq!((one.connection, one.user, one.request), (0, 0, "GET /"));
            let instants = [one.intended_unix_ns, one.sent_unix_ns].map(|at| (at - began_ns) / MS);
            let times = [one.response_ns, one.service_ns].map(|ns| ns.map(|ns| ns / MS));
            (instants, times, one.status, one.error)
        })
        .collect();
    let right: Vec<_> = (0..8)
        .map(|k| {
            // The last answer comes as the load ends.
            let is_answered = k < 7;
            let times = [25 + 15 * k, 25].map(|ms| is_answered.then_some(ms));
            ([10 * k, 25 * k], times, is_answered.then_some(200), None)
        })
        .collect();
    assert_eq!(rows, right);
}

/// 990 requests, of which 99 are kept: the same ones each time, and others with another seed.
#[test]
fn the_seed_decides_which_requests_are_kept() {
    let sent = |seed: u64| {
        let spec = LoadSpec { samples: 99, seed, ..open(10, 1_000.0, 990) };
        let sample = play(&spec, Script::after(2 * MS)).sample.unwrap();
        assert_eq!((sample.of, sample.requests.len()), (990, 99));
        let sent: Vec<u64> = sample.requests.iter().map(|one| one.sent_unix_ns).collect();
        assert!(sent.windows(2).all(|pair| pair[0] < pair[1]), "in the order of sending");
        sent
    };
    assert_eq!(sent(1), sent(1));
    assert_ne!(sent(1), sent(2));
}

/// 100/s on one connection whose answers take 25 ms: the k-th request is due at 10 k ms and sent at
/// 25 k ms, so that it is answered 25 + 15 k ms after it was due. The answer to the 8th comes as the
/// load ends, and 12 of 20 are never sent.
#[test]
fn who_waits_for_a_free_connection_waits_since_it_was_due() {
    let played = play(&open(1, 100.0, 200), Script::after(25 * MS));
    assert_eq!(counts(&played), [20, 8, 7, 0, 1, 12]);
    let spans = &played.measured().spans;
    assert_ms(&spans.response_time, (0..7).map(|k| 25 + 15 * k));
    assert_ms(&spans.service_time, [25; 7]);
    assert_ms(&spans.send_lag, (0..8).map(|k| 15 * k));
    assert_ms(&spans.own_lag, [0; 8]);
}

/// Nothing is answered, and a user waits for 120 ms: it sends at 0, 120, ... 960 ms.
#[test]
fn a_request_without_an_answer_ends_with_its_timeout() {
    let mut spec = closed(1, 1_000);
    spec.timeouts.request_ns = 120 * MS;
    let played = play(&spec, Script::answering(|_| Vec::new()));
    assert_eq!(counts(&played), [9, 9, 0, 8, 1, 0]);
    assert_eq!(errors(&played), [(ErrorKind::Timeout, 8)]);
    assert_ms(&played.measured().spans.service_time, [120; 8]);
}

/// One user tries at 0, 10, ... 90 ms, and each time one request is not sent.
#[test]
fn who_is_refused_tries_again_every_10_ms() {
    let refuses = |_| vec![(0, Act::Refuse(libc::ECONNREFUSED))];
    let played = play(&closed(1, 100), Script::after(0).connecting(refuses));
    assert_eq!(counts(&played), [10, 0, 0, 0, 0, 10]);
    assert_eq!(errors(&played), [(ErrorKind::ConnectRefused, 10)]);
}

/// Answers take 10 ms, connecting takes 5 ms, and the server closes behind every third answer. So
/// requests are sent at 0, 10, 20; 35, 45, 55; 70, 80, 90 ms, and those behind a close were due 5 ms
/// before they were sent. The last is answered as the load ends.
#[test]
fn what_comes_behind_a_close_waits_for_the_new_connection() {
    let script = Script::answering(|asked| match asked.of_connection {
        2 => vec![(10 * MS, ok()), (10 * MS, Act::Close)],
        _ => vec![(10 * MS, ok())],
    });
    let played = play(&closed(1, 100), script.connecting(|_| vec![(5 * MS, Act::Accept)]));
    assert_eq!(counts(&played), [9, 9, 8, 0, 1, 0]);
    let measured = played.measured();
    assert_ms(&measured.spans.response_time, [10, 10, 10, 15, 10, 10, 15, 10]);
    assert_ms(&measured.spans.service_time, [10; 8]);
    assert_ms(&measured.spans.send_lag, [0, 0, 0, 5, 0, 0, 5, 0, 0]);
    assert_ms(&measured.spans.own_lag, [0; 9]);
    assert_ms(&measured.spans.connect, [5; 3]);
    assert_eq!((measured.connections.opened, measured.connections.reconnects), (3, 2));
}

/// Two connections; the first is closed behind its first answer, and opening another would take
/// 300 ms. The second is idle whenever a request is due, so nobody waits.
#[test]
fn no_arrival_waits_for_a_connection_while_an_open_one_is_idle() {
    let script = Script::answering(|asked| match asked.nth {
        0 => vec![(2 * MS, ok()), (2 * MS, Act::Close)],
        _ => vec![(2 * MS, ok())],
    });
    let connect = |nth| vec![(if nth < 2 { 0 } else { 300 * MS }, Act::Accept)];
    let played = play(&open(2, 100.0, 1_000), script.connecting(connect));
    assert_eq!(counts(&played), [100, 100, 100, 0, 0, 0]);
    assert_ms(&played.measured().spans.response_time, [2; 100]);
    assert_eq!(played.measured().connections.opened, 2);
}

/// Two devices come at 0 and 50 ms, each sends 2 requests with 20 ms between, and answers take
/// 10 ms: one device takes 40 ms, and the next one follows at once. Due in the ramp up to 100 ms: 0,
/// 30, 40, 70, 80 and 50, 80, 90. Then to 200 ms: 110, 120, 150, 160, 190 and 120, 130, 160, 170. In
/// the ramp down: 200, of the device that came at 170; it is the last of 9.
#[test]
fn devices_follow_each_other_until_the_ramp_down() {
    let played = play(&devices(2, 20, [100, 100, 50]), Script::after(10 * MS));
    let completed = played.stretches.iter().map(|phase| phase.requests.completed);
    assert_eq!(completed.collect::<Vec<_>>(), [8, 9, 1]);
    let opened = played.stretches.iter().map(|phase| phase.connections.opened);
    assert_eq!(opened.sum::<u64>(), 9);
    for phase in &played.stretches {
        assert_ms(&phase.spans.response_time, vec![10; phase.requests.completed as usize]);
    }
}

/// 400/s for 3 s, answered at once. When the server has read the 400th request, which is due at
/// 997.5 ms, it stands still for 1 s: the n-th waits for 1,997.5 - 2.5 n ms, if that is not negative.
fn stalled(connections: u32) -> Played {
    let mut until = 0;
    let script = Script::answering(move |asked| {
        if asked.nth == 399 {
            until = asked.at + 1_000 * MS;
        }
        vec![(until.saturating_sub(asked.at), ok())]
    });
    let played = play(&open(connections, 400.0, 3_000), script);
    assert_eq!(counts(&played), [1_200, 1_200, 1_200, 0, 0, 0]);
    let waits =
        |n: u64| if n < 399 { 0 } else { (1_997_500_000_u64).saturating_sub(n * 2_500_000) };
    let response_time = &played.measured().spans.response_time;
    assert_ns(response_time, (0..1_200).map(waits));
    // The 120 slowest of 1,200 were due in the first 300 ms of the stall.
    assert_eq!(response_time.quantile_ns(0.9).map(|ns| ns / MS), Some(700));
    // The windows see it too: the second one is silent for its first 997 whole milliseconds.
    let silences = played.windows.iter().flat_map(|window| &window.silences);
    assert_eq!(silences.map(|it| (it.from_ns, it.length_ns)).collect::<Vec<_>>(), [(0, 997 * MS)]);
    played
}

/// With 4 connections only 4 requests are under way in the stall: the service time knows nothing of
/// the other 396, which waited in the schedule. Response time and send lag do; and it was not the
/// generator's fault, which its own lag says.
#[test]
fn a_stall_is_in_the_response_time_of_those_who_could_not_be_sent() {
    let played = stalled(4);
    let spans = &played.measured().spans;
    let under_way = [1_000_000_000, 997_500_000, 995_000_000, 992_500_000];
    assert_ns(&spans.service_time, [0; 1_196].into_iter().chain(under_way));
    let waits = (403..1_200).map(|n| (1_997_500_000_u64).saturating_sub(n * 2_500_000));
    assert_ns(&spans.send_lag, [0; 403].into_iter().chain(waits));
    assert_ns(&spans.own_lag, [0; 1_200]);
}

/// With 500 connections everything is sent when it is due, and the service time shows the stall as
/// well.
#[test]
fn with_a_connection_for_everyone_the_service_time_shows_the_stall() {
    let played = stalled(500);
    let spans = &played.measured().spans;
    assert_eq!(spans.service_time.summary(), spans.response_time.summary());
    assert_ns(&spans.send_lag, [0; 1_200]);
}

/// 4 users whose answers take 1 ms, and a stall from 600 to 1,600 ms: 4 requests of 4,000 are in it,
/// and no schedule could tell what else should have been. That is what a closed loop is.
#[test]
fn a_closed_loop_hides_a_stall() {
    let stall = 600 * MS..1_600 * MS;
    let script = Script::answering(move |asked| {
        let is_stalled = stall.contains(&asked.at);
        vec![(if is_stalled { stall.end - asked.at } else { MS }, ok())]
    });
    let played = play(&closed(4, 2_000), script);
    assert_eq!(counts(&played), [4_004, 4_004, 4_000, 0, 4, 0]);
    let measured = played.measured();
    assert_ms(&measured.spans.response_time, [1; 3_996].into_iter().chain([1_000; 4]));
    let groups = measured.by_connection.groups.values();
    let each = groups.map(|group| (group.connections, group.answers));
    assert_eq!(each.collect::<Vec<_>>(), [(4, 4_000)]);
}

/// 2 connections whose answers take 100 ms carry 20/s, and 100/s are due. The k-th is sent at 100
/// floor(k / 2) ms, and those with odd numbers 10 ms later: it is answered 100 + 80 floor(k / 2) ms
/// after it was due. Two are under way at the end, and 80 are never sent.
#[test]
fn what_no_connection_was_free_for_is_unsent() {
    let played = play(&open(2, 100.0, 1_000), Script::after(100 * MS));
    assert_eq!(counts(&played), [100, 20, 18, 0, 2, 80]);
    let spans = &played.measured().spans;
    assert_ms(&spans.response_time, (0..18).map(|k| 100 + 80 * (k / 2)));
    assert_ms(&spans.service_time, [100; 18]);
    assert_ms(&spans.own_lag, [0; 20]);
}

/// 2 connections whose answers take 100 ms carry 20/s, 100/s are due, and users give up after 30 ms. A connection that becomes free takes the request that
/// was due 30 ms before; all that are older are unsent.
#[test]
fn who_waits_for_too_long_is_given_up() {
    let mut spec = open(2, 100.0, 1_000);
    spec.timeouts.patience_ns = Some(30 * MS);
    let played = play(&spec, Script::after(100 * MS));
    assert_eq!(counts(&played), [100, 20, 18, 0, 2, 80]);
    let spans = &played.measured().spans;
    assert_ms(&spans.send_lag, [0, 0].into_iter().chain([30; 18]));
    assert_ms(&spans.response_time, [100, 100].into_iter().chain([130; 16]));
}

/// Nothing is ever answered: 4 connections carry one request each, which are 500, 490, 480 and
/// 470 ms old at the end; the other 46 of 50 are never sent.
#[test]
fn a_request_that_hangs_is_as_old_as_it_is() {
    let played = play(&open(4, 100.0, 500), Script::answering(|_| Vec::new()));
    assert_eq!(counts(&played), [50, 4, 0, 0, 4, 46]);
    let measured = played.measured();
    assert_ms(&measured.spans.open_age, [500, 490, 480, 470]);
    assert_eq!(measured.spans.response_time.count(), 0);
    let by_connection = &measured.by_connection;
    assert_eq!((by_connection.without_answer, by_connection.groups.len()), (4, 0));
}

/// Nothing is answered, 1 connection, 20/s, a timeout of 120 ms: the k-th request is due at 50 k ms
/// and sent when the timeout of the one before frees the connection, at 120 k ms. So it is given up
/// 120 + 70 k ms after it was due. The 9th is under way at the end, and 11 are never sent.
#[test]
fn timeouts_count_from_the_intended_instant() {
    let mut spec = open(1, 20.0, 1_000);
    spec.timeouts.request_ns = 120 * MS;
    let played = play(&spec, Script::answering(|_| Vec::new()));
    assert_eq!(counts(&played), [20, 9, 0, 8, 1, 11]);
    let spans = &played.measured().spans;
    assert_ms(&spans.service_time, [120; 8]);
    assert_ms(&spans.response_time, (0..8).map(|k| 120 + 70 * k));
}

/// One answer of 50 takes 400 ms where 100 are allowed: one timeout, on a connection that is not used
/// again, and 49 answers.
#[test]
fn only_the_slow_one_times_out() {
    let mut spec = closed(1, 10_000);
    spec.stop.requests = Some(50);
    spec.timeouts.request_ns = 100 * MS;
    let slow = |nth| if nth == 20 { 400 } else { 1 };
    let played = play(&spec, Script::answering(move |asked| vec![(slow(asked.nth) * MS, ok())]));
    assert_eq!(counts(&played), [50, 50, 49, 1, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::Timeout, 1)]);
    assert_eq!(played.measured().connections.opened, 2);
    assert_ms(&played.measured().spans.service_time, [1; 49].into_iter().chain([100]));
}

/// 300 requests at 1,000/s in a stage of 2 s: the number ends it.
#[test]
fn a_number_of_requests_ends_an_open_loop() {
    let mut spec = open(20, 1_000.0, 2_000);
    spec.stop.requests = Some(300);
    let played = play(&spec, Script::after(5 * MS));
    assert_eq!(counts(&played), [300, 300, 300, 0, 0, 0]);
    assert_ms(&played.measured().spans.response_time, [5; 300]);
}

/// 200/s, 500 ms of warm-up and 1,000 ms measured: 100 requests only count, and 200 are measured.
#[test]
fn a_warm_up_shifts_nothing() {
    let mut spec = open(10, 200.0, 1_500);
    spec.warm_up = WarmUp::Fixed { duration_ns: 500 * MS };
    spec.stop.duration_ns = Some(1_000 * MS);
    let played = play(&spec, Script::after(MS));
    assert_eq!(played.stretches[0].requests.completed, 100);
    assert_eq!(counts(&played), [200, 200, 200, 0, 0, 0]);
    assert_ms(&played.measured().spans.response_time, [1; 200]);
}

/// From 0 to 400/s within 500 ms, which is the warm-up, and 400/s for 500 ms: 100 requests and 200.
#[test]
fn a_ramp_and_its_warm_up_are_told_apart() {
    let stage = |from_per_s, to_per_s| Stage { duration_ns: 500 * MS, from_per_s, to_per_s };
    let stages = vec![stage(0.0, 400.0), stage(400.0, 400.0)];
    let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages };
    let warm_up = WarmUp::Fixed { duration_ns: 500 * MS };
    let played = play(&LoadSpec { schedule, warm_up, ..closed(8, 500) }, Script::after(MS));
    assert_eq!(played.stretches[0].requests.scheduled, 100);
    assert_eq!(counts(&played), [200, 200, 200, 0, 0, 0]);
    assert_eq!(played.measured().connections.opened, 8);
}

/// The first 6 answers take 100 ms and the others 1 ms; 2 users, 400 ms of warm-up and 300 ms
/// measured. No slow one is measured. The answers that come as measuring starts belong to it, and
/// those that come as it ends do not.
#[test]
fn what_is_slow_in_the_warm_up_is_not_measured() {
    let mut spec = closed(2, 300);
    spec.warm_up = WarmUp::Fixed { duration_ns: 400 * MS };
    let slow = |nth| if nth < 6 { 100 } else { 1 };
    let played = play(&spec, Script::answering(move |asked| vec![(slow(asked.nth) * MS, ok())]));
    assert_eq!(counts(&played), [602, 602, 600, 0, 2, 0]);
    assert_ms(&played.measured().spans.service_time, [1; 600]);
    assert_eq!(played.measured().connections.peak, 2);
}

/// From 0 to 1,000/s within 2 s: N(t) = 250 t^2, so that the n-th of 1,000 requests is sent after
/// sqrt(n / 250) s: half of them in the last 0.586 s.
#[test]
fn a_ramp_sends_each_request_at_its_instant() {
    let stages = vec![Stage { duration_ns: 2_000 * MS, from_per_s: 0.0, to_per_s: 1_000.0 }];
    let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages };
    let sent_at = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&sent_at);
    let script = Script::answering(move |asked| {
        seen.borrow_mut().push(asked.at);
        vec![(MS, ok())]
    });
    let played = play(&LoadSpec { schedule, ..open(50, 1.0, 1) }, script);
    assert_eq!(counts(&played)[..2], [1_000, 1_000]);
    for (n, at) in sent_at.borrow().iter().enumerate() {
        let right = ((n as f64 / 250.0).sqrt() * 1e9).round() as u64;
        assert!(at.abs_diff(right) <= 1, "request {n}: {at} for {right}");
    }
}

/// An answer of these pieces, each so many milliseconds after the one before, has these spans from
/// sending to the end of the head, and from there to the end of the body.
#[track_caller]
fn assert_spans(pieces: &'static [(u64, &'static str)], headers_ms: u64, body_ms: u64) {
    let script = Script::answering(move |_| {
        let mut at = 0;
        let piece = |(ms, text): &(u64, &str)| {
            at += ms * MS;
            (at, Act::Send(text.as_bytes().to_vec()))
        };
        pieces.iter().map(piece).collect()
    });
    let mut spec = closed(2, 60_000);
    spec.stop.requests = Some(20);
    let played = play(&spec, script);
    assert_eq!((played.measured().requests.good, errors(&played)), (20, Vec::new()));
    let spans = &played.measured().spans;
    assert_ms(&spans.headers, [headers_ms; 20]);
    assert_ms(&spans.body, [body_ms; 20]);
    assert_ms(&spans.service_time, [headers_ms + body_ms; 20]);
}

#[test]
fn a_pause_is_in_the_span_that_it_belongs_to() {
    const LINE: &str = "HTTP/1.1 200 OK\r\n";
    const LENGTH: &str = "Content-Length: 5\r\n\r\n";
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_spans(&[(30, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")], 30, 0);
    assert_spans(&[(1, LINE), (30, LENGTH), (0, "hello")], 31, 0);
    assert_spans(&[(1, HEAD), (30, "hello")], 1, 30);
    assert_spans(&[(1, HEAD), (0, "he"), (30, "llo")], 1, 30);
    assert_spans(&[(1, CHUNKED), (0, "5"), (30, "\r\nhello\r\n0\r\n\r\n")], 1, 30);
    assert_spans(&[(1, CHUNKED), (0, "5\r\nhe"), (30, "llo\r\n0\r\n\r\n")], 1, 30);
    assert_spans(
        &[(30, LINE), (30, "Transfer-Encoding: chunked\r\n\r\n5\r\nh"), (30, "ello\r\n0\r\n\r\n")],
        60,
        30,
    );
}

/// Ten users. What a server reads at one instant is a batch: it answers the first request of each
/// after 17 us, and the others after 106 us. Whatever the batches are, the first ones are known.
#[test]
fn the_first_request_of_each_batch_is_known() {
    let us = MS / 1_000;
    let mut last = None;
    let script = Script::answering(move |asked| {
        let is_first = last.replace(asked.at) != Some(asked.at);
        vec![(if is_first { 17 * us } else { 106 * us }, ok())]
    });
    let mut spec = closed(10, 1_000);
    spec.stop.requests = Some(1_000);
    let played = play(&spec, script);
    let spans = &played.measured().spans;
    let (first, others) =
        (&spans.first_in_batch, spans.service_time.without(&spans.first_in_batch));
    // Whose request was the first goes round alone until the others are back.
    assert!(others.count() > 40 && first.count() > 900, "{} of 1,000", first.count());
    assert_ns(first, vec![17 * us; first.count() as usize]);
    assert_ns(&others, vec![106 * us; others.count() as usize]);
}

/// Ten users who are answered together send together: the k-th of each round stands in place k.
#[test]
fn the_places_of_a_batch_are_counted_for_each_connection() {
    let mut spec = closed(10, 1_000);
    spec.stop.requests = Some(1_000);
    let played = play(&spec, Script::after(MS));
    let groups = &played.measured().by_connection.groups;
    let sum = |of: fn(&ConnectionGroup) -> u64| groups.values().map(of).sum::<u64>();
    assert_eq!((sum(|it| it.connections), sum(|it| it.answers)), (10, 1_000));
    assert_eq!(sum(|it| it.places), 100 * (1..=10).sum::<u64>());
}

/// One request in five is slow, wherever it stands in its batch: both groups have both times.
#[test]
fn a_server_with_two_kinds_of_answers_shows_them_in_every_place() {
    let slow = |nth: u64| nth.is_multiple_of(5);
    let script =
        Script::answering(move |asked| vec![(if slow(asked.nth) { 9 } else { 1 } * MS, ok())]);
    let mut spec = closed(10, 60_000);
    spec.stop.requests = Some(5_000);
    let spans = play(&spec, script).stretches.remove(0).spans;
    let share = |times: &Histogram| times.fraction_at_or_below(5 * MS).unwrap();
    let others = spans.service_time.without(&spans.first_in_batch);
    for times in [&spans.first_in_batch, &others] {
        assert!(times.count() > 500 && (0.5..0.95).contains(&share(times)), "{}", share(times));
    }
}

/// What is said of the modes of these times.
fn said_of_modes(played: &Played) -> Vec<String> {
    let mut record = ExampleTrial::hello().build();
    record.load.as_mut().unwrap().measured.spans = played.measured().spans.clone();
    let caveats = judge_trial(&record, &Context::default()).into_iter().map(|caveat| caveat.id);
    caveats.filter(|id| ["batches", "bimodal"].contains(&id.as_str())).collect()
}

/// Five users. Of what comes within a millisecond, one server answers the first after 17 us and the
/// others at its end: the user with the fast answer then sends alone, and waits with the others. So half
/// of the first requests are slow, and only first ones are fast. Another server is slow once in five,
/// whatever the place in a batch is.
#[test]
fn the_judge_knows_batches_from_two_kinds_of_answers() {
    let us = MS / 1_000;
    let mut end = 0;
    let first_at_once = Script::answering(move |asked| {
        let is_first = asked.at >= end;
        if is_first {
            end = asked.at + MS;
        }
        vec![(if is_first { 17 * us } else { end - asked.at }, ok())]
    });
    let played = play(&closed(5, 1_000), first_at_once);
    let spans = &played.measured().spans;
    let fast = |times: &Histogram| times.fraction_at_or_below(20 * us).unwrap();
    assert!((0.4..0.6).contains(&fast(&spans.first_in_batch)));
    assert_eq!(fast(&spans.service_time.without(&spans.first_in_batch)), 0.0);
    assert_eq!(said_of_modes(&played), ["batches"]);

    let two_kinds = Script::answering(move |asked| {
        vec![(if asked.nth.is_multiple_of(5) { 9 } else { 1 } * MS, ok())]
    });
    assert_eq!(said_of_modes(&play(&closed(5, 5_000), two_kinds)), ["bimodal"]);
}

/// A server that serves one request after the other, 10 us each, for ten users. It answers each as
/// it is done, or all that it has read together. Throughput and mean are alike: 100,000/s and 100 us
/// (N = X R). So batches change the shape of the times, and nothing that targets are ranked by.
#[test]
fn batches_change_neither_throughput_nor_mean() {
    let us = MS / 1_000;
    let played = |together: bool| {
        let (mut free_at, mut round) = (0, 0);
        let script = Script::answering(move |asked| {
            free_at = free_at.max(asked.at) + 10 * us;
            if free_at > round {
                round = if together { asked.at + 100 * us } else { free_at };
            }
            vec![(round.max(free_at) - asked.at, ok())]
        });
        let played = play(&closed(10, 100), script);
        let measured = played.measured();
        (measured.requests.completed, measured.spans.service_time.mean_ns().unwrap())
    };
    let ((each, each_mean), (together, together_mean)) = (played(false), played(true));
    assert!(each.abs_diff(together) <= 20, "{each} and {together} answers");
    assert!((each_mean / together_mean - 1.0).abs() < 0.01, "{each_mean} and {together_mean} ns");
}

/// The server closes behind every answer, or never.
#[test]
fn answers_with_the_end_of_their_connection_are_counted() {
    for closes in [true, false] {
        let script = Script::answering(move |_| match closes {
            true => vec![(MS, ok()), (MS, Act::Close)],
            false => vec![(MS, ok())],
        });
        let mut spec = closed(2, 60_000);
        spec.stop.requests = Some(50);
        let played = play(&spec, script);
        let stamps = played.measured().stamps;
        assert_eq!((stamps.kernel, stamps.with_end), (50, if closes { 50 } else { 0 }));
        assert_eq!(stamps.early, 0);
    }
}
