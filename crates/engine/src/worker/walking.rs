//! Users whose requests vary: what they send, and what becomes of their steps. Only where
//! [`crate::protocol::Protocol::VARIES`].
use pippin_model::result::ErrorKind;

use super::seats::flights::InFlight;
use super::{Core, Stack, VariationOf};
use crate::protocol::Varies;
use crate::record::uncounted::AnswerSpans;
use crate::scenario::walker::Taken;

/// How many bytes of a wrong body are shown.
const EXCERPT_BYTES: usize = 80;

impl<S: Stack> Core<'_, S> {
    /// Renders the step that the user of a connection takes.
    pub(super) fn render_step(&mut self, slot: u32, step: u32) {
        let user = self.walkers.at_step(slot);
        let connection = &mut self.connections[slot as usize];
        let (session, out) = (&mut connection.protocol, &mut connection.out);
        VariationOf::<S>::render_for(&mut self.protocol, session, step, user, out);
    }

    /// An answer is complete; `wrong` is what its status and framing show. Returns what is wrong
    /// with it in all. Counts its step, and the user goes on.
    pub(super) fn step_answered(
        &mut self,
        slot: u32,
        step: u32,
        body_bytes: u64,
        wrong: Option<ErrorKind>,
        spans: &AnswerSpans,
    ) -> Option<ErrorKind> {
        let connection = &self.connections[slot as usize];
        let status = connection.judge.status;
        let Some(kept) = VariationOf::<S>::kept(&connection.protocol) else { return wrong };
        let is_whole = wrong != Some(ErrorKind::Malformed);
        let redirected =
            is_whole.then(|| self.walkers.redirected(slot, step, status, kept)).flatten();
        let (wrong, what) = match redirected {
            Some(Ok(())) => {
                self.followed(slot, step, spans);
                return None;
            }
            Some(Err(fault)) => (Some(fault.kind), Some(fault.what)),
            None => match (wrong, self.walkers.take_in(slot, step, kept, body_bytes)) {
                (None, Ok(())) => (None, None),
                (None, Err(fault)) => (Some(fault.kind), Some(fault.what.clone())),
                (wrong, _) => (wrong, None),
            },
        };
        let before = self.walkers.chain(slot);
        let tally = self.recorder.tally(spans.stretch as usize).step(step);
        tally.completed += 1;
        tally.good += u64::from(wrong.is_none());
        tally.service_time.record(before.service_ns + spans.service_ns);
        tally.response_time.record(before.response_ns + spans.response_ns);
        if let Some(kind) = wrong {
            tally.error(kind, || {
                let what = what.unwrap_or_else(|| kind.name().replace('_', " "));
                let excerpt = &kept.body[..kept.body.len().min(EXCERPT_BYTES)];
                let excerpt = String::from_utf8_lossy(excerpt).escape_debug().to_string();
                format!("{what} (status {status}, {body_bytes} bytes: \"{excerpt}\")")
            });
        }
        self.step_over(slot, step, wrong.is_none());
        wrong
    }

    /// An answer sends its user elsewhere: the next request follows it at once, and belongs to the
    /// same step.
    fn followed(&mut self, slot: u32, step: u32, spans: &AnswerSpans) {
        let AnswerSpans { service_ns, response_ns, .. } = *spans;
        self.walkers.lengthen_chain(slot, Taken { service_ns, response_ns });
        self.connections[slot as usize].template = step;
        let tally = &mut self.recorder.tally(spans.stretch as usize).followed;
        tally.completed += 1;
        tally.good += 1;
        tally.service_time.record(service_ns);
        tally.response_time.record(response_ns);
    }

    /// A request fails: its user starts anew.
    pub(super) fn step_failed(&mut self, slot: u32, request: &InFlight, kind: ErrorKind) {
        let timeout = self.spec.timeouts.request_ns;
        let response = request.response_ns(request.sent.left_at() + timeout, self.has_plan);
        let before = self.walkers.chain(slot);
        let tally = self.recorder.tally(request.stretch as usize).step(request.template);
        tally.failed += 1;
        tally.error(kind, || kind.name().replace('_', " "));
        if kind == ErrorKind::Timeout {
            tally.service_time.record(before.service_ns + timeout);
            tally.response_time.record(before.response_ns + response);
        }
        self.step_over(slot, request.template, false);
    }

    /// An arrival of an open loop begins a walk, whose number it has; its first step.
    pub(super) fn begin_walk(&mut self, slot: u32, arrival: u32) -> u32 {
        self.walkers.begin(slot, arrival.into())
    }

    /// The connection for the next step could not be opened: a walk that had begun is over, and the
    /// row of that step says why. Who has not begun tries again with the same values, but an arrival
    /// that was not sent is lost.
    pub(super) fn walk_interrupted(&mut self, slot: u32, stretch: usize, kind: ErrorKind) {
        let step = self.connections[slot as usize].template;
        let has_begun = !self.walkers.is_first(slot, step) || self.walkers.is_redirected(slot);
        if has_begun || self.has_plan {
            let tally = self.recorder.tally(stretch).step(step);
            tally.error(kind, || kind.name().replace('_', " "));
            self.step_over(slot, step, false);
        }
    }

    fn step_over(&mut self, slot: u32, step: u32, is_good: bool) {
        self.connections[slot as usize].template = self.walkers.after(slot, step, is_good);
    }

    /// Another user takes the place of the one in a slot.
    pub(super) fn replace_walker(&mut self, slot: u32) {
        self.connections[slot as usize].template = self.walkers.replace(slot);
    }
}
