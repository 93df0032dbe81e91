//! The coordinator of a member: the first one whose beat it hears, until that one releases it or
//! falls silent.
use crate::PATIENCE_NS;
use crate::message::Peer;

/// The coordinator that has claimed a member, if any.
#[derive(Debug, Default)]
pub struct Claim(Option<Lease>);

#[derive(Debug)]
struct Lease {
    coordinator: Peer,
    heard_ns: u64,
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
    /// A coordinator that was lost.
    Strange,
}

impl Claim {
    /// Takes note of an order and returns who sent it.
    pub fn hear(&mut self, from: &Peer, is_beat: bool, at_ns: u64) -> Heard {
        match &mut self.0 {
            Some(lease) if lease.coordinator == *from => {
                lease.heard_ns = at_ns;
                Heard::Ours
            }
            Some(lease) => Heard::Busy(lease.coordinator.name.clone()),
            None if is_beat => {
                self.0 = Some(Lease { coordinator: from.clone(), heard_ns: at_ns });
                Heard::Claimed
            }
            None => Heard::Strange,
        }
    }

    /// The coordinator.
    #[must_use]
    pub fn coordinator(&self) -> Option<&Peer> {
        self.0.as_ref().map(|lease| &lease.coordinator)
    }

    /// The name of the coordinator if it has been silent for too long.
    #[must_use]
    pub fn silent(&self, now_ns: u64) -> Option<&str> {
        let lease = self.0.as_ref()?;
        let is_silent = now_ns.saturating_sub(lease.heard_ns) > PATIENCE_NS;
        is_silent.then_some(lease.coordinator.name.as_str())
    }

    /// Frees the member. Returns whether it was claimed.
    pub fn release(&mut self) -> bool {
        self.0.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_beat_claims_until_silence_or_release() {
        let peer = |name: &str| Peer { name: name.into(), instance: 1 };
        let (a, b) = (peer("a"), peer("b"));
        let mut claim = Claim::default();
        assert_eq!(claim.hear(&a, false, 0), Heard::Strange);
        assert_eq!(claim.hear(&a, true, 0), Heard::Claimed);
        assert_eq!(claim.hear(&b, true, 1), Heard::Busy("a".into()));
        assert_eq!((claim.silent(PATIENCE_NS), claim.silent(PATIENCE_NS + 1)), (None, Some("a")));
        assert_eq!(claim.hear(&a, false, PATIENCE_NS), Heard::Ours);
        assert_eq!(claim.silent(2 * PATIENCE_NS), None);
        assert!(claim.release() && !claim.release());
        assert_eq!(claim.hear(&b, true, 9), Heard::Claimed);
        assert_eq!(claim.coordinator(), Some(&b));
    }
}
