//! Checks whether an answer is right, piece by piece.
use memchr::memmem;
use pippin_model::load::{BodyCheck, Check};
use pippin_model::request::coding::Coding;
use pippin_model::result::ErrorKind;
use pippin_model::scenario::find;
use std::hash::Hasher as _;
use twox_hash::XxHash64;

use crate::request::drawn::{Filled, Value};
use crate::request::event_stream::{EventLog, EventStream, EventTimes};
use crate::request::referee::{Exchange, Referee};
use crate::request::surprises::Look;
use crate::time::clock::unix_offset_ns;

/// The status of an answer in a protocol that has none.
pub(crate) const NO_STATUS: u16 = 0;

/// Nothing has changed since the client asked before.
const NOT_MODIFIED: u16 = 304;

/// Whether the check accepts this status.
#[inline]
fn accepts_status(check: &Check, status: u16) -> bool {
    if status == NO_STATUS {
        true
    } else if check.status.is_empty() {
        (200..400).contains(&status)
    } else {
        check.status.contains(&status)
    }
}

/// What the answer to a request must be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Right<'a> {
    pub check: &'a Check,
    /// The value that was drawn for the request; `None` where none was.
    pub filled: Option<Filled<'a>>,
}

/// Which request it was, and when it and its answer passed, in nanoseconds of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Timing {
    pub template: u32,
    /// What was drawn for it.
    pub value: Value,
    pub sent_ns: u64,
    /// The answer had arrived, and was read.
    pub done_ns: u64,
    pub read_ns: u64,
}

impl Timing {
    const fn service_ns(self) -> u64 {
        self.done_ns - self.sent_ns
    }
}

/// Whether the value of a field `Content-Type` is this media type, whatever its parameters (RFC
/// 9110 section 8.3).
pub(crate) fn is_of_type(value: &[u8], wanted: &str) -> bool {
    let given = value.split(|byte| *byte == b';').next().unwrap_or_default();
    given.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes())
}

/// Whether a head of HTTP/1.1 has this type of content.
fn has_type(raw: &[u8], wanted: &str) -> bool {
    values(raw, "content-type:").next().is_some_and(|value| is_of_type(value, wanted))
}

/// The content coding that a head of HTTP/1.1 names.
fn coding(raw: &[u8]) -> Coding {
    values(raw, "content-encoding:").fold(Coding::Plain, Coding::and_field)
}

/// The values of all fields of this name, which ends with a colon, in a head of HTTP/1.1.
fn values<'a>(raw: &'a [u8], name: &'static str) -> impl Iterator<Item = &'a [u8]> {
    raw.split(|byte| *byte == b'\n').filter_map(move |line| {
        let (given, value) = line.split_at_checked(name.len())?;
        given.eq_ignore_ascii_case(name.as_bytes()).then_some(value)
    })
}

/// Judges an answer while it arrives.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// Bytes of the body so far.
    pub body_bytes: u64,
    /// The body, kept only if it must be checked as a whole. The memory is used again for the next
    /// answer.
    #[allow(clippy::box_collection)] // a connection must stay small
    kept: Option<Box<Vec<u8>>>,
    /// What is known so far of a body that is not kept. The memory is used again.
    running: Option<Box<Running>>,
    /// Where the body before this one had the first texts of its check. The next one mostly has
    /// them there too, and to look there costs less than to make a searcher for a text.
    found: [u32; 2],
    /// Of the present answer, or of the one before it until a head comes.
    pub status: u16,
    /// Whether a head has come whose answer has not ended.
    is_under_way: bool,
    wrong: bool,
    look: Look,
    /// Of an examined answer, from its head.
    coding: Coding,
    /// What is wrong, where that is more than a wrong body.
    why: Option<Box<Reason>>,
}

/// What is known of a body that is looked at as it arrives. It belongs to the present answer once a piece of its
/// body has come.
#[derive(Debug)]
enum Running {
    Digest(XxHash64),
    Events(EventStream),
}

/// What is wrong with an answer.
#[derive(Debug)]
struct Reason {
    kind: ErrorKind,
    /// In words; empty if the kind says it all.
    words: String,
}

