use pippin_model::load::Request;
use proptest::prelude::*;

use super::frame::{self, Breach, opcode};
use super::handshake::{Opening, Refusal, check};
use super::session::{Decoded, Session, Sink};
use super::utf8::Utf8;

/// A frame as a server writes it: without a mask, its length in the shortest form.
fn server_frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ ..126 => bytes.push(length as u8),
        length @ ..65_536 => {
            bytes.push(126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(payload);
    bytes
}

/// Everything that a session finds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    messages: Vec<(bool, Vec<u8>)>,
    pings: Vec<Vec<u8>>,
    close: Option<u16>,
    breach: Option<Breach>,
}

impl Sink for Found {
    fn begin(&mut self, is_text: bool) {
        self.messages.push((is_text, Vec::new()));
    }
    fn piece(&mut self, piece: &[u8]) {
        assert!(!piece.is_empty());
        self.messages.last_mut().unwrap().1.extend(piece);
    }
    fn ping(&mut self, payload: &[u8]) -> Result<(), Breach> {
        self.pings.push(payload.to_vec());
        Ok(())
    }
}

fn found(pieces: &[&[u8]], most: u64) -> Found {
    let (mut session, mut found) = (Session::default(), Found::default());
    for piece in pieces {
        let mut rest = *piece;
        loop {
            match session.decode(rest, most, &mut found) {
                Ok(Decoded::More) => break,
                Ok(Decoded::Message { used }) => rest = &rest[used..],
                Ok(Decoded::Close { code }) => {
                    found.close = Some(code);
                    return found;
                }
                Err(breach) => {
                    found.breach = Some(breach);
                    return found;
                }
            }
        }
    }
    found
}

fn breach(bytes: &[u8]) -> Option<Breach> {
    found(&[bytes], 1_000).breach
}

