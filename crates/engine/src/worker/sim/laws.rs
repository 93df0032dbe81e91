//! What holds whatever servers do: every request has one fate, and no user is forgotten.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pippin_model::load::{
    Arrivals, BodyCheck, Check, LoadSpec, Part, Request, Schedule, Stage, StopRule, WarmUp,
};
use pippin_model::result::{ErrorKind, Exchange, Measured};
use pippin_model::schedule::UserStage;
use pippin_model::text::units::Spread;
use pippin_testing::frames::kind::{DATA, GOAWAY, HEADERS, RST_STREAM, SETTINGS};
use pippin_testing::frames::{self, END_HEADERS, END_STREAM, OK, frame};
use proptest::prelude::*;

use super::framing::Framing;
use super::times::open;
use super::world::{Act, Acts, ReadRequest, Script, answer};
use super::{MS, Played, closed, play, play_over, play_thread};
use crate::error::EngineError;
use crate::protocol::http1::Http1;
use crate::protocol::http2::Http2;
use crate::protocol::order::ByTag;
use crate::protocol::tests::{Echo, put};
use crate::protocol::{Alike, Answers, Asker, AtOnce, End, Protocol, Step};
use crate::request::drawn::Value;
use crate::request::wire::Wire;
use crate::transport::Tcp;

/// How long loads last.
const LENGTH_MS: u64 = 400;

/// Bodies of the requests, which are those of their answers too: an answer that was given to another
/// request is wrong.
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Requests that say their name in their path, or in their body.
fn named(in_body: bool) -> Vec<Request> {
    let request = |name: &&str| {
        let body = BodyCheck::Exact(name.as_bytes().to_vec());
        let check = Check { body, ..Check::default() };
        if in_body {
            let (method, body) = ("PUT".into(), name.as_bytes().to_vec());
            return Request { method, body, check, ..Request::get("/", "sim") };
        }
        Request { check, ..Request::get(&format!("/{name}"), "sim") }
    };
    NAMES.iter().map(request).collect()
}

/// What a server of HTTP/1.1 does with the request of this name, after so many milliseconds.
fn acts(kind: u8, ms: u64, name: &str) -> Acts {
    let at = ms * MS;
    let says = |text: String| Act::Send(text.into_bytes());
    let head = || says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n".into());
    match kind {
        0..=3 => vec![(at, answer(200, "", name))],
        4 => vec![(at, answer(200, "", name)), (at, Act::Close)],
        5 => vec![(at, Act::Close)],
        6 => vec![(at, Act::Break(libc::ECONNRESET))],
        7 => vec![(at, head()), (at + 7 * MS, says(name.into()))],
        8 => vec![(at, head()), (at + MS, Act::Close)],
        9 => vec![(at, says(format!("HTTP/1.1 200 OK\r\n\r\n{name}"))), (at, Act::Close)],
        10 => vec![(at, says("SSH-2.0-x\r\n\r\n".into()))],
        11 => vec![(at, answer(200, "Connection: close\r\n", name))],
        _ => Vec::new(),
    }
}

/// What a server does with a request whose answers come in any order.
fn echo_acts(kind: u8, ms: u64, asked: ReadRequest<'_>) -> Acts {
    let at = ms * MS;
    let mut frame = Vec::new();
    let tag = if kind == 10 { 1_000 } else { asked.tag };
    put(&mut frame, &[&tag.to_be_bytes(), &200_u16.to_be_bytes()]);
    match kind {
        0..=4 | 10 => vec![(at, Act::Send(frame))],
        5 => vec![(at, Act::Send(frame)), (at, Act::Close)],
        6 => vec![(at, Act::Close)],
        7 => vec![(at, Act::Break(libc::ECONNRESET))],
        8 => {
            let rest = frame.split_off(6);
            vec![(at, Act::Send(frame)), (at + 7 * MS, Act::Send(rest))]
        }
        9 => vec![(at, Act::Send(frame[..6].to_vec())), (at + MS, Act::Close)],
        11 => vec![(at, Act::Send(vec![0; 4]))],
        _ => Vec::new(),
    }
}

