//! A figure of a gate that counts, and what it is a share of.
use pippin_model::figure::Figure;
use pippin_model::trial::TrialRecord;

use crate::judge::unanswered;
use crate::summary::sample::value;

/// A figure that counts, and what it is a share of; `None` if that is unknown or nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) count: f64,
    pub(super) of: f64,
    /// Requests that never had an answer. Nobody knows what would have come of them.
    pub(super) open: f64,
}

impl Counted {
    pub(super) fn from_trial(figure: Figure, trial: &TrialRecord) -> Option<Self> {
        let measured = &trial.load.as_ref()?.measured;
        let count = value(figure, trial)?;
        let of = match figure {
            // Connections that cannot be opened are errors besides the requests.
            Figure::Errors => match measured.error_fraction()? {
                share if share > 0.0 => count / share,
                _ => measured.requests.scheduled as f64,
            },
            _ => measured.requests.scheduled as f64,
        };
        let open = unanswered::count(measured) as f64;
        (of > 0.0).then_some(Self { count, of, open })
    }

    /// All of them together.
    pub(super) fn all(of: &[Self]) -> Self {
        of.iter().fold(Self::default(), |all, one| Self {
            count: all.count + one.count,
            of: all.of + one.of,
            open: all.open + one.open,
        })
    }

    pub(super) fn share(self) -> f64 {
        self.count / self.of
    }

    /// What is counted if all requests without an answer are.
    pub(super) fn at_most(self) -> f64 {
        self.count + self.open
    }
}
