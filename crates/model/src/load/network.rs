//! A network between generator and target that is simulated on this machine.
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::text::units::{parse_duration_ns, parse_percent};

/// How long the simulated network takes, and what it loses: `20ms`, or `20ms,0.5%`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    /// A round trip, in nanoseconds: half of it in each direction.
    pub round_trip_ns: u64,
    /// The fraction of packets that is lost, in each direction.
    pub loss: f64,
}

/// The longest round trip: that of a satellite is 600 ms.
const LONGEST_NS: u64 = 10_000_000_000;
/// With more, no connection of TCP would go on.
const MOST_LOSS: f64 = 0.5;

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (time, loss) =
            text.split_once(',').map_or((text, None), |(time, loss)| (time, Some(loss)));
        let round_trip_ns = parse_duration_ns(time.trim()).map_err(|error| error.to_string())?;
        let loss = loss.map_or(Ok(0.0), parse_percent).map_err(|error| error.to_string())?;
        if !(1_000_000..=LONGEST_NS).contains(&round_trip_ns) {
            return Err(format!("a round trip of `{time}` is not from 1ms to 10s"));
        }
        if !(0.0..=MOST_LOSS).contains(&loss) {
            return Err("the loss must be from 0% to 50%".into());
        }
        Ok(Self { round_trip_ns, loss })
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

/// As it is written in files.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.round_trip_ns {
            ns if ns % 1_000_000 == 0 => write!(f, "{}ms", ns / 1_000_000)?,
            ns => write!(f, "{}us", ns / 1_000)?,
        }
        match self.percent() {
            percent if percent > 0.0 => write!(f, ",{percent}%"),
            _ => Ok(()),
        }
    }
}

impl Network {
    /// The loss in percent; rounded, because 0.07 times 100 is 7.000000000000001.
    fn percent(&self) -> f64 {
        (self.loss * 1e8).round() / 1e6
    }

    /// In words: `a simulated network (round trip 20 ms, 1 % lost)`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let lost = match self.percent() {
            percent if percent > 0.0 => format!(", {percent} % lost"),
            _ => String::new(),
        };
        let ms = self.round_trip_ns as f64 / 1e6;
        format!("a simulated network (round trip {ms} ms{lost})")
    }
}

/// What a simulated network did in a load: datagrams of UDP, segments of TCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkUse {
    /// Packets that went in, in both directions.
    pub packets: u64,
    /// Those of them that were lost. A lost segment of TCP comes a round trip later.
    pub lost: u64,
}

impl NetworkUse {
    /// Adds the counts of another part of the same load.
    pub const fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.lost += other.lost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_is_written() {
        for (text, round_trip_ns, loss) in [
            ("20ms", 20_000_000, 0.0),
            ("20ms,0.5%", 20_000_000, 0.005),
            ("1500us,7%", 1_500_000, 0.07),
            ("2000ms,50%", 2_000_000_000, 0.5),
        ] {
            let network: Network = text.parse().unwrap();
            assert_eq!(network, Network { round_trip_ns, loss });
            assert_eq!(network.to_string(), text);
        }
        assert_eq!("2s, 1%".parse::<Network>().unwrap().to_string(), "2000ms,1%");
        for (text, why) in [
            ("", "duration"),
            ("20", "duration"),
            ("20ms,5", "percentage"),
            ("20ms,51%", "from 0% to 50%"),
            ("20ms,-1%", "percentage"),
            ("0ms", "from 1ms to 10s"),
            ("11s", "from 1ms to 10s"),
        ] {
            let error = text.parse::<Network>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn it_is_said_to_be_simulated() {
        let network: Network = "20ms,1%".parse().unwrap();
        assert_eq!(network.in_words(), "a simulated network (round trip 20 ms, 1 % lost)");
    }
}
