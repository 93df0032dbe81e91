//! Values that are drawn anew for each request: no server can have its answers in a table.
//!
//! A request names eight characters of its target ([`Request::drawn`]). They are replaced each time
//! it is sent, and wherever the check has them, the answer must have what was sent. A value costs a
//! random number and eight multiplications, and the request a copy of its bytes.
use pippin_model::request::{BodyCheck, DRAWN, Request};
use pippin_model::workload::draw::Draw;

use crate::pace::lane::Lane;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Bytes, Outgoing};

/// The characters of one request.
pub(crate) type Value = [u8; DRAWN];

/// Draws values.
#[derive(Debug)]
pub(crate) struct Drawer {
    draw: Draw,
    lane: Lane,
    /// How many numbers it has given.
    given: u64,
}

impl Drawer {
    /// For one thread of a load.
    pub fn new(seed: u64, lane: &Lane) -> Self {
        let thread = (u64::from(lane.stream()) + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
        Self { draw: Draw::new(seed ^ thread), lane: lane.clone(), given: 0 }
    }

    /// The number of the next request, which no other request of the load has, whichever thread or
    /// agent sends it, up to 2^32 of them.
    fn number(&mut self) -> Value {
        let number = self.lane.number(self.given) as u32;
        self.given += 1;
        let mut value = [0; DRAWN];
        for (place, digit) in value.iter_mut().enumerate() {
            *digit = b"0123456789abcdef"[(number >> (28 - 4 * place)) as usize & 15];
        }
        value
    }

    /// Digits, of which the first is not 0, or lower-case letters. Each is the whole part of a
    /// product with a random fraction, whose rest makes the next one.
    #[inline]
    pub fn draw(&mut self, kind: Kind) -> Value {
        let (first, others, zero) = match kind {
            Kind::Digits => ((9, b'1'), 10, b'0'),
            Kind::Letters => ((26, b'a'), 26, b'a'),
            Kind::Number => return self.number(),
        };
        let mut left = self.draw.bits();
        let mut next = |base: u64, zero: u8| {
            let product = u128::from(left) * u128::from(base);
            left = product as u64;
            zero + (product >> 64) as u8
        };
        let mut value = [next(first.0, first.1); DRAWN];
        value[1..].iter_mut().for_each(|character| *character = next(others, zero));
        value
    }
}

/// What the characters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Digits,
    Letters,
    /// The number of the request, in hexadecimal.
    Number,
}

/// Where the value of a request stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Places {
    pub kind: Kind,
    /// In the rendered request; `None` if it stands in a body that is made while it is sent.
    request: Option<usize>,
    /// In each text of the check of the body, ascending.
    answer: Vec<Vec<usize>>,
}

impl Places {
    /// Of a request that is rendered so; `None` if it sends the same bytes each time.
    ///
    /// # Errors
    /// What is wrong with the value that it names.
    pub fn find(asked: &Request, rendered: &[u8]) -> Result<Option<Self>, String> {
        let Some(drawn) = &asked.drawn else {
            return match asked.upload {
                Some(_) => Err("an upload needs a number that is drawn".into()),
                None => Ok(None),
            };
        };
        let is_all = |of: fn(&u8) -> bool| drawn.bytes().all(|byte| of(&byte));
        let kind = match () {
            () if is_all(u8::is_ascii_digit) && !drawn.starts_with('0') => Kind::Digits,
            () if is_all(u8::is_ascii_lowercase) => Kind::Letters,
            () if is_all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                && !is_all(u8::is_ascii_digit)
                && !drawn.is_empty() =>
            {
                Kind::Number
            }
            () => {
                return Err(format!(
                    "the value `{drawn}` cannot be drawn at random. It must be digits that do not begin with 0, or lower-case letters, or lower-case hexadecimal with both digits and letters"
                ));
            }
        };
        if drawn.len() != DRAWN {
            return Err(format!("`{drawn}`, which is to be drawn, has not {DRAWN} characters"));
        }
        if asked.upload.is_some() {
            if kind != Kind::Digits {
                return Err(format!("`{drawn}`, the number of an upload, must be eight digits"));
            }
            return Ok(Some(Self { kind, request: None, answer: Vec::new() }));
        }
        let in_request = all_places(rendered, drawn.as_bytes());
        let [request] = in_request[..] else {
            return Err(format!(
                "`{drawn}`, which is to be drawn, stands {} times in the request, not once",
                in_request.len()
            ));
        };
        let places = |text: &[u8]| all_places(text, drawn.as_bytes());
        let answer = match &asked.check.body {
            BodyCheck::Exact(body) => vec![places(body)],
            BodyCheck::Contains { all, .. } => {
                all.iter().map(|text| places(text.as_bytes())).collect()
            }
            BodyCheck::Any
            | BodyCheck::Length { .. }
            | BodyCheck::Refereed
            | BodyCheck::Digested { .. }
            | BodyCheck::Events(_) => Vec::new(),
        };
        Ok(Some(Self { kind, request: Some(request), answer }))
    }

