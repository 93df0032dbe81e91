//! Exit codes and the error type of the program.
use pippin_engine::EngineError;
use pippin_fleet::FleetError;
use pippin_lab::LabError;
use pippin_store::StoreError;

/// All went well.
pub const OK: u8 = 0;
/// An objective was missed, or a comparison failed.
pub const FAILED: u8 = 1;
/// The user must change something; the message says what.
pub const USER_ERROR: u8 = 2;
/// The result is INVALID.
pub const INVALID: u8 = 3;
/// The lab itself failed: agents were lost, or something could not be stored.
pub const LAB_FAILURE: u8 = 4;
/// A gate could not be decided.
pub const UNDECIDED: u8 = 5;
/// The user stopped it. What was measured is kept.
pub const INTERRUPTED: u8 = 130;

/// Nobody reads the output. A shell gives this code for a program that SIGPIPE ended.
pub const UNREAD: u8 = 141;

/// Codes from the worst to the best. What was interrupted or is not read was not judged.
const ORDER: [u8; 8] =
    [UNREAD, INTERRUPTED, USER_ERROR, INVALID, LAB_FAILURE, FAILED, UNDECIDED, OK];

/// The worse of two exit codes.
#[must_use]
pub fn worst(one: u8, other: u8) -> u8 {
    let place = |code| ORDER.iter().position(|known| *known == code).unwrap_or(0);
    if place(one) <= place(other) { one } else { other }
}

/// An error of a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The user must change something.
    #[error("{0}")]
    User(String),
    /// From the lab.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// From the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// From the engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A file cannot be written.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
}

impl CliError {
    /// The exit code, which shows who has to act.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Lab(LabError::Interrupted) => INTERRUPTED,
            Self::Lab(LabError::Io { .. } | LabError::Target(_) | LabError::Agents(_))
            | Self::Io(..) => LAB_FAILURE,
            Self::Lab(LabError::Store(store)) | Self::Store(store) => store_code(store),
            Self::Engine(engine) | Self::Lab(LabError::Engine(engine)) => engine_code(engine),
            Self::User(_) | Self::Lab(_) => USER_ERROR,
        }
    }

    /// For `map_err` on I/O results.
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io(what, source)
    }
}

impl From<FleetError> for CliError {
    fn from(error: FleetError) -> Self {
        Self::Lab(error.into())
    }
}

/// A part of the engine that died is nothing that the user can change.
const fn engine_code(error: &EngineError) -> u8 {
    match error {
        EngineError::Died { .. } => LAB_FAILURE,
        _ => USER_ERROR,
    }
}

const fn store_code(error: &StoreError) -> u8 {
    match error {
        StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Older { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::UnknownRun(..) => USER_ERROR,
        StoreError::Full { .. }
        | StoreError::Sqlite { .. }
        | StoreError::Io { .. }
        | StoreError::Content { .. } => LAB_FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_code_comes_first() {
        for pair in [2, 3, 4, 1, 5, 0].windows(2) {
            assert_eq!((worst(pair[0], pair[1]), worst(pair[1], pair[0])), (pair[0], pair[0]));
        }
    }

    #[test]
    fn a_death_in_the_engine_is_a_failure_of_the_lab_whoever_tells_of_it() {
        let died = || EngineError::Died { what: "a worker".into(), measured: None };
        assert_eq!(CliError::from(died()).code(), LAB_FAILURE);
        assert_eq!(CliError::from(LabError::from(died())).code(), LAB_FAILURE);
        assert_eq!(CliError::from(EngineError::Endless).code(), USER_ERROR);
        assert_eq!(CliError::from(LabError::from(EngineError::Endless)).code(), USER_ERROR);
    }
}
