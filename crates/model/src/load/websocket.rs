//! WebSocket (RFC 6455): the messages of a load, and what happened on its connections.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kind of a load's messages. Their payload is the body of the load's requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// Binary messages; otherwise text.
    #[serde(default)]
    pub binary: bool,
    /// The first [`NUMBER_BYTES`] bytes of each message are its number in hexadecimal, which is
    /// unique in the load. So the echo of another message can be told from the right one. In a
    /// shorter message the number is cut.
    #[serde(default)]
    pub numbered: bool,
    /// One connection sends, and each message must reach every connection of the load, including
    /// its own. The answer is complete when the last one has it.
    #[serde(default)]
    pub broadcast: bool,
}

/// The length of the number of a message in bytes.
pub const NUMBER_BYTES: usize = 16;
/// The byte that marks the place of the number in the payload of a numbered message.
pub const NUMBER_PLACE: u8 = b'#';

impl Messages {
    /// The payload of a numbered message of this many bytes: the place of its number, then letters.
    #[must_use]
    pub fn payload(bytes: usize) -> Vec<u8> {
        (0..bytes)
            .map(|at| if at < NUMBER_BYTES { NUMBER_PLACE } else { b'a' + (at % 26) as u8 })
            .collect()
    }
}

/// What happened on the WebSockets of a load, over the whole load including warm-up and first
/// connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSocketUse {
    /// Pings of the server. Each was answered by a pong (section 5.5.2).
    pub pings: u64,
    /// Messages that came when none was due. They answer nothing and are counted nowhere else.
    pub unasked: u64,
    /// Broadcasts: the number of connections that each message had to reach; absent in other loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receivers: Option<u32>,
    /// Broadcasts: how many copies had not arrived when their message was given up. Each such
    /// message is one error, however many copies are missing.
    #[serde(default)]
    pub lost: u64,
    /// Close frames of the server by their code (section 7.4); 1005 means no code.
    pub close_codes: BTreeMap<u16, u64>,
    /// The reasons why handshakes failed and why connections ended that broke the rules, with their
    /// numbers.
    pub failures: BTreeMap<String, u64>,
}

impl WebSocketUse {
    /// Adds the counts of another thread of the same load.
    pub fn merge(&mut self, other: &Self) {
        self.pings += other.pings;
        self.unasked += other.unasked;
        self.receivers = self.receivers.or(other.receivers);
        self.lost += other.lost;
        for (code, count) in &other.close_codes {
            *self.close_codes.entry(*code).or_default() += count;
        }
        for (reason, count) in &other.failures {
            *self.failures.entry(reason.clone()).or_default() += count;
        }
    }

    /// Counts a failure.
    pub fn fail(&mut self, reason: &str) {
        match self.failures.get_mut(reason) {
            Some(count) => *count += 1,
            None => _ = self.failures.insert(reason.into(), 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_has_the_place_of_its_number_first() {
        assert_eq!(Messages::payload(3), b"###");
        assert_eq!(Messages::payload(20), b"################qrst");
        assert_eq!(Messages::payload(0), b"");
    }

    #[test]
    fn peers_add_up() {
        let mut one = WebSocketUse {
            pings: 1,
            unasked: 2,
            receivers: Some(7),
            lost: 3,
            ..WebSocketUse::default()
        };
        one.close_codes.insert(1000, 3);
        one.fail("closed");
        let mut both = one.clone();
        both.merge(&one);
        assert_eq!((both.pings, both.unasked, both.lost), (2, 4, 6));
        assert_eq!(both.receivers, Some(7), "the same ones");
        assert_eq!(both.close_codes, BTreeMap::from([(1000, 6)]));
        assert_eq!(both.failures, BTreeMap::from([("closed".to_string(), 2)]));
        let json = serde_json::to_string(&both).unwrap();
        assert_eq!(serde_json::from_str::<WebSocketUse>(&json).unwrap(), both);
    }
}
