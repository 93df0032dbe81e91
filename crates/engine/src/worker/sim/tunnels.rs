//! Tunnels through a proxy: their time, and what becomes of users whose proxy opens none. The first
//! head of a connection is the request for the tunnel.
use pippin_model::load::{LoadSpec, Proxy};
use pippin_model::result::ErrorKind;

use super::times::{assert_ms, counts, errors};
use super::world::{Act, Acts, ReadRequest, Script, ok};
use super::{MS, Played, closed, play};

const OPEN: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

fn tunnelled(spec: LoadSpec) -> LoadSpec {
    let proxy =
        Proxy { authority: "proxy:1".into(), tunnel: Some("sim:80".into()), credentials: None };
    LoadSpec { proxy: Some(proxy), ..spec }
}

fn says(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

/// A load through a proxy that does this when it is asked, to a server that answers after 10 ms.
fn through(spec: LoadSpec, mut tunnel: impl FnMut() -> Acts + 'static) -> Played {
    let answer = move |asked: ReadRequest<'_>| match asked.of_connection {
        0 => tunnel(),
        _ => vec![(10 * MS, ok())],
    };
    play(&tunnelled(spec), Script::answering(answer))
}

/// 2 connections through tunnels that take 30 ms each, before the load begins: 9 answers each within
/// 100 ms, and one under way at the end. No request has the time of the tunnel.
#[test]
fn the_time_of_a_tunnel_is_a_span_of_its_own() {
    let played = through(closed(2, 100), || vec![(30 * MS, says(OPEN))]);
    assert_eq!(counts(&played), [20, 20, 18, 0, 2, 0]);
    assert_eq!(errors(&played), []);
    let measured = played.measured();
    assert_ms(&measured.spans.tunnel, [30, 30]);
    assert_ms(&measured.spans.service_time, [10; 18]);
    assert_eq!((measured.connections.opened, measured.connections.opened_before), (2, 2));
}

/// An answer in pieces, after interim ones: the tunnel is open when the last piece has come.
#[test]
fn a_tunnel_is_open_when_the_whole_answer_has_come() {
    let played = through(closed(1, 50), || {
        vec![
            (5 * MS, says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2")),
            (7 * MS, says("00 OK\r\nVia: x\r\n\r")),
            (9 * MS, says("\n")),
        ]
    });
    assert_ms(&played.measured().spans.tunnel, [9]);
    assert_eq!(errors(&played), []);
}

/// A connection for each request. From 0 ms on: 20 ms for the tunnel and 10 ms for the answer; the
/// user's request waits for the tunnel in its own response time.
#[test]
fn each_connection_asks_for_a_tunnel() {
    let mut spec = closed(1, 100);
    spec.connections.requests_per_connection = Some(1);
    let played = through(spec, || vec![(20 * MS, says(OPEN))]);
    let measured = played.measured();
    assert_eq!(counts(&played)[..4], [4, 3, 3, 0]);
    assert_ms(&measured.spans.tunnel, [20; 3]);
    assert_ms(&measured.spans.service_time, [10; 3]);
    assert_ms(&measured.spans.response_time, [30; 3]);
}

/// A proxy that refuses is asked as often as a server that refuses connections: 2 users every 10 ms.
/// Nothing was sent, and no request failed.
#[test]
fn who_is_refused_tries_again_every_10_ms() {
    let refused = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 3\r\n\r\nno!";
    for acts in [
        vec![(0, says(refused))],
        vec![(0, says("HTTP/1.1 503 x\r\n\r\n")), (0, Act::Close)],
        vec![(0, says("SSH-2.0-x\r\n"))],
        vec![(0, says("HTTP/1.1 200 OK\r\n")), (0, Act::Close)],
        vec![(0, Act::Close)],
        vec![(0, Act::Break(libc::ECONNRESET))],
    ] {
        let played = through(closed(2, 300), move || acts.clone());
        assert_eq!(counts(&played), [60, 0, 0, 0, 0, 60]);
        assert_eq!(errors(&played), [(ErrorKind::Proxy, 60)]);
        let spans = &played.measured().spans;
        assert!(spans.tunnel.is_empty() && !spans.connect.is_empty());
    }
}

/// What a refusal said is kept with the first error.
#[test]
fn the_first_refusal_is_shown() {
    let refused = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 3\r\n\r\nno!";
    let played = through(closed(1, 100), move || vec![(0, says(refused))]);
    let first = &played.measured().firsts[&ErrorKind::Proxy];
    assert_eq!(first.status.as_deref(), Some("HTTP/1.1 407 Proxy Authentication Required"));
    assert_eq!(first.body.as_deref(), Some("no!"));
    assert_eq!(first.why.as_deref(), Some("the proxy refused CONNECT"));
}

/// Connecting may take 100 ms with the tunnel: 2 users try at 0, 110, 220 and 330 ms, and the last
/// attempt is under way at the end. As with a server that never accepts.
#[test]
fn a_silent_proxy_is_late_as_a_connection_is() {
    let mut spec = closed(2, 350);
    spec.timeouts.connect_ns = 100 * MS;
    let played = through(spec, Vec::new);
    assert_eq!(counts(&played), [8, 0, 0, 0, 0, 8]);
    assert_eq!(errors(&played), [(ErrorKind::Proxy, 6)]);
}
