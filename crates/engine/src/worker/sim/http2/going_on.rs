//! What users do after a connection that ended, was full, or broke the rules.
use pippin_model::load::{LoadSpec, Schedule};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use pippin_testing::frames::answer;

use super::refusals::goaway;
use super::{
    Noted, counted, far_server, frames, hello, most_streams, noting, play, refused, reset, server,
};
use crate::worker::sim::times::{assert_ms, counts, errors, open};
use crate::worker::sim::world::{Act, Script};
use crate::worker::sim::{MS, closed, devices};

/// The instants at which requests were read, in milliseconds.
fn instants(noted: &Noted<(u64, u32)>) -> Vec<u64> {
    noted.borrow().iter().map(|(ms, _)| *ms).collect()
}

/// Three devices come at 0, 20 and 40 ms. The first connection of each leaves its first request to the next
/// one, 1 ms after it has read it, which is opened 10 ms later.
#[test]
fn devices_outlive_a_goaway() {
    let script = far_server(|asked| match asked.connection {
        0 | 2 | 4 => vec![(MS, goaway(0))],
        _ => vec![(10 * MS, hello(asked.tag))],
    });
    let played = play(devices(3, 20, [60, 300, 60]), 1, script);
    let sum = |of: fn(&pippin_model::result::Measured) -> u64| -> u64 {
        played.stretches.iter().map(of).sum()
    };
    assert!(played.stretches.iter().all(|phase| phase.errors.is_empty()));
    assert_eq!(sum(|phase| phase.requests.sent_again), 3);
    assert_eq!(sum(|phase| phase.requests.failed + phase.requests.unsent), 0);
    // 5 ms, 1 ms, 10 ms, 5 ms, and the answer.
    let late =
        played.stretches.iter().map(|phase| phase.spans.response_time.max_ns().unwrap() / MS);
    assert_eq!(late.max(), Some(31));
}

/// Every answer comes twice, and the second one is of a stream that has ended: the requests are right,
/// and each connection is not.
fn twice() -> Script {
    far_server(|asked| {
        let answer = answer(asked.tag, b"hello");
        vec![(10 * MS, frames(&[answer.clone(), answer]))]
    })
}

#[test]
fn a_breach_behind_an_answer_is_an_error() {
    let played = play(counted(1, 50), 1, twice());
    assert_eq!(counts(&played), [50, 50, 50, 0, 0, 0]);
    assert_eq!(played.measured().requests.good, 50);
    assert_eq!(errors(&played), [(ErrorKind::Malformed, 50)]);
    assert_eq!(played.measured().connections.opened, 50);
    assert_ms(&played.measured().spans.response_time, [10].into_iter().chain([15; 49]));
}

#[test]
fn devices_outlive_breaches() {
    let played = play(devices(3, 20, [60, 300, 60]), 1, twice());
    let (mut good, mut breaches) = (0, 0);
    for phase in &played.stretches {
        assert_eq!(phase.requests.good, phase.requests.completed);
        good += phase.requests.good;
        breaches += phase.errors.get(&ErrorKind::Malformed).copied().unwrap_or(0);
        assert_eq!(phase.requests.failed, 0);
        assert_ms(&phase.spans.response_time, vec![15; phase.requests.good as usize]);
    }
    // A device takes 50 ms, so that 8, 7 and 7 follow each other. Behind its last answer nobody listens.
    assert_eq!((good, breaches), (44, 22));
}

/// The first connection leaves its only request to the next one, which is opened 10 ms later: that
/// request is answered at 12 ms, and the one that was due at 10 ms behind it.
#[test]
fn an_open_loop_outlives_a_goaway() {
    let script = server(|asked| match asked.connection {
        0 => vec![(MS, goaway(0))],
        _ => vec![(MS, hello(asked.tag))],
    });
    let (script, read) = noting(script);
    let played = play(open(1, 100.0, 500), 1, script);
    assert_eq!((counts(&played), errors(&played)), ([50, 50, 50, 0, 0, 0], vec![]));
    let right: Vec<u64> = [0, 11, 12].into_iter().chain((2..50).map(|k| 10 * k)).collect();
    assert_eq!(instants(&read), right);
    assert_ms(&played.measured().spans.response_time, [12, 3].into_iter().chain([1; 48]));
    assert_eq!(played.measured().requests.sent_again, 1);
}