/// What a server of HTTP/2 does with a request whose name is its body.
fn http2_acts(kind: u8, ms: u64, asked: ReadRequest<'_>) -> Acts {
    let (at, stream, name) = (ms * MS, asked.tag, &asked.bytes[9..]);
    let send = |kind, flags, stream, payload: &[u8]| Act::Send(frame(kind, flags, stream, payload));
    let most = |count: u8| send(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, count]);
    let right = || Act::Send(frames::answer(stream, name));
    let resets = |code| send(RST_STREAM, 0, stream, &[0, 0, 0, code]);
    match kind {
        0..=3 => vec![(at, right())],
        4 => vec![(at, right()), (at, Act::Close)],
        5 => vec![(at, Act::Close)],
        6 => vec![(at, Act::Break(libc::ECONNRESET))],
        7 => {
            let head = send(HEADERS, END_HEADERS, stream, OK);
            vec![(at, head), (at + 7 * MS, send(DATA, END_STREAM, stream, name))]
        }
        8 => vec![(at, send(HEADERS, END_HEADERS, stream, OK)), (at + MS, Act::Close)],
        9 => vec![(at, resets(7))],
        10 => vec![(at, resets(2))],
        11 => {
            let last = stream.saturating_sub(2).to_be_bytes();
            let goaway = send(GOAWAY, 0, 0, &[&last[..], &[0; 4]].concat());
            vec![(MS, goaway), (at, right())]
        }
        // Fewer streams, or none, for a while.
        12 => vec![(MS, most(asked.nth as u8 % 3)), (at, right()), (at + 9 * MS, most(5))],
        13 => vec![(at, send(DATA, 0, stream, b"before its head"))],
        _ => Vec::new(),
    }
}

/// Answers come in order on each connection: none before the end of the one before, and none behind
/// silence.
fn in_order(
    mut answer: impl FnMut(ReadRequest<'_>) -> Acts,
) -> impl FnMut(ReadRequest<'_>) -> Acts {
    let mut ends = HashMap::new();
    move |asked| {
        let end = ends.entry(asked.connection).or_insert(Some(0_u64));
        let Some(free_at) = *end else { return Vec::new() };
        let waits = free_at.saturating_sub(asked.at);
        let acts: Acts = answer(asked).into_iter().map(|(at, act)| (waits + at, act)).collect();
        *end = acts.last().map(|(at, _)| asked.at + at);
        acts
    }
}

/// What becomes of a connection.
fn connects(kind: u8, ms: u64) -> Acts {
    let at = ms * MS;
    match kind {
        0..=4 => vec![(at, Act::Accept)],
        5 => vec![(at, Act::Refuse(libc::ECONNREFUSED))],
        6 => vec![(at, Act::Accept), (at + MS, Act::Close)],
        7 => vec![(at, Act::Accept), (at, Act::Break(libc::ECONNRESET))],
        _ => Vec::new(),
    }
}

/// What a server does in turn, each with its milliseconds: with requests, and with connections.
type Turns = (Vec<(u8, u64)>, Vec<(u8, u64)>);

/// Servers whose answers take some time: of one that takes none, a load at one instant has no end.
fn servers() -> impl Strategy<Value = Turns> {
    let answers = prop::collection::vec((0_u8..15, 1_u64..80), 1..12);
    let connections = prop::collection::vec((0_u8..9, 0_u64..30), 1..6);
    (answers, connections)
}

/// Servers that take turns in what they do with requests, and with connections; each connection that
/// is accepted begins with `greeting`.
fn script(
    (answers, connections): Turns,
    acts: fn(u8, u64, ReadRequest<'_>) -> Acts,
    greeting: Option<Act>,
) -> Script {
    let answer = move |asked: ReadRequest<'_>| {
        let (kind, ms) = answers[asked.nth as usize % answers.len()];
        acts(kind, ms, asked)
    };
    Script::answering(answer).connecting(move |number| {
        let (kind, ms) = connections[number as usize % connections.len()];
        let mut acts = connects(kind, ms);
        if let (Some(greeting), [(at, Act::Accept), ..]) = (&greeting, &acts[..]) {
            acts.insert(1, (*at, greeting.clone()));
        }
        acts
    })
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let think = Spread { mean_ns: 20 * MS, jitter: 0.5 };
    let stage =
        |ms: u64, rate: f64| Stage { duration_ns: ms * MS, from_per_s: rate, to_per_s: rate };
    prop_oneof![
        2 => Just(Schedule::Closed { think: None }),
        1 => Just(Schedule::Closed { think: Some(think) }),
        2 => Just(Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage(LENGTH_MS, 100.0)] }),
        1 => (prop::option::of(Just(think)), prop::collection::vec((20_u64..200, 0_u32..6), 2..6))
            .prop_map(|(think, levels)| Schedule::Users { think, stages: crowd(&levels) }),
        1 => Just(Schedule::Devices {
            devices: 4,
            requests_per_device: 3,
            think,
            ramp_up_ns: 100 * MS,
            sustain_ns: 200 * MS,
            ramp_down_ns: 100 * MS,
        }),
    ]
}

