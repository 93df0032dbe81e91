//! A room: what one WebSocket says comes to all of them, as a script tells (right or wrong, at once
//! or after known waits).
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::messages::{CLOSE, Connection, FINAL, Server, frame, text};

/// A member has said something.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// How often somebody had said something before.
    pub nth: u64,
    /// The member's place in the room.
    pub from: usize,
    /// How many are in the room; their places follow the order in which they came.
    pub members: usize,
    /// What was said.
    pub payload: &'a [u8],
}

impl Said<'_> {
    /// What a right room does: everybody gets it at once.
    #[must_use]
    pub fn to_all(&self) -> Vec<Delivery> {
        (0..self.members).map(|to| self.to(to, Duration::ZERO)).collect()
    }

    /// The member in this place gets it, so long after it was said.
    #[must_use]
    pub fn to(&self, to: usize, after: Duration) -> Delivery {
        Delivery { to, bytes: text(self.payload), after }
    }
}

/// What a member gets.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The member's place.
    pub to: usize,
    /// What goes over its connection: frames.
    pub bytes: Vec<u8>,
    /// How long after the message it goes out at the earliest.
    pub after: Duration,
}

/// Members by the number of their connection.
type Members = Vec<(u64, TcpStream)>;

/// A room; the script says who gets what.
///
/// # Errors
/// If there is no port.
pub fn room(
    script: impl Fn(Said<'_>) -> Vec<Delivery> + Send + Sync + 'static,
) -> io::Result<Server> {
    room_with_door(|_| Duration::ZERO, script)
}

/// A room with a door: connection number `n`, from 0, waits so long until it is let in.
///
/// # Errors
/// If there is no port.
pub fn room_with_door(
    door: impl Fn(u64) -> Duration + Send + Sync + 'static,
    script: impl Fn(Said<'_>) -> Vec<Delivery> + Send + Sync + 'static,
) -> io::Result<Server> {
    let (members, said) = (Arc::new(Mutex::new(Members::new())), AtomicU64::new(0));
    Server::raw(move |connection| {
        let head = connection.head()?;
        let own = connection.nth;
        std::thread::sleep(door(own));
        {
            // Nothing is said to a member before it is one, and nothing is missed after that.
            let mut members = lock(&members);
            connection.send(Connection::consent(&head).as_bytes())?;
            members.push((own, connection.writer()?));
        }
        while let Some(payload) = connection.message() {
            let mut present = present(&members)?;
            let from = present.iter().position(|(nth, _)| *nth == own)?;
            let nth = said.fetch_add(1, Relaxed);
            let event = Said { nth, from, members: present.len(), payload: &payload };
            deliver(&mut present, script(event));
        }
        lock(&members).retain(|(nth, _)| *nth != own);
        connection.send(&frame(FINAL | CLOSE, &1000_u16.to_be_bytes()))
    })
}

fn lock(members: &Mutex<Members>) -> MutexGuard<'_, Members> {
    members.lock().unwrap_or_else(PoisonError::into_inner)
}

fn present(members: &Mutex<Members>) -> Option<Members> {
    lock(members).iter().map(|(nth, writer)| Some((*nth, writer.try_clone().ok()?))).collect()
}

/// Each at its time. Who has left gets nothing.
fn deliver(members: &mut Members, mut deliveries: Vec<Delivery>) {
    let begin = Instant::now();
    deliveries.sort_by_key(|delivery| delivery.after);
    for Delivery { to, bytes, after } in deliveries {
        std::thread::sleep(after.saturating_sub(begin.elapsed()));
        if let Some((_, writer)) = members.get_mut(to) {
            let _ = writer.write_all(&bytes);
        }
    }
}
