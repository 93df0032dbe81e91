//! One member of a fleet: it hears messages, is told things by its own process, and has an eye on
//! the time. What it does is a pure function of these three; this loop brings them together.
use async_nats::Client;
use futures_util::StreamExt;
use futures_util::stream::select_all;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::clock::Clock;
use crate::error::FleetError;

/// How often a member looks at the time.
const TICK: Duration = Duration::from_millis(25);

/// A message to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Where to.
    pub subject: String,
    /// The message.
    pub payload: Vec<u8>,
}

/// A member. Instants are nanoseconds of its own clock.
pub trait Actor {
    /// What its own process tells it.
    type Told;

    /// A message arrived.
    fn hear(&mut self, payload: &[u8], at_ns: u64) -> Vec<Outgoing>;

    /// Its own process tells it something.
    fn told(&mut self, told: Self::Told, at_ns: u64) -> Vec<Outgoing>;

    /// Some time has passed.
    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing>;

    /// A message was longer than the server takes.
    fn too_long(&mut self, message: &Outgoing, most_bytes: usize);

    /// Whether it is done.
    fn is_over(&self) -> bool;
}

/// Lets a member live until it is done, or its process has nothing to tell any more.
///
/// # Errors
/// If the server refuses a subscription.
pub async fn live<A: Actor>(
    client: &Client,
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
            // Stamps are worth more than anything else here.
            biased;
            Some(message) = heard.next() => actor.hear(&message.payload, clock.now_ns()),
            word = told.recv() => match word {
                Some(word) => actor.told(word, clock.now_ns()),
                None => break,
            },
            _ = ticks.tick() => Vec::new(),
        };
        // Also while there is always something to hear: others wait for beats.
        let now_ns = clock.now_ns();
        if now_ns.saturating_sub(ticked_ns) >= TICK.as_nanos() as u64 / 2 {
            ticked_ns = now_ns;
            outgoing.extend(actor.tick(now_ns));
        }
        for message in outgoing {
            send(client, actor, message).await;
        }
    }
    // Whoever is left must hear the last words.
    drop(tokio::time::timeout(Duration::from_secs(1), client.flush()).await);
    Ok(())
}

async fn send<A: Actor>(client: &Client, actor: &mut A, message: Outgoing) {
    let most = client.max_payload();
    if message.payload.len() > most {
        actor.too_long(&message, most);
        return;
    }
    // Without a connection it waits in the client; whoever should hear it gives up in time.
    drop(client.publish(message.subject, message.payload.into()).await);
}
