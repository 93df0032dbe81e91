//! A thread of the load: its connections, its event loop, its measurements. On the hot path it
//! shares nothing with other threads.
//!
//! | module | what it does |
//! |---|---|
//! | `machine` | what a thread is made of |
//! | `driver` | its loop, and the only clock |
//! | `pacing` | asks who is due |
//! | `link` | the life of a connection, and everything that can go wrong with it |
//! | `seats` | what a connection holds of requests under way |
//! | `ready`, `sending`, `departure` | which requests are sent, writing them, and when they left |
//! | `sampling` | asking the kernel when some of them left |
//! | `answers`, `batching` | reading and judging answers, and picking them up together |
//! | `walking` | users whose requests vary |
//! | `firsts` | what is kept of errors |
//! | `stops` | when the thread stood still |
//! | `timers` | connections that want to be asked although nothing came |
//! | `sim` | tests in virtual time |
mod answers;
mod batching;
mod departure;
mod driver;
mod firsts;
mod link;
mod machine;
mod pacing;
mod ready;
mod sampling;
mod seats;
mod sending;
#[cfg(test)]
mod sim;
mod stops;
mod timers;
mod walking;

use std::marker::PhantomData;
use std::sync::Arc;

use crate::io::Io;
use crate::protocol::Protocol;
use crate::shared::Shared;
use crate::time::clock::{Clock, Monotonic};
use crate::transport::Transport;

use machine::Core;
pub(crate) use machine::Worker;
use seats::{Seating, SeatsOf};

/// What a worker is to do.
pub(crate) struct Assignment {
    pub shared: Arc<Shared>,
    /// Which of the threads this is.
    pub thread: u32,
}

/// What a worker is built of, chosen at compile time.
pub(crate) trait Stack {
    type Io: Io;
    type Transport: Transport;
    type Protocol: Protocol<Order: Seating>;
    /// What the loop reads the time from.
    type Clock: Clock;
    /// Whether connections may begin with a tunnel through a proxy. Plain HTTP/1.1 is read by the
    /// proxy, and pays for nothing of this.
    const TUNNELS: bool =
        Self::Transport::SECURES || Self::Protocol::GREETS || SeatsOf::<Self>::IS_SHARED;
}

/// The handshake of a stack's protocol.
type GreetingOf<S> = <<S as Stack>::Protocol as Protocol>::Greeting;
/// How its requests vary.
type VariationOf<S> = <<S as Stack>::Protocol as Protocol>::Variation;

/// A protocol over a transport on an event loop.
pub(crate) struct Over<I, T, P>(PhantomData<(I, T, P)>);

impl<I: Io, T: Transport, P: Protocol<Order: Seating>> Stack for Over<I, T, P> {
    type Io = I;
    type Transport = T;
    type Protocol = P;
    type Clock = Monotonic;
}