impl Judge {
    pub const fn new() -> Self {
        let look = Look::Undecided;
        Self {
            body_bytes: 0,
            kept: None,
            running: None,
            found: [0; 2],
            status: 0,
            is_under_way: false,
            wrong: false,
            look,
            coding: Coding::Unseen,
            why: None,
        }
    }

    /// Forgets what is known of an answer that may be incomplete. The memory stays.
    #[inline]
    pub fn forget(&mut self) {
        (self.body_bytes, self.status, self.wrong) = (0, 0, false);
        self.is_under_way = false;
        (self.look, self.coding) = (Look::Undecided, Coding::Unseen);
        self.why = None;
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
    }

    /// An answer begins.
    #[inline]
    pub fn head(&mut self, status: u16) {
        self.status = status;
        self.body_bytes = 0;
        self.is_under_way = true;
    }

    /// Whether a head has come whose answer has not ended.
    #[inline]
    pub const fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// How the answer whose head has come is looked at.
    #[inline]
    pub const fn decide(&mut self, look: Look) {
        self.look = look;
    }

    /// How the present answer is looked at.
    #[inline]
    pub const fn look(&self) -> Look {
        self.look
    }

    /// Whether an answer of this status has a media type. One that says that nothing has changed
    /// leaves out what it has said before (RFC 9110 section 15.4.5).
    pub const fn has_type(status: u16) -> bool {
        status != NOT_MODIFIED
    }

    /// The head of an examined answer, of HTTP/1.1, must have this media type if one is wanted.
    pub fn head_bytes(&mut self, wanted: Option<&str>, raw: &[u8]) {
        let wanted = wanted.filter(|_| Self::has_type(self.status));
        self.wrong |= wanted.is_some_and(|wanted| !has_type(raw, wanted));
        self.coding = coding(raw);
    }

    /// The head of an examined answer begins; no field of it names a coding yet.
    pub const fn head_begins(&mut self) {
        self.coding = Coding::Plain;
    }

    /// A field `Content-Encoding` of the head of an examined answer.
    pub fn coded(&mut self, value: &[u8]) {
        self.coding = self.coding.and_field(value);
    }

    /// The body is wrong, whatever it is.
    pub const fn refuse(&mut self) {
        self.wrong = true;
    }

    /// The answer is wrong in this way, whatever its body; `words` say more than the kind.
    #[cold]
    pub fn refuse_as(&mut self, kind: ErrorKind, words: String) {
        self.why = Some(Reason { kind, words }.into());
    }

    /// Why the answer that was judged last was wrong, if there are words for it.
    #[cold]
    pub fn take_words(&mut self) -> Option<String> {
        self.why.take().map(|why| why.words).filter(|words| !words.is_empty())
    }

    /// Takes the next piece of the body.
    #[inline]
    pub fn piece(&mut self, right: &Right<'_>, piece: &[u8]) {
        let start = self.body_bytes;
        self.body_bytes += piece.len() as u64;
        let is_kept = self.look == Look::Whole || !right.check.json.is_empty();
        match &right.check.body {
            BodyCheck::Any | BodyCheck::Length { .. } if is_kept => self.keep(piece),
            // A stream of events comes through `Self::piece_at`.
            BodyCheck::Any | BodyCheck::Length { .. } | BodyCheck::Events(_) => {}
            BodyCheck::Refereed => self.keep(piece),
            BodyCheck::Digested { key } => {
                if is_kept {
                    self.keep(piece);
                }
                let begin = || Running::Digest(XxHash64::with_seed(*key));
                let running = self.running.get_or_insert_with(|| begin().into());
                if start == 0 {
                    **running = begin();
                }
                if let Running::Digest(digest) = &mut **running {
                    digest.write(piece);
                }
            }
            BodyCheck::Exact(expected) => {
                if is_kept {
                    self.keep(piece);
                }
                if let Some(filled) = &right.filled {
                    let start = usize::try_from(start).unwrap_or(usize::MAX);
                    self.wrong |= !filled.is_part(expected, start, piece);
                    return;
                }
                let right = usize::try_from(start)
                    .ok()
                    .and_then(|start| expected.get(start..start.checked_add(piece.len())?));
                self.wrong |= right != Some(piece);
            }
            BodyCheck::Contains { max, .. } => {
                if self.body_bytes > *max {
                    self.wrong = true;
                } else {
                    self.keep(piece);
                }
            }
        }
    }

