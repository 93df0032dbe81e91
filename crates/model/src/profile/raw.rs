//! `[profile]` as written: every key of every kind, unread. The keys stand in one list, from which
//! the table, its overlay and the check of what goes with which kind are made.
use serde::{Deserialize, Serialize};

use super::{Profile, capacity, closed, devices, open, sweep};

/// A number, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a whole number from 0 to 4294967295, or a list of them")]
pub enum OneOrMany {
    /// `10`
    One(u32),
    /// `[1, 2, 4]`
    Many(Vec<u32>),
}

/// `true`, `false`, or a number of requests a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected true, false, or a number of requests a connection")]
pub enum BoolOrNumber {
    /// On or off.
    Bool(bool),
    /// Requests a connection.
    Number(u32),
}

macro_rules! raw_profile {
    ($($key:ident: $type:ty,)*) => {
        /// `[profile]` as written: every key of every kind, unread.
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

            /// The keys that are there, besides `kind`.
            pub(super) fn named_keys(&self) -> Vec<&'static str> {
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
    arrivals: String,
    ramp: String,
    devices: u32,
    requests_per_device: u32,
    ramp_up: String,
    sustain: String,
    ramp_down: String,
    objective: String,
    start_rate: f64,
    precision: String,
}

type Reader = fn(&RawProfile) -> Result<Profile, String>;

/// Every kind: its name, its keys, and what reads them.
const KINDS: [(&str, &[&str], Reader); 5] = [
    ("closed", closed::KEYS, closed::read),
    ("open", open::KEYS, open::read),
    ("devices", devices::KEYS, devices::read),
    ("sweep", sweep::KEYS, sweep::read),
    ("capacity", capacity::KEYS, capacity::read),
];

impl RawProfile {
    /// The same profile with every key that `other` names replaced. A time and a count exclude each
    /// other, so that naming one there takes the place of the other here.
    #[must_use]
    pub fn overlaid(mut self, other: &Self) -> Self {
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
    /// If the kind is unknown, a key is missing, does not go with the kind, or has a senseless
    /// value; the message names key and fix.
    pub fn checked(&self) -> Result<Profile, String> {
        let names = KINDS.map(|(name, _, _)| name);
        let kind = self
            .kind
            .as_deref()
            .ok_or_else(|| format!("profile.kind is missing; it is one of {}", names.join(", ")))?;
        let Some((_, keys, read)) = KINDS.iter().find(|(name, _, _)| *name == kind) else {
            let hint = crate::file::nearest(kind, names)
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            return Err(format!("profile.kind `{kind}` is not one of {}{hint}", names.join(", ")));
        };
        match self.named_keys().into_iter().find(|key| !keys.contains(key)) {
            Some(key) => Err(format!(
                "profile.{key} does not go with kind = \"{kind}\" (its keys: {})",
                keys.join(", ")
            )),
            None => read(self),
        }
    }
}
