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
    type Told;

    /// A message arrived on this subject.
    fn hear(&mut self, subject: &str, payload: &[u8], at_ns: u64) -> Vec<Outgoing>;

    /// Its own process tells it something.
    fn told(&mut self, told: Self::Told, at_ns: u64) -> Vec<Outgoing>;

    /// Some time has passed.
    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing>;

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

/// Runs a member until it is done, or until its process drops the sender.
///
/// # Errors
/// If the server refuses a subscription.
pub async fn live<A: Actor>(
    Connection { client, links }: &mut Connection,
    subjects: &[String],
    actor: &mut A,
    told: &mut UnboundedReceiver<A::Told>,
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
    let mut ticked_ns = clock.now_ns();
    while !actor.is_over() {
        let mut outgoing = tokio::select! {
            // Messages come first, because their receive time is stamped here.
            biased;
            Some(message) = heard.next() => {
                actor.hear(&message.subject, &message.payload, clock.now_ns())
            }
            Some(link) = links.recv() => {
                actor.link(&link, clock.now_ns());
                Vec::new()
            }
            word = told.recv() => match word {
                Some(word) => actor.told(word, clock.now_ns()),
                None => break,
            },
            _ = ticks.tick() => Vec::new(),
        };
        // Tick even if messages never stop: others wait for beats.
        let now_ns = clock.now_ns();
        if now_ns.saturating_sub(ticked_ns) >= TICK.as_nanos() as u64 / 2 {
            ticked_ns = now_ns;
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