    /// Takes the next piece of a body, which came at this time after its request.
    #[inline]
    pub fn piece_at(
        &mut self,
        right: &Right<'_>,
        piece: &[u8],
        times: EventTimes,
        log: &mut EventLog<'_>,
    ) {
        let BodyCheck::Events(form) = &right.check.body else { return self.piece(right, piece) };
        let begin = || Running::Events(EventStream::new(unix_offset_ns()));
        let running = self.running.get_or_insert_with(|| begin().into());
        if self.body_bytes == 0 {
            **running = begin();
        }
        self.body_bytes += piece.len() as u64;
        if let Running::Events(stream) = &mut **running {
            stream.take(form, piece, times, log);
        }
    }

    /// The stream of the present answer; `None` if no piece of it has come.
    fn stream(&self) -> Option<&EventStream> {
        match self.running.as_deref() {
            Some(Running::Events(stream)) if self.body_bytes > 0 => Some(stream),
            _ => None,
        }
    }

    /// How many events of the present answer have not come, where its check wants a stream of them; 0 where it
    /// wants none.
    pub fn missing_events(&self, check: &Check) -> u64 {
        let BodyCheck::Events(form) = &check.body else { return 0 };
        self.stream().map_or(form.count, |stream| stream.missing(form)).into()
    }

    #[inline]
    fn keep(&mut self, piece: &[u8]) {
        self.kept.get_or_insert_default().extend_from_slice(piece);
    }

    /// Returns what is wrong with the complete answer, and prepares for the next one.
    #[inline]
    pub fn finish(
        &mut self,
        right: &Right<'_>,
        timing: Timing,
        referee: Option<&dyn Referee>,
    ) -> Option<ErrorKind> {
        let error = self.error(right, timing, referee);
        if self.look == Look::Whole
            && error.is_none()
            && let Some(referee) = referee
        {
            self.with_exchange(right, timing, |exchange| referee.examine(exchange));
        }
        (self.wrong, self.look, self.coding) = (false, Look::Undecided, Coding::Unseen);
        self.is_under_way = false;
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
        error
    }

    #[inline]
    fn error(
        &mut self,
        Right { check, filled }: &Right<'_>,
        timing: Timing,
        referee: Option<&dyn Referee>,
    ) -> Option<ErrorKind> {
        if !accepts_status(check, self.status) {
            self.why = None;
            return Some(ErrorKind::WrongStatus);
        }
        if let Some(why) = &self.why {
            return Some(why.kind);
        }
        if let BodyCheck::Events(form) = &check.body {
            let none = EventStream::default();
            if let Some(words) = self.stream().unwrap_or(&none).fault(form) {
                self.refuse_as(ErrorKind::WrongBody, words);
                return Some(ErrorKind::WrongBody);
            }
        }
        let length = self.body_bytes;
        let body = self.kept.as_ref().map_or(&[][..], |kept| kept);
        let is_right = !self.wrong
            && match &check.body {
                BodyCheck::Any | BodyCheck::Events(_) => true,
                BodyCheck::Exact(expected) => length == expected.len() as u64,
                BodyCheck::Length { min, max } => (*min..=*max).contains(&length),
                BodyCheck::Contains { min, max, all } => {
                    let mut found = self.found.iter_mut();
                    (*min..=*max).contains(&length)
                        && all.iter().enumerate().all(|(nth, text)| {
                            let mut nowhere = 0;
                            let place = found.next().unwrap_or(&mut nowhere);
                            let mut is_there = |text: &[u8]| holds(body, text, place);
                            match filled {
                                None => is_there(text.as_bytes()),
                                Some(filled) => filled.with_text(nth, text, is_there),
                            }
                        })
                }
                BodyCheck::Refereed | BodyCheck::Digested { .. } => {
                    referee.is_some_and(|referee| {
                        let right = Right { check, filled: *filled };
                        self.with_exchange(&right, timing, |exchange| referee.is_right(exchange))
                    })
                }
            };
        if !is_right {
            return Some(ErrorKind::WrongBody);
        }
        if let Some(words) = json_fault(check, body) {
            self.refuse_as(ErrorKind::WrongBody, words);
            return Some(ErrorKind::WrongBody);
        }
        (timing.service_ns() < check.least_ns).then_some(ErrorKind::TooEarly)
    }

