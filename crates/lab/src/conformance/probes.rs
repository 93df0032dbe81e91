//! What is asked, and which answers are right.
use pippin_model::conformance::Level;

use super::exchange::{Ask, Seen};

/// One question.
pub struct Probe {
    /// In words.
    pub name: &'static str,
    /// Where the right answer is defined.
    pub section: &'static str,
    /// How strongly it is asked for.
    pub level: Level,
    /// What is sent.
    pub ask: Ask,
    /// Whether this is right.
    pub is_right: fn(&Seen) -> bool,
}

impl Probe {
    fn pieces(mut self, pieces: Vec<Vec<u8>>) -> Self {
        self.ask.pieces = pieces;
        self
    }

    const fn answers(mut self, answers: usize) -> Self {
        self.ask.answers = answers;
        self
    }

    const fn until_the_end(mut self) -> Self {
        self.ask.waits_for_end = true;
        self
    }

    const fn for_head(mut self) -> Self {
        self.ask.is_head = true;
        self
    }

    const fn or_interim(mut self) -> Self {
        self.ask.interim_is_enough = true;
        self
    }
}

use Level::{Must, Note, Should};

fn is_ok(seen: &Seen) -> bool {
    seen.broken.is_none() && seen.status() == Some(200)
}

/// Any answer that refuses, or the end of the connection without an answer.
fn is_refused(seen: &Seen) -> bool {
    match seen.status() {
        Some(status) => (400..600).contains(&status),
        None => seen.closed && seen.broken.is_none(),
    }
}

fn is_bad_request(seen: &Seen) -> bool {
    seen.status() == Some(400)
}

fn ends_answered(seen: &Seen) -> bool {
    is_ok(seen) && seen.closed
}

fn is_answered(seen: &Seen) -> bool {
    seen.broken.is_none() && seen.status().is_some()
}

/// Two answers in order: the server did not take the second request for a part of the first.
fn is_in_step(seen: &Seen) -> bool {
    seen.broken.is_none() && seen.answers.len() == 2 && seen.answers[1].status == 200
}

/// Two answers in order, or the connection ended after the first.
fn is_in_step_or_ended(seen: &Seen) -> bool {
    is_in_step(seen) || seen.broken.is_none() && seen.answers.len() == 1 && seen.closed
}

fn probe(
    name: &'static str,
    section: &'static str,
    level: Level,
    text: &str,
    is_right: fn(&Seen) -> bool,
) -> Probe {
    let ask = Ask {
        pieces: vec![text.as_bytes().to_vec()],
        answers: 1,
        is_head: false,
        waits_for_end: false,
        interim_is_enough: false,
    };
    Probe { name, section, level, ask, is_right }
}

/// Everything that is asked. `path` is answered with 200; `host` is the value of the field.
pub fn all(path: &str, host: &str) -> Vec<Probe> {
    let get = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let with = |fields: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n");
    let post = |fields: &str, body: &str| {
        format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n{body}")
    };
    let mut all = framing(path, host, &get, &post);
    all.extend(heads(path, host, &get, &with));
    all.extend(methods(path, host));
    all
}

