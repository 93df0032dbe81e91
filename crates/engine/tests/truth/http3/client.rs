//! The blocking client, with which proofs ask.
use pippin_engine::http3::client::Client;
use pippin_model::load::{Limits, Request};
use pippin_testing::tls::Authority;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::library::Library;
use super::raw::{Behaviour, Ending, Raw};
use crate::support::{asking, ms, trusting};

fn connected(
    address: SocketAddr,
    authority: &Authority,
    limit: Duration,
) -> Result<Client, String> {
    let limits = Limits::default();
    Client::connect(&address.into(), &trusting(authority), limits, limit)
        .map_err(|error| error.to_string())
}

#[test]
fn one_request_at_a_time_with_bodies_of_any_size() {
    let server = Library::new();
    let mut client = connected(server.address, &server.authority, ms(5_000)).unwrap();
    assert_eq!(client.negotiated().alpn.as_deref(), Some("h3"));
    for bytes in [0, 1, 1_000, 70_000, 1_000_000] {
        client.allow(ms(20_000));
        let request =
            Request { method: "POST".into(), body: vec![b'x'; bytes], ..asking("/echo", "") };
        client.send(&request).unwrap();
        let answer = client.answer().unwrap();
        assert_eq!((answer.status, answer.body), (200, bytes.to_string().into_bytes()));
        client.send(&asking(&format!("/size/{bytes}"), "")).unwrap();
        let answer = client.answer().unwrap();
        assert_eq!((answer.status, answer.body.len(), answer.keep_alive), (200, bytes, true));
        assert_eq!(answer.header("X-Server"), Some(&b"h3"[..]));
    }
    client.send(&asking("/status/404", "")).unwrap();
    assert_eq!(client.answer().unwrap().status, 404);
    client.send(&asking("/reset", "")).unwrap();
    assert!(client.answer().unwrap_err().contains("reset the stream"));
    client.send(&asking("/again", "")).unwrap();
    assert_eq!(client.answer().unwrap().body, b"/again");
    assert_eq!(server.account.connections.load(Relaxed), 1);
}

#[test]
fn a_server_that_says_goodbye_is_asked_no_more() {
    let server = Library::closing_after(2);
    let mut client = connected(server.address, &server.authority, ms(5_000)).unwrap();
    client.send(&asking("/x", "")).unwrap();
    assert_eq!(client.answer().unwrap().status, 200);
    let why = loop {
        match client.send(&asking("/x", "")) {
            Err(why) => break why,
            // The goodbye comes behind the request: that one is refused, or is still answered.
            Ok(()) => match client.answer() {
                Ok(answer) => assert_eq!(answer.status, 200),
                Err(why) => assert_eq!(why, "it refuses the request"),
            },
        }
    };
    assert_eq!(why, "the server closed the connection");
}

#[test]
fn who_is_silent_or_away_is_named() {
    let authority = Authority::new();
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let why = connected(address, &authority, ms(200)).unwrap_err();
    assert!(why.contains("the server did not answer in time"), "{why}");
    drop(silent);
    let why = connected(address, &authority, ms(5_000)).unwrap_err();
    assert!(why.contains("nobody listens on this UDP port"), "{why}");
    // It takes requests, and answers none.
    let mute = Behaviour { answer: Vec::new(), ending: Ending::Open, ..Behaviour::default() };
    let mute = Raw::new(mute);
    let mut client = connected(mute.address, &mute.authority, ms(5_000)).unwrap();
    client.allow(ms(300));
    client.send(&asking("/x", "")).unwrap();
    assert_eq!(client.answer().unwrap_err(), "the server did not answer in time");
}
