//! What users do between their requests: they think, go through steps, or send several at once.
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use pippin_model::load::{LoadSpec, Schedule, WarmUp};
use pippin_model::result::ErrorKind;
use pippin_model::scenario::file::Written;
use pippin_model::schedule::users;
use pippin_model::text::file::parse_toml;
use pippin_model::text::units::Spread;

use super::framing::Framing;
use super::times::{assert_ms, counts, errors, open};
use super::world::{Act, Script, ok};
use super::{MS, Played, closed, play, play_over};
use crate::protocol::http1::Varied;

/// A server that answers after `answer_ms`, and the instants at which it read requests.
pub(super) fn noting(answer_ms: u64) -> (Script, Rc<RefCell<Vec<u64>>>) {
    let read_at = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&read_at);
    let script = Script::answering(move |asked| {
        seen.borrow_mut().push(asked.at);
        vec![(answer_ms * MS, ok())]
    });
    (script, read_at)
}

/// The spans between instants, in nanoseconds.
fn gaps(instants: &RefCell<Vec<u64>>) -> Vec<u64> {
    instants.borrow().windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Answers take 1 ms and thoughts 50 ms. The first thought has begun some time before the load.
#[test]
fn users_think_between_answer_and_request() {
    let schedule = Schedule::Closed { think: Some(Spread::exactly(50 * MS)) };
    let mut spec = LoadSpec { schedule, ..closed(1, 60_000) };
    spec.stop.requests = Some(20);
    let (script, read_at) = noting(1);
    let played = play(&spec, script);
    assert_eq!(gaps(&read_at), [51 * MS; 19]);
    assert_ms(&played.measured().spans.response_time, [1; 20]);
    assert_ms(&played.measured().spans.send_lag, [0; 20]);
}

/// 4 requests sent at once, each answered 30 ms after the one before: service times of 30, 60, 90 and
/// 120 ms. Who takes the time from the previous answer, as a stopwatch on the connection would, sees
/// 30 ms for all.
#[test]
fn who_pipelines_waits_for_those_before() {
    let mut spec = closed(1, 60_000);
    spec.stop.requests = Some(4);
    spec.connections.pipeline = 4;
    let script = Script::answering(|asked| vec![(30 * (asked.nth + 1) * MS, ok())]);
    let played = play(&spec, script);
    assert_ms(&played.measured().spans.service_time, [30, 60, 90, 120]);
    assert_ms(&played.measured().spans.response_time, [30, 60, 90, 120]);
}

/// Each delay is in the service time as it is.
#[test]
fn delays_are_service_times() {
    let delay_ms = |nth: u64| 5 + nth * nth % 21;
    let mut spec = closed(1, 60_000);
    spec.stop.requests = Some(60);
    let played =
        play(&spec, Script::answering(move |asked| vec![(delay_ms(asked.nth) * MS, ok())]));
    assert_ms(&played.measured().spans.service_time, (0..60).map(delay_ms));
}

/// The first 6 answers have a wrong status: they are errors of the warm-up, and the measured part has
/// none.
#[test]
fn what_is_wrong_in_the_warm_up_is_not_measured() {
    let mut spec = closed(2, 100);
    spec.warm_up = WarmUp::Fixed { duration_ns: 400 * MS };
    let script = Script::answering(|asked| {
        let busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".to_vec();
        vec![(MS, if asked.nth < 6 { Act::Send(busy) } else { ok() })]
    });
    let played = play(&spec, script);
    let of_warm_up: Vec<_> = played.stretches[0].errors.clone().into_iter().collect();
    assert_eq!(of_warm_up, [(ErrorKind::WrongStatus, 6)]);
    assert_eq!(errors(&played), []);
}

/// Applies a load of these steps.
pub(super) fn walk(spec: LoadSpec, steps: &str, script: Script) -> Played {
    walk_with(spec, steps, Path::new(""), script)
}

/// Applies a load of these steps, with files of this folder.
pub(super) fn walk_with(spec: LoadSpec, steps: &str, folder: &Path, script: Script) -> Played {
    let written: Written = parse_toml(Path::new("walk.toml"), steps).unwrap();
    let (mut requests, scenario) = written.resolve(folder).unwrap();
    requests.iter_mut().for_each(|request| request.host = "sim".into());
    let spec = LoadSpec { requests: requests.into(), scenario: Some(scenario), ..spec };
    play_over::<Varied>(&spec, script, Framing::Heads)
}

/// 30 ms after the first of 2 steps and nothing after the second, and answers after 10 ms.
#[test]
fn users_think_between_their_steps() {
    let mut spec = closed(1, 60_000);
    spec.stop.requests = Some(6);
    let (script, read_at) = noting(10);
    let steps = "[[steps]]\nget = \"/a\"\nthink = \"30ms\"\n[[steps]]\nget = \"/b\"\n";
    let played = walk(spec, steps, script);
    assert_eq!(counts(&played), [6, 6, 6, 0, 0, 0]);
    assert!(matches!(
        gaps(&read_at)[..],
        [40_000_000, 10_000_000, ..] | [10_000_000, 40_000_000, ..]
    ));
}

/// Walks of 2 steps that take 100 ms each, on one connection; 20 arrive within 400 ms. The first
/// walks from 0 on, and the second, which was due at 20 ms, from 200 on. Its second step is under way
/// at the end. The other 18 arrivals are never sent.
#[test]
fn arrivals_that_find_no_user_are_unsent() {
    let steps = "[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let played = walk(open(1, 50.0, 400), steps, Script::after(100 * MS));
    assert_eq!(counts(&played), [22, 4, 3, 0, 1, 18]);
    let [first, second] = &played.measured().steps[..] else { panic!("two steps") };
    assert_ms(&first.response_time, [100, 280]);
    assert_ms(&second.response_time, [100]);
}

/// Sends the user to another place.
fn elsewhere(status: u16, place: &str) -> Act {
    let head =
        format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n");
    Act::Send(head.into_bytes())
}

/// Of each 3 requests the first is sent on after 10 ms, the second after 20 ms, and the third answered
/// after 30 ms: a chain of 60 ms. Its user thinks for 50 ms after the chain, and not within.
#[test]
fn a_chain_of_redirections_is_one_step_and_each_is_a_request() {
    let mut spec = LoadSpec { follow: 2, ..closed(1, 60_000) };
    spec.stop.requests = Some(6);
    let read_at = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&read_at);
    let script = Script::answering(move |asked| {
        seen.borrow_mut().push(asked.at);
        match asked.nth % 3 {
            0 => vec![(10 * MS, elsewhere(302, "/b"))],
            1 => vec![(20 * MS, elsewhere(307, "http://sim/c"))],
            _ => vec![(30 * MS, ok())],
        }
    });
    let steps =
        "[[steps]]\nget = \"/a\"\nthink = \"50ms\"\nexpect = { status = 200, contains = \"ok\" }\n";
    let played = walk(spec, steps, script);
    assert_eq!(counts(&played), [6, 6, 6, 0, 0, 0]);
    assert_eq!(errors(&played), []);
    assert_eq!(gaps(&read_at), [10 * MS, 20 * MS, 80 * MS, 10 * MS, 20 * MS]);
    let measured = played.measured();
    assert_ms(&measured.spans.response_time, [10, 10, 20, 20, 30, 30]);
    let [step] = &measured.steps[..] else { panic!("one step") };
    assert_eq!((step.completed, step.good), (2, 2));
    assert_ms(&step.response_time, [60, 60]);
    assert_ms(&step.service_time, [60, 60]);
    let followed = measured.followed.as_ref().unwrap();
    assert_eq!((followed.completed, followed.good), (4, 4));
    assert_ms(&followed.response_time, [10, 10, 20, 20]);
}

