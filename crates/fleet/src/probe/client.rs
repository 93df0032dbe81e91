//! The member that asks a probe for a run. Like the coordinator of agents, it only reacts to
//! messages and time, and never blocks.
use pippin_model::result::Window;
use pippin_model::target::TargetId;
use std::sync::mpsc::Sender;

use super::{Entry, RunOrder};
use crate::actor::{Actor, Link, Outgoing, too_long};
use crate::message::{
    Hello, Key, NO_KEY, Opened, Order, Peer, Report, SCHEMA, VERSION, open, seal, subject,
};
use crate::pieces::Inbox;

/// How often to repeat calls, beats, and orders without a reaction, in nanoseconds.
const REPEAT_NS: u64 = 500_000_000;

/// How long a probe may take to begin a run, and to end it after it was stopped, nanoseconds. A
/// target has 10 s to end by itself.
const BEGIN_NS: u64 = 30_000_000_000;
const STOP_NS: u64 = 60_000_000_000;

/// What the owner of the run tells it.
#[derive(Debug, Clone)]
pub enum Instruction {
    /// End the run early.
    Stop,
    /// Make no more trials of this target.
    Skip(TargetId),
    /// Let the probe go.
    End,
}

/// What comes from the probe.
#[derive(Debug)]
pub enum Event {
    /// The probe was found.
    Found(Box<Hello>),
    /// Its report.
    Entry(Box<Entry>),
    /// A second of load.
    Second(Box<Window>),
    /// The probe is lost, for this reason.
    Lost(String),
}

/// Asks a probe for a run.
pub struct ProbeClient {
    me: Peer,
    /// The secret of this run: orders and reports carry it.
    key: Key,
    name: String,
    run_order: RunOrder,
    /// How long the probe may take to answer, nanoseconds.
    within_ns: u64,
    began_ns: u64,
    next_repeat_ns: u64,
    probe: Option<Found>,
    /// Why the probe is not free yet.
    busy: Option<String>,
    /// When the user stopped the run.
    stop_ns: Option<u64>,
    skipped: Vec<TargetId>,
    is_over: bool,
    events: Sender<Event>,
}

struct Found {
    peer: Peer,
    heard_ns: u64,
    inbox: Inbox,
    /// When it was found.
    found_ns: u64,
    /// Whether the probe has reacted to the order to make the run.
    has_begun: bool,
}

impl ProbeClient {
    /// A member that begins by looking for the probe of this name.
    #[must_use]
    pub fn new(
        (me, key): (Peer, Key),
        name: String,
        run_order: RunOrder,
        (within_ns, began_ns): (u64, u64),
        events: Sender<Event>,
    ) -> Self {
        Self {
            me,
            key,
            name,
            run_order,
            within_ns,
            began_ns,
            next_repeat_ns: 0,
            probe: None,
            busy: None,
            stop_ns: None,
            skipped: Vec::new(),
            is_over: false,
            events,
        }
    }

    fn tell(&self, event: Event) {
        // If the owner is gone, it has sent `End` or dropped the channel.
        drop(self.events.send(event));
    }

    fn lose(&mut self, why: String) {
        if !self.is_over {
            self.is_over = true;
            self.tell(Event::Lost(why));
        }
    }

    fn order(&self, order: &Order) -> Outgoing {
        Outgoing { subject: subject::order(&self.name), payload: seal(&self.me, self.key, order) }
    }

    fn welcome(&mut self, from: Peer, hello: Hello, at_ns: u64) {
        if !hello.is_probe {
            self.lose(
                "it is an agent and not a probe: start it with `pippin agent --probe`".into(),
            );
        } else if let Some(other) = hello.claimed_by {
            self.busy = Some(format!("{other} uses it"));
        } else {
            self.tell(Event::Found(Box::new(hello)));
            let inbox = Inbox::default();
            let (heard_ns, found_ns) = (at_ns, at_ns);
            self.probe = Some(Found { peer: from, heard_ns, inbox, found_ns, has_begun: false });
            self.next_repeat_ns = at_ns;
        }
    }

    fn report(&mut self, from: &Peer, report: Report, at_ns: u64) -> Vec<Outgoing> {
        let run = self.run_order.run;
        let Some(probe) = self.probe.as_mut() else { return Vec::new() };
        if probe.peer != *from {
            self.lose(
                "another one answers with its name: it was restarted, or two have the same name"
                    .into(),
            );
            return Vec::new();
        }
        probe.heard_ns = at_ns;
        match report {
            Report::Busy { with } => self.lose(format!("{with} uses it")),
            Report::Leaving => self.lose("its operator ended it".into()),
            Report::Second { trial, window } if trial == run => self.tell(Event::Second(window)),
            Report::Taken { trial } if trial == run => probe.has_begun = true,
            Report::Piece { trial, piece } => {
                let got = Order::Got { trial, text_nth: piece.text_nth, nth: piece.nth };
                if trial == run {
                    probe.has_begun = true;
                    let texts = probe.inbox.take(piece);
                    texts.iter().for_each(|text| self.entry(text));
                }
                return vec![self.order(&got)];
            }
            _ => {}
        }
        Vec::new()
    }

