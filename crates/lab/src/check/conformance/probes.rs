//! What is asked, and which answers are right.
use pippin_model::target::conformance::Level;

use super::exchange::{Ask, Seen};

/// One question.
pub struct Probe {
    /// In words.
    pub name: &'static str,
    /// Where the right answer is defined.
    pub section: &'static str,
    /// How strongly it is asked for.
    pub level: Level,
    /// The request: `{get}` is a whole one, `{head}` and `{post}` one that lacks the end of its head;
    /// then there are `{path}`, `{host}`, and `{long}` of 64 KiB.
    text: &'static str,
    /// What is sent.
    pub ask: Ask,
    /// Whether this is right.
    pub is_right: fn(&Seen) -> bool,
}

impl Probe {
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

    /// With the bytes to send to this path and host.
    fn to(mut self, path: &str, host: &str) -> Self {
        let filled = |text: &str| {
            text.replace("{get}", "{head}\r\n")
                .replace("{head}", "GET {path} HTTP/1.1\r\nHost: {host}\r\n")
                .replace("{post}", "POST {path} HTTP/1.1\r\nHost: {host}\r\n")
                .replace("{long}", &"x".repeat(64 * 1024))
                .replace("{host}", host)
                .replace("{path}", path)
                .into_bytes()
        };
        self.ask.pieces = if self.text == HALVES {
            // A path may have characters of several bytes, and a segment may end within one.
            let get = filled("{get}");
            let (front, back) = get.split_at(get.len() / 2);
            vec![front.into(), back.into()]
        } else {
            vec![filled(self.text)]
        };
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

const fn probe(
    name: &'static str,
    section: &'static str,
    level: Level,
    text: &'static str,
    is_right: fn(&Seen) -> bool,
) -> Probe {
    let ask = Ask {
        pieces: Vec::new(),
        answers: 1,
        is_head: false,
        waits_for_end: false,
        interim_is_enough: false,
    };
    Probe { name, section, level, text, ask, is_right }
}

/// Everything that is asked. `path` is answered with 200; `host` is the value of the field.
pub fn all(path: &str, host: &str) -> Vec<Probe> {
    let all = FRAMING.into_iter().chain(HEADS).chain(METHODS);
    all.map(|probe| probe.to(path, host)).collect()
}

/// A request that is sent in two pieces.
const HALVES: &str = "{get} in halves";

/// Where requests begin and end.
const FRAMING: [Probe; 14] = [
    probe("a request in two segments", "RFC 9112 2.1", Must, HALVES, is_ok),
    probe("two requests in one segment", "RFC 9112 9.3.2", Must, "{get}{get}", is_in_step)
        .answers(2),
    probe("an empty line before the request", "RFC 9112 2.2", Should, "\r\n{get}", is_ok),
    probe(
        "a chunked body, then a request",
        "RFC 9112 7.1",
        Must,
        "{post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n{get}",
        is_in_step_or_ended,
    )
    .answers(2)
    .until_the_end(),
    probe(
        "a body with a length, then a request",
        "RFC 9112 6.2",
        Must,
        "{post}Content-Length: 5\r\n\r\nhello{get}",
        is_in_step_or_ended,
    )
    .answers(2)
    .until_the_end(),
    probe(
        "Content-Length and Transfer-Encoding",
        "RFC 9112 6.1",
        Must,
        "{post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        |seen| is_refused(seen) || seen.closed,
    )
    .until_the_end(),
    probe(
        "two lengths that differ",
        "RFC 9112 6.3",
        Must,
        "{post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        is_refused,
    ),
    probe(
        "a negative length",
        "RFC 9112 6.3",
        Must,
        "{post}Content-Length: -5\r\n\r\nhello",
        is_refused,
    ),
    probe(
        "a chunk size that is no number",
        "RFC 9112 7.1",
        Must,
        "{post}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        is_refused,
    ),
    probe(
        "a transfer coding that nobody knows",
        "RFC 9112 6.1",
        Should,
        "{post}Transfer-Encoding: snail\r\n\r\n",
        |seen| matches!(seen.status(), Some(400 | 501)),
    ),
    probe(
        "Expect: 100-continue",
        "RFC 9110 10.1.1",
        Must,
        "{post}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n",
        |seen| seen.interim.contains(&100) || is_answered(seen),
    )
    .or_interim(),
    probe(
        "Connection: close",
        "RFC 9112 9.6",
        Must,
        "{head}Connection: close\r\n\r\n",
        ends_answered,
    )
    .until_the_end(),
    probe("HTTP/1.0", "RFC 9112 9.3", Must, "GET {path} HTTP/1.0\r\n\r\n", |seen| {
        ends_answered(seen) && seen.answers[0].header("transfer-encoding").is_none()
    })
    .until_the_end(),
    probe(
        "HTTP/1.0 that asks for keep-alive",
        "RFC 9112 9.3",
        Note,
        "GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        is_ok,
    ),
];

/// Header fields and request lines.
const HEADS: [Probe; 14] = [
    probe("no Host field", "RFC 9112 3.2", Must, "GET {path} HTTP/1.1\r\n\r\n", is_bad_request),
    probe("two Host fields", "RFC 9112 3.2", Must, "{head}Host: other\r\n\r\n", is_bad_request),
    probe(
        "a Host field that is no name",
        "RFC 9112 3.2",
        Must,
        "GET {path} HTTP/1.1\r\nHost: a b\r\n\r\n",
        is_bad_request,
    ),
    probe(
        "the absolute form",
        "RFC 9112 3.2.2",
        Must,
        "GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        is_ok,
    ),
    probe(
        "a folded field",
        "RFC 9112 5.2",
        Must,
        "{head}X-Folded: one\r\n two\r\n\r\n",
        is_refused_or_ok,
    ),
    probe(
        "a space before the colon",
        "RFC 9112 5.1",
        Must,
        "{head}X-Space : one\r\n\r\n",
        is_refused,
    ),
    probe("a field without a colon", "RFC 9112 5", Must, "{head}nothing\r\n\r\n", is_refused),
    probe(
        "NUL in a field",
        "RFC 9110 5.5",
        Must,
        "{head}X-Nul: a\0b\r\n\r\n",
        is_answered_or_ended,
    ),
    probe(
        "field names in lower case",
        "RFC 9110 5.1",
        Must,
        "GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n",
        is_ok,
    ),
    probe(
        "a field of 64 KiB",
        "RFC 9110 5.4",
        Must,
        "{head}X-Long: {long}\r\n\r\n",
        is_refused_or_ok,
    ),
    probe(
        "a target of 64 KiB",
        "RFC 9112 3",
        Must,
        "GET {path}?{long} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        is_refused_or_ok,
    ),
    probe(
        "HTTP/9.9",
        "RFC 9110 15.6.6",
        Should,
        "GET {path} HTTP/9.9\r\nHost: {host}\r\n\r\n",
        is_refused,
    ),
    probe("a request line that is none", "RFC 9112 3", Must, "rubbish\r\n\r\n", is_refused),
    // A clock is asked for, and no client of a benchmark misses it.
    probe("a Date field in the answer", "RFC 9110 6.6.1", Note, "{get}", |seen| {
        seen.answers.first().is_some_and(|answer| answer.header("date").is_some())
    }),
];

/// Methods besides GET, and a query.
const METHODS: [Probe; 6] = [
    probe("HEAD", "RFC 9110 9.3.2", Must, "HEAD {path} HTTP/1.1\r\nHost: {host}\r\n\r\n", is_ok)
        .for_head()
        .until_the_end(),
    probe(
        "a method that nobody knows",
        "RFC 9110 9.1",
        Should,
        "SNAIL {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        is_refused,
    ),
    probe(
        "a method in lower case",
        "RFC 9110 9.1",
        Should,
        "get {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        is_refused,
    ),
    probe(
        "OPTIONS",
        "RFC 9110 9.3.7",
        Note,
        "OPTIONS {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        is_answered,
    ),
    probe(
        "TRACE",
        "RFC 9110 9.3.8",
        Note,
        "TRACE {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        is_answered_or_ended,
    ),
    probe(
        "a percent-encoded letter in the query",
        "RFC 9110 4.2.3",
        Note,
        "GET {path}?%61=%62 HTTP/1.1\r\nHost: {host}\r\n\r\n",
        is_ok,
    ),
];

fn is_refused_or_ok(seen: &Seen) -> bool {
    is_refused(seen) || is_ok(seen)
}

fn is_answered_or_ended(seen: &Seen) -> bool {
    is_answered(seen) || seen.closed
}
