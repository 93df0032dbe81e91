//! `pippin load ws://` and `wss://`.
use super::support::{Outcome, pippin};
use pippin_testing::messages::{BINARY, CLOSE, FINAL, Server, frame, text};
use pippin_testing::room::room;
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use serde_json::Value;

fn load(url: &str, arguments: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    pippin(folder.path(), &[&["load", url, "--no-store"], arguments].concat())
}

#[test]
fn messages_come_back() {
    let server = Server::echo().unwrap();
    let url = format!("ws://{}/echo", server.address);
    for event_loop in ["epoll", "io_uring"] {
        let flags = ["-c", "3", "-n", "300", "--message-size", "1KiB", "--io", event_loop];
        let outcome = load(&url, &[&flags[..], &["--quiet", "--json", "-"]].concat());
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(json["requests"]["good"], 300, "{outcome}");
        assert_eq!((&json["protocol"], &json["io"]), (&"websocket".into(), &event_loop.into()));
        assert_eq!(json["upgrade"]["count"], 3);
        assert_eq!(json["websocket"]["close_codes"], serde_json::json!({}));
        assert_eq!(json["bytes"]["body"], 300 * 1024);
    }
    let messages = server.account.messages();
    assert!(messages.iter().all(|payload| payload.len() == 1024));
    load(&url, &["-n", "20"]).says(&[" messages/s", "closed loop, 10 connections, WebSocket"]);
}

/// The user's own text is sent unchanged. With the flag, any answer is right.
#[test]
fn a_message_of_ones_own() {
    let server = Server::new(|connection| connection.answer(|_| text(b"pong"))).unwrap();
    let url = format!("ws://{}/", server.address);
    let own = ["--message", "ping", "-n", "20", "-v"];
    let right: [&[&str]; 2] = [&["--expect-body", "pong"], &["--any-answer"]];
    for expected in right {
        load(&url, &[&own, expected].concat()).says(&["sent = 20 completed"]);
    }
    assert!(server.account.messages().iter().all(|payload| payload == b"ping"));
    load(&url, &own).says(&["wrong_body"]);
}

/// Whatever is sent and whatever comes.
#[test]
fn any_answer_is_any_answer() {
    let binary = |bytes: &[u8]| frame(BINARY | FINAL, bytes);
    let server = Server::new(move |connection| connection.answer(|_| binary(b"\xff"))).unwrap();
    let url = format!("ws://{}/", server.address);
    for sent in [&["--message", "ping"][..], &["--message-size", "9"], &["--binary"], &[]] {
        let flags = [sent, &["--any-answer", "-n", "20", "-v"]].concat();
        load(&url, &flags).says(&["20 completed + 0 failed"]).keeps_quiet_about(&["wrong_body"]);
    }
    load(&url, &["--message", "ping", "-n", "20"]).says(&["wrong_body"]);
}

/// Whatever a server says of its own accord on a new connection, it is no answer.
#[test]
fn a_greeting_is_no_answer() {
    let ways: [&[&str]; 3] =
        [&[], &["--any-answer"], &["--message", "sixteen letters.", "--any-answer"]];
    for greetings in 0..=3 {
        let server = Server::new(move |connection| {
            for _ in 0..greetings {
                connection.send(&text(b"welcome to this server"))?;
            }
            connection.answer(text)
        })
        .unwrap();
        let url = format!("ws://{}/", server.address);
        for way in ways {
            let flags = [way, &["-c", "3", "-n", "30", "--quiet", "--json", "-"]].concat();
            let outcome = load(&url, &flags);
            assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
            let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
            assert_eq!(json["requests"]["good"], 30, "{greetings} {way:?} {outcome}");
            // An answer that was taken for that of another message has the wrong length.
            let bytes = if way.len() == 3 { 16 } else { 64 };
            assert_eq!(json["bytes"]["body"], 30 * bytes, "{greetings} {way:?} {outcome}");
            assert_eq!(json["websocket"]["unasked"], 0, "{greetings} {way:?} {outcome}");
            let said = "at the start of each WebSocket";
            assert_eq!(outcome.stderr.contains(said), greetings > 0, "{outcome}");
        }
    }
}

