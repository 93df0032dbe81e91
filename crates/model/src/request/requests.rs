//! All requests of a load, and the order in which they are sent.
//!
//! A load can have a million requests. Copies of this list share them, and records keep a sample
//! with the digest of all ([`Requests::for_record`], docs/decisions/request-files.md).
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::request::{Check, Request};

/// The maximum number of turns. A weight gives a request several turns.
pub const MOST_TURNS: u64 = 2_000_000;
/// How many requests of a longer list a record keeps.
const SAMPLE: usize = 10;

/// The requests of a load. The list has each different request once; [`Requests::turns`] has the
/// order of sending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Requests {
    all: Arc<Vec<Request>>,
    /// The request of each turn; empty if each is sent once, in order.
    turns: Arc<Vec<u32>>,
    /// The whole list, if this is a sample of it; `None` if this is the whole.
    sample_of: Option<Whole>,
}

/// Facts about a list of which only a sample is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    /// The number of different requests.
    pub count: u64,
    /// SHA-256 over all of them, their weights and checks, in hexadecimal. The host is left out, so
    /// that two servers can be compared. Header values that the record leaves out are left out here
    /// too.
    pub digest: String,
}

/// Headers whose values are never recorded.
const SECRETS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];
/// The text that replaces them.
const NOT_KEPT: &str = "(not kept)";

/// Whether a header contains credentials.
#[must_use]
pub fn is_secret(header: &str) -> bool {
    SECRETS.iter().any(|secret| header.eq_ignore_ascii_case(secret))
}

/// The weights give too many turns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{requests} requests with their weights make {turns} turns, but at most {MOST_TURNS} are allowed: leave requests out, or use smaller weights, such as 9 and 1 instead of 901 and 99"
)]
pub struct TooManyTurns {
    requests: usize,
    turns: u64,
}

impl Requests {
    /// Requests that are sent as often as their weights say, each spread evenly over all turns.
    ///
    /// # Errors
    /// If the weights, divided by their greatest common divisor, add up to more than
    /// [`MOST_TURNS`].
    pub fn weighted(all: Vec<Request>, weights: &[u32]) -> Result<Self, TooManyTurns> {
        Ok(Self { turns: Arc::new(turns(weights)?), ..all.into() })
    }

