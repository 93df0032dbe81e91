//! One connection sends, and every connection is to have the message: rooms whose waits, losses and
//! lies are known.
use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;
use pippin_testing::messages::{CLOSE, FINAL, frame, text};

use super::framing::{Framing, unmasked};
use super::messages::{consenting, numbered};
use super::times::{assert_ms, counts, errors, open};
use super::world::{Act, Acts, Script};
use super::{MS, Played, closed, play_over};
use crate::protocol::websocket::Broadcast;

/// So many broadcasts to so many connections, each of which may take 300 ms.
fn counted(connections: u32, requests: u64) -> LoadSpec {
    let mut spec = closed(connections, 60_000);
    spec.stop.requests = Some(requests);
    spec.timeouts.request_ns = 300 * MS;
    spec
}

/// A room lets connection `n` in after so many milliseconds, and does this with the payload of the n-th
/// message.
fn room(
    door_ms: impl Fn(u64) -> u64 + 'static,
    mut says: impl FnMut(u64, &[u8]) -> Acts + 'static,
) -> Script {
    let script = Script::answering(move |asked| says(asked.nth, &unmasked(asked.bytes)));
    consenting(script, door_ms)
}

/// The text comes to each of so many connections after so many milliseconds; to nobody where there
/// are none.
fn copies(payload: &[u8], after_ms: impl IntoIterator<Item = Option<u64>>) -> Acts {
    let copy = |(to, ms): (u64, Option<u64>)| Some((ms? * MS, Act::Tell(to, text(payload))));
    (0..).zip(after_ms).filter_map(copy).collect()
}

fn closes(to: u64, after_ms: u64) -> (u64, Act) {
    (after_ms * MS, Act::Tell(to, frame(FINAL | CLOSE, &1011_u16.to_be_bytes())))
}

fn play(spec: LoadSpec, script: Script) -> Played {
    play_over::<Broadcast>(&numbered(spec, true), script, Framing::WebSocket)
}

/// Lost copies, and messages that nobody asked for.
fn strays(played: &Played) -> (u64, u64) {
    let seen = played.websocket.as_ref().unwrap();
    (seen.lost, seen.unasked)
}

/// Whoever comes first, the first copy comes after 20 ms and the last one after 80 ms.
#[test]
fn the_first_and_the_last_define_the_times() {
    let script = room(
        |_| 0,
        |nth, payload| {
            copies(payload, (0..4).map(|to| Some([40, 80, 20, 40][(to + nth as usize) % 4])))
        },
    );
    let played = play(counted(4, 10), script);
    assert_eq!((counts(&played), errors(&played)), ([10, 10, 10, 0, 0, 0], vec![]));
    let spans = &played.measured().spans;
    assert_ms(&spans.headers, [20; 10]);
    assert_ms(&spans.service_time, [80; 10]);
    assert_ms(&spans.response_time, [80; 10]);
    assert_eq!((strays(&played), played.measured().bytes.body), ((0, 0), 640));
}

/// The fourth message does not come to the member in place 2, or too late: it times out after 300 ms.
/// A late copy is none of the next message, which is answered meanwhile.
#[test]
fn a_message_that_one_does_not_get_in_time_is_lost() {
    for late in [None, Some(305)] {
        let script = room(
            |_| 0,
            move |nth, payload| {
                copies(payload, (0..5).map(|to| if (nth, to) == (3, 2) { late } else { Some(10) }))
            },
        );
        let played = play(counted(5, 12), script);
        assert_eq!(counts(&played), [12, 12, 11, 1, 0, 0]);
        assert_eq!(errors(&played), [(ErrorKind::Timeout, 1)]);
        assert_ms(&played.measured().spans.service_time, [10; 11].into_iter().chain([300]));
        assert_eq!(strays(&played), (1, u64::from(late.is_some())));
        assert_eq!(played.measured().connections.opened, 5);
    }
}

/// In place of its copy of the third message, a member gets a Close after 50 ms: the message fails,
/// although the others have it. The member comes back 10 ms later, as the fifth connection, and the next
/// message waits for it.
#[test]
fn a_receiver_that_is_closed_comes_back() {
    let script = room(
        |_| 0,
        |nth, payload| {
            let mut acts = copies(payload, (0..5).map(|to| (to != 1 || nth < 2).then_some(10)));
            acts.extend((nth == 2).then(|| closes(1, 50)));
            acts
        },
    );
    let played = play(counted(4, 10), script);
    assert_eq!(counts(&played), [10, 10, 9, 1, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::CloseInBody, 1)]);
    assert_ms(&played.measured().spans.response_time, [10; 8].into_iter().chain([20]));
    assert_ms(&played.measured().spans.own_lag, [0; 10]);
    assert_eq!((strays(&played), played.measured().connections.opened), ((1, 0), 5));
    assert_eq!(played.websocket.as_ref().unwrap().close_codes, [(1011, 1)].into());
}

/// The third member is let in after 300 ms: each message finds all members in the room.
#[test]
fn nothing_is_sent_before_all_listen() {
    let door = |nth| if nth == 2 { 300 } else { 0 };
    let script = room(door, |_, payload| copies(payload, [Some(10); 3]));
    let played = play(counted(3, 6), script);
    assert_eq!((counts(&played), errors(&played)), ([6, 6, 6, 0, 0, 0], vec![]));
    assert_ms(&played.measured().spans.response_time, [10; 6]);
    assert_ms(&played.measured().spans.upgrade, [0, 0, 300]);
}

/// One message is under way at a time: of 100 a second that take 50 ms each, ten are sent in half a
/// second, the k-th 40 k ms after it was due.
#[test]
fn an_open_loop_of_broadcasts() {
    let script = |ms| room(|_| 0, move |_, payload| copies(payload, [Some(ms); 3]));
    let enough = play(open(3, 40.0, 500), script(10));
    assert_eq!((counts(&enough), errors(&enough)), ([20, 20, 20, 0, 0, 0], vec![]));
    assert_ms(&enough.measured().spans.response_time, [10; 20]);
    let few = play(open(3, 100.0, 500), script(50));
    assert_eq!((counts(&few), errors(&few)), ([50, 10, 9, 0, 1, 40], vec![]));
    assert_ms(&few.measured().spans.response_time, (0..9).map(|k| 50 + 40 * k));
    assert_ms(&few.measured().spans.own_lag, [0; 10]);
}
