//! Connections that fail and answers that do not end, with the exact number of attempts.
use pippin_model::load::{LoadSpec, Schedule, WarmUp};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;

use super::times::{assert_ms, counts, errors, open};
use super::world::{Act, BEGIN, Script, ok};
use super::{MS, closed, play};

/// 1,000 users wait for 100 ms before they try again: they try at 0, 100 and 200 ms.
#[test]
fn many_who_are_refused_wait_for_longer() {
    let refuses = |_| vec![(0, Act::Refuse(libc::ECONNREFUSED))];
    let played = play(&closed(1_000, 300), Script::after(0).connecting(refuses));
    assert_eq!(counts(&played), [3_000, 0, 0, 0, 0, 3_000]);
    assert_eq!(errors(&played), [(ErrorKind::ConnectRefused, 3_000)]);
}

/// A server that accepts and closes at once is asked no more often than one that refuses: every
/// 10 ms. What was sent has failed. A reset before any byte arrived says that nothing was read.
#[test]
fn who_is_hung_up_on_tries_again_every_10_ms() {
    let hangs_up = |end: Act| {
        let connect = move |_| vec![(0, Act::Accept), (0, end.clone())];
        play(&closed(2, 300), Script::after(0).connecting(connect))
    };
    let played = hangs_up(Act::Close);
    assert_eq!(counts(&played), [60, 60, 0, 60, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::CloseBeforeAnswer, 60)]);
    let played = hangs_up(Act::Break(libc::ECONNRESET));
    assert_eq!(counts(&played), [60, 0, 0, 0, 0, 60]);
    assert_eq!(errors(&played), [(ErrorKind::ConnectReset, 60)]);
}

/// A load to a server that never accepts, where connecting may take 100 ms.
fn never_accepted(mut spec: LoadSpec) -> super::Played {
    spec.timeouts.connect_ns = 100 * MS;
    play(&spec, Script::after(0).connecting(|_| Vec::new()))
}

/// 2 users try at 0, 110, 220 and 330 ms, and the last attempt is under way at the end.
#[test]
fn who_is_never_accepted_tries_again_after_each_timeout() {
    let played = never_accepted(closed(2, 350));
    assert_eq!(counts(&played), [8, 0, 0, 0, 0, 8]);
    assert_eq!(errors(&played), [(ErrorKind::ConnectTimeout, 6)]);
}

/// 64 of 200 users try at once: at 0 ms, and as soon as the ones before have taken 100 ms.
#[test]
fn few_connections_are_opened_at_once() {
    let played = never_accepted(closed(200, 1_001));
    assert_eq!(counts(&played), [704, 0, 0, 0, 0, 704]);
    assert_eq!(errors(&played), [(ErrorKind::ConnectTimeout, 640)]);
}

/// Arrivals of an open loop ask for 200 connections, of which 64 are opened at once. 64 have failed before the load begins,
/// arrivals ask for the other 136, and from then on those that have failed have their turns, 64 at once.
#[test]
fn few_connections_are_opened_at_once_for_arrivals() {
    let played = never_accepted(open(200, 2_000.0, 500));
    assert_eq!(counts(&played), [1_000, 0, 0, 0, 0, 1_000]);
    let [(ErrorKind::ConnectTimeout, attempts)] = errors(&played)[..] else { panic!("timeouts") };
    assert!((64 + 136..=64 + 136 + 4 * 64).contains(&attempts), "{attempts}");
}

/// 200 connections in rows of 64 would take 400 ms. After 100 ms without success the load is set up; it
/// begins 1 ms after the wait of 10 ms that was under way.
#[test]
fn setting_up_ends_without_success() {
    let played = never_accepted(closed(200, 100));
    assert_eq!(played.start - BEGIN, 111 * MS);
}

/// Nobody listens. Each of 30 arrivals makes its user try once, and two attempts come before the load.
#[test]
fn arrivals_that_find_no_server_are_unsent() {
    let refuses = |_| vec![(0, Act::Refuse(libc::ECONNREFUSED))];
    let played = play(&open(2, 100.0, 300), Script::after(0).connecting(refuses));
    assert_eq!(counts(&played), [30, 0, 0, 0, 0, 30]);
    assert_eq!(errors(&played), [(ErrorKind::ConnectRefused, 32)]);
}

