//! What a thread has measured so far: one tally for each stretch of the load, one for the present
//! window.
use std::sync::mpsc::Sender;

use pippin_model::result::{Arrivals, ErrorKind};

use crate::error::EngineError;
use crate::io::Handshake;
use crate::record::exchanges::Exchanges;
use crate::record::outcome::Outcome;
use crate::record::tally::{Tally, WindowTally};
use crate::record::uncounted::{AnswerSpans, Uncounted};
use crate::time::timeline::{Instants, UNKNOWN};

/// What a worker tells the coordinator.
#[derive(Debug)]
pub(crate) enum Message {
    /// Its event loop exists.
    Ready,
    /// Its first connections are open, or have failed.
    SetUp,
    /// A window, from one instant to another.
    Window { from: u64, to: u64, tally: Box<WindowTally> },
    /// It has ended, at this instant.
    Finished { at: u64 },
    /// Its thread has ended, with what it has measured or why it could not begin.
    Gone(Box<Result<Outcome, EngineError>>),
}

/// The length of a window.
pub(crate) const WINDOW_NS: u64 = 1_000_000_000;

/// The stretches of a load: warm-up and measured part, or the phases of devices.
pub(crate) const WARM_UP: usize = 0;
pub(crate) const MEASURED: usize = 1;

/// A thread's measurements.
pub(crate) struct Recorder {
    stretches: Vec<Tally>,
    /// Start of each stretch but the first; ascending, [`UNKNOWN`] while not decided.
    boundaries: Vec<u64>,
    /// The stretch of the present instant.
    pub current: usize,
    end: u64,
    /// Whether stretch 0 is a warm-up, which only counts.
    has_warm_up: bool,
    window_from: u64,
    window_to: u64,
    window: Box<WindowTally>,
    /// The millisecond in which the last answer arrived; [`UNKNOWN`] in a new window.
    last_arrival: u64,
    uncounted: Uncounted,
    outbox: Sender<Message>,
    /// The next instant at which [`Recorder::cross`] has something to do.
    pub next_boundary: u64,
    pub live: u64,
    pub completed: u64,
    /// When the load was over for this thread.
    pub finished_at: Option<u64>,
}

/// What happened at a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crossing {
    Window,
    Stretch,
    End,
}

impl Recorder {
    /// For each stretch, what it keeps of its requests; with a warm-up, the first of them is that.
    pub fn new(exchanges: Vec<Exchanges>, has_warm_up: bool, outbox: Sender<Message>) -> Self {
        Self {
            boundaries: vec![UNKNOWN; exchanges.len() - 1],
            stretches: exchanges.into_iter().map(Tally::keeping).collect(),
            current: 0,
            end: UNKNOWN,
            has_warm_up,
            window_from: UNKNOWN,
            window_to: UNKNOWN,
            window: Box::default(),
            last_arrival: UNKNOWN,
            uncounted: Uncounted::new(),
            outbox,
            next_boundary: UNKNOWN,
            live: 0,
            completed: 0,
            finished_at: None,
        }
    }

    /// The schedule starts: the first window begins.
    pub fn start(&mut self, start: u64) {
        self.window_from = start;
        self.refresh();
    }

    /// Takes over the instants that the coordinator has decided.
    pub fn learn(&mut self, instants: Instants) {
        self.end = instants.end;
        if self.has_warm_up && self.current == WARM_UP {
            self.boundaries[0] = instants.measure_from;
        }
        self.refresh();
    }

    /// Sets the phases' starts (devices).
    pub fn set_boundaries(&mut self, boundaries: Vec<u64>) {
        self.boundaries = boundaries;
        self.refresh();
    }

    fn refresh(&mut self) {
        if self.window_from == UNKNOWN {
            return;
        }
        let stretch_end = self.boundaries.get(self.current).copied().unwrap_or(UNKNOWN);
        // A window ends at a boundary, even if that is in the past.
        self.window_to = (self.window_from + WINDOW_NS).min(self.end).min(stretch_end);
        self.next_boundary = self.window_to;
    }

    /// Passes one boundary; call again while `now >= next_boundary`.
    pub fn cross(&mut self) -> Crossing {
        let at = self.next_boundary;
        let stretch_ends = self.boundaries.get(self.current) == Some(&at);
        if at >= self.end {
            self.finish(at);
            return Crossing::End;
        }
        if at > self.window_from {
            self.send_window(at);
        }
        if stretch_ends {
            self.settle();
            self.current += 1;
            let live = self.live;
            self.now_tally().connections.peak = live;
        }
        self.refresh();
        if stretch_ends { Crossing::Stretch } else { Crossing::Window }
    }

    fn send_window(&mut self, to: u64) {
        self.settle();
        self.window.live_connections = self.live;
        let tally = std::mem::take(&mut self.window);
        // Only a coordinator that has given up does not listen.
        let _ = self.outbox.send(Message::Window { from: self.window_from, to, tally });
        (self.window_from, self.last_arrival) = (to, UNKNOWN);
    }

    /// The load is over for this thread.
    pub fn finish(&mut self, at: u64) {
        if self.finished_at.is_some() {
            return;
        }
        if self.window_from != UNKNOWN && at > self.window_from {
            self.send_window(at);
        }
        self.finished_at = Some(at);
        self.next_boundary = UNKNOWN;
        let _ = self.outbox.send(Message::Finished { at });
    }

    pub fn tell(&self, message: Message) {
        let _ = self.outbox.send(message);
    }

    /// The stretch in which an instant lies.
    #[inline]
    pub fn stretch_at(&self, instant: u64) -> usize {
        if self.boundaries.get(self.current).is_some_and(|next| instant >= *next) {
            return self.boundaries.iter().filter(|start| instant >= **start).count();
        }
        match self.current {
            0 => 0,
            current if instant >= self.boundaries[current - 1] => current,
            _ => self.boundaries.iter().filter(|start| instant >= **start).count(),
        }
    }