/// The first connection answers once, takes nothing more, and ends at 100 ms. Ten requests are due by
/// then, which go over the next one, four at a time.
#[test]
fn who_was_put_aside_takes_another_connection() {
    let script = server(|asked| match asked.connection {
        0 => vec![(MS, most_streams(0)), (MS, hello(asked.tag)), (100 * MS, Act::Close)],
        _ => vec![(MS, hello(asked.tag))],
    });
    let (script, read) = noting(script);
    let played = play(open(1, 100.0, 600), 4, script);
    assert_eq!((counts(&played), errors(&played)), ([60, 60, 60, 0, 0, 0], vec![]));
    let at_once = [[100; 4], [101; 4]].concat().into_iter().chain([102, 102]);
    let right: Vec<u64> = [0].into_iter().chain(at_once).chain((11..60).map(|k| 10 * k)).collect();
    assert_eq!(instants(&read), right);
    assert_ms(&played.measured().spans.own_lag, [0; 60]);
    assert_eq!(played.measured().connections.opened, 2);
}

/// Each request is refused after 50 ms, once, and answered 1 ms after it has come again. The wait is the
/// server's time, and no lag of the generator, which a closed loop's response time leaves out.
#[test]
fn waiting_for_a_refusal_is_the_servers_time() {
    let script = server(|asked| match asked.nth % 2 {
        0 => vec![(50 * MS, refused(asked.tag))],
        _ => vec![(MS, hello(asked.tag))],
    });
    let played = play(counted(1, 6), 1, script);
    assert_eq!((counts(&played), errors(&played)), ([6, 6, 6, 0, 0, 0], vec![]));
    let spans = &played.measured().spans;
    assert_ms(&spans.response_time, [51; 6]);
    assert_ms(&spans.service_time, [1; 6]);
    assert_ms(&spans.send_lag, [50; 6]);
    assert_ms(&spans.own_lag, [0; 6]);
}

/// A stream is reset after 1 ms, and the connection ends with it. The user thinks for 1 ms, and tries
/// again 10 ms after the end: every 11 ms, from somewhere within its first thought on.
#[test]
fn a_server_that_serves_nothing_is_asked_slowly() {
    let script = server(|asked| vec![(MS, reset(asked.tag, 2)), (MS, Act::Close)]);
    let schedule = Schedule::Closed { think: Some(Spread::exactly(MS)) };
    let played = play(LoadSpec { schedule, ..closed(1, 500) }, 1, script);
    assert_eq!(counts(&played), [47, 46, 0, 46, 0, 1]);
    assert_eq!(errors(&played), [(ErrorKind::StreamReset, 46)]);
    assert_eq!(played.measured().connections.opened, 46);
}

/// Each connection refuses its first request three times and ends. The request that follows on the next
/// one is refused once and answered: refusals of one request are not those of the next.
#[test]
fn refusals_of_a_failed_request_are_forgotten() {
    let script = server(|asked| match (asked.connection % 2, asked.of_connection) {
        (0, 0..=2) | (1, 0) => vec![(MS, refused(asked.tag))],
        (0, _) => vec![(MS, Act::Close)],
        _ => vec![(MS, hello(asked.tag)), (0, most_streams(0)), (2 * MS, Act::Close)],
    });
    let played = play(counted(1, 20), 1, script);
    assert_eq!(counts(&played), [20, 20, 10, 10, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::CloseBeforeAnswer, 10)]);
    assert_eq!((played.measured().requests.sent_again, played.read), (40, 60));
}

/// The server takes one stream, none or two, and three again 19 ms later, over and over: nobody is lost,
/// and no wait is a lag of the generator.
#[test]
fn nobody_is_lost_when_a_connection_is_full_again_and_again() {
    let script = server(|asked| {
        let place = asked.of_connection % 3;
        let shrinks = most_streams([1, 0, 2][place as usize]);
        let answers = ((10 + place) * MS, hello(asked.tag));
        vec![answers, (MS, shrinks), (20 * MS, most_streams(3))]
    });
    let played = play(counted(2, 300), 6, script);
    assert_eq!((counts(&played), errors(&played)), ([300, 300, 300, 0, 0, 0], vec![]));
    assert_ms(&played.measured().spans.own_lag, [0; 300]);
}