/// Stages that go from level to level, beginning with 5 users, for as long as other loads last.
fn crowd(levels: &[(u64, u32)]) -> Vec<UserStage> {
    let (mut from, mut left_ms) = (5, LENGTH_MS);
    let mut stages = Vec::new();
    for (ms, to) in levels.iter().copied().chain([(LENGTH_MS, 1)]) {
        let ms = ms.min(left_ms);
        left_ms -= ms;
        if ms > 0 {
            stages.push(UserStage { duration_ns: ms * MS, from, to });
        }
        // Half of the stages jump.
        from = if to % 2 == 0 { to } else { 5 };
    }
    stages
}

/// Loads of every kind that a server of HTTP/1.1 can have.
fn loads() -> impl Strategy<Value = LoadSpec> {
    let numbers = (1_u32..6, 1_u32..4, prop::option::of(1_u32..4));
    let rules = (prop::option::of(6_u64..60), any::<bool>(), prop::option::of(5_u64..60));
    (schedules(), numbers, rules).prop_map(
        |(schedule, (count, pipeline, each), (requests, warms_up, patience_ms))| {
            let mut spec = closed(count, LENGTH_MS);
            let is_plain = matches!(schedule, Schedule::Closed { think: None });
            let is_open = matches!(schedule, Schedule::Open { .. });
            let is_device = matches!(schedule, Schedule::Devices { .. });
            let is_crowd = matches!(schedule, Schedule::Users { .. });
            spec.connections.requests_per_connection = each.filter(|_| !is_device);
            if is_plain && spec.connections.requests_per_connection.is_none() {
                spec.connections.pipeline = pipeline;
            }
            spec.timeouts.request_ns = 60 * MS;
            spec.timeouts.connect_ns = 50 * MS;
            spec.timeouts.patience_ns = patience_ms.filter(|_| is_open).map(|ms| ms * MS);
            let requests = requests.filter(|_| !is_device && !is_crowd);
            spec.stop = StopRule { duration_ns: Some(LENGTH_MS * MS), requests };
            if is_device {
                spec.stop = StopRule { duration_ns: None, requests: None };
            } else if warms_up && requests.is_none() && !is_crowd {
                spec.warm_up = WarmUp::Fixed { duration_ns: 100 * MS };
                spec.stop.duration_ns = Some((LENGTH_MS - 100) * MS);
            }
            spec.schedule = schedule;
            // Now all of its requests, now a few.
            spec.samples = if count == 3 { 7 } else { 10_000 };
            spec
        },
    )
}

/// What holds of the requests of every load.
fn assert_each_has_one_fate(spec: &LoadSpec, played: &Played) {
    let mut scheduled = 0;
    // In a closed loop, what is under way when the warm-up ends counts in both parts.
    let has_warm_up = usize::from(spec.warm_up != WarmUp::None);
    for it in &played.stretches[has_warm_up..] {
        let requests = &it.requests;
        assert_eq!(requests.scheduled, requests.sent + requests.unsent, "{requests:?}");
        let fates = requests.completed + requests.failed + requests.censored;
        assert_eq!(requests.sent, fates, "{requests:?}");
        assert!(requests.good <= requests.completed);
        let wrong: u64 = it.errors.values().sum();
        assert!(wrong >= requests.failed + requests.completed - requests.good, "{:?}", it.errors);
        assert_eq!(it.spans.service_time.count(), requests.completed + timeouts(it));
        // No generator is late in a world whose time only waiting moves.
        assert_eq!(it.spans.own_lag.max_ns().unwrap_or(0), 0, "{requests:?}");
        scheduled += requests.scheduled;
    }
    let sent: u64 = played.stretches.iter().map(|it| it.requests.sent).sum();
    let completed: u64 = played.stretches.iter().map(|it| it.requests.completed).sum();
    assert!(completed <= played.read, "nothing is answered that no server has read");
    match (&spec.schedule, spec.stop.requests) {
        // 100/s: whatever becomes of connections, what is due is what the rate says.
        (Schedule::Open { .. }, None) => {
            assert_eq!(scheduled, LENGTH_MS / 10 - 10 * has_warm_up as u64);
        }
        (_, Some(most)) => assert!(sent <= most),
        _ => {}
    }
}

