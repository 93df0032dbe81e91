//! One member of a fleet. It reacts to messages, to its own process, and to time. Its reaction is a
//! pure function of these three; the loop in this file calls it.
use async_nats::Client;
use futures_util::StreamExt;
use futures_util::stream::select_all;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::clock::Clock;
use crate::error::FleetError;
use crate::nats::Connection;

/// The interval between ticks.
const TICK: Duration = Duration::from_millis(25);

/// How long a member waits for room among the messages that wait for the connection.
const ROOM: Duration = Duration::from_millis(25);

/// A message to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its subject.
    pub subject: String,
    /// The message.
    pub payload: Vec<u8>,
}

/// A member. Instants are nanoseconds of its own clock.
pub trait Actor {
    /// What its own process can tell it.
    type Input;

    /// A message arrived on this subject.
    fn hear(&mut self, subject: &str, payload: &[u8], at_ns: u64) -> Vec<Outgoing>;

    /// Its own process tells it something.
    fn told(&mut self, told: Self::Input, at_ns: u64) -> Vec<Outgoing>;

    /// Some time has passed.
    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing>;

    /// For the last `ns` this process had messages to read without a pause: what it did not hear
    /// from others may wait among them, so it blames nobody for that time.
    fn behind(&mut self, ns: u64, at_ns: u64);

    /// Something happened to the connection.
    fn link(&mut self, link: &Link, at_ns: u64);

    /// A message was longer than the server accepts.
    fn too_long(&mut self, message: &Outgoing, most_bytes: usize);

    /// Whether it is done.
    fn is_over(&self) -> bool;
}

/// Why a message cannot be sent. `what` is its kind, as "the load"; the lengths are bytes.
pub(crate) fn too_long(what: &str, bytes: usize, most_bytes: usize) -> String {
    format!(
        "{what} is {bytes} bytes long and the NATS server takes {most_bytes}: make it shorter (a request file by fewer lines or bodies), or raise the server's max_payload (at most 64 MiB, and below its max_pending)"
    )
}

/// What happens to the connection to the NATS server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// It is lost; the client tries to restore it.
    Lost,
    /// It is there again.
    Restored,
    /// The server refuses something, in its own words: `Permissions Violation for ...`.
    Refused(String),
}

/// A wait of this length for the next message shows that all before it were read. The connection is
/// read by the same thread, which takes less than that.
const PAUSE_NS: u64 = 1_000_000;

/// When a member ticks, and whether it keeps up with its messages.
#[derive(Debug)]
struct Pace {
    ticked_ns: u64,
    has_paused: bool,
}

impl Pace {
    const fn new(now_ns: u64) -> Self {
        Self { ticked_ns: now_ns, has_paused: true }
    }

    /// The member waited for something to do, from one instant to another.
    const fn waited(&mut self, from_ns: u64, to_ns: u64) {
        self.has_paused |= to_ns.saturating_sub(from_ns) >= PAUSE_NS;
    }

    /// Whether it must tick now, and for how long (nanoseconds) it was behind until now.
    fn tick(&mut self, now_ns: u64) -> Option<u64> {
        let since_ns = now_ns.saturating_sub(self.ticked_ns);
        if since_ns < TICK.as_nanos() as u64 / 2 {
            return None;
        }
        self.ticked_ns = now_ns;
        Some(if std::mem::take(&mut self.has_paused) { 0 } else { since_ns })
    }
}

/// Runs a member until it is done, or until its process drops the sender.
///
/// # Errors
/// If the server refuses a subscription.
pub async fn live<A: Actor>(
    Connection { client, links }: &mut Connection,
    subjects: &[String],
    actor: &mut A,
    told: &mut UnboundedReceiver<A::Input>,
    clock: Clock,
) -> Result<(), FleetError> {
    let mut subscriptions = Vec::new();
    for subject in subjects {
        let subscription = client.subscribe(subject.clone()).await;
        subscriptions.push(
            subscription.map_err(|error| FleetError::User(format!("NATS: {subject}: {error}")))?,
        );
    }
    let mut heard = select_all(subscriptions);
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut pace = Pace::new(clock.now_ns());
    while !actor.is_over() {
        let waits_ns = clock.now_ns();
        let mut outgoing = tokio::select! {
            // Messages come first, because their receive time is stamped here.
            biased;
            Some(message) = heard.next() => {
                let at_ns = clock.now_ns();
                pace.waited(waits_ns, at_ns);
                actor.hear(&message.subject, &message.payload, at_ns)
            }
            Some(link) = links.recv() => {
                actor.link(&link, clock.now_ns());
                Vec::new()
            }
            word = told.recv() => match word {
                Some(word) => actor.told(word, clock.now_ns()),
                None => break,
            },
            _ = ticks.tick() => {
                pace.waited(waits_ns, clock.now_ns());
                Vec::new()
            }
        };
        // Tick even if messages never stop: others wait for beats.
        let now_ns = clock.now_ns();
        if let Some(behind_ns) = pace.tick(now_ns) {
            if behind_ns > 0 {
                actor.behind(behind_ns, now_ns);
            }
            outgoing.extend(actor.tick(now_ns));
        }
        for message in outgoing {
            if !send(client, actor, message).await {
                break;
            }
        }
    }
    // Send the last messages before leaving.
    drop(tokio::time::timeout(Duration::from_secs(1), client.flush()).await);
    Ok(())
}

/// Hands a message to the client. Returns whether it has room for more: without a connection
/// messages wait there, and a member must not wait for them, because it has deadlines. What is left
/// out is sent again, or missed as if it had been lost on its way.
async fn send<A: Actor>(client: &Client, actor: &mut A, message: Outgoing) -> bool {
    let most = client.max_payload();
    if message.payload.len() > most {
        actor.too_long(&message, most);
        return true;
    }
    let publish = client.publish(message.subject, message.payload.into());
    tokio::time::timeout(ROOM, publish).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_behind_while_it_reads_without_a_pause() {
        let mut pace = Pace::new(0);
        assert_eq!(pace.tick(12_000_000), None);
        // Nothing came for 30 ms, then messages for 40 ms, each at once after the one before.
        pace.waited(0, 30_000_000);
        assert_eq!(pace.tick(30_000_000), Some(0));
        (0..400)
            .for_each(|nth| pace.waited(30_000_000 + nth * 100_000, 30_010_000 + nth * 100_000));
        assert_eq!(pace.tick(70_000_000), Some(40_000_000));
        pace.waited(70_000_000, 71_000_000);
        assert_eq!(pace.tick(90_000_000), Some(0));
    }
}
