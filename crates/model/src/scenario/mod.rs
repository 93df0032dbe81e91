//! What one user does: steps, each a request with checks and captured values (docs/scenarios.md).
//!
//! | module | what it holds |
//! |---|---|
//! | [`file`] | the TOML form, read and checked |
//! | [`text`] | texts with placeholders: names in braces |
//! | [`data`] | sources of values before the first step: files, numbers, choices, the seed |
//! | [`find`] | where to find values in an answer |
//! | [`mix`] | several scenarios in one load |
pub mod data;
pub mod file;
pub mod find;
pub mod mix;
pub mod text;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::text::units::Spread;
use data::Variable;
use find::Source;
use mix::Way;

/// A scenario. Its steps belong to the requests of the load, in order. The texts of the requests
/// may have placeholders ([`text::Text`]).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Whether each user keeps the cookies that the server sets, and sends them back (RFC 6265).
    /// In a mix, whether any does.
    pub cookies: bool,
    /// The values that a user has before its first step.
    pub variables: Vec<Variable>,
    /// The steps.
    pub steps: Vec<Step>,
    /// Whose these steps and values are, where several scenarios are mixed; empty for one alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<Way>,
}

/// The additional properties of a request that is a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name in tables.
    pub name: String,
    /// How values are written in its body.
    pub body: text::Encoding,
    /// What must hold for its answer, besides the status.
    pub assertions: Vec<Assertion>,
    /// The values that later steps need from its answer.
    pub captures: Vec<Capture>,
    /// How long the user thinks after it; `None` uses the load's think time.
    pub think: Option<Spread>,
}

/// A condition on an answer. Texts may have placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assertion {
    /// The body contains this text.
    Contains(String),
    /// The first node of a path, as text, equals this text.
    Json {
        /// The path: RFC 9535, or a pointer of RFC 6901.
        path: String,
        /// The text.
        is: String,
    },
    /// The value of a header contains this text.
    Header {
        /// Its name.
        name: String,
        /// The text; if it is empty, the header must only exist.
        contains: String,
    },
    /// This regular expression matches somewhere in the body.
    Regex(String),
    /// The body has at most this many bytes.
    MaxBytes(u64),
}

/// A value from an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Its name in later steps.
    pub name: String,
    /// Where to find it.
    pub from: Source,
}

impl Scenario {
    /// The form for records. For rows of files it only has their number and digest, because they
    /// may be passwords.
    #[must_use]
    pub fn for_record(&self) -> Self {
        let variables = self.variables.iter().map(Variable::for_record).collect();
        Self { variables, ..self.clone() }
    }

    /// SHA-256 over the digest of its requests and the properties of its steps, in hexadecimal.
    #[must_use]
    pub fn digest(&self, of_requests: &str) -> String {
        let text = format!("{of_requests} {:?}", self.for_record());
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
