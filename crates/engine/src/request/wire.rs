//! Requests as one stretch of memory, so that any number of them in turn is one slice and one
//! write.
use pippin_model::load::Check;
use pippin_model::request::upload::Upload;
use std::collections::HashMap;
use std::ops::Range;

use crate::error::EngineError;
use crate::protocol::Protocol;
use crate::request::check::Right;
use crate::request::drawn::{Drawer, Filled, Places, Value};

/// All templates, one after the other, with the first ones repeated at the end: the requests of one
/// write are contiguous, whichever template is the first.
#[derive(Debug)]
pub(crate) struct Wire {
    bytes: Vec<u8>,
    /// Start of each request in `bytes`, and the end of the last.
    starts: Vec<u32>,
    /// Which of `templates` each request has: most requests of a load have the same one.
    kinds: Vec<u32>,
    templates: Vec<Template>,
}

/// What is known of a request besides its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Template {
    pub check: Check,
    /// Whether it may be sent again if the server cannot have read it.
    pub may_repeat: bool,
    /// Whether its answer has no body whatever the head says (RFC 9110 section 9.3.2).
    pub head_only: bool,
    /// Where a value stands that is drawn anew for each request; `None` if there is none.
    pub places: Option<Places>,
    /// How its body is made while it is sent; `None` if it stands in the bytes.
    pub upload: Option<Upload>,
}

impl Template {
    /// With the places of a value that is drawn. Requests that differ in nothing but the value that
    /// they name then have one template together, which stays in the processor's cache.
    pub fn drawing(mut self, places: Option<Places>) -> Self {
        if let Some(places) = &places {
            places.blank(&mut self.check.body);
        }
        Self { places, ..self }
    }

    /// What the answer to a request with this value must be.
    #[inline]
    pub fn right(&self, value: Value) -> Right<'_> {
        Right { check: &self.check, filled: self.filled(value) }
    }

    /// The value in its places, if there are any.
    #[inline]
    pub fn filled(&self, value: Value) -> Option<Filled<'_>> {
        self.places.as_ref().map(|places| Filled { places, value })
    }
}

/// A part of [`Wire`] to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Wire {
    /// `turns`: the requests of one cycle in the order of sending, by their places in `requests`.
    /// `at_once`: how many requests one write holds at the most.
    ///
    /// # Errors
    /// The first of the requests that cannot be rendered; or that they are too long for places of
    /// 32 bits.
    pub fn new(
        requests: impl Iterator<Item = Result<(Vec<u8>, Template), EngineError>>,
        turns: impl Iterator<Item = usize> + Clone,
        at_once: u32,
    ) -> Result<Self, EngineError> {
        let mut rendered = Rendered::default();
        for request in requests {
            let (bytes, template) = request?;
            rendered.add(&bytes, template);
        }
        let repeated = turns.clone().cycle().take(at_once as usize - 1);
        let length: u64 =
            turns.clone().chain(repeated.clone()).map(|nth| rendered.length(nth)).sum();
        if length > u64::from(u32::MAX) {
            return Err(EngineError::OutOfBounds {
                what: "the size of all requests together",
                value: length.to_string(),
                bounds: "below 4 GiB",
            });
        }
        Ok(rendered.in_turns(turns, repeated))
    }

    /// The bytes of a template.
    #[inline]
    pub fn slice(&self, template: u32) -> Span {
        let template = template as usize;
        Span { start: self.starts[template], end: self.starts[template + 1] }
    }

    #[inline]
    pub fn bytes(&self, slice: Span) -> &[u8] {
        &self.bytes[slice.start as usize..slice.end as usize]
    }

    /// The length of the longest request in bytes.
    pub fn longest(&self) -> usize {
        self.starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize).max().unwrap_or(0)
    }

    #[inline]
    pub fn template(&self, index: u32) -> &Template {
        &self.templates[self.kinds[index as usize] as usize]
    }

    /// What is drawn for the next request of this template; zeroes where nothing is.
    #[inline]
    pub fn draw<P: Protocol>(&self, template: u32, drawer: &mut Drawer) -> Value {
        let places = if P::DRAWS { self.template(template).places.as_ref() } else { None };
        places.map_or_else(Value::default, |places| drawer.draw(places.kind))
    }

    /// How many requests one cycle has.
    pub fn count(&self) -> u32 {
        self.kinds.len() as u32
    }
}