    fn entry(&mut self, text: &str) {
        match serde_json::from_str(text) {
            Ok(entry) => self.tell(Event::Entry(Box::new(entry))),
            Err(error) => self.lose(format!("its reports cannot be read: {error}")),
        }
    }

    /// Why the probe has outlived its time, although it answers. A run itself may take as long as
    /// it takes: installing has no bound.
    fn missed(&self, now_ns: u64) -> Option<String> {
        let outlives = |since_ns: u64, most_ns: u64| now_ns.saturating_sub(since_ns) > most_ns;
        let probe = self.probe.as_ref()?;
        if self.stop_ns.is_some_and(|stop_ns| outlives(stop_ns, STOP_NS)) {
            return Some(format!(
                "it answers, but did not end the run within {} s",
                STOP_NS / 1_000_000_000
            ));
        }
        (!probe.has_begun && outlives(probe.found_ns, BEGIN_NS)).then(|| {
            format!("it answers, but did not begin the run within {} s", BEGIN_NS / 1_000_000_000)
        })
    }

    fn look_for_it(&mut self, now_ns: u64) -> Vec<Outgoing> {
        if now_ns.saturating_sub(self.began_ns) >= self.within_ns {
            let seconds = self.within_ns / 1_000_000_000;
            let why = self.busy.clone().unwrap_or_else(|| {
                format!(
                    "it did not answer within {seconds} s; start it on the targets' machine: pippin agent --probe --name {} --nats URL --address ADDRESS",
                    self.name
                )
            });
            self.lose(why);
            return Vec::new();
        }
        vec![Outgoing {
            subject: subject::CALL.into(),
            payload: seal(&self.me, NO_KEY, &Order::Call),
        }]
    }
}

impl Actor for ProbeClient {
    type Input = Instruction;

    fn hear(&mut self, subject: &str, payload: &[u8], at_ns: u64) -> Vec<Outgoing> {
        if !subject::is_of(subject, &self.name) {
            return Vec::new();
        }
        match open::<Report>(payload) {
            Some(Opened::Other { from, version, schema }) if from.name == self.name => {
                self.lose(format!(
                    "it is Pippin {version} (messages {schema}), this is {VERSION} (messages {SCHEMA}): install the same version on both"
                ));
                Vec::new()
            }
            Some(Opened::Same(from, key, report)) if from.name == self.name => match report {
                Report::Hello(hello) => {
                    if self.probe.is_none() {
                        self.welcome(from, *hello, at_ns);
                    }
                    Vec::new()
                }
                report if key == self.key => self.report(&from, report, at_ns),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn told(&mut self, told: Instruction, at_ns: u64) -> Vec<Outgoing> {
        match told {
            Instruction::Stop => {
                self.stop_ns = self.stop_ns.or(Some(at_ns));
                Vec::new()
            }
            Instruction::Skip(target) => {
                self.skipped.push(target);
                Vec::new()
            }
            Instruction::End => {
                self.is_over = true;
                vec![self.order(&Order::Release)]
            }
        }
    }

    fn tick(&mut self, at_ns: u64) -> Vec<Outgoing> {
        if at_ns < self.next_repeat_ns {
            return Vec::new();
        }
        self.next_repeat_ns = at_ns + REPEAT_NS;
        let Some(probe) = &self.probe else { return self.look_for_it(at_ns) };
        let silent_ns = at_ns.saturating_sub(probe.heard_ns);
        if silent_ns > self.run_order.wanted.patience_ns {
            let seconds = silent_ns as f64 / 1e9;
            self.lose(format!("nothing was heard of it for {seconds:.1} s: it has stopped, or its connection to NATS is lost"));
            return Vec::new();
        }
        if let Some(why) = self.missed(at_ns) {
            self.lose(why);
            return Vec::new();
        }
        // The first beat claims it.
        let mut orders = vec![self.order(&Order::Beat {
            sent_ns: at_ns,
            patience_ns: self.run_order.wanted.patience_ns,
        })];
        if !probe.has_begun {
            orders.push(self.order(&Order::Measure(Box::new(self.run_order.clone()))));
        }
        for target in &self.skipped {
            orders.push(
                self.order(&Order::Skip { trial: self.run_order.run, target: target.clone() }),
            );
        }
        if self.stop_ns.is_some() {
            orders.push(self.order(&Order::Stop { trial: self.run_order.run }));
        }
        orders
    }

    /// It hears one probe, and reads its few messages at once.
    fn behind(&mut self, _ns: u64, _at_ns: u64) {}

    fn link(&mut self, link: &Link, _at_ns: u64) {
        if let Link::Refused(what) = link {
            self.lose(crate::nats::refused(what));
        }
    }

    fn too_long(&mut self, message: &Outgoing, most_bytes: usize) {
        self.lose(too_long("the plan", message.payload.len(), most_bytes));
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests;
