//! One of the two event loops, chosen when the load begins.
//!
//! The compiler builds a worker for each combination of event loop, transport and protocol, and each takes
//! seconds. Loads that need less speed use this type, so that one worker serves both loops.
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use super::epoll::Epoll;
use super::socket::Endpoints;
use super::uring::Uring;
use super::{Event, Handshake, Io, Loop, Opening, Sending};

/// The loop of a load.
pub(crate) enum Chosen {
    Epoll(Epoll),
    Uring(Box<Uring>),
}

impl Io for Chosen {
    fn new(slots: u32, endpoints: &Arc<Endpoints>, on: Loop) -> io::Result<Self> {
        Ok(match on {
            Loop::Epoll => Self::Epoll(Epoll::new(slots, endpoints, on)?),
            Loop::Uring => Self::Uring(Box::new(Uring::new(slots, endpoints, on)?)),
        })
    }

    fn open(&mut self, slot: u32, nth: u64) -> Opening {
        match self {
            Self::Epoll(it) => it.open(slot, nth),
            Self::Uring(it) => it.open(slot, nth),
        }
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> Sending {
        match self {
            Self::Epoll(it) => it.send(slot, bytes),
            Self::Uring(it) => it.send(slot, bytes),
        }
    }

    fn stamp_next_send(&mut self, is_asked: bool) -> bool {
        match self {
            Self::Epoll(it) => it.stamp_next_send(is_asked),
            Self::Uring(it) => it.stamp_next_send(is_asked),
        }
    }

    fn departed_at(&mut self, slot: u32, now: u64) -> Option<u64> {
        match self {
            Self::Epoll(it) => it.departed_at(slot, now),
            Self::Uring(it) => it.departed_at(slot, now),
        }
    }

    fn close(&mut self, slot: u32) {
        match self {
            Self::Epoll(it) => it.close(slot),
            Self::Uring(it) => it.close(slot),
        }
    }

    fn wait(&mut self, timeout_ns: u64, stay_ns: u64) -> io::Result<()> {
        match self {
            Self::Epoll(it) => it.wait(timeout_ns, stay_ns),
            Self::Uring(it) => it.wait(timeout_ns, stay_ns),
        }
    }

    fn next_event(&mut self) -> Option<Event> {
        match self {
            Self::Epoll(it) => it.next_event(),
            Self::Uring(it) => it.next_event(),
        }
    }

    fn received(&self) -> &[u8] {
        match self {
            Self::Epoll(it) => it.received(),
            Self::Uring(it) => it.received(),
        }
    }

    fn received_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Epoll(it) => it.received_mut(),
            Self::Uring(it) => it.received_mut(),
        }
    }

    fn arrived_at(&mut self, now: u64) -> Option<u64> {
        match self {
            Self::Epoll(it) => it.arrived_at(now),
            Self::Uring(it) => it.arrived_at(now),
        }
    }

    fn clock_steps(&self) -> u64 {
        match self {
            Self::Epoll(it) => it.clock_steps(),
            Self::Uring(it) => it.clock_steps(),
        }
    }

    fn handshake(&mut self, slot: u32) -> Option<Handshake> {
        match self {
            Self::Epoll(it) => it.handshake(slot),
            Self::Uring(it) => it.handshake(slot),
        }
    }

    fn ends(&self, slot: u32) -> Option<(SocketAddr, SocketAddr)> {
        match self {
            Self::Epoll(it) => it.ends(slot),
            Self::Uring(it) => it.ends(slot),
        }
    }

    fn is_closing(&self, slot: u32) -> bool {
        match self {
            Self::Epoll(it) => it.is_closing(slot),
            Self::Uring(it) => it.is_closing(slot),
        }
    }

    fn is_undelivered(&self, slot: u32) -> Option<bool> {
        match self {
            Self::Epoll(it) => it.is_undelivered(slot),
            Self::Uring(it) => it.is_undelivered(slot),
        }
    }

    fn has_delivered(&self, slot: u32) -> Option<bool> {
        match self {
            Self::Epoll(it) => it.has_delivered(slot),
            Self::Uring(it) => it.has_delivered(slot),
        }
    }

    fn syscalls(&self) -> u64 {
        match self {
            Self::Epoll(it) => it.syscalls(),
            Self::Uring(it) => it.syscalls(),
        }
    }
}