/// The different requests, each once.
#[derive(Default)]
struct Rendered {
    bytes: Vec<u8>,
    /// The end of each request in `bytes`.
    ends: Vec<usize>,
    kinds: Vec<u32>,
    templates: Vec<Template>,
    known: HashMap<Template, u32>,
}

impl Rendered {
    fn add(&mut self, bytes: &[u8], template: Template) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
        let next = self.templates.len() as u32;
        let kind = *self.known.entry(template).or_insert_with_key(|template| {
            self.templates.push(template.clone());
            next
        });
        self.kinds.push(kind);
    }

    fn range(&self, nth: usize) -> Range<usize> {
        let start = if nth == 0 { 0 } else { self.ends[nth - 1] };
        start..self.ends[nth]
    }

    fn length(&self, nth: usize) -> u64 {
        self.range(nth).len() as u64
    }

    fn in_turns(
        self,
        turns: impl Iterator<Item = usize> + Clone,
        repeated: impl Iterator<Item = usize>,
    ) -> Wire {
        let mut bytes = Vec::new();
        let mut starts = vec![0];
        for nth in turns.clone().chain(repeated) {
            bytes.extend_from_slice(&self.bytes[self.range(nth)]);
            starts.push(bytes.len() as u32);
        }
        let kinds = turns.map(|nth| self.kinds[nth]).collect();
        Wire { bytes, starts, kinds, templates: self.templates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http1::Drawn;
    use crate::request::drawn::Desk;
    use pippin_model::load::{BodyCheck, LoadSpec, Request};

    fn wire(requests: &[(&str, u16)], turns: &[usize], at_once: u32) -> Wire {
        let requests = requests.iter().map(|(bytes, status)| {
            let check = Check { status: vec![*status], ..Check::default() };
            let template =
                Template { check, may_repeat: true, head_only: false, places: None, upload: None };
            Ok((bytes.as_bytes().to_vec(), template))
        });
        Wire::new(requests, turns.iter().copied(), at_once).unwrap()
    }

    #[test]
    fn turns_repeat_requests_with_what_is_known_of_them() {
        let wire = wire(&[("a", 200), ("bb", 404), ("ccc", 200)], &[0, 1, 0, 2], 1);
        let bytes = |turn| str::from_utf8(wire.bytes(wire.slice(turn))).unwrap();
        assert_eq!([0, 1, 2, 3].map(bytes), ["a", "bb", "a", "ccc"]);
        assert_eq!(
            [0, 1, 2, 3].map(|turn| wire.template(turn).check.status[0]),
            [200, 404, 200, 200]
        );
        assert_eq!((wire.count(), wire.templates.len()), (4, 2));
    }

    #[test]
    fn requests_of_one_write_lie_one_behind_the_other_past_the_end_of_the_round() {
        let wire = wire(&[("a", 200), ("bb", 200)], &[0, 1], 4);
        assert_eq!(wire.bytes, b"abbabba");
        assert_eq!(wire.slice(1), Span { start: 1, end: 3 });
    }

    #[test]
    fn requests_that_name_other_values_have_one_template_together() {
        let page = |n: u32| {
            let body = BodyCheck::Contains { min: 0, max: 9, all: vec![format!("row-{n}")] };
            let check = Check { body, ..Check::default() };
            Request {
                check,
                drawn: Some(n.to_string()),
                ..Request::get(&format!("/page/{n}"), "a")
            }
        };
        let requests = [page(12_345_678), page(87_654_321)].to_vec().into();
        let wire = Drawn::<Desk>::wire(&LoadSpec { requests, ..LoadSpec::default() }).unwrap();
        assert_eq!((wire.count(), wire.templates.len()), (2, 1));
    }
}
