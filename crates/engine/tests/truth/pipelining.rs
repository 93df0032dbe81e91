//! Several requests under way on one connection.
use pippin_model::load::{BodyCheck, Connections, IoChoice, LoadSpec, Request};
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{closed, errors, get, on_each_loop, run};

on_each_loop!(
    answers_come_in_order,
    many_full_pipelines,
    pipelined_answers_are_no_surplus,
    a_close_fails_those_behind,
);

fn pipelined(spec: LoadSpec, depth: u32) -> LoadSpec {
    LoadSpec { connections: Connections { pipeline: depth, ..spec.connections }, ..spec }
}

/// Three templates in turn with a body each, 8 under way on one connection: an answer given to the
/// wrong request has the wrong body.
fn answers_come_in_order(io: IoChoice) {
    let server = spawn(Script::each(|request, _| Answer::ok(&request.bytes[5..6]))).unwrap();
    let template = |name: char| Request {
        target: format!("/{name}"),
        ..get(BodyCheck::Exact(vec![name as u8]))
    };
    let spec = LoadSpec {
        requests: vec![template('a'), template('b'), template('c')].into(),
        ..closed(server.address(), io, 1, 400)
    };
    let result = run(&pipelined(spec, 8));
    let account = server.stop().unwrap();
    assert_eq!(
        (result.measured.requests.good, account.requests, account.connections),
        (400, 400, 1)
    );
    assert_eq!(
        (result.measured.bytes.sent, result.measured.bytes.received),
        (account.bytes_in, account.bytes_out)
    );
}

/// 64 connections with 16 requests each, 10 times over, 5 times: 51,200 answers, none lost, none
/// late by a timeout, no connection stuck.
fn many_full_pipelines(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    for round in 1..=5 {
        let result = run(&pipelined(closed(server.address(), io, 64, 64 * 16 * 10), 16));
        assert_eq!(
            (result.measured.requests.good, errors(&result)),
            (10_240, Vec::new()),
            "round {round}"
        );
        assert_eq!(result.measured.connections.opened, 64, "round {round}");
    }
    let account = server.stop().unwrap();
    assert_eq!((account.answers, account.connections), (51_200, 320));
}

/// What is surplus without pipelining is the next answer with it.
fn pipelined_answers_are_no_surplus(io: IoChoice) {
    let server =
        spawn(Script::always(Answer::ok(b"hello").chunked(2, &["X-Sum: 1"]).interim(103))).unwrap();
    let result = run(&pipelined(closed(server.address(), io, 2, 320), 16));
    assert_eq!(
        (result.measured.requests.good, result.measured.status.interim, errors(&result)),
        (320, 320, Vec::new())
    );
}

/// The server closes after 3 answers and says so; 4 are under way. Those behind the third were
/// never answered: each is either sent again or failed as "close before answer"; none is completed
/// twice, none forgotten.
fn a_close_fails_those_behind(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello")).close_after(3, true)).unwrap();
    let result = run(&pipelined(closed(server.address(), io, 1, 80), 4));
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!(requests.completed + requests.failed, 80, "{requests:?}");
    assert_eq!(account.answers, requests.completed);
    assert!(
        errors(&result).iter().all(|(kind, _)| *kind == ErrorKind::CloseBeforeAnswer),
        "{:?}",
        errors(&result)
    );
    assert_eq!(result.measured.closes.requests_range(), Some((3, 3)));
}