/// The examples of RFC 6455 section 5.7.
#[test]
fn frames_are_those_of_the_standard() {
    let mut out = Vec::new();
    frame::put(&mut out, opcode::FINAL | opcode::TEXT, b"Hello", [0x37, 0xfa, 0x21, 0x3d]);
    assert_eq!(out, [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
    let hello = [(true, b"Hello".to_vec())];
    let whole = found(&[&[0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]], 5);
    assert_eq!(whole.messages, hello);
    let fragments = [0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f];
    assert_eq!(found(&[&fragments], 5).messages, hello);
    let ping = found(&[&[0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]], 5);
    assert_eq!(ping.pings, [b"Hello".to_vec()]);
}

#[test]
fn lengths_have_their_shortest_form_in_both_directions() {
    for length in [0, 1, 125, 126, 65_535, 65_536, 70_000] {
        let payload = vec![7; length];
        let mut out = Vec::new();
        frame::put(&mut out, opcode::FINAL | opcode::BINARY, &payload, [0; 4]);
        // A mask of zeros changes nothing: without it, it is a server's frame.
        let head = out.len() - length;
        out.drain(head - 4..head);
        out[1] &= 0x7F;
        assert_eq!(out, server_frame(0x82, &payload), "{length}");
        let found = found(&[&out], 70_000);
        assert_eq!(found.messages, [(false, payload)], "{length}");
    }
    let not_shortest: [&[u8]; 3] = [
        &[0x82, 126, 0, 125],
        &[0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
        &[0x82, 127, 0x80, 0, 0, 0, 0, 1, 0, 0],
    ];
    for bytes in not_shortest {
        assert_eq!(breach(bytes), Some(Breach::Length), "{bytes:?}");
    }
}

#[test]
fn what_breaks_a_rule_is_named() {
    let cases: [(&[u8], Breach); 15] = [
        (&[0x81, 0x80, 0, 0, 0, 0], Breach::Masked),
        (&[0xC1, 0], Breach::Reserved),
        (&[0x91, 0], Breach::Reserved),
        (&[0x83, 0], Breach::Opcode),
        (&[0x8B, 0], Breach::Opcode),
        (&[0x09, 0], Breach::Control),
        (&[0x89, 126, 0, 126], Breach::Control),
        (&[0x80, 0], Breach::Stray),
        (&[0x01, 1, b'a', 0x81, 1, b'b'], Breach::Interleaved),
        (&[0x81, 1, 0xFF], Breach::NotUtf8),
        (&[0x81, 2, 0xC3, 0x28], Breach::NotUtf8),
        (&[0x81, 1, 0xC3], Breach::NotUtf8),
        (&[0x88, 1, 3], Breach::Code),
        (&[0x88, 2, 0x03, 0xED], Breach::Code),
        (&[0x88, 3, 0x03, 0xE8, 0xFF], Breach::NotUtf8),
    ];
    for (bytes, expected) in cases {
        assert_eq!(breach(bytes), Some(expected), "{bytes:x?}");
    }
    // 1,000 bytes are allowed, in how many fragments they may come.
    let long = [server_frame(0x02, &[0; 600]), server_frame(0x80, &[0; 401])].concat();
    assert_eq!(breach(&long), Some(Breach::TooLarge));
    let enough = [server_frame(0x02, &[0; 600]), server_frame(0x80, &[0; 400])].concat();
    assert_eq!(breach(&enough), None);
}

#[test]
fn a_close_has_a_code_or_none() {
    for (payload, code) in [
        (&b""[..], 1005),
        (&[0x03, 0xE8], 1000),
        (&[0x03, 0xF3, b'o', b'h'], 1011),
        (&[0x0F, 0xA0], 4000),
    ] {
        assert_eq!(found(&[&server_frame(0x88, payload)], 1).close, Some(code));
    }
}

fn asked(headers: &[(&str, &str)]) -> Request {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Request { headers: headers.collect(), ..Request::get("/chat", "server.example.com") }
}

/// The nonce and its proof of RFC 6455 section 1.3.
const NONCE: [u8; 16] = *b"the sample nonce";
const PROOF: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

#[test]
fn a_handshake_has_what_the_standard_wants() {
    let opening = Opening::from_request(&asked(&[("Origin", "http://example.com")])).unwrap();
    let mut out = Vec::new();
    opening.put(NONCE, &mut out);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nOrigin: http://example.com\r\n\
         Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    for name in ["upgrade", "Connection", "Sec-WebSocket-Key", "sec-websocket-extensions"] {
        let error = check(&asked(&[(name, "x")])).unwrap_err();
        assert!(error.contains("is set by the handshake"), "{error}");
    }
    let post = Request { method: "POST".into(), ..asked(&[]) };
    assert!(check(&post).unwrap_err().contains("by GET, not by POST"));
}

/// What a client makes of an answer, whatever the pieces in which it comes.
fn judged(text: &str, offered: &str) -> Result<Option<usize>, Refusal> {
    let offered =
        if offered.is_empty() { asked(&[]) } else { asked(&[("Sec-WebSocket-Protocol", offered)]) };
    let opening = Opening::from_request(&offered).unwrap();
    let answer = || opening.put(NONCE, &mut Vec::new());
    let whole = answer().read(&opening, text.as_bytes(), 1_000);
    let mut bytewise = answer();
    let mut last = Ok(None);
    let mut read = 0;
    for byte in text.as_bytes().chunks(1) {
        last = bytewise.read(&opening, byte, 1_000);
        read += 1;
        if last != Ok(None) {
            break;
        }
    }
    let in_all = last.clone().map(|used| used.map(|_| read));
    assert_eq!(in_all, whole, "in one piece and byte by byte");
    whole
}

#[test]
fn only_consent_opens_a_websocket() {
    let consent = |extra: &str| {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n\
             Connection: keep-alive, upgrade\r\nSec-WebSocket-Accept: {PROOF}\r\n{extra}\r\n"
        )
    };
    let plain = consent("");
    assert_eq!(judged(&plain, ""), Ok(Some(plain.len())));
    assert_eq!(judged(&format!("{plain}\u{1}"), ""), Ok(Some(plain.len())));
    assert_eq!(judged("HTTP/1.1 101 Sw", ""), Ok(None));
    let chosen = consent("Sec-WebSocket-Protocol: b\r\n");
    assert_eq!(judged(&chosen, "a, b"), Ok(Some(chosen.len())));
    let refused = [
        (chosen, Refusal::NotOffered("a subprotocol")),
        (
            consent("Sec-WebSocket-Extensions: permessage-deflate\r\n"),
            Refusal::NotOffered("an extension"),
        ),
        (plain.replace("s3p", "S3p"), Refusal::Accept),
        (plain.replace("Sec-WebSocket-Accept", "X"), Refusal::Accept),
        (consent(&format!("Sec-WebSocket-Accept: {PROOF}\r\n")), Refusal::Accept),
        (plain.replace("WebSocket\r\n", "h2c\r\n"), Refusal::Header("Upgrade is not `websocket`")),
        (plain.replace(", upgrade", ""), Refusal::Header("Connection is not `Upgrade`")),
        ("HTTP/1.1 404 Not Found\r\n\r\n".into(), Refusal::Status(404)),
        ("HTTP/1.1 200\r\n\r\n".into(), Refusal::Status(200)),
        ("SSH-2.0".into(), Refusal::NotHttp("it does not start with HTTP/1.1")),
        (consent(&"x: y\r\n".repeat(200)), Refusal::TooLarge),
    ];
    for (text, why) in refused {
        assert_eq!(judged(&text, "").unwrap_err(), why, "{text}");
    }
    // One of two that were offered, and both of them.
    let two = consent("Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: b\r\n");
    assert_eq!(judged(&two, "a, b"), Err(Refusal::SeveralSubprotocols));
}

/// RFC 9110 section 15.2: any number of them may come, within the limit of the head.
#[test]
fn interim_answers_before_the_consent_are_passed_over() {
    const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let consent = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {PROOF}\r\n\r\n"
    );
    let behind = |interim: &str| judged(&format!("{interim}{consent}\u{1}"), "");
    for interim in ["HTTP/1.1 100 Continue\r\n\r\n", &HINTS.repeat(3)] {
        assert_eq!(behind(interim), Ok(Some(interim.len() + consent.len())), "{interim}");
    }
    assert_eq!(judged(HINTS, ""), Ok(None));
    assert_eq!(behind(&HINTS.repeat(30)), Err(Refusal::TooLarge));
    assert_eq!(judged(&format!("{HINTS}HTTP/1.1 404 x\r\n\r\n"), ""), Err(Refusal::Status(404)));
    assert!(matches!(judged(&format!("{HINTS}SSH-2.0"), ""), Err(Refusal::NotHttp(_))));
}

/// A stream of frames, and what it means.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let text = "[a-z\u{e4}\u{20ac}\u{1f600}]{0,40}".prop_map(String::into_bytes);
    let message = (text, any::<bool>(), 0..4_usize).prop_map(|(payload, is_text, cuts)| {
        let kind = if is_text { opcode::TEXT } else { opcode::BINARY };
        let parts: Vec<&[u8]> = if payload.is_empty() {
            vec![&[]]
        } else {
            payload.chunks(payload.len().div_ceil(cuts + 1)).collect()
        };
        let last = parts.len() - 1;
        let frames = parts.iter().enumerate().flat_map(|(nth, part)| {
            let kind = if nth == 0 { kind } else { opcode::CONTINUATION };
            let end = if nth == last { 0x80 } else { 0 };
            [server_frame(end | kind, part), server_frame(0x89, b"between")].concat()
        });
        frames.collect::<Vec<u8>>()
    });
    proptest::collection::vec(message, 0..8).prop_map(|all| all.concat())
}

