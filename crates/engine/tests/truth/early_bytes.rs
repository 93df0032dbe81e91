//! Servers that speak before they are asked: what they say first is no answer.
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Schedule};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use pippin_testing::scripted::{Answer, Exchange, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use crate::support::{
    MS, clock_ns, closed, errors, get, ms, on_each_loop, run_from, run_with_breaches, trusting,
};
use pippin_testing::patience::in_time;

on_each_loop!(before_a_load_starts, while_a_user_thinks, over_tls, behind_an_answer);

const GREETING: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const CONNECTIONS: u32 = 4;

/// Sends a whole answer on each new connection and nothing afterwards; tells when.
fn greeter() -> (SocketAddr, Receiver<Instant>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (told, greeted) = channel();
    std::thread::spawn(move || {
        let mut open: Vec<TcpStream> = Vec::new();
        for stream in listener.incoming().flatten() {
            open.push(stream);
            let sent = open.last_mut().unwrap().write_all(GREETING);
            if sent.is_err() || told.send(Instant::now()).is_err() {
                return;
            }
        }
    });
    (address, greeted)
}

/// Each user sends one request, when the greeting has been there for long. All of them fail; no
/// greeting is an answer.
fn assert_all_are_wrong(spec: &LoadSpec, greeted: &Receiver<Instant>) {
    let (now, now_ns) = (Instant::now(), clock_ns());
    // What stands between has more than a second to pass it on.
    let result = run_from(spec, Some(now_ns + 1_500 * MS));
    let users = u64::from(spec.connections.count);
    for _ in 0..users {
        let at = greeted.recv().unwrap();
        in_time(at < now + ms(400), || "the server was late with its greeting".into());
    }
    let requests = result.measured.requests;
    assert_eq!((requests.sent, requests.completed, requests.failed), (users, 0, users));
    assert_eq!(errors(&result), [(ErrorKind::Malformed, users)]);
    assert_eq!(result.measured.spans.service_time.count(), 0);
}

/// The greeting lies unread in the kernel when the first request is due.
fn before_a_load_starts(io: IoChoice) {
    let (address, greeted) = greeter();
    assert_all_are_wrong(&closed(address, io, CONNECTIONS, u64::from(CONNECTIONS)), &greeted);
}

/// The greeting is read before the first request is due. One user, since one that tries again
/// would send another's request.
fn while_a_user_thinks(io: IoChoice) {
    let (address, greeted) = greeter();
    let think = Some(Spread { mean_ns: 100 * MS, jitter: 0.0 });
    let spec = LoadSpec { schedule: Schedule::Closed { think }, ..closed(address, io, 1, 1) };
    assert_all_are_wrong(&spec, &greeted);
}

/// TLS speaks first by its nature; what counts is what its records hold.
fn over_tls(io: IoChoice) {
    let (upstream, greeted) = greeter();
    let authority = Authority::new();
    let certified = authority.server(&Certified::default());
    let front = Front::spawn(upstream, certified, FrontBehaviour::default()).unwrap();
    let tls = trusting(&authority);
    let spec = LoadSpec {
        tls: Some(tls),
        ..closed(front.address(), io, CONNECTIONS, u64::from(CONNECTIONS))
    };
    assert_all_are_wrong(&spec, &greeted);
    drop(front);
}

/// The surplus comes 20 ms later, when nothing is asked: 10 requests with 60 ms of thinking between
/// them. All 10 answers were right and complete before the surplus came; it is an error, it must
/// cost the connection, and no later answer may be taken from it.
fn behind_an_answer(io: IoChoice) {
    let right = &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..];
    let late = &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"[..];
    // The pause lies between the two: the head of a raw answer is all of it, and the middle of this
    // one is the end of the first.
    assert_eq!(right.len(), late.len());
    let answer = Answer::raw(&[right, late].concat());
    let server = spawn(Script::always(answer.pause_in_head(ms(20)))).unwrap();
    let think = Spread { mean_ns: 60 * MS, jitter: 0.0 };
    let spec = LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        schedule: Schedule::Closed { think: Some(think) },
        ..closed(server.address(), io, 1, 10)
    };
    let (result, breaches) = run_with_breaches(&spec);
    let account = server.stop().unwrap();
    // A surplus that comes when the next request is under way is taken for its answer.
    let longest_ns = account.exchanges.iter().filter_map(Exchange::duration_ns).max();
    in_time(longest_ns.is_some_and(|ns| ns < 50 * MS), || {
        format!("the server was late with its surplus: {longest_ns:?} ns")
    });
    assert_eq!(account.requests, 10);
    let requests = result.measured.requests;
    assert_eq!((requests.completed, requests.good, requests.failed), (10, 10, 0));
    // The last surplus may come after the load.
    assert!((9..=10).contains(&breaches), "{breaches}");
    assert!(!result.measured.errors.contains_key(&ErrorKind::WrongBody), "{:?}", errors(&result));
    assert!(
        account.connections >= 9,
        "a connection with surplus bytes was used again: {}",
        account.connections
    );
}
