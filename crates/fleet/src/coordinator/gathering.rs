//! Finding enough agents.
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::Event;
use crate::message::{Hello, Peer, SCHEMA, VERSION};
use crate::patience;

/// How long to wait for answers to the first call, even if there are enough before. So names decide
/// among the agents that answer, not speed.
const AT_LEAST_NS: u64 = 1_000_000_000;
const CALL_NS: u64 = 250_000_000;
/// What an agent said counts for so long; every one that is there answers each call.
const FRESH_NS: u64 = 2_000_000_000;

/// The agents that a load needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The number of agents.
    pub agents: usize,
    /// The time they have to answer, in nanoseconds.
    pub within_ns: u64,
    /// The only agents that may take part; any if empty.
    pub named: Vec<String>,
    /// How many with a tag must take part.
    pub tagged: Vec<(String, usize)>,
    /// How long coordinator and agents wait for each other, nanoseconds.
    pub patience_ns: u64,
}

impl Wanted {
    /// This many agents, whoever they are.
    #[must_use]
    pub const fn any(agents: usize, within_ns: u64) -> Self {
        let patience_ns = patience::DEFAULT_NS;
        Self { agents, within_ns, named: Vec::new(), tagged: Vec::new(), patience_ns }
    }

    /// Those to take among the able, in the order of their names; `None` if they are too few.
    fn choose(&self, able: &BTreeMap<&str, &(Peer, Hello)>, known: &Known) -> Option<Vec<String>> {
        let may = |name: &&str| self.named.is_empty() || self.named.iter().any(|one| one == name);
        // Those that take part already come first, and those that were lost come last.
        let mut free: Vec<&str> = able.keys().copied().filter(|name| may(name)).collect();
        free.sort_by_key(|name| {
            let instance = able[name].0.instance;
            known.get(&instance).map_or(1, |was_lost| if *was_lost { 2 } else { 0 })
        });
        let mut chosen: BTreeSet<&str> = BTreeSet::new();
        for (tag, count) in &self.tagged {
            let has = |name: &&&str| able[**name].1.tags.contains(tag) && !chosen.contains(**name);
            let its: Vec<&str> = free.iter().filter(has).take(*count).copied().collect();
            if its.len() < *count {
                return None;
            }
            chosen.extend(its);
        }
        let missing = self.agents.saturating_sub(chosen.len());
        let rest: Vec<&str> =
            free.iter().filter(|name| !chosen.contains(**name)).take(missing).copied().collect();
        chosen.extend(rest);
        (chosen.len() >= self.agents).then(|| chosen.into_iter().map(Into::into).collect())
    }
}

/// The instances of agents that took part in the last load, and whether they were lost in it.
pub(super) type Known = BTreeMap<u64, bool>;

/// The call for agents.
pub(super) struct Gathering {
    wanted: Wanted,
    /// The coordinator's own name: agents that it has claimed are free for it.
    own: String,
    known: Known,
    began_ns: u64,
    next_call_ns: u64,
    /// What each agent said, and when.
    seen: BTreeMap<String, ((Peer, Hello), u64)>,
    /// Agents that cannot take part, with the reasons.
    refused: BTreeMap<String, (String, u64)>,
    told: Option<usize>,
}

/// The agents that take part, or why there are not enough.
type Verdict = Result<Vec<(Peer, Hello)>, String>;

impl Gathering {
    pub fn new(wanted: Wanted, own: String, known: Known, now_ns: u64) -> Self {
        Self {
            wanted,
            own,
            known,
            began_ns: now_ns,
            next_call_ns: 0,
            seen: BTreeMap::new(),
            refused: BTreeMap::new(),
            told: None,
        }
    }

    pub fn is_call_due(&mut self, now_ns: u64) -> bool {
        let is_due = now_ns >= self.next_call_ns;
        if is_due {
            self.next_call_ns = now_ns + CALL_NS;
        }
        is_due
    }

    pub fn refuse(&mut self, from: Peer, (version, schema): (&str, u32), at_ns: u64) {
        let why = format!(
            "agent {} is Pippin {version} (messages {schema}), this is {VERSION} (messages {SCHEMA}): install the same version on both",
            from.name
        );
        self.refused.insert(from.name, (why, at_ns));
    }

    pub fn welcome(&mut self, from: Peer, hello: Hello, at_ns: u64) {
        let name = from.name.clone();
        let is_other = |(other, heard_ns): &((Peer, Hello), u64)| {
            other.0.instance != from.instance && at_ns.saturating_sub(*heard_ns) < FRESH_NS
        };
        if self.seen.get(&name).is_some_and(is_other) {
            let why = format!("two agents have the name {name}: give each its own --name");
            self.refused.insert(name, (why, at_ns));
        } else if let Some(other) = hello.claimed_by.as_ref().filter(|other| **other != self.own) {
            self.refused.insert(name.clone(), (format!("agent {name} is used by {other}"), at_ns));
            self.seen.remove(&name);
        } else {
            if self.refused.get(&name).is_some_and(|(why, _)| why.contains("is used by")) {
                self.refused.remove(&name);
            }
            self.seen.insert(name, ((from, hello), at_ns));
        }
    }

