//! Finding enough agents.
use std::collections::BTreeMap;

use super::Event;
use crate::message::{Hello, Peer, SCHEMA, VERSION};

/// How long to wait for answers to the first call, even if there are enough before. So names decide
/// among the agents that answer, not speed.
const AT_LEAST_NS: u64 = 1_000_000_000;
const CALL_NS: u64 = 250_000_000;

/// The agents that a load needs.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The number of agents.
    pub agents: usize,
    /// The time they have to answer, in nanoseconds.
    pub within_ns: u64,
}

/// The call for agents.
pub(super) struct Gathering {
    wanted: Wanted,
    began_ns: u64,
    next_call_ns: u64,
    seen: BTreeMap<String, (Peer, Hello)>,
    /// Agents that cannot take part, with the reasons.
    refused: BTreeMap<String, String>,
    told: usize,
}

/// The agents that take part, or why there are not enough.
type Verdict = Result<Vec<(Peer, Hello)>, String>;

impl Gathering {
    pub fn new(wanted: Wanted, now_ns: u64) -> Self {
        Self {
            wanted,
            began_ns: now_ns,
            next_call_ns: 0,
            seen: BTreeMap::new(),
            refused: BTreeMap::new(),
            told: 0,
        }
    }

    pub fn is_call_due(&mut self, now_ns: u64) -> bool {
        let is_due = now_ns >= self.next_call_ns;
        if is_due {
            self.next_call_ns = now_ns + CALL_NS;
        }
        is_due
    }

    pub fn refuse(&mut self, from: Peer, version: &str, schema: u32) {
        let why = format!(
            "agent {} is Pippin {version} (messages {schema}), this is {VERSION} (messages {SCHEMA}): install the same version on both",
            from.name
        );
        self.refused.insert(from.name, why);
    }

    pub fn welcome(&mut self, from: Peer, hello: Hello) {
        let name = from.name.clone();
        if self.seen.get(&name).is_some_and(|(peer, _)| peer.instance != from.instance) {
            let why = format!("two agents have the name {name}: give each its own --name");
            self.refused.insert(name, why);
        } else if let Some(other) = &hello.claimed_by {
            self.refused.insert(name.clone(), format!("agent {name} is used by {other}"));
            self.seen.remove(&name);
        } else {
            if self.refused.get(&name).is_some_and(|why| why.contains("is used by")) {
                self.refused.remove(&name);
            }
            self.seen.insert(name, (from, hello));
        }
    }

    /// Events to report, and how the call ended if it did.
    pub fn look(&mut self, now_ns: u64) -> (Vec<Event>, Option<Verdict>) {
        let able: Vec<_> =
            self.seen.values().filter(|(peer, _)| !self.refused.contains_key(&peer.name)).collect();
        let (waited_ns, wanted) = (now_ns.saturating_sub(self.began_ns), self.wanted.agents);
        let mut events = Vec::new();
        if able.len() >= wanted && waited_ns >= AT_LEAST_NS {
            let chosen = able.into_iter().take(wanted).cloned().collect();
            events.extend(self.refused.values().cloned().map(Event::Note));
            return (events, Some(Ok(chosen)));
        }
        if waited_ns >= self.wanted.within_ns {
            return (events, Some(Err(self.too_few(able.len()))));
        }
        if able.len() != self.told {
            self.told = able.len();
            events.push(Event::Gathering(self.told, wanted));
        }
        (events, None)
    }

    fn too_few(&self, able: usize) -> String {
        let seconds = self.wanted.within_ns / 1_000_000_000;
        let mut why = format!(
            "{able} of {} agents answered within {seconds} s; start the others with `pippin agent --nats URL`",
            self.wanted.agents
        );
        for refused in self.refused.values() {
            why.push_str("; ");
            why.push_str(refused);
        }
        why
    }
}