proptest! {
    #[test]
    fn pieces_mean_what_the_whole_means(
        bytes in stream(),
        noise in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..2),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let mut bytes = bytes;
        if !bytes.is_empty() {
            for (at, byte) in noise {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
        let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
        let mut whole = found(&[&bytes], 100);
        let mut in_pieces = found(&pieces, 100);
        let mut in_bytes = found(&bytewise, 100);
        // Of a text that is no text, it is open how much is handed on before.
        for one in [&mut whole, &mut in_pieces, &mut in_bytes] {
            if one.breach == Some(Breach::NotUtf8) {
                one.messages.pop();
            }
        }
        prop_assert_eq!(&whole, &in_pieces);
        prop_assert_eq!(&whole, &in_bytes);
    }

    #[test]
    fn utf8_in_pieces_is_that_of_the_whole(
        bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0x80..0xC0_u8, 0xC2..0xF5_u8], 0..12),
        text in "\\PC{0,6}",
        size in 1..5_usize,
    ) {
        for bytes in [bytes, text.into_bytes()] {
            let mut utf8 = Utf8::default();
            let accepted = bytes.chunks(size).all(|piece| utf8.accepts(piece));
            prop_assert_eq!(accepted && utf8.is_complete(), str::from_utf8(&bytes).is_ok());
        }
    }

    #[test]
    fn a_mask_is_its_own_inverse(payload in proptest::collection::vec(any::<u8>(), 0..40), key: [u8; 4]) {
        let mut masked = payload.clone();
        frame::mask(&mut masked, key);
        let bytewise: Vec<u8> =
            payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
        prop_assert_eq!(&masked, &bytewise);
        frame::mask(&mut masked, key);
        prop_assert_eq!(masked, payload);
    }
}
