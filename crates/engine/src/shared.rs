//! What the threads of a load share: the load itself and everything that is made of it once, for
//! all of them. Nothing of it changes on the hot path except [`Progress`], which each thread writes
//! for itself alone.
use std::sync::Arc;

use pippin_model::load::LoadSpec;

use crate::digest::Challenge;
use crate::io::Loop;
use crate::io::socket::Endpoints;
use crate::request::referee::Referee;
use crate::request::wire::Wire;
use crate::time::timeline::{Progress, Timeline};
use crate::tls::Client;

/// Connections that all threads together open at the same time before the load; more would overflow
/// the listen queues of many servers, whose dropped SYN comes again only after a second.
pub(crate) const OPENING_AT_ONCE: u32 = 64;

/// Threads look for what is late at most so often, in nanoseconds: a shorter timeout would not be
/// kept.
pub(crate) const LEAST_TIMEOUT_NS: u64 = 1_000_000;

/// What all threads of a load have in common.
pub(crate) struct Shared {
    pub spec: LoadSpec,
    /// All requests, rendered.
    pub wire: Arc<Wire>,
    pub endpoints: Arc<Endpoints>,
    /// The event loop of each thread.
    pub on: Loop,
    /// What the server asked each user of this part of the load; empty without a digest.
    pub challenges: Vec<Challenge>,
    /// `None` in a load without TLS.
    pub tls: Option<Client>,
    pub timeline: Timeline,
    /// `None` where no answer needs one.
    pub referee: Option<Arc<dyn Referee>>,
    /// One for each thread.
    pub progress: Vec<Progress>,
}