/// Each request that was sent has a row, up to as many as were asked for, and says what became of it.
fn assert_each_has_a_row(spec: &LoadSpec, played: &Played) {
    let (requests, sample) = (&played.measured().requests, played.sample.as_ref().unwrap());
    assert_eq!(sample.of, requests.sent);
    assert_eq!(sample.requests.len() as u64, requests.sent.min(spec.samples.into()));
    if !sample.is_whole() {
        return;
    }
    let count = |is: fn(&Exchange<u32>) -> bool| {
        sample.requests.iter().filter(|one| is(one)).count() as u64
    };
    let is_answered = |one: &Exchange<u32>| one.body_bytes.is_some();
    assert_eq!(count(is_answered), requests.completed);
    assert_eq!(count(|one| one.body_bytes.is_some() && one.error.is_none()), requests.good);
    assert_eq!(count(|one| one.body_bytes.is_none() && one.error.is_some()), requests.failed);
    assert_eq!(count(|one| one.body_bytes.is_none() && one.error.is_none()), requests.censored);
    assert_eq!(
        count(|one| one.response_ns.is_some()),
        requests.completed + timeouts(played.measured())
    );
    assert!(sample.requests.iter().all(|one| one.intended_unix_ns <= one.sent_unix_ns));
    let users = spec.schedule.users(spec.connections.count) * spec.connections.streams;
    assert!(sample.requests.iter().all(|one| one.user < users), "{users} users");
}

fn timeouts(measured: &Measured) -> u64 {
    measured.errors.get(&ErrorKind::Timeout).copied().unwrap_or(0)
}

/// [`Echo`] with a server that takes two requests of a connection at a time.
struct Narrow(Echo);

impl Protocol for Narrow {
    type Session = <Echo as Protocol>::Session;
    type Out = <Echo as Protocol>::Out;
    type Order = ByTag;
    type Greeting = AtOnce;
    type Variation = Alike;
    type Reach = Asker;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        Echo::wire(spec)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        Self(Echo::new(spec, wire))
    }

    fn room(_: &Self::Session, under_way: u32) -> u32 {
        2_u32.saturating_sub(under_way)
    }

    fn render(
        &mut self,
        session: &mut Self::Session,
        template: u32,
        tag: u32,
        value: Value,
        out: &mut Self::Out,
    ) {
        self.0.render(session, template, tag, value, out);
    }

    fn decode<A: Answers>(
        &mut self,
        session: &mut Self::Session,
        input: &[u8],
        answers: &mut A,
        out: &mut Self::Out,
    ) -> Result<Step, ErrorKind> {
        self.0.decode(session, input, answers, out)
    }

    fn end(session: &mut Self::Session) -> End {
        Echo::end(session)
    }
}

/// 100/s: whatever becomes of connections, what was sent was due at one of the instants of the rate,
/// no two at the same.
fn assert_arrivals_are_those_of_the_rate(spec: &LoadSpec, played: &Played) {
    let sample = played.sample.as_ref().unwrap();
    if !matches!(spec.schedule, Schedule::Open { .. }) || !sample.is_whole() {
        return;
    }
    let due = sample.requests.iter().map(|one| one.intended_unix_ns - played.start);
    let due: BTreeSet<u64> = due.collect();
    assert_eq!(due.len(), sample.requests.len(), "none twice");
    assert!(due.iter().all(|at| at.is_multiple_of(10 * MS) && *at < LENGTH_MS * MS), "{due:?}");
}

fn assert_laws(spec: &LoadSpec, played: &Played) {
    assert_each_has_one_fate(spec, played);
    assert_each_has_a_row(spec, played);
    assert_arrivals_are_those_of_the_rate(spec, played);
}

