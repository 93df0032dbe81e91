//! `workloads/*.toml`: what a target must serve, and how that is proved.
//!
//! | module | what it holds |
//! |---|---|
//! | `vary` | values that vary from request to request |
//! | `answer` | the right answer |
//! | `proof` | the proofs |
//! | `sample` | concrete requests with their answers |
//! | `check` | which workloads are refused, and why |
//! | [`draw`] | values that are drawn from a seed |
mod answer;
mod check;
pub mod draw;
pub mod files;
mod proof;
mod sample;
mod vary;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::load::websocket::Messages;
use crate::load::{Request as LoadRequest, Scenario};
use crate::scenario::data::Walk;
use crate::scenario::file::{self, Written, WrittenData, WrittenStep};
use crate::scenario::mix::{self, MixError, Named};
use crate::scenario::text::{Encoding, Text};
use crate::text::file::{FileError, Wrong, read_with_text};

pub use answer::{Answer, ByteRange, Events, Source};
pub(crate) use check::check_headers;
pub use proof::Proof;
pub use sample::{
    MOST_SAMPLES, Sample, percent_decode, percent_encode, percent_encode_all, percent_encode_bytes,
};
pub use vary::Vary;

/// A service that a workload needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// PostgreSQL with the table that the workload reads.
    Postgres,
    /// The slow upstream.
    Upstream,
}

impl Service {
    /// Its name in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Upstream => "upstream",
        }
    }
}

/// What a target must serve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Version of the file format: 1. A project file leaves out this and the next three keys.
    #[serde(default)]
    pub schema: u32,
    /// The name; equals the file's.
    #[serde(default)]
    pub id: String,
    /// A short name for people.
    #[serde(default)]
    pub title: String,
    /// What it measures, in a sentence.
    #[serde(default)]
    pub summary: String,
    /// The services that it needs.
    #[serde(default)]
    pub services: Vec<Service>,
    /// The request.
    #[serde(default)]
    pub request: Request,
    /// WebSocket: the message that is sent once the socket is open. The answer is the echo or, for
    /// a broadcast, its copy on every connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// What a user does, step by step, in place of `request` (docs/scenarios.md).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WrittenStep>,
    /// The values that a user has before its first step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, WrittenData>,
    /// Whether each user keeps cookies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cookies: bool,
    /// How many redirections a user follows after each step, as `--follow` says it; 0 follows none.
    #[serde(default, skip_serializing_if = "file::is_none")]
    pub follow: u32,
    /// Files of scenarios in place of `steps`, each with its share: `browse.toml:70`
    /// ([`crate::scenario::mix::Named`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
    /// The steps in the form of a load; `None` if there are none, and in records.
    #[serde(skip)]
    pub walk: Option<Arc<Steps>>,
    /// The right answer.
    #[serde(default)]
    pub answer: Answer,
    /// How it is proved, before and after each load.
    #[serde(default, rename = "proof")]
    pub proofs: Vec<Proof>,
}

/// The messages of a workload over WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The size of each in bytes.
    pub bytes: u32,
    /// Binary messages; otherwise text.
    #[serde(default)]
    pub binary: bool,
    /// Whether one connection sends and each message must reach all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broadcast: bool,
}

impl Message {
    /// The maximum size of a message in bytes.
    pub const MOST_BYTES: u32 = 16 << 20;

    /// The form of a load. Each message has its own number.
    #[must_use]
    pub const fn messages(self) -> Messages {
        Messages { binary: self.binary, numbered: true, broadcast: self.broadcast }
    }
}

/// The steps of a workload in the form of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// The request of each step, without a host.
    pub requests: Vec<LoadRequest>,
    /// The scenario of these steps.
    pub scenario: Scenario,
}

/// A request of a workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The method.
    #[serde(default = "get")]
    pub method: String,
    /// The path; `{name}` is replaced by a value that varies.
    pub path: String,
    /// Further headers. `{name}` is replaced by a value that varies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body. `{name}` is replaced by a value that varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The values that vary from request to request.
    #[serde(default)]
    pub vary: BTreeMap<String, Vary>,
}

fn get() -> String {
    "GET".into()
}

impl Request {
    /// Whether a percent-encoded text varies in the path.
    #[must_use]
    pub fn varies_by_name(&self) -> bool {
        let in_path = sample::placeholders(&self.path);
        let is_text = |(name, vary): (&String, &Vary)| {
            in_path.contains(&name.as_str()) && !vary.is_of_numbers()
        };
        self.vary.iter().any(is_text)
    }
}