/// Where requests begin and end.
fn framing(path: &str, host: &str, get: &str, post: &dyn Fn(&str, &str) -> String) -> Vec<Probe> {
    // A path may have characters of several bytes, and a segment may end within one.
    let (front, back) = get.as_bytes().split_at(get.len() / 2);
    let chunked = "Transfer-Encoding: chunked\r\n";
    vec![
        probe("a request in two segments", "RFC 9112 2.1", Must, "", is_ok)
            .pieces(vec![front.into(), back.into()]),
        probe("two requests in one segment", "RFC 9112 9.3.2", Must, "", is_in_step)
            .pieces(vec![format!("{get}{get}").into()])
            .answers(2),
        probe(
            "an empty line before the request",
            "RFC 9112 2.2",
            Should,
            &format!("\r\n{get}"),
            is_ok,
        ),
        probe("a chunked body, then a request", "RFC 9112 7.1", Must, "", is_in_step_or_ended)
            .pieces(vec![format!("{}{get}", post(chunked, "5\r\nhello\r\n0\r\n\r\n")).into()])
            .answers(2)
            .until_the_end(),
        probe(
            "a body with a length, then a request",
            "RFC 9112 6.2",
            Must,
            "",
            is_in_step_or_ended,
        )
        .pieces(vec![format!("{}{get}", post("Content-Length: 5\r\n", "hello")).into()])
        .answers(2)
        .until_the_end(),
        probe("Content-Length and Transfer-Encoding", "RFC 9112 6.1", Must, "", |seen| {
            is_refused(seen) || seen.closed
        })
        .pieces(vec![post(&format!("Content-Length: 5\r\n{chunked}"), "0\r\n\r\n").into()])
        .until_the_end(),
        probe(
            "two lengths that differ",
            "RFC 9112 6.3",
            Must,
            &post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"),
            is_refused,
        ),
        probe(
            "a negative length",
            "RFC 9112 6.3",
            Must,
            &post("Content-Length: -5\r\n", "hello"),
            is_refused,
        ),
        probe(
            "a chunk size that is no number",
            "RFC 9112 7.1",
            Must,
            &post(chunked, "zz\r\nhello\r\n0\r\n\r\n"),
            is_refused,
        ),
        probe(
            "a transfer coding that nobody knows",
            "RFC 9112 6.1",
            Should,
            &post("Transfer-Encoding: snail\r\n", ""),
            |seen| matches!(seen.status(), Some(400 | 501)),
        ),
        probe(
            "Expect: 100-continue",
            "RFC 9110 10.1.1",
            Must,
            &post("Content-Length: 5\r\nExpect: 100-continue\r\n", ""),
            |seen| seen.interim.contains(&100) || is_answered(seen),
        )
        .or_interim(),
        probe(
            "Connection: close",
            "RFC 9112 9.6",
            Must,
            &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
            ends_answered,
        )
        .until_the_end(),
        probe("HTTP/1.0", "RFC 9112 9.3", Must, &format!("GET {path} HTTP/1.0\r\n\r\n"), |seen| {
            ends_answered(seen) && seen.answers[0].header("transfer-encoding").is_none()
        })
        .until_the_end(),
        probe(
            "HTTP/1.0 that asks for keep-alive",
            "RFC 9112 9.3",
            Note,
            &format!("GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            is_ok,
        ),
    ]
}

/// Header fields and request lines.
fn heads(path: &str, host: &str, get: &str, with: &dyn Fn(&str) -> String) -> Vec<Probe> {
    let long = "x".repeat(64 * 1024);
    let is_limited = |seen: &Seen| is_refused(seen) || is_ok(seen);
    vec![
        probe(
            "no Host field",
            "RFC 9112 3.2",
            Must,
            &format!("GET {path} HTTP/1.1\r\n\r\n"),
            is_bad_request,
        ),
        probe("two Host fields", "RFC 9112 3.2", Must, &with("Host: other\r\n"), is_bad_request),
        probe(
            "a Host field that is no name",
            "RFC 9112 3.2",
            Must,
            &get.replace(host, "a b"),
            is_bad_request,
        ),
        probe(
            "the absolute form",
            "RFC 9112 3.2.2",
            Must,
            &format!("GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            is_ok,
        ),
        probe("a folded field", "RFC 9112 5.2", Must, &with("X-Folded: one\r\n two\r\n"), |seen| {
            is_refused(seen) || is_ok(seen)
        }),
        probe(
            "a space before the colon",
            "RFC 9112 5.1",
            Must,
            &with("X-Space : one\r\n"),
            is_refused,
        ),
        probe("a field without a colon", "RFC 9112 5", Must, &with("nothing\r\n"), is_refused),
        probe(
            "NUL in a field",
            "RFC 9110 5.5",
            Must,
            &with("X-Nul: a\0b\r\n"),
            is_answered_or_ended,
        ),
        probe(
            "field names in lower case",
            "RFC 9110 5.1",
            Must,
            &get.replace("Host", "host"),
            is_ok,
        ),
        probe(
            "a field of 64 KiB",
            "RFC 9110 5.4",
            Must,
            &with(&format!("X-Long: {long}\r\n")),
            is_limited,
        ),
        probe(
            "a target of 64 KiB",
            "RFC 9112 3",
            Must,
            &format!("GET {path}?{long} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            is_limited,
        ),
        probe(
            "HTTP/9.9",
            "RFC 9110 15.6.6",
            Should,
            &get.replace("HTTP/1.1", "HTTP/9.9"),
            is_refused,
        ),
        probe("a request line that is none", "RFC 9112 3", Must, "rubbish\r\n\r\n", is_refused),
        // A clock is asked for, and no client of a benchmark misses it.
        probe("a Date field in the answer", "RFC 9110 6.6.1", Note, get, |seen| {
            seen.answers.first().is_some_and(|answer| answer.header("date").is_some())
        }),
    ]
}

fn is_answered_or_ended(seen: &Seen) -> bool {
    is_answered(seen) || seen.closed
}

/// Methods besides GET.
fn methods(path: &str, host: &str) -> Vec<Probe> {
    let of = |method: &str| format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    vec![
        probe("HEAD", "RFC 9110 9.3.2", Must, &of("HEAD"), is_ok).for_head().until_the_end(),
        probe("a method that nobody knows", "RFC 9110 9.1", Should, &of("SNAIL"), is_refused),
        probe("a method in lower case", "RFC 9110 9.1", Should, &of("get"), is_refused),
        probe("OPTIONS", "RFC 9110 9.3.7", Note, &of("OPTIONS"), is_answered),
        probe("TRACE", "RFC 9110 9.3.8", Note, &of("TRACE"), is_answered_or_ended),
        probe(
            "a percent-encoded letter in the query",
            "RFC 9110 4.2.3",
            Note,
            &format!("GET {path}?%61=%62 HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            is_ok,
        ),
    ]
}