    /// When the stretch ends that an instant belongs to, as far as that is decided.
    pub fn end_of_stretch(&self, instant: u64) -> u64 {
        let later = self.boundaries.iter().filter(|start| **start > instant);
        later.min().copied().unwrap_or(UNKNOWN)
    }

    #[inline]
    pub fn tally(&mut self, stretch: usize) -> &mut Tally {
        &mut self.stretches[stretch]
    }

    #[inline]
    pub fn now_tally(&mut self) -> &mut Tally {
        &mut self.stretches[self.current]
    }

    #[inline]
    pub fn window(&mut self) -> &mut WindowTally {
        &mut self.window
    }

    /// So many requests of a stretch count as not sent, because they never reached the server. The
    /// window in which they were sent may be over.
    pub fn take_back(&mut self, stretch: usize, count: u64) {
        self.stretches[stretch].requests.sent -= count;
        let of_this_window = count.min(self.window.sent);
        self.window.sent -= of_this_window;
        self.window.taken_back += count - of_this_window;
    }

    /// An answer is complete.
    #[inline]
    pub fn answered(&mut self, spans: AnswerSpans) {
        if self.uncounted.answer(spans) {
            self.count();
        }
    }

    /// A request of this stretch has no answer, `age_ns` after it was due. One that hangs since the
    /// warm-up counts in what was measured.
    pub fn left_open(&mut self, stretch: usize, age_ns: u64) {
        let stretch = if self.has_warm_up { stretch.max(self.current) } else { stretch };
        self.stretches[stretch].spans.open_age.record(age_ns);
    }

    /// An answer arrived at this instant.
    #[inline]
    pub fn arrived_at(&mut self, at: u64) {
        if !Arrivals::is_within(at, self.last_arrival) {
            self.note_arrival(at);
        }
    }

    /// An answer that arrived before the present window, and is read in it, counts at its begin.
    #[cold]
    fn note_arrival(&mut self, at: u64) {
        let into = self.window.arrivals.note(at.saturating_sub(self.window_from));
        self.last_arrival = self.window_from.saturating_add(into);
    }

    /// A request was sent so late.
    #[inline]
    pub fn sent_late_by(&mut self, ns: u64) {
        if self.uncounted.send_lag(ns) {
            self.count();
        }
    }

    fn count(&mut self) {
        self.uncounted.count(self.current, &mut self.stretches, &mut self.window);
    }

    fn settle(&mut self) {
        self.uncounted.settle(self.current, &mut self.stretches, &mut self.window);
    }

    pub fn error(&mut self, stretch: usize, kind: ErrorKind) {
        self.stretches[stretch].error(kind);
        self.window.errors += 1;
    }

    #[inline]
    pub fn bytes_in(&mut self, count: usize) {
        self.now_tally().bytes.received += count as u64;
        self.window.bytes_in += count as u64;
    }

    #[inline]
    pub fn bytes_out(&mut self, count: u32) {
        self.now_tally().bytes.sent += u64::from(count);
        self.window.bytes_out += u64::from(count);
    }

    /// A connect() succeeded: the kernel's round trip of the handshake where it has one, else the
    /// time until the socket was writable.
    pub fn connected(
        &mut self,
        until_writable_ns: u64,
        handshake: Option<Handshake>,
        is_first: bool,
    ) {
        let tally = self.tally_of_connection(is_first);
        let round_trip_ns = handshake.and_then(|seen| seen.round_trip_ns);
        tally.spans.connect.record(round_trip_ns.unwrap_or(until_writable_ns));
        tally.connections.timed_by_kernel += u64::from(round_trip_ns.is_some());
        tally.connections.repeated_syns +=
            handshake.map_or(0, |seen| u64::from(seen.repeated_syns));
    }

    /// A proxy opened a tunnel.
    pub fn tunnelled(&mut self, tunnel_ns: u64, is_first: bool) {
        self.tally_of_connection(is_first).spans.tunnel.record(tunnel_ns);
    }

    /// A TLS handshake succeeded.
    pub fn secured(&mut self, tls_ns: u64, is_first: bool) {
        self.tally_of_connection(is_first).spans.tls.record(tls_ns);
    }

    /// The handshake of a protocol succeeded.
    pub fn upgraded(&mut self, upgrade_ns: u64, is_first: bool) {
        self.tally_of_connection(is_first).spans.upgrade.record(upgrade_ns);
    }

    /// The first connections belong to the measured part although a warm-up may be under way: they
    /// happen once.
    fn tally_of_connection(&mut self, is_first: bool) -> &mut Tally {
        let stretch = if is_first { self.stretch_of_first() } else { self.current };
        &mut self.stretches[stretch]
    }

    /// A connection can carry requests.
    pub fn opened(&mut self, is_first: bool) {
        self.live += 1;
        let live = self.live;
        let is_before =
            is_first && (self.window_from == UNKNOWN || self.current != self.stretch_of_first());
        let tally = self.tally_of_connection(is_first);
        tally.connections.opened += 1;
        tally.connections.opened_before += u64::from(is_before);
        tally.connections.reconnects += u64::from(!is_first);
        let now = self.now_tally();
        now.connections.peak = now.connections.peak.max(live);
    }

    /// Where the first connections of an open loop are counted.
    pub fn stretch_of_first(&self) -> usize {
        if self.has_warm_up { MEASURED } else { self.current }
    }

    pub fn into_stretches(mut self) -> Vec<Tally> {
        self.settle();
        self.stretches
    }
}
