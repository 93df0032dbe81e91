//! What can go wrong in a fleet.
use pippin_lab::LabError;

/// An error of a fleet.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The user must change something; the message says what.
    #[error("{0}")]
    User(String),
    /// Agents, a probe or the NATS server are not there, or were lost. Nobody has to change what was
    /// asked for.
    #[error("{0}")]
    Lost(String),
    /// The lab failed.
    #[error(transparent)]
    Lab(#[from] LabError),
}

impl From<FleetError> for LabError {
    fn from(error: FleetError) -> Self {
        match error {
            FleetError::User(message) => Self::User(message),
            FleetError::Lost(message) => Self::Agents(message),
            FleetError::Lab(lab) => lab,
        }
    }
}
