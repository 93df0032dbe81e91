//! `[profile]` in files, one Rust file for each kind. It is read as one flat table and then
//! checked, so that an error can say which key does not fit which kind. All keys are in one list.
//! The table, its overlay and the check of keys are made from it.
mod capacity;
mod closed;
mod devices;
mod open;
mod overload;
mod rates;
mod sweep;
mod users;
mod value;

use serde::{Deserialize, Serialize};

use super::Profile;
use crate::load::network::Network;
use crate::load::spoken::Spoken;

/// A number, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a whole number from 0 to 4294967295, or a list of them")]
pub enum OneOrMany {
    /// `10`
    One(u32),
    /// `[1, 2, 4]`
    Many(Vec<u32>),
}

/// `true`, `false`, or a number of requests per connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected true, false, or a number of requests per connection")]
pub enum BoolOrNumber {
    /// On or off.
    Bool(bool),
    /// Requests per connection.
    Number(u32),
}

macro_rules! raw_profile {
    ($($key:ident: $type:ty,)*) => {
        /// `[profile]` in a file: every key of every kind, not yet checked.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(missing_docs)] // each key is documented where it is checked
        pub struct RawProfile {
            pub kind: Option<String>,
            $(pub $key: Option<$type>,)*
        }

        impl RawProfile {
            fn over(self, other: &Self) -> Self {
                Self { kind: other.kind.clone().or(self.kind), $($key: other.$key.clone().or(self.$key),)* }
            }

            /// The keys that are present, except `kind`.
            fn named_keys(&self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if self.$key.is_some() { names.push(stringify!($key)); })*
                names
            }
        }
    };
}

raw_profile! {
    connections: OneOrMany,
    duration: String,
    requests: u64,
    keep_alive: BoolOrNumber,
    warm_up: String,
    think: String,
    rate: f64,
    rates: Vec<f64>,
    arrivals: String,
    ramp: String,
    stages: String,
    devices: u32,
    requests_per_device: u32,
    ramp_up: String,
    sustain: String,
    ramp_down: String,
    objective: String,
    start_rate: f64,
    precision: String,
    capacity: f64,
    recovery: String,
    patience: String,
    protocol: Spoken,
    streams: u32,
    network: Network,
}

type Reader = fn(&RawProfile) -> Result<Profile, String>;

/// Every kind: its name, its keys, and its reader.
const KINDS: [(&str, &[&str], Reader); 8] = [
    ("closed", closed::KEYS, closed::read),
    ("open", open::KEYS, open::read),
    ("users", users::KEYS, users::read),
    ("devices", devices::KEYS, devices::read),
    ("sweep", sweep::KEYS, sweep::read),
    ("capacity", capacity::KEYS, capacity::read),
    ("overload", overload::KEYS, overload::read),
    ("rates", rates::KEYS, rates::read),
];

impl RawProfile {
    /// This profile with every key of `other` replaced. A time and a count exclude each other,
    /// and so do stages and a rate: one in `other` replaces the other here.
    #[must_use]
    pub fn overlaid(mut self, other: &Self) -> Self {
        if other.stages.is_some() {
            (self.rate, self.ramp, self.duration) = (None, None, None);
        }
        if other.requests.is_some() {
            self.duration = None;
        } else if other.duration.is_some() {
            self.requests = None;
        }
        self.over(other)
    }

