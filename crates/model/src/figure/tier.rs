//! The name of a tier behind a target, in the name of a figure: `cpu.postgres`.
use std::fmt;

/// The longest name, in bytes. The kernel's names of processes have at most 15, and a tier whose name
/// the target itself has gets ` (behind)` after it.
const LONGEST: usize = 32;

/// A name that can be copied, as figures are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierName {
    bytes: [u8; LONGEST],
    length: u8,
}

impl TierName {
    /// The name; `None` if it is empty or too long for a process's.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let mut bytes = [0; LONGEST];
        bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        let length = u8::try_from(name.len()).ok().filter(|length| *length > 0)?;
        Some(Self { bytes, length })
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Display for TierName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
