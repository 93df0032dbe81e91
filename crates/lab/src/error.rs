//! What can go wrong in the lab, by who has to act.
use pippin_model::text::file::{FileError, nearest};
use pippin_model::trial::{Failure, Stage};

/// An error of the lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The user asked for something that does not exist or is not possible. The message names the
    /// place and the fix.
    #[error("{0}")]
    User(String),
    /// A hand-written file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A target failed: recorded, and the others go on.
    #[error("{}: {}", .0.stage.name(), .0.message)]
    Target(Failure),
    /// The lab's own machinery failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] pippin_store::StoreError),
    /// The engine cannot run a load as it is asked for.
    #[error(transparent)]
    Engine(#[from] pippin_engine::EngineError),
    /// Agents of a fleet, or what connects them, are not there or were lost. It may work when it is
    /// tried again.
    #[error("{0}")]
    Agents(String),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl LabError {
    /// "No plan `helo`; did you mean `hello`? (there are: ...)"
    pub fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = nearest(name, known.iter().copied())
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        Self::User(format!("there is no {what} `{name}`{hint} (there are: {})", known.join(", ")))
    }

    /// A target's failure without a log.
    pub fn target(stage: Stage, message: impl Into<String>) -> Self {
        Self::Target(Failure { stage, message: message.into(), log_tail: Vec::new() })
    }

    /// A target's failure in other words, which are made of its own; any other error as it is.
    #[must_use]
    pub fn reworded(self, words: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::Target(failure) => {
                let message = words(&failure.message);
                Self::Target(Failure { message, ..failure })
            }
            other => other,
        }
    }

    /// For `map_err` on I/O results.
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
