//! What one user does: steps, each a request with checks and captured values
//! (docs/scenarios.md).
//!
//! | module | what it holds |
//! |---|---|
//! | [`file`] | the TOML form, read and checked |
//! | [`text`] | texts in which names in braces stand for values |
//! | [`data`] | where values come from before the first step: files, numbers, choices, the seed |
//! | [`find`] | where values are found in an answer |
pub mod data;
pub mod file;
pub mod find;
pub mod text;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::units::Spread;
use data::Variable;
use find::Source;

/// A scenario. Its steps belong to the requests of the load, in order, whose texts may hold
/// placeholders ([`text::Text`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Whether each user keeps the cookies that the server sets, and sends them back (RFC 6265).
    pub cookies: bool,
    /// The values that a user has before its first step.
    pub variables: Vec<Variable>,
    /// What it does.
    pub steps: Vec<Step>,
}

/// What belongs to a request because it is a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name in tables.
    pub name: String,
    /// How values are written in its body.
    pub body: text::Encoding,
    /// What must hold for its answer, besides the status.
    pub assertions: Vec<Assertion>,
    /// What later steps need of its answer.
    pub captures: Vec<Capture>,
    /// How long the user thinks after it; `None` leaves that to the load.
    pub think: Option<Spread>,
}

/// Something that must hold for an answer. Texts may hold placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assertion {
    /// This text is in the body.
    Contains(String),
    /// The first node of a path, as text, is this one.
    Json {
        /// The path: RFC 9535, or a pointer of RFC 6901.
        path: String,
        /// The text.
        is: String,
    },
    /// A header has this text in its value.
    Header {
        /// Its name.
        name: String,
        /// The text; empty if the header must only be there.
        contains: String,
    },
    /// This regular expression matches somewhere in the body.
    Regex(String),
    /// The body has at most so many bytes.
    MaxBytes(u64),
}

/// A value that is taken from an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The name that later steps know it by.
    pub name: String,
    /// Where it is found.
    pub from: Source,
}

impl Scenario {
    /// The names of all values, each once: what a user has from the beginning, then what it
    /// captures.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.variables.iter().flat_map(Variable::names).collect();
        for capture in self.steps.iter().flat_map(|step| &step.captures) {
            if !names.contains(&capture.name) {
                names.push(capture.name.clone());
            }
        }
        names
    }

    /// What a record keeps: of the rows of files only how many there were and their digest, since
    /// they may be passwords.
    #[must_use]
    pub fn for_record(&self) -> Self {
        let variables = self.variables.iter().map(Variable::for_record).collect();
        Self { variables, ..self.clone() }
    }

    /// SHA-256 over the digest of its requests and everything that makes them steps, in hexadecimal.
    #[must_use]
    pub fn digest(&self, of_requests: &str) -> String {
        let text = format!("{of_requests} {:?}", self.for_record());
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
