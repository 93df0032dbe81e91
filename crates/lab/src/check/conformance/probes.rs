//! What a probe is, and which answers can be right. The probes themselves are in files of their kinds.
use pippin_engine::http1::client::Response;
use pippin_model::target::conformance::Level;

use super::exchange::{Ask, Reaction};

/// One question.
pub struct Probe {
    /// In words.
    pub name: &'static str,
    /// Where the right answer is defined.
    pub section: &'static str,
    /// How strongly it is asked for.
    pub level: Level,
    /// The request: `{get}` is a whole one, `{head}` and `{post}` one that lacks the end of its head;
    /// then there are `{path}`, `{host}`, and what is written out by [`repeated`].
    text: &'static str,
    /// What is sent.
    pub ask: Ask,
    /// Whether this is right.
    pub is_right: fn(&Reaction) -> bool,
}

impl Probe {
    /// With so many answers.
    pub const fn answers(mut self, answers: usize) -> Self {
        self.ask.answers = answers;
        self
    }

    /// That listens until the connection ends.
    pub const fn until_the_end(mut self) -> Self {
        self.ask.waits_for_end = true;
        self
    }

    /// Whose answer has no body.
    pub const fn for_head(mut self) -> Self {
        self.ask.is_head = true;
        self
    }

    /// For which an interim answer is enough.
    pub const fn or_interim(mut self) -> Self {
        self.ask.interim_is_enough = true;
        self
    }

    /// With the bytes to send to this path and host.
    pub fn to(mut self, path: &str, host: &str) -> Self {
        let filled = |text: &str| {
            let text = text
                .replace("{get}", "{head}\r\n")
                .replace("{head}", "GET {path} HTTP/1.1\r\nHost: {host}\r\n")
                .replace("{post}", "POST {path} HTTP/1.1\r\nHost: {host}\r\n")
                .replace("{digits}", &"0".repeat(99));
            repeated(&text).replace("{host}", host).replace("{path}", path).into_bytes()
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

/// Writes something as often as it is asked for.
type Repeat = fn(usize) -> String;

/// Writes out what is asked for many times: `{x:8}` is eight letters.
fn repeated(text: &str) -> String {
    const PARTS: [(&str, Repeat); 5] = [
        ("{x:", |count| "x".repeat(count)),
        ("{fields:", |count| (0..count).map(|nth| format!("X-Field-{nth}: a\r\n")).collect()),
        ("{lines:", |count| "\r\n".repeat(count)),
        ("{chunks:", |count| "1\r\nx\r\n".repeat(count)),
        ("{requests:", |count| "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".repeat(count)),
    ];
    let mut text = text.to_string();
    for (begin, write) in PARTS {
        if let Some((before, rest)) = text.split_once(begin)
            && let Some((count, after)) = rest.split_once('}')
            && let Ok(count) = count.parse()
        {
            text = format!("{before}{}{after}", write(count));
        }
    }
    text
}

/// 200, and nothing behind it that cannot be read.
pub fn is_ok(seen: &Reaction) -> bool {
    seen.broken.is_none() && seen.status() == Some(200)
}

/// Any answer that refuses, or the end of the connection without an answer. A path that takes no POST
/// refuses every message, so then the connection must end, or a second answer refuse the form.
pub fn is_refused(seen: &Reaction) -> bool {
    if seen.is_turned_away {
        let refuses = |answer: &Response| matches!(answer.status, 400..=403 | 406..=599);
        return seen.closed || seen.answers.get(1).is_some_and(refuses);
    }
    match seen.status() {
        Some(status) => (400..600).contains(&status),
        None => seen.closed && seen.broken.is_none(),
    }
}

/// 400.
pub fn is_bad_request(seen: &Reaction) -> bool {
    seen.status() == Some(400)
}

/// 200, and then the end of the connection.
pub fn ends_answered(seen: &Reaction) -> bool {
    is_ok(seen) && seen.closed
}

/// Any answer.
pub fn is_answered(seen: &Reaction) -> bool {
    seen.broken.is_none() && seen.status().is_some()
}

/// Two answers in order: the server did not take the second request for a part of the first.
pub fn is_in_step(seen: &Reaction) -> bool {
    seen.broken.is_none() && seen.answers.len() == 2 && seen.answers[1].status == 200
}

/// Three answers in order.
pub fn are_three(seen: &Reaction) -> bool {
    seen.broken.is_none() && seen.answers.len() == 3 && seen.answers[2].status == 200
}

/// Two answers in order, or the connection ended after the first.
pub fn is_in_step_or_ended(seen: &Reaction) -> bool {
    is_in_step(seen) || seen.broken.is_none() && seen.answers.len() == 1 && seen.closed
}

/// Refused, or 200.
pub fn is_refused_or_ok(seen: &Reaction) -> bool {
    is_refused(seen) || is_ok(seen)
}

/// Refused, or the connection ended, so that nothing can be hidden behind it.
pub fn is_refused_or_ended(seen: &Reaction) -> bool {
    is_refused(seen) || seen.closed
}

/// Any answer, or the end of the connection.
pub fn is_answered_or_ended(seen: &Reaction) -> bool {
    is_answered(seen) || seen.closed
}

/// A probe with one answer.
pub const fn probe(
    name: &'static str,
    section: &'static str,
    level: Level,
    text: &'static str,
    is_right: fn(&Reaction) -> bool,
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

/// A request that is sent in two pieces.
pub const HALVES: &str = "{get} in halves";