    /// Checks the keys against the kind.
    ///
    /// # Errors
    /// If the kind is unknown, or a key is missing, does not fit the kind, or has an invalid value.
    /// The message names key and fix.
    pub fn checked(&self) -> Result<Profile, String> {
        let names = KINDS.map(|(name, _, _)| name);
        let kind = self
            .kind
            .as_deref()
            .ok_or_else(|| format!("profile.kind is missing; it is one of {}", names.join(", ")))?;
        let Some((_, keys, read)) = KINDS.iter().find(|(name, _, _)| *name == kind) else {
            let hint = crate::text::file::nearest(kind, names)
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            return Err(format!("profile.kind `{kind}` is not one of {}{hint}", names.join(", ")));
        };
        match self.named_keys().into_iter().find(|key| !keys.contains(key)) {
            Some(key) => Err(format!(
                "profile.{key} does not go with kind = \"{kind}\" (its keys: {})",
                keys.join(", ")
            )),
            None => read(self).and_then(|profile| value::spoken(self, profile)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Connections, Protocol, StopRule, WarmUp};

    fn read(text: &str) -> Result<Profile, String> {
        toml::from_str::<RawProfile>(text).map_err(|error| error.message().to_string())?.checked()
    }

    #[test]
    fn every_kind_reads() {
        assert_eq!(
            read("kind='closed'\nconnections=10\nduration='30s'"),
            Ok(Profile::closed(10, StopRule::after(30_000_000_000)))
        );
        assert_eq!(
            read("kind='closed'\nconnections=10\nrequests=1000\nkeep_alive=false"),
            Ok(Profile {
                connections: Connections {
                    requests_per_connection: Some(1),
                    ..Connections::kept(10)
                },
                warm_up: WarmUp::None,
                ..Profile::closed(10, StopRule::requests(1000))
            })
        );
        assert_eq!(
            read("kind='open'\nrate=5000.0\nconnections=64\nduration='9s'\narrivals='poisson'")
                .unwrap()
                .kind(),
            "open"
        );
        assert_eq!(
            read("kind='devices'\ndevices=10\nramp_up='1s'\nsustain='1s'\nramp_down='1s'")
                .unwrap()
                .kind(),
            "devices"
        );
        let users =
            read("kind='users'\nstages='10@30s,0@30s'\nthink='1s'\nkeep_alive=false").unwrap();
        assert_eq!((users.kind(), users.connections.count), ("users", 10));
        assert_eq!(users.connections.requests_per_connection, Some(1));
        assert_eq!(read("kind='sweep'\nconnections=[1,2]\nduration='1s'").unwrap().kind(), "sweep");
        assert_eq!(read("kind='capacity'\nobjective='p99<50ms'\nstart_rate=100.0\nconnections=8\nduration='5s'").unwrap().kind(), "capacity");
    }

    #[test]
    fn an_overload_has_a_capacity_or_searches_for_it() {
        let given = read("kind='overload'\ncapacity=400.0\nconnections=64\nduration='5s'").unwrap();
        assert_eq!((given.kind(), given.capacity_search()), ("overload", None));
        assert_eq!(given.schedule.rate_per_s(), Some(1_200.0));
        assert_eq!(given.at_capacity(100.0).schedule.rate_per_s(), Some(300.0));
        assert_eq!(given.stop, StopRule::after((7 * 5 + 15) * 1_000_000_000));
        assert_eq!(given.patience_ns(), Some(2_000_000_000));
        let found = read("kind='overload'\nconnections=64\nduration='5s'\nrecovery='9s'").unwrap();
        let search = found.capacity_search().unwrap();
        assert_eq!((search.kind(), search.schedule.rate_per_s()), ("capacity", Some(100.0)));
        for (text, message) in [
            ("capacity=5.0\nobjective='p99<1s'", "profile.capacity and profile.objective exclude"),
            ("capacity=5.0\nstart_rate=1.0", "profile.capacity and profile.start_rate exclude"),
            ("capacity=0.0", "profile.capacity = 0 must be above 0"),
            ("duration='2s'", "profile.duration must be whole seconds, at least 3s"),
            ("recovery='4500ms'", "profile.recovery must be whole seconds, at least 3s"),
            ("patience='10ms'", "profile.patience must be from 100ms to 60s"),
            ("rate=5.0", "profile.rate does not go with kind = \"overload\""),
        ] {
            let duration = if text.starts_with("duration") { "" } else { "duration='5s'\n" };
            let error =
                read(&format!("kind='overload'\nconnections=64\n{duration}{text}")).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn a_network_goes_with_every_kind_and_with_what_is_searched_before() {
        for (name, keys, _) in KINDS {
            assert!(keys.contains(&"network"), "{name}");
        }
        let text = "kind='overload'\nconnections=64\nduration='5s'\nnetwork='20ms,1%'";
        let (network, profile) = ("20ms,1%".parse().ok(), read(text).unwrap());
        assert_eq!(
            (profile.network, profile.capacity_search().unwrap().network),
            (network, network)
        );
        let error = read("kind='closed'\nconnections=1\nduration='1s'\nnetwork='20'").unwrap_err();
        assert!(error.contains("duration"), "{error}");
    }

    /// A profile, and a part of the message.
    const REFUSED: &[(&str, &str)] = &[
        ("connections=1", "profile.kind is missing"),
        ("kind='close'\nconnections=1", "did you mean `closed`?"),
        (
            "kind='closed'\nconnections=1\nduration='1s'\nrate=5.0",
            "profile.rate does not go with kind = \"closed\"",
        ),
        ("kind='closed'\nconnections=0\nduration='1s'", "at least 1"),
        ("kind='closed'\nconnections=1", "needs `duration"),
        ("kind='closed'\nconnections=1\nduration='1s'\nrequests=1", "exclude each other"),
        ("kind='closed'\nconnections=1\nrequests=1\nwarm_up='2s'", "no effect"),
        ("kind='closed'\nconnections=[1,2]\nduration='1s'", "only kind = \"sweep\""),
        ("kind='open'\nrate=0.0\nconnections=1\nduration='1s'", "must be above 0"),
        ("kind='sweep'\nconnections=[2,1]\nduration='1s'", "ascending"),
        ("kind='sweep'\nconnections=[0,1]\nduration='1s'", "ascending numbers from 1 on"),
        (
            "kind='open'\nrate=5.0\nconnections=0\nduration='1s'",
            "profile.connections must be at least 1",
        ),
        (
            "kind='open'\nstages='1s:5'\nrate=5.0\nconnections=1",
            "profile.stages and profile.rate exclude each other",
        ),
        (
            "kind='open'\nstages='1s:5'\nduration='1s'\nconnections=1",
            "profile.stages and profile.duration exclude each other",
        ),
        (
            "kind='open'\nstages='users:5@1s'\nconnections=1",
            "profile.stages are users over time: write kind = \"users\"",
        ),
        ("kind='users'\nthink='1s'", "profile.stages is missing: the users over time"),
        ("kind='users'\nstages='5@1s'\nconnections=5", "profile.connections does not go with"),
        ("kind='users'\nstages='5@1s'\nduration='5s'", "profile.duration does not go with"),
        ("kind='users'\nstages='5@1s'\nstreams=2", "profile.streams does not go with"),
        ("kind='users'\nstages='5'", "profile.stages: `5` is not a stage"),
        ("kind='open'\nstages='1s'\nconnections=1", "profile.stages: `1s` is not a stage"),
        ("kind='closed'\nconnections=1\nrequests=0", "profile.requests must be at least 1"),
        (
            "kind='closed'\nconnections=1\nrequests=1\nkeep_alive=0",
            "profile.keep_alive = 0 has no meaning",
        ),
        (
            "kind='devices'\ndevices=0\nramp_up='1s'\nsustain='1s'\nramp_down='1s'",
            "profile.devices must be at least 1",
        ),
        (
            "kind='devices'\ndevices=1\nrequests_per_device=0\nramp_up='1s'\nsustain='1s'\nramp_down='1s'",
            "profile.requests_per_device must be at least 1",
        ),
        (
            "kind='devices'\ndevices=1\nramp_up='1s'\nsustain='0s'\nramp_down='1s'",
            "profile.sustain must be longer than 0",
        ),
        ("kind='rates'\nconnections=1\nduration='1s'", "profile.rates must be a list"),
        ("kind='rates'\nrates=[2, 1]\nconnections=1\nduration='1s'", "must be ascending"),
        ("kind='rates'\nrates=[1, 1]\nconnections=1\nduration='1s'", "each once"),
        (
            "kind='rates'\nrates=[0, 1]\nconnections=1\nduration='1s'",
            "the use at no load is measured anyway",
        ),
        ("kind='rates'\nrates=[nan]\nconnections=1\nduration='1s'", "above 0"),
        ("kind='rates'\nrates=[5]\nconnections=1", "profile.duration is missing"),
        (
            "kind='capacity'\nobjective='p99<50ms'\nstart_rate=0.0\nconnections=8\nduration='5s'",
            "profile.start_rate = 0 must be above 0",
        ),
        (
            "kind='capacity'\nobjective='p99<50ms'\nstart_rate=9.0\nconnections=8\nduration='5s'\nprecision='0%'",
            "profile.precision must be above 0 % and below 100 %",
        ),
        (
            "kind='capacity'\nobjective='p99<0ms'\nstart_rate=9.0\nconnections=8\nduration='5s'",
            "profile.objective: `p99<0ms` can never hold",
        ),
        (
            "kind='capacity'\nobjective='errors<0%'\nstart_rate=9.0\nconnections=8\nduration='5s'",
            "profile.objective: `errors<0%` can never hold",
        ),
    ];

    #[test]
    fn what_cannot_take_effect_is_refused() {
        for (text, message) in REFUSED {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn users_of_a_connection_need_a_protocol_that_has_them() {
        let closed =
            |more: &str| read(&format!("kind='closed'\nconnections=10\nduration='1s'\n{more}"));
        let both = closed("protocol='http2'\nstreams=32").unwrap();
        assert_eq!((both.protocol, both.connections.streams), (Some(Spoken::H2), 32));
        assert_eq!(both.most_connections_over(Protocol::Http1), 320);
        assert_eq!(both.most_connections_over(Protocol::Http2), 10);
        // The targets may name their protocol.
        assert_eq!(closed("streams=4").unwrap().protocol, None);
        for (more, message) in [
            ("protocol='http1'\nstreams=2", "profile.streams has no effect over http1"),
            ("protocol='https'\nstreams=2", "profile.streams has no effect over https"),
            ("streams=0", "profile.streams must be at least 1"),
            ("streams=2000", "profile.streams must be at most 1024"),
            ("streams=2\nkeep_alive=5", "does not go with profile.keep_alive"),
            ("protocol='spdy'", "unknown variant `spdy`"),
        ] {
            let error = closed(more).unwrap_err();
            assert!(error.contains(message), "{more}: {error}");
        }
    }

    #[test]
    fn an_overlay_replaces_key_by_key() {
        let base: RawProfile =
            toml::from_str("kind='closed'\nconnections=10\nrequests=5000").unwrap();
        let quick: RawProfile = toml::from_str("duration='2s'").unwrap();
        assert_eq!(
            base.overlaid(&quick).checked(),
            Ok(Profile::closed(10, StopRule::after(2_000_000_000)))
        );
    }

    #[test]
    fn every_key_can_be_overlaid_and_is_refused_where_it_does_not_go() {
        // One value of the right type for each key of the list.
        let all = "kind='x'\nconnections=1\nduration='1s'\nrequests=1\nkeep_alive=true\nwarm_up='none'\nthink='1s'\nrate=1.0\nrates=[1, 2.5]\narrivals='poisson'\nramp='1s'\nstages='1s:1'\ndevices=1\nrequests_per_device=1\nramp_up='1s'\nsustain='1s'\nramp_down='1s'\nobjective='p99<1s'\nstart_rate=1.0\nprecision='1%'\ncapacity=5.0\nrecovery='4s'\npatience='1s'\nprotocol='h2c'\nstreams=2\nnetwork='20ms'";
        let raw: RawProfile = toml::from_str(all).unwrap();
        assert_eq!(
            raw.named_keys().len(),
            all.lines().count() - 1,
            "a key of the list has no value here"
        );
        // A time and a count exclude each other: the time is removed.
        assert_eq!(RawProfile::default().overlaid(&raw), raw);
        let kinds = KINDS.map(|(_, keys, _)| keys);
        for key in raw.named_keys() {
            assert!(kinds.iter().any(|keys| keys.contains(&key)), "no kind takes `{key}`");
        }
        for key in kinds.concat() {
            assert!(raw.named_keys().contains(&key), "`{key}` is not in the list");
        }
    }
}
