//! Limits the wrong tokens of each address, so that nobody can find a token by trying.
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Wrong tokens within one [`WINDOW`]. After that, every token of that address is refused.
const AT_MOST: u32 = 10;
/// The time over which wrong tokens are counted.
pub const WINDOW: Duration = Duration::from_secs(60);
/// The maximum number of addresses that are kept, to limit the memory.
const ADDRESSES: usize = 1024;

/// The wrong tokens of each address.
#[derive(Debug, Default)]
pub struct Guesses {
    of: HashMap<IpAddr, Count>,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    since: Instant,
    wrong: u32,
}

impl Guesses {
    /// Whether this address has sent too many wrong tokens.
    #[must_use]
    pub fn are_too_many(&self, address: IpAddr, now: Instant) -> bool {
        let count = self.of.get(&network(address));
        count.is_some_and(|count| count.is_recent(now) && count.wrong >= AT_MOST)
    }

    /// Counts one wrong token of this address.
    pub fn add(&mut self, address: IpAddr, now: Instant) {
        let address = network(address);
        if self.of.len() >= ADDRESSES && !self.of.contains_key(&address) {
            self.of.retain(|_, count| count.is_recent(now));
            if self.of.len() >= ADDRESSES
                && let Some(oldest) =
                    self.of.iter().min_by_key(|(_, count)| count.since).map(|(of, _)| *of)
            {
                self.of.remove(&oldest);
            }
        }
        let count = self.of.entry(address).or_insert(Count { since: now, wrong: 0 });
        if !count.is_recent(now) {
            *count = Count { since: now, wrong: 0 };
        }
        count.wrong += 1;
    }
}

impl Count {
    fn is_recent(self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) < WINDOW
    }
}

/// The network that counts as one address. An IPv6 host usually owns a whole /64 (RFC 6177), and
/// could send each guess from another address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into()),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_refused_after_ten_wrong_tokens_until_the_minute_is_over() {
        let (mut guesses, now) = (Guesses::default(), Instant::now());
        let [bad, good]: [IpAddr; 2] = ["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()];
        for _ in 0..AT_MOST {
            assert!(!guesses.are_too_many(bad, now));
            guesses.add(bad, now);
        }
        assert!(guesses.are_too_many(bad, now) && !guesses.are_too_many(good, now));
        assert!(!guesses.are_too_many(bad, now + WINDOW));
    }

    #[test]
    fn an_ipv6_network_counts_as_one_and_an_ipv4_address_in_ipv6_as_itself() {
        let (mut guesses, now) = (Guesses::default(), Instant::now());
        for host in 0..AT_MOST {
            guesses.add(format!("2001:db8::{host:x}").parse().unwrap(), now);
            guesses.add("::ffff:10.0.0.1".parse().unwrap(), now);
        }
        assert!(guesses.are_too_many("2001:db8::ffff".parse().unwrap(), now));
        assert!(!guesses.are_too_many("2001:db8:0:1::1".parse().unwrap(), now));
        assert!(guesses.are_too_many("10.0.0.1".parse().unwrap(), now));
        assert!(!guesses.are_too_many("::ffff:10.0.0.2".parse().unwrap(), now));
    }

    #[test]
    fn memory_is_bounded() {
        let (mut guesses, now) = (Guesses::default(), Instant::now());
        for number in 0..5_000_u32 {
            guesses.add(IpAddr::V4(number.into()), now + Duration::from_millis(number.into()));
        }
        assert_eq!(guesses.of.len(), ADDRESSES);
    }
}
