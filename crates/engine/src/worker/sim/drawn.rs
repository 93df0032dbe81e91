//! Values that are drawn anew for each request, and requests of another kind that come between.
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use pippin_model::load::{BodyCheck, Check, LoadSpec, Request, Surprises};
use pippin_model::result::ErrorKind;

use super::framing::Framing;
use super::times::errors;
use super::world::{ReadRequest, Script, answer};
use super::{MS, Played, closed, play_over};
use crate::protocol::http1::{Drawn, Http1};
use crate::protocol::outgoing::Frames;
use crate::request::drawn::Desk;

/// So many requests of one user, `depth` under way at a time.
fn counted(requests: u64, depth: u32) -> LoadSpec {
    let mut spec = closed(1, 60_000);
    (spec.stop.requests, spec.connections.pipeline) = (Some(requests), depth);
    spec
}

fn target(asked: ReadRequest<'_>) -> String {
    let text = String::from_utf8_lossy(asked.bytes);
    text.split(' ').nth(1).unwrap_or_default().to_string()
}

fn drawn(target: &str, part: &str, body: BodyCheck) -> Request {
    let check = Check { body, ..Check::default() };
    Request { drawn: Some(part.into()), check, ..Request::get(target, "sim") }
}

/// Three kinds in turn: letters in a body that is known as a whole, digits in texts that must be in
/// the body, and a request that is the same each time. The server answers with the name in the path, or
/// remembers what was right once.
fn play(depth: u32, remembers: bool) -> Played {
    let all = vec!["Hola 12345678!".into(), "again".into(), "n, 12345678".into()];
    let whole = BodyCheck::Exact(b"Hola Jo-abcdefgh! Hola again, Jo-abcdefgh".to_vec());
    let check =
        Check { body: BodyCheck::Exact(b"Hola x! Hola again, x".to_vec()), ..Check::default() };
    let requests = vec![
        drawn("/a/Jo-abcdefgh", "abcdefgh", whole),
        drawn("/b/12345678", "12345678", BodyCheck::Contains { min: 9, max: 99, all }),
        Request { check, ..Request::get("/c/x", "sim") },
    ];
    let script = Script::answering(move |asked| {
        let target = target(asked);
        let name = match &target[..3] {
            "/a/" if remembers => "Jo-abcdefgh",
            "/b/" if remembers => "12345678",
            _ => &target[3..],
        };
        vec![(MS, answer(200, "", &format!("Hola {name}! Hola again, {name}")))]
    });
    let spec = LoadSpec { requests: requests.into(), ..counted(300, depth) };
    match depth {
        1 => play_over::<Drawn<Desk>>(&spec, script, Framing::Heads),
        _ => play_over::<Drawn<Frames>>(&spec, script, Framing::Heads),
    }
}

#[test]
fn only_an_answer_with_the_value_of_its_request_is_right() {
    for depth in [1, 4] {
        let played = play(depth, false);
        assert_eq!((played.measured().requests.good, errors(&played)), (300, vec![]), "{depth}");
        let played = play(depth, true);
        assert_eq!(played.measured().requests.good, 100, "{depth}");
        assert_eq!(errors(&played), [(ErrorKind::WrongBody, 200)], "{depth}");
    }
}

/// Of 2,000 requests about one in 20 is of another kind, at places without a period, and no other
/// template is missed or repeated.
#[test]
fn requests_of_another_kind_come_at_places_without_a_period() {
    for depth in [1, 8] {
        let targets = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&targets);
        let script = Script::answering(move |asked| {
            let target = target(asked);
            let status = if target.starts_with("/other") { 404 } else { 200 };
            seen.borrow_mut().push(target);
            vec![(MS, answer(status, "", "hello"))]
        });
        let usual = (0..5).map(|i| Request::get(&format!("/usual{i}"), "sim"));
        let other = |i| {
            let check = Check { status: vec![404], ..Check::default() };
            Request { check, ..Request::get(&format!("/other{i}"), "sim") }
        };
        let requests: Vec<Request> = usual.chain((0..3).map(other)).collect();
        let surprises = Some(Surprises { others: 3, others_every: 20, ..Surprises::default() });
        let spec = LoadSpec { requests: requests.into(), surprises, ..counted(2_000, depth) };
        let played = match depth {
            1 => play_over::<Http1>(&spec, script, Framing::Heads),
            _ => play_over::<Drawn<Frames>>(&spec, script, Framing::Heads),
        };
        assert_eq!(played.measured().requests.good, 2_000);
        let targets = targets.take();
        let others: Vec<usize> =
            (0..targets.len()).filter(|nth| targets[*nth].starts_with("/other")).collect();
        assert!((60..160).contains(&others.len()), "{}", others.len());
        let gaps: BTreeSet<usize> = others.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() > 15 && gaps.iter().all(|gap| *gap < 40), "{gaps:?}");
        for nth in (0..targets.len()).filter(|nth| !others.contains(nth)) {
            assert_eq!(targets[nth], format!("/usual{}", nth % 5), "request {nth}");
        }
    }
}