    /// Takes the value that the request names out of the check of the body: what is drawn replaces
    /// it anyway.
    pub fn blank(&self, body: &mut BodyCheck) {
        const NOTHING: &str = "00000000";
        match body {
            BodyCheck::Exact(body) => {
                for place in self.in_answer(0) {
                    body[*place..place + DRAWN].copy_from_slice(NOTHING.as_bytes());
                }
            }
            BodyCheck::Contains { all, .. } => {
                for (nth, text) in all.iter_mut().enumerate() {
                    for place in self.in_answer(nth) {
                        text.replace_range(*place..place + DRAWN, NOTHING);
                    }
                }
            }
            BodyCheck::Any
            | BodyCheck::Length { .. }
            | BodyCheck::Refereed
            | BodyCheck::Digested { .. }
            | BodyCheck::Events(_) => {}
        }
    }

    /// Where the value stands in the text of the check with this number.
    fn in_answer(&self, nth: usize) -> &[usize] {
        self.answer.get(nth).map_or(&[], Vec::as_slice)
    }
}

fn all_places(text: &[u8], part: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(text, part).collect()
}

/// What one request had in the places of its template.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filled<'a> {
    pub places: &'a Places,
    pub value: Value,
}

impl Filled<'_> {
    /// Whether a piece of the body is what the exact body `expected` has from `start` on.
    #[inline]
    pub fn is_part(&self, expected: &[u8], start: usize, piece: &[u8]) -> bool {
        let end = start.saturating_add(piece.len());
        if end > expected.len() {
            return false;
        }
        let mut at = start;
        for place in self.places.in_answer(0) {
            let from = (*place).clamp(at, end);
            let to = (place + DRAWN).clamp(at, end);
            let is_same = piece[at - start..from - start] == expected[at..from]
                && (from == to
                    || piece[from - start..to - start] == self.value[from - place..to - place]);
            if !is_same {
                return false;
            }
            at = to;
        }
        piece[at - start..] == expected[at..end]
    }

    /// Hands on the text of the check with this number, with the value in its places.
    #[inline]
    pub fn with_text<T>(&self, nth: usize, text: &str, work: impl FnOnce(&[u8]) -> T) -> T {
        let mut short = [0; 64];
        let mut long = Vec::new();
        let filled = if let Some(short) = short.get_mut(..text.len()) {
            short.copy_from_slice(text.as_bytes());
            short
        } else {
            long.extend_from_slice(text.as_bytes());
            &mut long[..]
        };
        for place in self.places.in_answer(nth) {
            filled[*place..place + DRAWN].copy_from_slice(&self.value);
        }
        work(filled)
    }
}

/// Where requests wait for the kernel with their values.
pub(crate) trait Filling: Outgoing {
    /// Adds a request, whose rendered form is `template`. `longest` is the size of the longest
    /// request of the load.
    fn put(&mut self, template: &[u8], filled: Option<Filled<'_>>, longest: usize);
}

/// The value of a request takes its place.
#[inline]
pub(crate) fn fill(request: &mut [u8], filled: Option<Filled<'_>>) {
    if let Some(Filled { places, value }) = filled
        && let Some(at) = places.request
    {
        request[at..at + DRAWN].copy_from_slice(&value);
    }
}

/// The request of a connection, in memory of its own that stays as it is until the next one: after
/// the answer, or on another connection.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    bytes: Vec<u8>,
    sent: usize,
}

impl Filling for Desk {
    /// The one before has gone. The memory stays in its place.
    #[inline]
    fn put(&mut self, template: &[u8], filled: Option<Filled<'_>>, longest: usize) {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(longest);
        }
        self.bytes.clear();
        self.sent = 0;
        self.bytes.extend_from_slice(template);
        fill(&mut self.bytes, filled);
    }
}