impl Workload {
    /// Reads and checks one workload file.
    ///
    /// # Errors
    /// If the file cannot be used. The message names the place and the fix.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let (workload, text): (Self, String) = read_with_text(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let workload = workload.with_steps(folder).map_err(|wrong| wrong.in_file(path, &text))?;
        workload.check().map_err(|wrong| wrong.in_file(path, &text))?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem != workload.id {
            let message = format!("id `{}` must equal the file's name `{stem}`", workload.id);
            return Err(Wrong::at("id", message).in_file(path, &text));
        }
        Ok(workload)
    }

    /// Whether users go through steps, in place of one request.
    #[must_use]
    pub const fn has_steps(&self) -> bool {
        !self.steps.is_empty() || !self.scenarios.is_empty()
    }

    /// How many steps a walk has, in a mix on average; `None` without steps.
    #[must_use]
    pub fn mean_steps(&self) -> Option<f64> {
        self.walk.as_ref().map(|walk| walk.scenario.mean_steps())
    }

    /// Adds the steps in the form of a load, if there are any. Their files are relative to
    /// `folder`. The request is then the first step.
    pub(crate) fn with_steps(self, folder: &Path) -> Result<Self, Wrong> {
        self.check_beside_steps()?;
        if !self.has_steps() {
            return Ok(self);
        }
        let (requests, scenario) = match self.scenarios.as_slice() {
            [] => {
                let written = Written {
                    cookies: self.cookies,
                    follow: self.follow,
                    data: self.data.clone(),
                    steps: self.steps.clone(),
                };
                written.resolve(folder)?
            }
            files => of_files(files, folder)?,
        };
        let request = Request {
            method: requests[0].method.clone(),
            path: first_path(&requests[0], &scenario),
            ..Request::default()
        };
        Ok(Self { request, walk: Some(Arc::new(Steps { requests, scenario })), ..self })
    }

    /// Refuses what does not go with steps, or only with them.
    fn check_beside_steps(&self) -> Result<(), Wrong> {
        file::check_follow(self.follow)?;
        if self.follow > 0 && !self.has_steps() {
            let why = "only a user of steps follows redirections: write the request as `steps = [{ get = \"/\" }]`";
            return Err(Wrong::at("follow", why));
        }
        let first_data = self.data.keys().next().map(|name| format!("data.{name}"));
        let has_request = self.request != Request::default();
        if !self.scenarios.is_empty() {
            let why = "each file of `scenarios` has its own; leave it out here";
            if !self.steps.is_empty() {
                return Err(Wrong::at("steps", "a workload has steps or scenarios; keep one"));
            }
            if let Some(at) = first_data {
                return Err(Wrong::at(at, why));
            }
            if self.cookies {
                return Err(Wrong::at("cookies", why));
            }
        } else if self.steps.is_empty() {
            return match (first_data, self.cookies) {
                (Some(at), _) => Err(Wrong::at(at, "only steps have data; give steps")),
                (None, true) => Err(Wrong::at("cookies", "only steps have cookies; give steps")),
                (None, false) if !has_request => {
                    Err(Wrong::at("", "a workload needs [request] or steps"))
                }
                (None, false) => Ok(()),
            };
        }
        if has_request {
            return Err(Wrong::at("request", "a workload has [request] or steps; keep one"));
        }
        if self.message.is_some() {
            return Err(Wrong::at("message", "a workload has [message] or steps; keep one"));
        }
        if self.answer != Answer::default() {
            return Err(Wrong::at("answer", "each step has its own `expect`: leave [answer] out"));
        }
        let is_other = |proof: &Proof| !matches!(proof, Proof::Answer | Proof::Stored);
        match self.proofs.iter().position(is_other) {
            Some(nth) => Err(Wrong::at(
                format!("proof[{nth}]"),
                "steps are proved by a walk through all of them: keep `answer`, and `stored` where they write products",
            )),
            None => Ok(()),
        }
    }
}

/// The path of the first step, with values that a walk may have: so a server answers it as it
/// answers a user.
fn first_path(first: &LoadRequest, scenario: &Scenario) -> String {
    let walk = Walk { user: 0, users: 1, nth: 0 };
    let values = scenario.parts().first().map(|part| part.drawn(walk, 0)).unwrap_or_default();
    let text = Text::parse(&first.target);
    let path = text.filled(Encoding::Percent, |name| values.get(name).map(String::as_str));
    match String::from_utf8(path) {
        Ok(path) if path.starts_with('/') => path,
        _ => text.example(),
    }
}

/// The requests and the scenario of files that a workload names.
fn of_files(files: &[String], folder: &Path) -> Result<(Vec<LoadRequest>, Scenario), Wrong> {
    let place = |nth: usize| format!("scenarios[{nth}]");
    let named = files
        .iter()
        .enumerate()
        .map(|(nth, text)| Named::parse(text).map_err(|why| Wrong::at(place(nth), why)));
    let named: Vec<Named> = named.collect::<Result<_, _>>()?;
    mix::read(&named, folder).map_err(|error| match error {
        MixError::Together(why) => Wrong::at("scenarios", why),
        MixError::File(nth, error) => Wrong::at(place(nth), error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_workload_reads() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        // In folders are the scenarios that workloads name.
        let mut ids: Vec<String> = paths
            .filter(|path| path.is_file())
            .map(|path| Workload::read(&path).unwrap().id)
            .collect();
        ids.sort();
        assert_eq!(
            ids,
            [
                "compressed",
                "crud",
                "device",
                "events",
                "hello",
                "hola",
                "json",
                "messages",
                "page",
                "proxy",
                "static",
                "upload",
                "users",
                "ws-broadcast",
                "ws-echo",
                "ws-echo-64k"
            ]
        );
    }
}