/// 10 chains arrive each second, whatever they take: each of 2 requests of 10 ms.
#[test]
fn chains_arrive_and_their_redirections_do_not() {
    let spec = LoadSpec { follow: 5, ..open(4, 10.0, 1_000) };
    let script = Script::answering(|asked| {
        let answer = if asked.nth % 2 == 0 { elsewhere(303, "/b") } else { ok() };
        vec![(10 * MS, answer)]
    });
    let played = walk(spec, "[[steps]]\nget = \"/a\"\n", script);
    assert_eq!(counts(&played), [20, 20, 20, 0, 0, 0]);
    let [step] = &played.measured().steps[..] else { panic!("one step") };
    assert_ms(&step.response_time, [20; 10]);
}

/// A redirection to another origin, and one more than is followed: the answer that says so is wrong, and
/// the user begins anew. Connections that end after a redirection do not end the chain.
#[test]
fn a_chain_that_cannot_be_followed_is_an_error_of_its_step() {
    for place in ["http://other/b", "/a"] {
        let mut spec = LoadSpec { follow: 2, ..closed(1, 60_000) };
        spec.stop.requests = Some(6);
        let script = Script::answering(move |_| {
            let head = format!(
                "HTTP/1.1 302 Elsewhere\r\nLocation: {place}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            );
            vec![(10 * MS, Act::Send(head.into_bytes())), (10 * MS, Act::Close)]
        });
        let played = walk(spec, "[[steps]]\nget = \"/a\"\n", script);
        let measured = played.measured();
        let chains = if place == "/a" { 2 } else { 6 };
        assert_eq!(errors(&played), [(ErrorKind::Redirect, chains)], "{place}");
        assert_eq!((measured.requests.completed, measured.requests.good), (6, 6 - chains));
        let [step] = &measured.steps[..] else { panic!("one step") };
        assert_eq!((step.completed, step.good), (chains, 0), "{place}");
        assert_eq!(measured.followed.as_ref().map(|row| row.completed), Some(6 - chains));
    }
}

/// A load of these users, whose requests are kept one by one.
fn crowd(stages: &str, think: Option<Spread>) -> LoadSpec {
    let stages = users::parse(stages).unwrap();
    let length_ms = users::length_ns(&stages) / MS;
    let most = users::most(&stages);
    let schedule = Schedule::Users { think, stages };
    LoadSpec { schedule, samples: 10_000, ..closed(most, length_ms) }
}

/// How many requests each user has sent, and the instants of its first and last one, in milliseconds
/// after the first of all.
fn by_user(played: &Played) -> Vec<(usize, u64, u64)> {
    let requests = &played.sample.as_ref().unwrap().requests;
    let users = requests.iter().map(|one| one.user).max().map_or(0, |most| most + 1);
    let start = requests.iter().map(|one| one.sent_unix_ns).min().unwrap();
    let of = |user: u32| {
        let sent = requests.iter().filter(|one| one.user == user);
        let sent = sent.map(|one| (one.sent_unix_ns - start) / MS);
        let sent: Vec<u64> = sent.collect();
        (sent.len(), sent.iter().copied().min().unwrap(), sent.iter().copied().max().unwrap())
    };
    (0..users).map(of).collect()
}

/// 4 users come within 400 ms, stay for 200 ms, and go within 400 ms; answers take 35 ms. User n is
/// there from n x 100 ms to 1,000 - n x 100 ms, and finishes what it has begun: 29 requests, of which
/// the last is under way at the end, 23, 18 and 12.
#[test]
fn users_come_and_go_as_the_stages_say() {
    let spec = crowd("4@400ms,4@200ms,0@400ms", None);
    let played = play(&spec, Script::after(35 * MS));
    let users = [(29, 0, 980), (23, 100, 870), (18, 200, 795), (12, 300, 685)];
    assert_eq!(by_user(&played), users);
    assert_eq!(counts(&played), [82, 82, 81, 0, 1, 0]);
    assert_ms(&played.measured().spans.response_time, [35; 81]);
    assert_eq!(played.measured().connections.opened, 4);
    assert_eq!(errors(&played), []);
}

/// Three users at once, two of which go after 100 ms and come again after 300 ms, over new
/// connections.
#[test]
fn users_jump_and_come_again() {
    let spec = crowd("3@0s,3@100ms,1@0s,1@200ms,3@0s,3@50ms", None);
    let played = play(&spec, Script::after(30 * MS));
    // 12 of the first; of the others 4 before 100 ms and 2 from 300 ms on.
    assert_eq!(by_user(&played), [(12, 0, 330), (6, 0, 330), (6, 0, 330)]);
    assert_eq!(played.measured().connections.opened, 5);
}

/// A user thinks for 80 ms after each answer, which takes 10 ms. It goes at 200 ms, within its third
/// thought, and sends nothing after that.
#[test]
fn who_goes_while_it_thinks_sends_nothing_more() {
    let spec = crowd("1@0s,1@200ms,0@0s,0@300ms", Some(Spread::exactly(80 * MS)));
    let played = play(&spec, Script::after(10 * MS));
    assert_eq!(by_user(&played), [(3, 0, 180)]);
    assert_eq!(counts(&played), [3, 3, 3, 0, 0, 0]);
}

/// Walks of 2 steps of 60 ms with 50 ms between. A user goes at 100 ms, within its first thought: it
/// takes its second step at 110 ms, and begins no other walk.
#[test]
fn who_goes_finishes_its_walk() {
    let steps = "[[steps]]\nget = \"/a\"\nthink = \"50ms\"\n[[steps]]\nget = \"/b\"\n";
    let spec = crowd("1@0s,1@100ms,0@0s,0@900ms", None);
    let played = walk(spec, steps, Script::after(60 * MS));
    assert_eq!(by_user(&played), [(2, 0, 110)]);
    let [first, second] = &played.measured().steps[..] else { panic!("two steps") };
    assert_eq!((first.good, second.good), (1, 1));
}