/// What users do who share connections, where they may.
fn shared(load: LoadSpec, streams: u32) -> LoadSpec {
    let mut load = load;
    load.connections.pipeline = 1;
    if load.connections.requests_per_connection.is_none() && !load.schedule.users_come_and_go() {
        load.connections.streams = streams;
    }
    load
}

/// What a lane of a load sends: the instants that are due, with their requests.
fn sent(played: &Played) -> Vec<(u64, u32)> {
    let requests = played.sample.as_ref().unwrap().requests.iter();
    requests.map(|one| (one.intended_unix_ns - played.start, one.request)).collect()
}

/// Each commit draws other cases (tests/all). `make laws` tries 10,000 of each law.
fn cases() -> u32 {
    if std::env::var_os("PIPPIN_LAWS").is_some() { 10_000 } else { 1_500 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    /// Over HTTP/1.1, and with pipelining: no answer is given to another request than its own.
    #[test]
    fn every_request_has_one_fate_and_no_user_is_forgotten(load in loads(), server in servers()) {
        let load = LoadSpec { requests: named(false).into(), ..load };
        let mut script = script(server, |kind, ms, asked| {
            acts(kind, ms, str::from_utf8(&asked.bytes[5..6]).unwrap())
        }, None);
        script.answer = Box::new(in_order(script.answer));
        let played = play(&load, script);
        assert_laws(&load, &played);
        prop_assert!(!played.measured().errors.contains_key(&ErrorKind::WrongBody));
    }

    /// Where users share connections, every request has one fate and no user is forgotten.
    #[test]
    fn every_request_of_a_shared_connection_has_one_fate(
        load in loads(), streams in 1_u32..6, server in servers(),
    ) {
        let load = shared(load, streams);
        let played = play_over::<Narrow>(&load, script(server, echo_acts, None), Framing::Echo);
        assert_laws(&load, &played);
    }

    /// Over HTTP/2, every request has one fate and no user is forgotten; its streams tell late answers
    /// from those of the next request.
    #[test]
    fn every_stream_has_one_fate(load in loads(), streams in 1_u32..6, server in servers()) {
        let protocol = pippin_model::load::Protocol::Http2;
        let load = LoadSpec { protocol, requests: named(true).into(), ..shared(load, streams) };
        let settings = Act::Send(frame(SETTINGS, 0, 0, &[]));
        let script = script(server, http2_acts, Some(settings));
        let played = play_over::<Http2>(&load, script, Framing::Http2);
        assert_laws(&load, &played);
        prop_assert!(!played.measured().errors.contains_key(&ErrorKind::WrongBody));
    }

    /// Agents with shares of any width, and any number of threads each: together they send what one
    /// thread would send.
    #[test]
    fn all_shares_of_a_fleet_are_the_whole(
        shares in prop::collection::vec((1_u32..4, 1_u32..3), 1..4),
        per_s in 20_u32..200,
        requests in 1_usize..6,
        count in prop::option::of(30_u64..80),
    ) {
        let of = shares.iter().map(|(width, _)| width).sum();
        let mut whole = open(60, per_s.into(), 300);
        (whole.samples, whole.stop.requests) = (1_000, count);
        whole.requests = named(false)[..requests].to_vec().into();
        let script = || Script::answering(|asked| vec![(5 * MS, answer(200, "", str::from_utf8(&asked.bytes[5..6]).unwrap()))]);
        let mut nth = 0;
        let mut all = Vec::new();
        for (width, threads) in shares {
            let share = LoadSpec { threads, slice: Part { nth, width, of }, ..whole.clone() };
            for thread in 0..threads {
                let played = play_thread::<Tcp, Http1>(&share, thread, script(), Framing::Heads);
                prop_assert_eq!(played.measured().requests.unsent, 0);
                all.extend(sent(&played));
            }
            nth += width;
        }
        all.sort_unstable();
        let mut right = sent(&play(&whole, script()));
        right.sort_unstable();
        prop_assert_eq!(all.len() as u64, count.unwrap_or(u64::MAX).min(u64::from(per_s * 300).div_ceil(1_000)));
        if count.is_none() {
            prop_assert_eq!(all, right);
        }
    }
}