    /// Events to report, and how the call ended if it did.
    pub fn look(&mut self, now_ns: u64) -> (Vec<Event>, Option<Verdict>) {
        let is_fresh = |at_ns: u64| now_ns.saturating_sub(at_ns) < FRESH_NS;
        let refused = |name: &str| self.refused.get(name).is_some_and(|(_, at)| is_fresh(*at));
        let able: BTreeMap<&str, &(Peer, Hello)> = self
            .seen
            .iter()
            .filter(|(name, (_, at_ns))| is_fresh(*at_ns) && !refused(name))
            .map(|(name, (agent, _))| (name.as_str(), agent))
            .collect();
        let waited_ns = now_ns.saturating_sub(self.began_ns);
        let mut events = Vec::new();
        if waited_ns >= AT_LEAST_NS
            && let Some(chosen) = self.wanted.choose(&able, &self.known)
        {
            let chosen = chosen.iter().map(|name| able[name.as_str()].clone()).collect();
            events.extend(self.refused.values().map(|(why, _)| Event::Note(why.clone())));
            return (events, Some(Ok(chosen)));
        }
        let count = able.len();
        if waited_ns >= self.wanted.within_ns {
            let seen: BTreeSet<String> = able.keys().map(ToString::to_string).collect();
            return (events, Some(Err(self.too_few(&seen))));
        }
        if self.told != Some(count) {
            self.told = Some(count);
            events.push(Event::Gathering(count, self.wanted.agents));
        }
        (events, None)
    }

    fn too_few(&self, able: &BTreeSet<String>) -> String {
        let seconds = self.wanted.within_ns / 1_000_000_000;
        let mut why =
            format!("{} of {} agents answered within {seconds} s", able.len(), self.wanted.agents);
        if able.len() < self.wanted.agents {
            why.push_str("; start the others with `pippin agent --nats URL`");
        }
        let absent: Vec<&str> = self
            .wanted
            .named
            .iter()
            .filter(|name| !able.contains(*name))
            .map(String::as_str)
            .collect();
        if !absent.is_empty() {
            why.push_str(&format!("; of --agents-named these are missing: {}", absent.join(", ")));
        }
        let tags = |name: &String| self.seen.get(name).map(|((_, hello), _)| &hello.tags);
        for (tag, count) in &self.wanted.tagged {
            let have = able.iter().filter_map(tags).filter(|tags| tags.contains(tag)).count();
            if have < *count {
                why.push_str(&format!("; {have} of {count} with the tag {tag}"));
            }
        }
        for (refused, _) in self.refused.values() {
            why.push_str("; ");
            why.push_str(refused);
        }
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::host::fingerprint::Fingerprint;

    fn chosen(wanted: &Wanted, agents: &[(&str, &[&str])]) -> Option<Vec<String>> {
        let all: Vec<(Peer, Hello)> = (0..)
            .zip(agents)
            .map(|(instance, (name, tags))| {
                let hello = Hello {
                    tags: tags.iter().map(ToString::to_string).collect(),
                    host: Fingerprint::default(),
                    boot: None,
                    processors: 1,
                    ceiling_per_s: None,
                    claimed_by: None,
                    is_probe: false,
                };
                (Peer { name: (*name).into(), instance }, hello)
            })
            .collect();
        let able = all.iter().map(|agent| (agent.0.name.as_str(), agent)).collect();
        // The third one takes part already, and the first one was lost.
        wanted.choose(&able, &Known::from([(2, false), (0, true)]))
    }

    #[test]
    fn names_tags_and_who_takes_part_already_decide() {
        let agents: [(&str, &[&str]); 4] =
            [("a", &["zone=eu"]), ("b", &["zone=us"]), ("c", &["zone=us"]), ("d", &[])];
        let any = Wanted::any(2, 0);
        assert_eq!(chosen(&any, &agents).unwrap(), ["b", "c"]);
        let named = Wanted { named: vec!["d".into(), "b".into()], ..any.clone() };
        assert_eq!(chosen(&named, &agents).unwrap(), ["b", "d"]);
        let absent = Wanted { named: vec!["d".into(), "x".into()], ..any.clone() };
        assert_eq!(chosen(&absent, &agents), None);
        let tagged = |eu, us| Wanted {
            tagged: vec![("zone=eu".into(), eu), ("zone=us".into(), us)],
            agents: eu + us,
            ..any.clone()
        };
        assert_eq!(chosen(&tagged(1, 2), &agents).unwrap(), ["a", "b", "c"]);
        assert_eq!(chosen(&tagged(2, 1), &agents), None);
    }
}