/// What a server may say at any time cannot be awaited; it is said how to tell it from answers.
#[test]
fn messages_that_differ_from_one_connection_to_the_next_are_no_greeting() {
    let server = Server::new(|connection| {
        for _ in 0..=connection.nth % 3 {
            connection.send(&text(b"news"))?;
        }
        connection.answer(text)
    })
    .unwrap();
    let url = format!("ws://{}/", server.address);
    let told = "messages of its own accord, and they may pass for answers";
    load(&url, &["-n", "5"]).says(&[told, "--opening"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("opening.toml");
    std::fs::write(&file, "ignore = [{ is = \"news\" }]\n").unwrap();
    let file = file.to_str().unwrap();
    load(&url, &["-n", "50", "-v", "--opening", file])
        .says(&["50 completed + 0 failed"])
        .keeps_quiet_about(&[told]);
}

#[test]
fn over_tls() {
    let (server, authority) = (Server::echo().unwrap(), Authority::new());
    let config = authority.server(&Certified { alpn: vec!["http/1.1"], ..Certified::default() });
    let front = Front::spawn(server.address, config, FrontBehaviour::default()).unwrap();
    let url = format!("wss://{}/", front.address());
    load(&url, &["--insecure", "-n", "20", "-v"]).says(&["WebSocket", "10 handshakes", "upgrade"]);
    load(&url, &["-n", "20"]).is_a_user_error(&["--ca FILE"]);
    let plain = Server::raw(|connection| {
        connection.send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    })
    .unwrap();
    load(&format!("wss://{}/", plain.address), &["-n", "20"])
        .is_a_user_error(&["are not TLS", "write ws://"]);
}

/// One clear error instead of a load of failures.
#[test]
fn a_server_without_websocket_is_named() {
    let server = Server::raw(|connection| {
        connection.head()?;
        connection.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    })
    .unwrap();
    let outcome = load(&format!("ws://{}/", server.address), &["-n", "100"]);
    outcome.is_a_user_error(&["the server answers 404 in place of 101", "is the path right?"]);
    assert_eq!(server.account.opened(), 2, "the address is tried, and then the handshake");
}

/// One connection sends, and all of them receive it.
#[test]
fn a_message_to_all() {
    let server = room(|said| said.to_all()).unwrap();
    let url = format!("ws://{}/room", server.address);
    let flags = ["--broadcast", "-c", "7", "-n", "30", "--quiet", "--json", "-"];
    let outcome = load(&url, &flags);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&json["requests"]["good"], &json["threads"]), (&30.into(), &1.into()), "{outcome}");
    assert_eq!(json["websocket"]["receivers"], 7);
    assert_eq!(json["websocket"]["lost"], 0);
    assert_eq!(json["errors"], serde_json::json!({}));
    assert_eq!(server.account.messages().len(), 30);
    load(&url, &["--broadcast", "-c", "3", "-n", "20"])
        .says(&["each message to 3 connections: the first has it after", "(medians)"]);
    // If a server answers only the sender, the copies of all others are lost.
    let echo = Server::echo().unwrap();
    let flags = ["--broadcast", "-c", "3", "-n", "2", "--timeout", "2s"];
    load(&format!("ws://{}/", echo.address), &flags).says(&["timeout 2", "4 lost"]);
}

#[test]
fn what_a_broadcast_cannot_have_is_refused() {
    let refused: [(&[&str], &[&str]); 7] = [
        (&["-t", "2"], &["--threads does not go with --broadcast"]),
        (&["--agents", "2"], &["--agents does not go with --broadcast"]),
        (&["--requests-per-connection", "2"], &["--requests-per-connection does not go with"]),
        (&["--message-size", "15"], &["--message-size does not go with --broadcast", "16 or more"]),
        (&["--message", "x"], &["cannot be used with"]),
        (&["--any-answer"], &["cannot be used with"]),
        (&["--devices", "5", "--ramp", "1s,1s,1s"], &["--devices does not go with --broadcast"]),
    ];
    for (flags, texts) in refused {
        load("ws://127.0.0.1:1/", &[&["--broadcast"], flags].concat()).is_a_user_error(texts);
    }
    load("http://127.0.0.1:1/", &["--broadcast"])
        .is_a_user_error(&["--broadcast is about WebSocket"]);
}

#[test]
fn why_the_server_closed_is_told() {
    let server = Server::new(|connection| {
        connection.message()?;
        connection.send(&frame(CLOSE | FINAL, &1013_u16.to_be_bytes()))?;
        connection.drain()
    })
    .unwrap();
    let outcome = load(&format!("ws://{}/", server.address), &["-n", "10", "-c", "1", "-v"]);
    outcome.says(&["close_before_answer", "closed by the server with code 1013, 10 times"]);
}

/// Flags without effect are refused, with what to do.
#[test]
fn flags_of_http_are_refused_and_those_of_websocket_elsewhere() {
    let server = Server::echo().unwrap();
    let url = format!("ws://{}/", server.address);
    let refused: [(&[&str], &[&str]); 13] = [
        (&["--pipeline", "4"], &["--pipeline has no effect over WebSocket", "-c"]),
        (&["--streams", "4"], &["--streams has no effect over WebSocket"]),
        (&["--http2"], &["opened over HTTP/1.1"]),
        (&["--no-keep-alive"], &["--requests-per-connection 1"]),
        (&["-m", "POST"], &["-m has no effect over WebSocket"]),
        (&["-b", "x"], &["-b has no effect over WebSocket", "--message"]),
        (&["--expect-status", "200"], &["messages have no status"]),
        (&["--compressed"], &["--compressed has no effect over WebSocket"]),
        (&["-H", "Upgrade: x"], &["header `Upgrade` is set by the handshake"]),
        (&["--message", "x", "--message-size", "4"], &["cannot be used with"]),
        (&["--message-size", "17MiB"], &["must be at most 16 MiB"]),
        (&["--ca", "root.pem"], &["--ca has no effect with ws://", "wss://"]),
        (&["--any-answer", "--expect-body", "x"], &["cannot be used with"]),
    ];
    for (flags, texts) in refused {
        load(&url, &[&["-n", "10"], flags].concat()).is_a_user_error(texts);
    }
    assert_eq!(server.account.opened(), 0, "nothing was opened");
    let http = url.replace("ws://", "http://");
    let elsewhere: [&[&str]; 4] =
        [&["--message", "x"], &["--message-size", "4"], &["--binary"], &["--any-answer"]];
    for flags in elsewhere {
        load(&http, flags).is_a_user_error(&[flags[0], "is about WebSocket", "ws://"]);
    }
}
