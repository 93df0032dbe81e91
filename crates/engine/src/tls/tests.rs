//! A session against a server in memory: what goes in comes out, however the bytes are cut.
use std::io::{Read as _, Write as _};
use std::sync::LazyLock;

use pippin_model::load::Protocol;
use pippin_model::load::tls::TlsSpec;
use pippin_testing::tls::{Authority, Certified};
use rustls::ServerConnection;

use super::{Client, Session};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!";

/// Both ends of a connection whose handshake is done.
struct Pair {
    session: Session,
    server: ServerConnection,
}

impl Pair {
    fn new(certified: &Certified, verify: bool) -> Self {
        let authority = Authority::new();
        let spec = TlsSpec {
            server_name: "localhost".into(),
            extra_roots_pem: Some(authority.pem()),
            verify,
            resume: false,
            client: None,
        };
        let session = Session::new(&Client::new(&spec, Protocol::Http1).unwrap()).unwrap();
        let server = ServerConnection::new(authority.server(certified)).unwrap();
        let mut pair = Self { session, server };
        while !pair.session.is_secured() || pair.server.is_handshaking() {
            assert!(pair.hand_over().is_empty());
            let bytes = pair.server_bytes();
            assert_eq!(pair.receive(&bytes, usize::MAX), b"");
        }
        pair
    }

    /// Everything that the session wants to send; returns what the server reads of it.
    fn hand_over(&mut self) -> Vec<u8> {
        let mut plaintext = Vec::new();
        let mut bytes = self.session.outgoing();
        let length = bytes.len();
        while !bytes.is_empty() {
            self.server.read_tls(&mut bytes).unwrap();
            self.server.process_new_packets().unwrap();
            // The end is an error of its own ("would block") unless it is said.
            let _ = self.server.reader().read_to_end(&mut plaintext);
        }
        self.session.took(length);
        plaintext
    }

    fn server_bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut bytes).unwrap();
        }
        bytes
    }

    /// What the session makes of these bytes, given to it `step` at a time.
    fn receive(&mut self, bytes: &[u8], step: usize) -> Vec<u8> {
        let mut plaintext = Vec::new();
        for piece in bytes.chunks(step) {
            self.session.receive(&mut piece.to_vec(), &mut plaintext).unwrap();
        }
        plaintext
    }

    fn answer(&mut self, answer: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for piece in answer.chunks(16 * 1024) {
            self.server.writer().write_all(piece).unwrap();
            bytes.extend(self.server_bytes());
        }
        bytes
    }
}

fn versions() -> [Certified; 2] {
    [Certified::default(), Certified { only_tls12: true, ..Certified::default() }]
}

#[test]
fn an_answer_may_be_cut_at_every_byte() {
    for certified in versions() {
        let mut pair = Pair::new(&certified, true);
        pair.session.seal(REQUEST).unwrap();
        assert_eq!(pair.hand_over(), REQUEST);
        // The next answer is the first again, under new numbers.
        let length = pair.answer(ANSWER).len();
        let mut pair = Pair::new(&certified, true);
        for cut in 0..=length {
            let bytes = pair.answer(ANSWER);
            let mut plaintext = pair.receive(&bytes[..cut], usize::MAX);
            plaintext.extend(pair.receive(&bytes[cut..], usize::MAX));
            assert_eq!(plaintext, ANSWER, "cut at {cut}");
        }
        for step in [1, 2, 3, 7, 22] {
            let bytes = pair.answer(ANSWER);
            assert_eq!(pair.receive(&bytes, step), ANSWER, "{step} at a time");
        }
    }
}

#[test]
fn a_handshake_may_come_a_byte_at_a_time() {
    for certified in versions() {
        let authority = Authority::new();
        let spec = TlsSpec {
            server_name: "localhost".into(),
            extra_roots_pem: Some(authority.pem()),
            verify: true,
            resume: false,
            client: None,
        };
        let session = Session::new(&Client::new(&spec, Protocol::Http1).unwrap()).unwrap();
        let mut pair =
            Pair { session, server: ServerConnection::new(authority.server(&certified)).unwrap() };
        while !pair.session.is_secured() || pair.server.is_handshaking() {
            pair.hand_over();
            let bytes = pair.server_bytes();
            assert_eq!(pair.receive(&bytes, 1), b"");
        }
        let negotiated = pair.session.negotiated();
        assert_eq!(negotiated.version, if certified.only_tls12 { "TLSv1.2" } else { "TLSv1.3" });
        assert!(negotiated.cipher_suite.starts_with("TLS"), "{negotiated:?}");
        assert_eq!((negotiated.alpn.as_deref(), negotiated.resumed), (Some("http/1.1"), 0));
    }
}

#[test]
fn large_bodies_pass_through_many_records_in_both_directions() {
    let body: Vec<u8> = (0..1_000_000_u32).map(|i| (i % 251) as u8).collect();
    for certified in
        [Certified::default(), Certified { record_bytes: Some(100), ..Certified::default() }]
    {
        let mut pair = Pair::new(&certified, true);
        let bytes = pair.answer(&body);
        assert_eq!(pair.receive(&bytes, 5_000), body);
        pair.session.seal(&body).unwrap();
        assert!(pair.session.outgoing().len() > body.len());
        assert!(pair.hand_over() == body);
        assert!(pair.session.outgoing().is_empty());
    }
}