    /// The positions in `self` of the requests of one cycle, in the order of sending. After the
    /// last turn, the first one follows.
    pub fn turns(&self) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
        let in_order = self.turns.is_empty();
        (0..self.turn_count()).map(
            move |turn| {
                if in_order { turn } else { self.turns[turn] as usize }
            },
        )
    }

    /// The number of turns in one cycle.
    #[must_use]
    pub fn turn_count(&self) -> usize {
        if self.turns.is_empty() { self.all.len() } else { self.turns.len() }
    }

    /// The form for records: all of a short list, or a sample of a long one, without the values of
    /// headers that contain credentials.
    #[must_use]
    pub fn for_record(&self) -> Self {
        let is_short = self.all.len() <= SAMPLE;
        let mut kept = self.all[..self.all.len().min(SAMPLE)].to_vec();
        let headers = kept.iter_mut().flat_map(|request| &mut request.headers);
        for (_, value) in headers.filter(|(name, _)| is_secret(name)) {
            *value = NOT_KEPT.into();
        }
        Self {
            all: Arc::new(kept),
            turns: if is_short { Arc::clone(&self.turns) } else { Arc::default() },
            sample_of: (!is_short).then(|| self.known()),
        }
    }

    /// The number of requests and their digest.
    #[must_use]
    pub fn known(&self) -> Whole {
        self.sample_of
            .clone()
            .unwrap_or_else(|| Whole { count: self.all.len() as u64, digest: self.digest() })
    }

    /// The list with each request changed in this way, in the same turns.
    ///
    /// # Errors
    /// The first that `change` returns.
    pub fn changed<E>(
        &self,
        change: impl FnMut(&Request) -> Result<Request, E>,
    ) -> Result<Self, E> {
        let all = self.all.iter().map(change).collect::<Result<Vec<_>, E>>()?;
        Ok(Self { turns: Arc::clone(&self.turns), ..all.into() })
    }

    /// Replaces what a sample says of the whole list.
    pub(super) fn say_sample_of(&mut self, whole: Whole) {
        self.sample_of = Some(whole);
    }

    /// The whole list, if this is a sample of it; `None` if this is the whole.
    #[must_use]
    pub const fn sample_of(&self) -> Option<&Whole> {
        self.sample_of.as_ref()
    }

    /// SHA-256 over requests and turns, in hexadecimal.
    fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for request in self.all.iter() {
            let Request { method, target, headers, body, check, drawn, upload, host: _ } = request;
            [method, target].into_iter().for_each(|text| part(text.as_bytes()));
            for (name, value) in headers {
                part(name.as_bytes());
                part(if is_secret(name) { NOT_KEPT } else { value }.as_bytes());
            }
            part(body);
            let Check { status, body, json, least_ns } = check;
            let check =
                format!("Check {{ status: {status:?}, body: {body:?}, least_ns: {least_ns} }}");
            part(check.as_bytes());
            json.iter().for_each(|value| part(value.to_string().as_bytes()));
            drawn.iter().for_each(|text| part(text.as_bytes()));
            upload.iter().for_each(|upload| part(format!("{upload:?}").as_bytes()));
        }
        self.turns.iter().for_each(|turn| part(&turn.to_le_bytes()));
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The order of sending. Request `i` of weight `w` is sent at the middles of `w` equal parts of the
/// cycle, so its turns are as far apart as possible.
fn turns(weights: &[u32]) -> Result<Vec<u32>, TooManyTurns> {
    let common = weights.iter().fold(0, |a, b| gcd(a, *b)).max(1);
    let total = weights.iter().map(|weight| u64::from(weight / common)).sum();
    if total > MOST_TURNS {
        return Err(TooManyTurns { requests: weights.len(), turns: total });
    }
    if weights.iter().all(|weight| *weight == common) {
        return Ok(Vec::new());
    }
    let mut places: Vec<(f64, u32)> = Vec::with_capacity(total as usize);
    for (nth, weight) in (0..).zip(weights) {
        let weight = weight / common;
        places.extend((0..weight).map(|i| ((f64::from(i) + 0.5) / f64::from(weight), nth)));
    }
    places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Ok(places.into_iter().map(|(_, nth)| nth).collect())
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl From<Vec<Request>> for Requests {
    fn from(all: Vec<Request>) -> Self {
        Self { all: Arc::new(all), turns: Arc::default(), sample_of: None }
    }
}

impl FromIterator<Request> for Requests {
    fn from_iter<I: IntoIterator<Item = Request>>(requests: I) -> Self {
        requests.into_iter().collect::<Vec<_>>().into()
    }
}

impl Deref for Requests {
    type Target = Vec<Request>;

    fn deref(&self) -> &Vec<Request> {
        &self.all
    }
}

/// Changing shared requests copies them first.
impl DerefMut for Requests {
    fn deref_mut(&mut self) -> &mut Vec<Request> {
        Arc::make_mut(&mut self.all)
    }
}

/// A plain list, as in older records. If a plain list cannot express it, an object is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written<L, T> {
    Plain(L),
    With {
        requests: L,
        #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
        turns: Option<T>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sample_of: Option<Whole>,
    },
}

