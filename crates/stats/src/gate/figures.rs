//! A figure of a gate that counts, and what it is a share of.
use pippin_model::figure::Figure;
use pippin_model::trial::TrialRecord;

use crate::summary::sample::value;

/// A figure that counts, and what it is a share of; `None` if that is unknown or nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) count: f64,
    pub(super) of: f64,
}

impl Counted {
    pub(super) fn of(figure: Figure, trial: &TrialRecord) -> Option<Self> {
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
        (of > 0.0).then_some(Self { count, of })
    }

    /// All of them together.
    pub(super) fn all(of: &[Self]) -> Self {
        of.iter().fold(Self::default(), |all, one| Self {
            count: all.count + one.count,
            of: all.of + one.of,
        })
    }

    pub(super) fn share(self) -> f64 {
        self.count / self.of
    }
}
