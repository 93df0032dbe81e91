//! The coordinator of a member: the first one whose beat it hears, until that one releases it or
//! falls silent.
use crate::message::{Key, Peer};
use crate::patience;

/// The coordinator that has claimed a member, if any.
#[derive(Debug, Default)]
pub struct Claim(Option<Lease>);

/// A coordinator, and the key that its orders to this member carry. Reports to it carry it too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Who it is.
    pub peer: Peer,
    /// The key.
    pub key: Key,
}

#[derive(Debug)]
struct Lease {
    owner: Owner,
    heard_ns: u64,
    patience_ns: u64,
}

/// The sender of an order.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// The member's coordinator.
    Ours,
    /// The first beat of a coordinator, which now claims the member.
    Claimed,
    /// Another coordinator, while this one has the member.
    Busy(String),
    /// A coordinator that was lost, or an order without its key.
    Strange,
}

impl Claim {
    /// Takes note of an order and returns who sent it. `beat_ns` is the patience in a beat, which
    /// alone claims.
    pub fn hear(&mut self, from: &Owner, beat_ns: Option<u64>, at_ns: u64) -> Heard {
        match (&mut self.0, beat_ns) {
            (Some(lease), _) if lease.owner == *from => {
                lease.heard_ns = at_ns;
                lease.patience_ns = beat_ns.map_or(lease.patience_ns, patience::bounded_ns);
                Heard::Ours
            }
            (Some(lease), _) if lease.owner.peer == from.peer => Heard::Strange,
            (Some(lease), _) => Heard::Busy(lease.owner.peer.name.clone()),
            (None, Some(patience_ns)) => {
                let patience_ns = patience::bounded_ns(patience_ns);
                self.0 = Some(Lease { owner: from.clone(), heard_ns: at_ns, patience_ns });
                Heard::Claimed
            }
            (None, None) => Heard::Strange,
        }
    }

    /// The coordinator.
    #[must_use]
    pub fn owner(&self) -> Option<&Owner> {
        self.0.as_ref().map(|lease| &lease.owner)
    }

    /// The name of the coordinator, and its patience in nanoseconds, if it has been silent for
    /// longer.
    #[must_use]
    pub fn silent(&self, now_ns: u64) -> Option<(&str, u64)> {
        let lease = self.0.as_ref()?;
        let is_silent = now_ns.saturating_sub(lease.heard_ns) > lease.patience_ns;
        is_silent.then_some((lease.owner.peer.name.as_str(), lease.patience_ns))
    }

    /// The member was behind with its messages for the last `ns`, so it was not silence.
    pub fn behind(&mut self, ns: u64, at_ns: u64) {
        if let Some(lease) = &mut self.0 {
            lease.heard_ns = lease.heard_ns.saturating_add(ns).min(at_ns);
        }
    }

    /// Frees the member. Returns whether it was claimed.
    pub fn release(&mut self) -> bool {
        self.0.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patience::DEFAULT_NS;

    #[test]
    fn the_first_beat_claims_until_silence_or_release() {
        let owner = |name: &str, key| Owner { peer: Peer { name: name.into(), instance: 1 }, key };
        let (a, b) = (owner("a", 5), owner("b", 6));
        let beat = Some(DEFAULT_NS);
        let mut claim = Claim::default();
        assert_eq!(claim.hear(&a, None, 0), Heard::Strange);
        assert_eq!(claim.hear(&a, beat, 0), Heard::Claimed);
        assert_eq!(claim.hear(&b, beat, 1), Heard::Busy("a".into()));
        assert_eq!(claim.hear(&owner("a", 7), None, 9), Heard::Strange, "another key");
        assert_eq!(claim.silent(DEFAULT_NS), None);
        assert_eq!(claim.silent(DEFAULT_NS + 1), Some(("a", DEFAULT_NS)));
        assert_eq!(claim.hear(&a, None, DEFAULT_NS), Heard::Ours);
        assert_eq!(claim.silent(2 * DEFAULT_NS), None);
        // A longer patience counts from the beat that brings it, and has a bound.
        assert_eq!(claim.hear(&a, Some(u64::MAX), DEFAULT_NS), Heard::Ours);
        assert_eq!(claim.silent(3 * DEFAULT_NS), None);
        assert!(claim.silent(u64::MAX).is_some());
        assert!(claim.release() && !claim.release());
        assert_eq!(claim.hear(&b, beat, 9), Heard::Claimed);
        assert_eq!(claim.owner(), Some(&b));
    }
}
