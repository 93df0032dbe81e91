//! What is remembered of users who share connections, and where the parts of their answers go.
use pippin_model::result::ErrorKind;

use super::due::Due;
use super::flights::InFlight;
use crate::protocol::Answers;
use crate::request::check::{Judge, is_of_type};
use crate::request::event_stream::{EventLog, EventTimes};
use crate::request::surprises::{Look, Surprises};
use crate::request::wire::Wire;

/// What is remembered of users who share connections; empty where each has its own.
#[derive(Default)]
pub(crate) struct Streams {
    /// Users of a connection.
    pub(super) depth: u32,
    /// For each connection: users whose requests are due, in turn.
    pub(super) due: Vec<Due>,
    /// For each connection: users of an open loop whose turn it was when the server took no more.
    pub(super) parked: Vec<Vec<u32>>,
    /// For each connection whose server takes none of the requests that wait: since when that is
    /// known, and how many requests it had carried by then.
    pub(super) barred: Vec<Option<(u64, u32)>>,
    /// Where every connection is to have the answer: why the last one that is missing is so.
    pub missing: Option<ErrorKind>,
    /// For each user: the answer that is being read.
    pub(super) answering: Vec<Answering>,
    /// Tags of the requests that what is being read has settled.
    pub(super) settled: Vec<u32>,
    /// Tags of the requests that the present write begins to send.
    pub(super) entered: Vec<u32>,
}

#[derive(Default)]
pub(crate) struct Answering {
    pub(super) judge: Judge,
    /// When the head was complete; 0 before.
    pub(super) head_at: u64,
    /// Where every connection is to have the answer: when the last one so far had it, and whether
    /// any of these instants is not the kernel's.
    pub(super) last_at: u64,
    pub(super) is_unstamped: bool,
    pub(super) refusals: u8,
    /// Whether the head has the media type that examined answers must have; `None` if it names none.
    pub(super) is_of_type: Option<bool>,
}

impl Streams {
    pub fn new(slots: u32, depth: u32) -> Self {
        Self {
            depth,
            due: (0..slots).map(|_| Due::default()).collect(),
            parked: (0..slots).map(|_| Vec::new()).collect(),
            barred: vec![None; slots as usize],
            missing: None,
            answering: (0..slots * depth).map(|_| Answering::default()).collect(),
            settled: Vec::new(),
            entered: Vec::new(),
        }
    }

    pub(super) const fn user(&self, slot: u32, tag: u32) -> u32 {
        slot * self.depth + tag
    }

    pub(super) fn answering(&mut self, slot: u32, tag: u32) -> &mut Answering {
        let user = self.user(slot, tag);
        &mut self.answering[user as usize]
    }

    pub(super) fn answering_on(&mut self, slot: u32) -> &mut [Answering] {
        let from = self.user(slot, 0) as usize;
        &mut self.answering[from..from + self.depth as usize]
    }
}

/// Receives the parts of the answers of a connection.
pub(super) struct StreamAnswers<'a> {
    pub(super) arrived: u64,
    pub(super) is_stamped: bool,
    pub(super) wire: &'a Wire,
    pub(super) places: &'a [InFlight],
    pub(super) answering: &'a mut [Answering],
    pub(super) surprises: &'a mut Surprises,
    pub(super) server_closes: &'a mut bool,
    pub(super) served: &'a mut u32,
    pub(super) interim: u64,
    /// Why an answer must be rejected.
    pub(super) refused: &'static str,
    pub(super) events: EventLog<'a>,
}

impl StreamAnswers<'_> {
    /// Whether the answer to this request is examined, which is decided when this is asked first.
    #[inline]
    fn is_examined(&mut self, tag: u32) -> bool {
        let Some(place) = self.places.get(tag as usize) else { return false };
        let judge = &mut self.answering[tag as usize].judge;
        if judge.look() == Look::Undecided {
            judge.decide(self.surprises.look(place.template));
        }
        judge.look() != Look::Checked
    }

    /// The media type that the answer to this request must have, if it is examined.
    #[inline]
    fn wanted_type(&mut self, tag: u32) -> Option<&str> {
        if self.is_examined(tag) { self.surprises.content_type() } else { None }
    }
}

impl Answers for StreamAnswers<'_> {
    fn oldest(&self) -> u32 {
        0
    }

    fn template(&self, tag: u32) -> Option<u32> {
        self.places.get(tag as usize).filter(|place| place.is_taken()).map(|place| place.template)
    }

    fn interim(&mut self) {
        self.interim += 1;
    }

    #[inline]
    fn wants_fields(&mut self, tag: u32) -> bool {
        self.is_examined(tag)
    }

    #[inline]
    fn field(&mut self, tag: u32, name: &[u8], value: &[u8]) {
        match name {
            // Each head begins with it, that of an interim answer too.
            b":status" => {
                let answering = &mut self.answering[tag as usize];
                answering.is_of_type = None;
                answering.judge.head_begins();
            }
            b"content-encoding" => self.answering[tag as usize].judge.coded(value),
            b"content-type" => {
                let is_right = self.wanted_type(tag).map(|wanted| is_of_type(value, wanted));
                let known = &mut self.answering[tag as usize].is_of_type;
                *known = known.or(is_right);
            }
            _ => {}
        }
    }

    #[inline]
    fn head(&mut self, tag: u32, status: u16, _is_last: bool) {
        let is_wanted = self.wanted_type(tag).is_some();
        let answering = &mut self.answering[tag as usize];
        answering.judge.head(status);
        answering.head_at = self.arrived;
        if is_wanted && Judge::has_type(status) && answering.is_of_type != Some(true) {
            answering.judge.refuse();
        }
    }

    #[inline]
    fn body(&mut self, tag: u32, template: u32, piece: &[u8]) {
        let Some(place) = self.places.get(tag as usize) else { return };
        let right = self.wire.template(template).right(place.value);
        let times = EventTimes { sent_ns: place.sent.begun_at(), arrived_ns: self.arrived };
        self.answering[tag as usize].judge.piece_at(&right, piece, times, &mut self.events);
    }

    #[inline]
    fn heard(&mut self, tag: u32) {
        let answering = &mut self.answering[tag as usize];
        answering.head_at = answering.head_at.min(self.arrived);
        answering.last_at = answering.last_at.max(self.arrived);
        answering.is_unstamped |= !self.is_stamped;
        *self.served += 1;
    }

    fn wrong(&mut self, tag: u32) {
        self.answering[tag as usize].judge.refuse();
    }

    fn failed(&mut self, tag: u32, kind: ErrorKind, words: String) {
        self.answering[tag as usize].judge.refuse_as(kind, words);
    }

    fn closing(&mut self) {
        *self.server_closes = true;
    }

    fn refused(&mut self, why: &'static str) {
        self.refused = why;
    }
}
