//! How a process ended.
use serde::{Deserialize, Serialize};

/// The signal for a file that became too long (signal(7)).
const SIGXFSZ: i32 = 25;

/// How a process ended, as its parent knows (wait(2)). Its text follows the name of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(SIGXFSZ) => write!(
                f,
                "was ended by SIGXFSZ: a file, perhaps its log, reached the limit of `ulimit -f`; raise it"
            ),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_file_sizes_is_named() {
        let said = Exit::Signal(SIGXFSZ).to_string();
        assert!(said.contains("ulimit -f"), "{said}");
        assert_eq!(Exit::Signal(9).to_string(), "was ended by signal 9");
        assert_eq!(Exit::Code(70).to_string(), "exited with code 70");
    }
}
