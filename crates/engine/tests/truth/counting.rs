//! Counts are exact: the engine's and the server's agree to the byte. What is counted of wrong answers
//! and of connections that end is tested in virtual time (`worker/sim`).
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec};
use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{closed, errors, get, on_each_loop, run};

on_each_loop!(all_is_well, over_several_threads, many_full_pipelines);

/// 200 requests over 3 connections: 200 of everything, 3 connections, and no byte unaccounted for.
fn all_is_well(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let spec = LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        ..closed(server.address(), io, 3, 200)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!(
        (requests.scheduled, requests.sent, requests.completed, requests.good),
        (200, 200, 200, 200)
    );
    assert_eq!((requests.unsent, requests.failed, requests.censored), (0, 0, 0));
    assert_eq!((account.requests, account.answers, account.connections), (200, 200, 3));
    let connections = result.measured.connections;
    assert_eq!(
        (connections.asked, connections.peak, connections.opened, connections.reconnects),
        (3, 3, 3, 0)
    );
    assert_eq!((connections.closed_by_server, result.measured.closes.count()), (0, 0));
    let bytes = result.measured.bytes;
    assert_eq!(
        (bytes.received, bytes.sent, bytes.body),
        (account.bytes_out, account.bytes_in, 200 * 5)
    );
    assert_eq!(result.measured.spans.connect.count(), 3);
    assert_eq!(result.measured.status.codes, [(200, 200)].into());
    assert_eq!(errors(&result), []);
}

/// Two threads with 5 and 4 connections, 101 requests: nothing is lost or done twice in merging.
fn over_several_threads(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let result = run(&LoadSpec { threads: 2, ..closed(server.address(), io, 9, 101) });
    let account = server.stop().unwrap();
    assert_eq!(result.threads, 2);
    assert_eq!(
        (result.measured.requests.good, account.requests, account.connections),
        (101, 101, 9)
    );
    assert_eq!(result.measured.bytes.received, account.bytes_out);
    assert_eq!(result.generator.cpu_ns_by_thread.len(), 2);
    assert_eq!(result.generator.cpu_ns_by_thread.iter().sum::<u64>(), result.generator.cpu_ns);
}

/// 64 connections with 16 requests each, 10 times over, 5 times: 51,200 answers, none lost, none
/// late by a timeout, no connection stuck.
fn many_full_pipelines(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    for round in 1..=5 {
        let mut spec = closed(server.address(), io, 64, 64 * 16 * 10);
        spec.connections.pipeline = 16;
        let result = run(&spec);
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