/// Several requests of a connection may be under way: the next ones come while the kernel may still
/// have to take earlier ones.
impl Filling for Frames {
    #[inline]
    fn put(&mut self, template: &[u8], filled: Option<Filled<'_>>, _: usize) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(template);
        fill(&mut self.bytes[start..], filled);
    }
}

impl Outgoing for Desk {
    #[inline]
    fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }
    #[inline]
    fn bytes(&self) -> Bytes<'_> {
        Bytes::Own(&self.bytes[self.sent..])
    }
    #[inline]
    fn took(&mut self, count: u32) {
        self.sent += count as usize;
    }
    /// The memory stays: the kernel may still be reading it.
    fn forget(&mut self) {
        self.sent = self.bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::{LoadSpec, Part};
    use pippin_model::request::Check;
    use std::collections::BTreeSet;

    fn asked(target: &str, drawn: &str, body: BodyCheck) -> Request {
        Request {
            drawn: Some(drawn.into()),
            check: Check { body, ..Check::default() },
            ..Request::get(target, "a")
        }
    }

    fn places(asked: &Request) -> Result<Option<Places>, String> {
        Places::find(asked, format!("GET {} HTTP/1.1\r\n\r\n", asked.target).as_bytes())
    }

    #[test]
    fn values_are_of_their_kind_and_hardly_one_comes_twice() {
        let mut drawer = Drawer::new(7, &Lane::of_whole(0, 1));
        for (kind, is_right) in [
            (
                Kind::Digits,
                (|text| (10_000_000..100_000_000).contains(&text.parse().unwrap()))
                    as fn(&str) -> bool,
            ),
            (Kind::Letters, |text| text.bytes().all(|byte| byte.is_ascii_lowercase())),
        ] {
            let drawn: BTreeSet<Value> = (0..10_000).map(|_| drawer.draw(kind)).collect();
            assert!(drawn.len() > 9_990, "{}", drawn.len());
            assert!(drawn.iter().all(|value| is_right(str::from_utf8(value).unwrap())));
            for place in 0..DRAWN {
                let seen: BTreeSet<u8> = drawn.iter().map(|value| value[place]).collect();
                let all = if kind == Kind::Letters { 26 } else { 10 - usize::from(place == 0) };
                assert_eq!(seen.len(), all, "place {place} of {kind:?}");
            }
        }
        let first =
            |seed, thread| Drawer::new(seed, &Lane::of_whole(thread, 3)).draw(Kind::Letters);
        assert_eq!(first(1, 1), first(1, 1));
        assert!(first(1, 1) != first(2, 1) && first(1, 1) != first(1, 2));
    }

    /// Two agents, of which one has twice the share of the other, with two threads each.
    #[test]
    fn no_two_requests_of_a_load_have_one_number() {
        let mut seen = BTreeSet::new();
        for (nth, width) in [(0, 2), (2, 1)] {
            let slice = Part { nth, width, of: 3 };
            let spec = LoadSpec { threads: 2, slice, ..LoadSpec::default() };
            for thread in 0..2 {
                let mut drawer = Drawer::new(7, &Lane::new(&spec, thread));
                seen.extend((0..100).map(|_| drawer.draw(Kind::Number)));
            }
        }
        assert_eq!(seen.len(), 400);
        let mut drawer = Drawer::new(7, &Lane::of_whole(0, 1));
        let first: Vec<Value> = (0..18).map(|_| drawer.draw(Kind::Number)).collect();
        assert_eq!([first[0], first[10], first[17]], [*b"00000000", *b"0000000a", *b"00000011"]);
    }

    #[test]
    fn a_body_with_the_value_may_come_in_any_pieces_and_none_without_it_passes() {
        let body = "Hola abcdefgh, abcdefgh!";
        let asked = asked("/hola/abcdefgh", "abcdefgh", BodyCheck::Exact(body.into()));
        let places = places(&asked).unwrap().unwrap();
        let filled = Filled { places: &places, value: *b"zyxwvuts" };
        let right = body.replace("abcdefgh", "zyxwvuts");
        let is_right = |text: &str, cut: usize| {
            let (first, rest) = text.as_bytes().split_at(cut);
            filled.is_part(body.as_bytes(), 0, first) && filled.is_part(body.as_bytes(), cut, rest)
        };
        for cut in 0..=right.len() {
            assert!(is_right(&right, cut), "{cut}");
            assert!(!is_right(body, cut), "the value of the template: {cut}");
            assert!(!is_right(&format!("{right}!"), cut), "too long: {cut}");
            assert!(!is_right(&right.replace("s!", "t!"), cut), "{cut}");
        }
    }

    #[test]
    fn texts_have_the_value_wherever_the_template_had_it() {
        let long = format!("{} 12345678", "x".repeat(100));
        let all = vec!["id=\"row-12345678-1\"".to_string(), "fixed".into(), long.clone()];
        let check = BodyCheck::Contains { min: 0, max: 999, all: all.clone() };
        let places = places(&asked("/page/12345678", "12345678", check)).unwrap().unwrap();
        let filled = Filled { places: &places, value: *b"87654321" };
        for (nth, text) in all.iter().enumerate() {
            let found = filled.with_text(nth, text, <[u8]>::to_vec);
            assert_eq!(found, text.replace("12345678", "87654321").as_bytes());
        }
    }

    #[test]
    fn checks_that_differ_in_the_value_alone_become_the_same() {
        let blanked = |drawn: &str, body: BodyCheck| {
            let asked = asked(&format!("/page/{drawn}"), drawn, body);
            let mut body = asked.check.body.clone();
            places(&asked).unwrap().unwrap().blank(&mut body);
            body
        };
        let texts = |n: &str| {
            let all = vec![format!("row-{n}"), "fixed".into(), format!("ö{n}, {n}")];
            BodyCheck::Contains { min: 0, max: 9, all }
        };
        let exact = |n: &str| BodyCheck::Exact(format!("n = {n}!").into());
        let (one, other, blank) = ("12345678", "87654321", "00000000");
        assert_eq!(blanked(one, texts(one)), texts(blank));
        assert_eq!(blanked(other, texts(other)), texts(blank));
        assert_eq!(blanked(one, exact(one)), exact(blank));
        assert_eq!(blanked(one, exact(other)), exact(other), "without the value");
        assert_eq!(blanked(one, BodyCheck::Any), BodyCheck::Any);
    }

    #[test]
    fn a_request_is_put_with_its_value_in_the_same_memory_each_time() {
        let asked = asked("/page/12345678", "12345678", BodyCheck::Any);
        let (mut desk, template) = (Desk::default(), b"GET /page/12345678 HTTP/1.1\r\n\r\n");
        let places = Places::find(&asked, template).unwrap().unwrap();
        let mut put = |value: &Value| {
            desk.put(template, Some(Filled { places: &places, value: *value }), 64);
            let Bytes::Own(bytes) = desk.bytes() else { panic!() };
            let seen = (bytes.to_vec(), bytes.as_ptr());
            desk.took(seen.0.len() as u32);
            assert!(desk.is_empty());
            seen
        };
        let (first, second) = (put(b"87654321"), put(b"11111111"));
        assert_eq!(first.0, b"GET /page/87654321 HTTP/1.1\r\n\r\n");
        assert_eq!(second.0, b"GET /page/11111111 HTTP/1.1\r\n\r\n");
        assert_eq!(first.1, second.1);
    }

    #[test]
    fn requests_of_a_pipeline_follow_each_other_with_a_value_each() {
        let (asked, mut out) = (asked("/12345678", "12345678", BodyCheck::Any), Frames::default());
        let places = Places::find(&asked, b"/12345678 ").unwrap().unwrap();
        for value in [b"87654321", b"11111111"] {
            out.put(b"/12345678 ", Some(Filled { places: &places, value: *value }), 10);
        }
        out.put(b"/plain ", None, 10);
        assert_eq!(out.bytes, b"/87654321 /11111111 /plain ");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let why = |target, drawn| places(&asked(target, drawn, BodyCheck::Any)).unwrap_err();
        assert!(why("/abc", "abc").contains("has not 8 characters"));
        assert!(why("/abcdefg1", "abcdefg1").contains("cannot be drawn at random"));
        assert!(why("/01234567", "01234567").contains("do not begin with 0"));
        assert!(why("/abcdefgh/abcdefgh", "abcdefgh").contains("stands 2 times in the request"));
        assert!(why("/", "abcdefgh").contains("stands 0 times"));
        assert_eq!(places(&Request::get("/abcdefgh", "a")), Ok(None));
    }
}
