//! What happens to connections and requests.
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

use super::answer::Answer;

/// A request as a script sees it.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Its number at this server, from 0.
    pub number: u64,
    /// Its connection's number, from 0.
    pub connection: u64,
    /// Its number on its connection, from 0.
    pub number_on_connection: u64,
    /// When it was read (CLOCK_MONOTONIC, nanoseconds).
    pub received_ns: u64,
    /// Head and body.
    pub bytes: &'a [u8],
}

/// What happens to a new connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnConnect {
    /// Its requests are answered.
    #[default]
    Serve,
    /// It is closed.
    Close,
    /// It is reset.
    Reset,
    /// Nothing is ever read from it or sent to it.
    Ignore,
}

/// When the stall begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StallAt {
    /// When the request of this number was read, before it is answered.
    Request(u64),
    /// So long after the first request was read.
    AfterFirst(Duration),
}

type Answering = Box<dyn FnMut(&Received<'_>, &mut Xoshiro256PlusPlus) -> Answer + Send>;

/// What the server does.
pub struct Script {
    pub(super) answering: Answering,
    pub(super) seed: u64,
    pub(super) on_connect: OnConnect,
    pub(super) close_after: Option<(u64, bool)>,
    pub(super) stall: Option<(StallAt, Duration)>,
}

impl Script {
    /// One answer to every request.
    #[must_use]
    pub fn always(answer: Answer) -> Self {
        Self::each(move |_, _| answer.clone())
    }

    /// Computes an answer for each request. The random numbers depend only on the seed and the
    /// order of requests.
    #[must_use]
    pub fn each(
        answering: impl FnMut(&Received<'_>, &mut Xoshiro256PlusPlus) -> Answer + Send + 'static,
    ) -> Self {
        Self {
            answering: Box::new(answering),
            seed: 1,
            on_connect: OnConnect::Serve,
            close_after: None,
            stall: None,
        }
    }

    /// Serves at most this many requests per second. Each takes the next free place of a schedule
    /// and is answered when that is due, at once if fewer come. So the server's capacity is known
    /// without measuring it.
    #[must_use]
    pub fn at_most(per_s: f64, answer: Answer) -> Self {
        let gap_ns = 1e9 / per_s;
        let mut free_ns = 0.0_f64;
        Self::each(move |received, _| {
            let now_ns = received.received_ns as f64;
            let place_ns = free_ns.max(now_ns);
            free_ns = place_ns + gap_ns;
            answer.clone().delay(Duration::from_nanos((place_ns - now_ns) as u64))
        })
    }

    /// Another seed than 1.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What happens to new connections.
    #[must_use]
    pub fn on_connect(mut self, what: OnConnect) -> Self {
        self.on_connect = what;
        self
    }

    /// Closes each connection after this many answers; with `as_said` the last one has `Connection:
    /// close`.
    #[must_use]
    pub fn close_after(mut self, answers: u64, as_said: bool) -> Self {
        self.close_after = Some((answers, as_said));
        self
    }

    /// The whole server stalls for so long after it has read the request of this number (from 0),
    /// as in a garbage collection: it accepts, reads and sends nothing.
    #[must_use]
    pub fn stall_at_request(mut self, number: u64, length: Duration) -> Self {
        self.stall = Some((StallAt::Request(number), length));
        self
    }

    /// The whole server stalls for so long, at this time after it has read the first request.
    #[must_use]
    pub fn stall_after(mut self, after: Duration, length: Duration) -> Self {
        self.stall = Some((StallAt::AfterFirst(after), length));
        self
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { answering: _, seed, on_connect, close_after, stall } = self;
        formatter
            .debug_struct("Script")
            .field("seed", seed)
            .field("on_connect", on_connect)
            .field("close_after", close_after)
            .field("stall", stall)
            .finish_non_exhaustive()
    }
}