    /// Hands on the request and the body that was kept.
    fn with_exchange<T>(
        &self,
        right: &Right<'_>,
        timing: Timing,
        work: impl FnOnce(&Exchange<'_>) -> T,
    ) -> T {
        let Timing { template: request, sent_ns, read_ns, value, .. } = timing;
        let drawn = right.filled.map_or(&[][..], |_| &value);
        let drawn = str::from_utf8(drawn).unwrap_or_default();
        let body = self.kept.as_ref().map_or(&[][..], |kept| kept);
        let is_digested = matches!(right.check.body, BodyCheck::Digested { .. });
        let digest = match self.running.as_deref() {
            Some(Running::Digest(digest)) if is_digested && self.body_bytes > 0 => Some(digest),
            _ => None,
        };
        work(&Exchange {
            request,
            status: self.status,
            body,
            length: self.body_bytes,
            digest: digest.map(|digest| digest.finish()),
            coding: self.coding,
            drawn,
            sent_ns,
            read_ns,
        })
    }
}

/// What is wrong with the values of a body, which is parsed only if some are asked for.
#[inline]
fn json_fault(check: &Check, body: &[u8]) -> Option<String> {
    if check.json.is_empty() {
        return None;
    }
    let answer = find::Answer::new(b"", body);
    check.json.iter().find_map(|value| value.fault(&answer))
}

/// Whether the body holds the text, which is looked for at `place` first. The place where it was
/// found is kept there.
#[inline]
fn holds(body: &[u8], text: &[u8], place: &mut u32) -> bool {
    if body.get(*place as usize..).is_some_and(|rest| rest.starts_with(text)) {
        return true;
    }
    let found = memmem::find(body, text);
    *place = found.and_then(|place| place.try_into().ok()).unwrap_or(0);
    found.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::request::json_value::JsonValue;

    fn right(check: &Check) -> Right<'_> {
        Right { check, filled: None }
    }

    fn judge(body: &BodyCheck, pieces: &[&str]) -> bool {
        let check = Check { status: vec![200], body: body.clone(), ..Check::default() };
        let mut judge = Judge::default();
        judge.head(200);
        pieces.iter().for_each(|piece| judge.piece(&right(&check), piece.as_bytes()));
        judge.finish(&right(&check), Timing::default(), None).is_none()
    }

