//! What targets must not be able to guess.
use rand::TryRng;

use crate::error::LabError;

/// 128 random bits from the kernel. `what` says what they are for, in error messages.
///
/// # Errors
/// If the kernel gives none.
pub fn random(what: &str) -> Result<u128, LabError> {
    let mut bits = [0; 16];
    rand::rngs::SysRng.try_fill_bytes(&mut bits).map_err(|error| LabError::Io {
        what: what.into(),
        source: std::io::Error::other(error),
    })?;
    Ok(u128::from_le_bytes(bits))
}
