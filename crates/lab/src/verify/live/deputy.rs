//! Referees in other processes: agents judge the answers of their part of a load, and tell what
//! they have found.
//!
//! A page, a list of items, a digest or a number of the upstream can be judged anywhere, with what is known before the load.
//! Which rows a changing table has at an instant is known only to the process that changes it.
use pippin_engine::{Briefing, Referee};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::issued::Issued;
use crate::verify::items::{self, ItemAnswers};
use crate::verify::page::{Expected, Pages};
use crate::verify::sampled::Found;
use crate::verify::uploads::{self, UploadAnswers};
use pippin_reference::numbers::Numbers;

/// What a deputy judges, and all that it must know for that.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judges {
    /// Pages.
    Pages(Expected),
    /// Answers that are made of items of the data file.
    Items(items::Expected),
    /// Digests of uploads.
    Uploads(uploads::Expected),
    /// Numbers of the upstream.
    Upstream {
        /// Their key, in hexadecimal digits.
        key: String,
        /// What the upstream waits before it answers.
        delay_ns: u64,
    },
}

/// For a deputy that judges this.
#[must_use]
pub fn briefing(judges: &Judges, is_timed: bool) -> Option<Briefing> {
    let text = serde_json::to_string(judges).ok()?;
    Some(Briefing { text, is_timed })
}

/// A deputy with this briefing.
///
/// # Errors
/// If it cannot be read.
pub fn from_briefing(briefing: &str) -> Result<Arc<dyn Referee>, String> {
    Ok(match read(briefing)? {
        Judges::Pages(expected) => Arc::new(Pages::expecting(expected, Found::default())),
        Judges::Items(expected) => Arc::new(ItemAnswers::expecting(expected)),
        Judges::Uploads(expected) => Arc::new(UploadAnswers::expecting(expected)),
        Judges::Upstream { key, delay_ns } => {
            let key = u128::from_str_radix(&key, 16).map_err(|error| error.to_string())?;
            Arc::new(Issued::new(Numbers::new(key), delay_ns))
        }
    })
}

/// Reads what a referee and its deputy write for each other.
///
/// # Errors
/// If that is something else.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("what a deputy was told: {error}"))
}