    #[test]
    fn an_exact_body_may_come_in_any_pieces_and_nothing_else_passes() {
        let check = BodyCheck::Exact(b"Hello World!".to_vec());
        assert!(judge(&check, &["Hello World!"]));
        assert!(judge(&check, &["H", "ello", " World!"]));
        for wrong in [
            &["Hello World"][..],
            &["Hello World!!"],
            &["Hello World!", "!"],
            &["hello World!"],
            &[],
        ] {
            assert!(!judge(&check, wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_needle_may_lie_across_pieces() {
        let check = BodyCheck::Contains { min: 3, max: 8, all: vec!["ab".into(), "cd".into()] };
        assert!(judge(&check, &["xa", "bc", "d"]));
        assert!(!judge(&check, &["ab"]));
        assert!(!judge(&check, &["abcd", "01234"]));
        assert!(!judge(&check, &["abcx"]));
    }

    #[test]
    fn values_of_json_are_looked_for_in_a_body_in_pieces_whatever_else_is_checked() {
        let json = vec![JsonValue::parse("/a=1").unwrap()];
        let all = vec!["a".into()];
        for body in [
            BodyCheck::Any,
            BodyCheck::Length { min: 0, max: 99 },
            BodyCheck::Exact(br#"{"a": 1}"#.to_vec()),
            BodyCheck::Contains { min: 0, max: 99, all },
        ] {
            let check = Check { body, json: json.clone(), ..Check::default() };
            let mut judge = Judge::default();
            let mut judged = |pieces: &[&str]| {
                judge.head(200);
                pieces.iter().for_each(|piece| judge.piece(&right(&check), piece.as_bytes()));
                let error = judge.finish(&right(&check), Timing::default(), None);
                (error, judge.take_words())
            };
            let wrong = Some(ErrorKind::WrongBody);
            assert_eq!(judged(&["{\"a\"", ": 1}"]), (None, None));
            assert_eq!(judged(&["{\"a\"", ": 2}"]).0, wrong);
            assert_eq!(judged(&[]).0, wrong);
            assert_eq!(judged(&["{\"a\": 1}"]), (None, None), "a judge starts afresh");
            if matches!(check.body, BodyCheck::Any) {
                let words = judged(&["{\"a\": 2}"]).1.unwrap();
                assert_eq!(words, "/a must be `1`, and is `2`");
            }
        }
    }

    #[test]
    fn a_named_reason_comes_before_the_body_and_after_the_status() {
        let check = Check { body: BodyCheck::Exact(b"x".to_vec()), ..Check::default() };
        let mut judge = Judge::default();
        for (status, error, words) in [
            (200, ErrorKind::GrpcInternal, Some("why".to_string())),
            (404, ErrorKind::WrongStatus, None),
        ] {
            judge.head(status);
            judge.refuse_as(ErrorKind::GrpcInternal, "why".into());
            assert_eq!(judge.finish(&right(&check), Timing::default(), None), Some(error));
            assert_eq!(judge.take_words(), words);
        }
    }

    #[test]
    fn texts_are_found_wherever_they_were_in_the_body_before() {
        let all = ["ab", "cd", "e"].map(String::from).to_vec();
        let body = BodyCheck::Contains { min: 0, max: 20, all };
        let check = Check { body, ..Check::default() };
        let mut judge = Judge::default();
        let mut judged = |body: &[u8]| {
            judge.head(200);
            judge.piece(&right(&check), body);
            judge.finish(&right(&check), Timing::default(), None).is_none()
        };
        for (body, is_right) in [
            ("xxxxxxxxxxabcde", true),
            ("xxxxxxxxxxabcde", true),
            ("ecdab", true),
            ("ecdxab", true),
            ("ecd", false),
            ("", false),
            ("xxxxxxxxxxabc", false),
            ("edcba cd", false),
            ("cdeab", true),
        ] {
            assert_eq!(judged(body.as_bytes()), is_right, "{body}");
        }
    }

    #[test]
    fn a_judge_starts_afresh_after_each_body() {
        let check = Check { body: BodyCheck::Exact(b"ab".to_vec()), ..Check::default() };
        let mut judge = Judge::default();
        let finish = |judge: &mut Judge| judge.finish(&right(&check), Timing::default(), None);
        judge.head(200);
        judge.piece(&right(&check), b"xx");
        assert_eq!(finish(&mut judge), Some(ErrorKind::WrongBody));
        judge.head(404);
        judge.piece(&right(&check), b"ab");
        assert_eq!(finish(&mut judge), Some(ErrorKind::WrongStatus));
        judge.head(200);
        judge.piece(&right(&check), b"ab");
        assert_eq!(finish(&mut judge), None);
    }

    #[test]
    fn a_right_answer_that_comes_before_the_least_wait_is_too_early() {
        let check = Check { least_ns: 95, ..Check::default() };
        for (done_ns, error) in [(1_094, Some(ErrorKind::TooEarly)), (1_095, None)] {
            let mut judge = Judge::default();
            judge.head(200);
            let timing = Timing { sent_ns: 1_000, done_ns, read_ns: 2_000, ..Timing::default() };
            assert_eq!(judge.finish(&right(&check), timing, None), error, "{done_ns}");
        }
    }

    #[test]
    fn a_referee_sees_the_whole_body_and_each_body_alone() {
        struct Says(std::sync::Mutex<Vec<(Vec<u8>, u64, u64)>>);
        impl Referee for Says {
            fn is_right(&self, exchange: &Exchange<'_>) -> bool {
                let Exchange { body, sent_ns, read_ns, .. } = *exchange;
                self.0.lock().unwrap().push((body.to_vec(), sent_ns, read_ns));
                body == b"right"
            }
        }
        let check = Check { body: BodyCheck::Refereed, ..Check::default() };
        let referee = Says(Vec::new().into());
        let mut judge = Judge::default();
        let mut judged = |pieces: &[&[u8]]| {
            judge.head(200);
            pieces.iter().for_each(|piece| judge.piece(&right(&check), piece));
            let timing = Timing { sent_ns: 1, done_ns: 2, read_ns: 3, ..Timing::default() };
            judge.finish(&right(&check), timing, Some(&referee))
        };
        assert_eq!(judged(&[b"ri", b"ght"]), None);
        assert_eq!(judged(&[]), Some(ErrorKind::WrongBody));
        assert_eq!(judged(&[b"right"]), None);
        let seen = referee.0.into_inner().unwrap();
        assert_eq!(seen, [(b"right".to_vec(), 1, 3), (vec![], 1, 3), (b"right".to_vec(), 1, 3)]);
    }

    #[test]
    fn the_referee_gets_the_body_of_an_examined_answer_that_is_right_whatever_its_check() {
        #[derive(Default)]
        struct Keeps(std::sync::Mutex<Vec<String>>);
        impl Referee for Keeps {
            fn is_right(&self, _: &Exchange<'_>) -> bool {
                true
            }
            fn examine(&self, exchange: &Exchange<'_>) {
                self.0.lock().unwrap().push(String::from_utf8_lossy(exchange.body).into());
            }
        }
        let all = vec!["b".into()];
        for body in [
            BodyCheck::Any,
            BodyCheck::Length { min: 0, max: 4 },
            BodyCheck::Exact(b"abcd".to_vec()),
            BodyCheck::Contains { min: 0, max: 4, all },
            BodyCheck::Refereed,
        ] {
            let check = Check { body, ..Check::default() };
            let (mut judge, referee) = (Judge::default(), Keeps::default());
            for (look, text) in [
                (Look::Whole, "abcd"),
                (Look::Checked, "abcd"),
                (Look::Head, "abcd"),
                (Look::Whole, "abcd"),
            ] {
                judge.head(200);
                judge.decide(look);
                let (first, rest) = text.split_at(1);
                [first, rest]
                    .iter()
                    .for_each(|piece| judge.piece(&right(&check), piece.as_bytes()));
                assert_eq!(judge.finish(&right(&check), Timing::default(), Some(&referee)), None);
            }
            assert_eq!(*referee.0.lock().unwrap(), ["abcd", "abcd"], "{check:?}");
            // A wrong answer is counted already.
            judge.head(500);
            judge.decide(Look::Whole);
            judge.piece(&right(&check), b"abcd");
            judge.finish(&right(&check), Timing::default(), Some(&referee));
            assert_eq!(referee.0.lock().unwrap().len(), 2);
        }
    }

    /// In whatever pieces a body comes, its digest is that of the whole, and no other body's.
    #[test]
    fn a_digested_body_reaches_the_referee_as_its_digest_and_length() {
        /// Status, length and digest, and how many bytes are there.
        type Digested = (u16, u64, Option<u64>, usize);
        #[derive(Default)]
        struct Digests(std::sync::Mutex<Vec<Digested>>);
        impl Referee for Digests {
            fn is_right(&self, exchange: &Exchange<'_>) -> bool {
                let Exchange { status, length, digest, body, .. } = *exchange;
                self.0.lock().unwrap().push((status, length, digest, body.len()));
                true
            }
        }
        let check = Check {
            status: vec![200, 304],
            body: BodyCheck::Digested { key: 7 },
            ..Check::default()
        };
        let (mut judge, referee) = (Judge::default(), Digests::default());
        let mut judged = |status: u16, pieces: &[&str]| {
            judge.head(status);
            pieces.iter().for_each(|piece| judge.piece(&right(&check), piece.as_bytes()));
            judge.finish(&right(&check), Timing::default(), Some(&referee))
        };
        for (status, pieces) in
            [(200, &["whole"][..]), (200, &["w", "ho", "le"]), (304, &[]), (200, &["other"])]
        {
            assert_eq!(judged(status, pieces), None);
        }
        let digest = |text: &str| Some(XxHash64::oneshot(7, text.as_bytes()));
        let seen = referee.0.into_inner().unwrap();
        let whole = (200, 5, digest("whole"), 0);
        assert_eq!(seen, [whole, whole, (304, 0, None, 0), (200, 5, digest("other"), 0)]);
    }

    /// The referee knows the coding of examined answers, and of no other.
    #[test]
    fn the_referee_gets_the_coding_of_an_examined_answer() {
        #[derive(Default)]
        struct Codings(std::sync::Mutex<Vec<Coding>>);
        impl Referee for Codings {
            fn is_right(&self, exchange: &Exchange<'_>) -> bool {
                self.0.lock().unwrap().push(exchange.coding);
                true
            }
        }
        let check = Check { body: BodyCheck::Refereed, ..Check::default() };
        let (mut judge, referee) = (Judge::default(), Codings::default());
        let mut judged = |head: Option<&str>| {
            judge.head(200);
            if let Some(head) = head {
                judge.decide(Look::Whole);
                judge.head_bytes(None, head.as_bytes());
            }
            judge.piece(&right(&check), b"x");
            judge.finish(&right(&check), Timing::default(), Some(&referee));
        };
        judged(Some("HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n"));
        judged(None);
        judged(Some("HTTP/1.1 200 OK\r\nX-Content-Encoding: br\r\n\r\n"));
        judged(Some("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Encoding: gzip\r\n\r\n"));
        judge.head_begins();
        judge.coded(b"zstd");
        judge.finish(&right(&check), Timing::default(), Some(&referee));
        let seen = referee.0.into_inner().unwrap();
        let of = [Coding::Brotli, Coding::Unseen, Coding::Plain, Coding::Other, Coding::Zstd];
        assert_eq!(seen, of);
    }

    #[test]
    fn a_media_type_is_read_in_whatever_case_and_without_parameters() {
        let head = |line: &str| format!("HTTP/1.1 200 OK\r\nDate: x\r\n{line}\r\n\r\n");
        for line in ["Content-Type: text/html", "content-type:TEXT/HTML ; charset=utf-8"] {
            assert!(has_type(head(line).as_bytes(), "text/html"), "{line}");
        }
        for line in ["Content-Type: text/htm", "X-Content-Type: text/html", "Server: a"] {
            assert!(!has_type(head(line).as_bytes(), "text/html"), "{line}");
        }
        let check = Check::default();
        let mut judge = Judge::default();
        let mut judged = |line: &str| {
            judge.head(200);
            judge.head_bytes(Some("text/html"), head(line).as_bytes());
            judge.finish(&right(&check), Timing::default(), None)
        };
        assert_eq!(judged("Server: a"), Some(ErrorKind::WrongBody));
        assert_eq!(judged("Content-Type: text/html"), None, "each answer by itself");
        judge.head(304);
        judge.head_bytes(Some("text/html"), head("ETag: \"a\"").as_bytes());
        assert_eq!(judge.finish(&right(&check), Timing::default(), None), None, "nothing changed");
    }

    #[test]
    fn an_empty_list_of_statuses_accepts_success_and_redirection() {
        let check = |status: &[u16]| Check { status: status.to_vec(), ..Check::default() };
        assert!(accepts_status(&check(&[]), 204) && accepts_status(&check(&[]), 301));
        assert!(!accepts_status(&check(&[]), 404));
        assert!(accepts_status(&check(&[404]), 404) && !accepts_status(&check(&[404]), 200));
    }
}