#[test]
fn keys_may_change_between_answers() {
    let mut pair = Pair::new(&Certified::default(), true);
    for _ in 0..5 {
        pair.session.seal(REQUEST).unwrap();
        assert_eq!(pair.hand_over(), REQUEST);
        let mut bytes = pair.answer(ANSWER);
        pair.server.refresh_traffic_keys().unwrap();
        bytes.extend(pair.answer(ANSWER));
        assert_eq!(pair.receive(&bytes, 10), [ANSWER, ANSWER].concat());
    }
}

#[test]
fn both_sides_say_goodbye() {
    for certified in versions() {
        let mut pair = Pair::new(&certified, true);
        let mut bytes = pair.answer(ANSWER);
        pair.server.send_close_notify();
        bytes.extend(pair.server_bytes());
        assert_eq!(pair.receive(&bytes[..bytes.len() - 1], usize::MAX), ANSWER);
        assert!(!pair.session.is_closed_by_peer());
        pair.receive(&bytes[bytes.len() - 1..], usize::MAX);
        assert!(pair.session.is_closed_by_peer());
        pair.session.say_goodbye();
        let length = pair.session.outgoing().len();
        pair.server.read_tls(&mut pair.session.outgoing()).unwrap();
        assert!(pair.server.process_new_packets().unwrap().peer_has_closed(), "{length} bytes");
    }
}

#[test]
fn what_was_changed_on_the_way_is_an_error_and_the_server_is_told() {
    let mut pair = Pair::new(&Certified::default(), true);
    let mut bytes = pair.answer(ANSWER);
    *bytes.last_mut().unwrap() ^= 1;
    let mut plaintext = Vec::new();
    assert_eq!(
        pair.session.receive(&mut bytes, &mut plaintext).unwrap_err(),
        rustls::Error::DecryptError
    );
    assert!(plaintext.is_empty());
    pair.server.read_tls(&mut pair.session.outgoing()).unwrap();
    let told = pair.server.process_new_packets().unwrap_err();
    assert_eq!(told, rustls::Error::AlertReceived(rustls::AlertDescription::BadRecordMac));
}

#[test]
fn whoever_answers_is_trusted_only_if_the_user_says_so() {
    let expired =
        Certified { has_expired: true, names: vec!["example.org".into()], ..Certified::default() };
    assert!(Pair::new(&expired, false).session.is_secured());
    assert!(Pair::new(&Certified { only_tls12: true, ..expired }, false).session.is_secured());
}

/// A record as it travels: type, TLS 1.2's version number, length, payload.
fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, 3, 3];
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend(payload);
    bytes
}

const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

/// Records that break a handshake while rustls keeps a part of a message
/// (docs/decisions/rustls-panics.md).
fn broken_records() -> Vec<Vec<u8>> {
    let half_server_hello = record(HANDSHAKE, &[2, 0, 0, 100, 3, 3, 1, 2, 3]);
    vec![
        // A ServerHello of 16 MiB.
        record(HANDSHAKE, &[2, 0xFF, 0xFF, 0xFF]),
        // The same, with a beginning.
        record(HANDSHAKE, &[2, 0xFF, 0xFF, 0xFF, 3, 3]),
        // Half a message, then a fatal alert, a warning, and a record of no known kind.
        [half_server_hello.clone(), record(ALERT, &[2, 40])].concat(),
        [half_server_hello.clone(), record(ALERT, &[1, 0])].concat(),
        [half_server_hello, record(99, &[0])].concat(),
    ]
}

fn unsecured() -> Session {
    static CLIENT: LazyLock<Client> = LazyLock::new(|| {
        let spec = TlsSpec {
            server_name: "localhost".into(),
            extra_roots_pem: Some(Authority::new().pem()),
            verify: true,
            resume: false,
            client: None,
        };
        Client::new(&spec, Protocol::Http1).unwrap()
    });
    Session::new(&CLIENT).unwrap()
}

/// Everything that a worker may still ask of a session that has failed.
fn use_up(session: &mut Session) {
    assert!(session.seal(REQUEST).is_err());
    session.say_goodbye();
    session.say_goodbye();
    assert!(session.receive(&mut [0], &mut Vec::new()).is_err());
}

#[test]
fn broken_records_in_a_handshake_are_errors() {
    for bytes in broken_records() {
        for step in [1, 5, usize::MAX] {
            let mut session = unsecured();
            let failed = bytes
                .chunks(step.min(bytes.len()))
                .any(|piece| session.receive(&mut piece.to_vec(), &mut Vec::new()).is_err());
            assert!(failed, "{bytes:?} by {step}");
            use_up(&mut session);
        }
    }
}

#[test]
fn broken_records_after_a_handshake_are_errors() {
    for certified in versions() {
        for mut bytes in broken_records() {
            let mut pair = Pair::new(&certified, true);
            assert!(pair.session.receive(&mut bytes, &mut Vec::new()).is_err(), "{bytes:?}");
            use_up(&mut pair.session);
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_a_session_panic(
        records in proptest::collection::vec(
            (20_u8..26, proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40)), 1..6),
        step in 1_usize..200,
    ) {
        let mut session = unsecured();
        let bytes: Vec<u8> =
            records.iter().flat_map(|(kind, payload)| record(*kind, payload)).collect();
        for piece in bytes.chunks(step) {
            // Most are errors; what counts is that each of them is one and no panic.
            let _ = session.receive(&mut piece.to_vec(), &mut Vec::new());
            let _ = session.seal(REQUEST);
        }
        session.say_goodbye();
    }
}
