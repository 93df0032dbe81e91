//! How the servers of this crate are used.
use std::time::Duration;

use crate::hostile;
use crate::scripted::{self, Answer, Script};
use crate::tls::{Authority, Certified, Front, FrontBehaviour};

#[test]
fn a_script_is_served_and_its_requests_are_counted() {
    // Every tenth request fails, the others pause for 30 ms in the middle of their head; each
    // connection ends after 100 answers.
    let script = Script::each(|request, _| match request.number % 10 {
        9 => Answer::new(503, b"busy"),
        _ => Answer::ok(b"hello").pause_in_head(Duration::from_millis(30)),
    });
    let server = scripted::spawn(script.close_after(100, true)).unwrap();
    assert!(server.address().ip().is_loopback());
    let account = server.stop().unwrap();
    assert_eq!(account.requests, 0);
}

#[test]
fn a_hostile_server_is_taken_from_the_table() {
    let one = hostile::behaviours().find(|one| one.name == "a status of letters").unwrap();
    assert_eq!(one.over, hostile::Over::Both);
    let server = hostile::spawn(&one).unwrap();
    assert!(server.address().ip().is_loopback());
}

#[test]
fn a_front_puts_tls_before_a_server() {
    let server = scripted::spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let authority = Authority::new();
    let config = authority.server(&Certified::default());
    let front = Front::spawn(server.address(), config, FrontBehaviour::default()).unwrap();
    // A client that trusts `authority.pem()` now finds the scripted server behind it.
    assert_eq!(front.account().handshakes, 0);
}