/// 20 users still think when their connections have taken too long: each has one timer, whatever it
/// waits for, and no request is due before its user has thought. A few have thought for nearly all
/// of their minute when the load begins.
#[test]
fn nobody_asks_before_it_has_thought() {
    let schedule = Schedule::Closed { think: Some(Spread::exactly(60_000 * MS)) };
    let played = never_accepted(LoadSpec { schedule, ..closed(20, 400) });
    let [scheduled, sent, ..] = counts(&played);
    assert!(sent == 0 && scheduled < 5, "{:?}", counts(&played));
}

/// Every answer begins, and none ends: 4 of 50 requests are under way for ever.
#[test]
fn answers_that_never_end_are_no_answers() {
    const HEADS: [&str; 2] = [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
    ];
    for (head, piece) in HEADS.into_iter().zip(["3\r\nabc\r\n", "abc"]) {
        let script = Script::answering(move |_| {
            let send = |text: &str| Act::Send(text.as_bytes().to_vec());
            let pieces = (1..30).map(|nth| (20 * nth * MS, send(piece)));
            [(0, send(head))].into_iter().chain(pieces).collect()
        });
        let played = play(&open(4, 100.0, 500), script);
        assert_eq!(counts(&played), [50, 4, 0, 0, 4, 46]);
        let by_connection = &played.measured().by_connection;
        assert_eq!((by_connection.without_answer, by_connection.with_head_only), (4, 4));
    }
}

/// Each connection's first answer comes in the warm-up, and no byte of a second one: what hangs has
/// no head, although an answer came before it.
#[test]
fn silence_after_an_answer_is_no_answer_that_has_begun() {
    let mut spec = closed(4, 300);
    spec.warm_up = WarmUp::Fixed { duration_ns: 100 * MS };
    let script = Script::answering(|asked| match asked.of_connection {
        0 => vec![(MS, ok())],
        _ => Vec::new(),
    });
    let played = play(&spec, script);
    let by_connection = &played.measured().by_connection;
    assert_eq!((by_connection.without_answer, by_connection.with_head_only), (4, 0));
}

/// 100 million a second over 4 connections whose answers take 1 ms: a load counts what it could not
/// send, and ends when it should.
#[test]
fn a_rate_that_nobody_can_send_is_counted() {
    let played = play(&open(4, 1e8, 1_000), Script::after(MS));
    assert_eq!(counts(&played), [100_000_000, 4_000, 3_996, 0, 4, 99_996_000]);
}

/// 200/s for 500 ms, and each connection is closed after 3 answers. 4 connections carry the first
/// 12 of 100 requests. The other 88 need 30 more, one after the other.
#[test]
fn closed_connections_are_replaced_when_they_are_needed() {
    let script = Script::answering(|asked| match asked.of_connection {
        2 => vec![(MS, ok()), (MS, Act::Close)],
        _ => vec![(MS, ok())],
    });
    let played = play(&open(4, 200.0, 500), script);
    assert_eq!(counts(&played), [100, 100, 100, 0, 0, 0]);
    let measured = played.measured();
    assert_eq!((measured.connections.reconnects, measured.connections.closed_by_server), (30, 33));
    assert_eq!((measured.closes.requests_range(), errors(&played)), (Some((3, 3)), Vec::new()));
}

/// A request may take 150 ms. The first answer comes after 10 ms, and then the generator stands
/// still until 610 ms. The second one came meanwhile, after 60 ms: it is no timeout, and its time is
/// that of its arrival.
#[test]
fn a_generator_that_was_late_itself_blames_no_server() {
    let mut spec = closed(2, 60_000);
    spec.stop.requests = Some(2);
    spec.timeouts.request_ns = 150 * MS;
    let script = Script::answering(|asked| vec![([10, 60][asked.nth as usize] * MS, ok())]);
    let played = play(&spec, script.stopping(10, 600));
    assert_eq!((counts(&played), errors(&played)), ([2, 2, 2, 0, 0, 0], Vec::new()));
    assert_ms(&played.measured().spans.service_time, [10, 60]);
}