impl Serialize for Requests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = if self.turns.is_empty() && self.sample_of.is_none() {
            Written::Plain(self.all.as_ref())
        } else {
            Written::With {
                requests: self.all.as_ref(),
                turns: (!self.turns.is_empty()).then_some(self.turns.as_ref()),
                sample_of: self.sample_of.clone(),
            }
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Requests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Written::<Vec<Request>, Vec<u32>>::deserialize(deserializer)? {
            Written::Plain(all) => all.into(),
            Written::With { requests, turns, sample_of } => {
                let turns = turns.unwrap_or_default();
                if turns.iter().any(|turn| *turn as usize >= requests.len()) {
                    return Err(serde::de::Error::custom(
                        "a turn names a request that is not there",
                    ));
                }
                Self { all: Arc::new(requests), turns: Arc::new(turns), sample_of }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::upload::Upload;
    use proptest::prelude::*;

    fn list(count: usize) -> Vec<Request> {
        (0..count).map(|i| Request::get(&format!("/{i}"), "a")).collect()
    }

    #[test]
    fn weights_spread_a_request_over_the_round() {
        let order = |weights: &[u32]| {
            let requests = Requests::weighted(list(weights.len()), weights).unwrap();
            requests.turns().collect::<Vec<_>>()
        };
        assert_eq!(order(&[1, 1, 1]), [0, 1, 2]);
        assert_eq!(order(&[7, 7]), [0, 1]);
        assert_eq!(order(&[20, 10]), [0, 1, 0]);
        assert_eq!(order(&[4, 1]), [0, 0, 1, 0, 0]);
    }

    #[test]
    fn weights_beyond_the_bound_are_refused_with_the_fix() {
        let error = Requests::weighted(list(2), &[1_999_999, 2]).unwrap_err();
        assert!(error.to_string().contains("2000001 turns"), "{error}");
        // Without weights each request has a turn too.
        assert_eq!(turns(&vec![1; 2_000_000]), Ok(Vec::new()));
        assert!(turns(&vec![5; 2_000_001]).is_err());
    }

    #[test]
    fn a_long_list_is_kept_as_a_sample_and_comes_back_so() {
        let whole = Requests::from(list(11));
        let sample = whole.for_record();
        let known = sample.sample_of().unwrap();
        assert_eq!((sample.len(), known.count, &known.digest), (10, 11, &whole.digest()));
        let text = serde_json::to_string(&sample).unwrap();
        assert_eq!(serde_json::from_str::<Requests>(&text).unwrap(), sample);
        assert_eq!(Requests::from(list(10)).for_record().sample_of(), None);
    }

    #[test]
    fn secrets_are_in_no_record() {
        let header = |name: &str, value: &str| (name.to_string(), value.to_string());
        let headers = |secret: &str| {
            vec![
                header("Accept", "*/*"),
                header("authorization", secret),
                header("Proxy-Authorization", secret),
                header("Cookie", secret),
                header("Cookies", "stays"),
            ]
        };
        let with = |secret: &str| {
            let body = b"Cookie: stays".to_vec();
            let request = Request { headers: headers(secret), body, ..Request::get("/", "a") };
            Requests::from(vec![request])
        };
        assert_eq!(with("Basic x").for_record(), with("(not kept)"));
        assert_eq!(with("Basic x").known(), with("Basic y").known());
    }

    #[test]
    fn every_part_changes_the_digest() {
        let digest = |change: fn(&mut Requests)| {
            let mut requests = Requests::from(list(2));
            change(&mut requests);
            requests.digest()
        };
        let changes: [fn(&mut Requests); 9] = [
            |_| {},
            |all| all[1].method = "HEAD".into(),
            |all| all[1].target = "/x".into(),
            |all| all[0].headers.push(("a".into(), "b".into())),
            |all| all[0].body = b"x".to_vec(),
            |all| all[0].check.status = vec![200],
            |all| all[1].drawn = Some("abcdefgh".into()),
            |all| all[1].upload = Some(Upload { bytes: 9, chunked: false, key: 1 }),
            |all| all.turns = Arc::new(vec![0, 1, 0]),
        ];
        let digests: std::collections::BTreeSet<String> = changes.map(digest).into();
        assert_eq!(digests.len(), changes.len());
        assert_eq!(digest(|_| {}), Requests::from(list(2)).digest());
    }

    proptest! {
        #[test]
        fn each_request_has_its_share_of_every_round(
            weights in proptest::collection::vec(1..50_u32, 1..20),
        ) {
            let requests = Requests::weighted(list(weights.len()), &weights).unwrap();
            let turns: Vec<usize> = requests.turns().collect();
            let share = |nth| turns.iter().filter(|turn| **turn == nth).count() as u64;
            let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
            for (nth, weight) in weights.iter().enumerate() {
                prop_assert_eq!(share(nth) * total, u64::from(*weight) * turns.len() as u64);
            }
            let text = serde_json::to_string(&requests).unwrap();
            prop_assert_eq!(serde_json::from_str::<Requests>(&text).unwrap(), requests);
        }
    }
}
