//! Protocols above WebSocket: servers that play SignalR, Socket.IO and GraphQL subscriptions. The words
//! are those of the files that docs/requests.md shows.
use pippin_model::load::first_words::{FirstWords, Matching, Reply, Step};
use pippin_model::load::{IoChoice, LoadSpec, Timeouts};
use pippin_model::result::{ErrorKind, LoadResult};
use pippin_testing::messages::{Connection, Server, text};

use super::{messages, seen, serving};
use crate::support::{MS, closed, errors, on_each_loop, run};

on_each_loop!(
    signalr,
    socket_io,
    graphql_transport_ws,
    a_greeting_that_comes_late_is_no_answer,
    words_in_one_piece_with_the_consent,
    a_server_that_closes_in_its_opening,
    a_server_that_never_says_the_word,
);

/// The words in the block of this name in docs/requests.md.
fn shown(name: &str) -> FirstWords {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/requests.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once(&format!("```toml {name}\n")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, block.split("```").next().unwrap()).unwrap();
    FirstWords::read(&path).unwrap()
}

fn load(io: IoChoice, server: &Server, words: FirstWords) -> LoadResult {
    let first_words = Some(words);
    run(&LoadSpec { first_words, ..messages(closed(server.address, io, 3, 60)) })
}

/// All messages were answered by their echoes, though each connection was pinged before each answer.
#[track_caller]
fn all_is_well(result: &LoadResult, server: &Server, opening: usize) {
    assert_eq!((result.measured.requests.good, errors(result)), (60, vec![]));
    assert_eq!(seen(result).unasked, 0);
    let own = server.account.messages().len() - 60;
    assert_eq!(own, 3 * opening + 60, "words of the opening, and an answer to each ping");
}

/// What the client must say next, or the connection ends and the load fails.
fn hears(connection: &mut Connection, wanted: &str) -> Option<()> {
    (connection.message()? == wanted.as_bytes()).then_some(())
}

/// Sends back each message after a ping, whose answer must come before the next message.
fn echo_with_pings(connection: &mut Connection, ping: &str, pong: &str) -> Option<()> {
    loop {
        let message = connection.message()?;
        connection.send(&text(ping.as_bytes()))?;
        hears(connection, pong)?;
        connection.send(&text(&message))?;
    }
}

fn signalr(io: IoChoice) {
    let server = serving(|connection| {
        hears(connection, "{\"protocol\":\"json\",\"version\":1}\u{1e}")?;
        connection.send(&text(b"{}\x1e"))?;
        echo_with_pings(connection, "{\"type\":6}\u{1e}", "{\"type\":6}\u{1e}")
    });
    all_is_well(&load(io, &server, shown("signalr.toml")), &server, 1);
}

fn socket_io(io: IoChoice) {
    let server = serving(|connection| {
        connection.send(&text(br#"0{"sid":"a40b","pingInterval":25000}"#))?;
        hears(connection, "40")?;
        connection.send(&text(br#"40{"sid":"c"}"#))?;
        echo_with_pings(connection, "2", "3")
    });
    all_is_well(&load(io, &server, shown("socket-io.toml")), &server, 1);
}

fn graphql_transport_ws(io: IoChoice) {
    let server = serving(|connection| {
        hears(connection, r#"{"type":"connection_init"}"#)?;
        connection.send(&text(br#"{"type":"connection_ack","payload":{}}"#))?;
        echo_with_pings(connection, r#"{"type":"ping"}"#, r#"{"type":"pong"}"#)
    });
    all_is_well(&load(io, &server, shown("graphql.toml")), &server, 1);
}

fn awaiting(kind: Matching) -> FirstWords {
    FirstWords { steps: vec![Step::Await(kind)], ..FirstWords::default() }
}

/// Without `--opening` the greeting would be the answer to the first message.
fn a_greeting_that_comes_late_is_no_answer(io: IoChoice) {
    let server = serving(|connection| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        connection.send(&text(b"news of today"))?;
        connection.send(&text(b"welcome"))?;
        connection.answer(text)
    });
    let result = load(io, &server, awaiting(Matching::Is("welcome".into())));
    assert_eq!((result.measured.requests.good, errors(&result)), (60, vec![]));
    assert_eq!(seen(&result).unasked, 0);
    // What nobody awaits, and nobody must answer, may come at any time.
    let server = serving(|connection| {
        connection.answer(|message| [text(b"news of today"), text(message)].concat())
    });
    let ignore = vec![Matching::Begins("news".into())];
    let result = load(io, &server, FirstWords { ignore, ..FirstWords::default() });
    assert_eq!((result.measured.requests.good, errors(&result)), (60, vec![]));
}

fn words_in_one_piece_with_the_consent(io: IoChoice) {
    let server = Server::raw(|connection| {
        let head = connection.head()?;
        let consent = Connection::consent(&head).into_bytes();
        connection.send(&[consent, text(b"first"), text(b"second"), text(b"ping")].concat())?;
        hears(connection, "pong")?;
        connection.answer(text)
    })
    .unwrap();
    let is = |word: &str| Step::Await(Matching::Is(word.into()));
    let words = FirstWords {
        steps: vec![is("first"), is("second")],
        replies: vec![Reply { to: Matching::Is("ping".into()), with: "pong".into() }],
        ignore: vec![],
    };
    let result = load(io, &server, words);
    assert_eq!((result.measured.requests.good, errors(&result)), (60, vec![]));
    assert_eq!(seen(&result).unasked, 0);
}

fn a_server_that_closes_in_its_opening(io: IoChoice) {
    const CLOSE: &[u8] = &[0x88, 2, 0x11, 0x30]; // 4400
    let server = serving(|connection| {
        connection.send(CLOSE)?;
        connection.drain()
    });
    let words = awaiting(Matching::Contains("connection_ack".into()));
    let load = LoadSpec { first_words: Some(words), ..messages(closed(server.address, io, 1, 3)) };
    let result = run(&load);
    assert_eq!(result.measured.requests.good, 0);
    assert_eq!(errors(&result), [(ErrorKind::Upgrade, 3)]);
    let (why, _) = seen(&result).failures.iter().next().unwrap();
    let said = "closed the WebSocket with the code 4400, and did not send a message that contains `connection_ack`";
    assert!(why.contains(said), "{why}");
}

fn a_server_that_never_says_the_word(io: IoChoice) {
    let server = serving(|connection| {
        connection.send(&text(b"something else"))?;
        connection.drain()
    });
    let words = awaiting(Matching::Begins("40".into()));
    let timeouts = Timeouts { connect_ns: 400 * MS, ..Timeouts::default() };
    let load = LoadSpec {
        first_words: Some(words),
        timeouts,
        ..messages(closed(server.address, io, 1, 2))
    };
    let result = run(&load);
    assert_eq!(result.measured.requests.good, 0);
    assert_eq!(errors(&result), [(ErrorKind::Upgrade, 2)]);
    let (why, _) = seen(&result).failures.iter().next().unwrap();
    assert_eq!(why, "the server did not send a message that begins with `40` in time");
}
