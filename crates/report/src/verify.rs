//! Whether what an exported run says follows from its raw slices: all figures, ranks, caveats and
//! verdicts are computed anew by the functions that computed them, and compared with those in the
//! file. Raw figures that cannot be are found too.
//!
//! This proves that the figures follow from the slices. It does not prove that the slices are true.
//!
//! | module | what it compares |
//! |---|---|
//! | `bounds` | numbers that no run has, before anything is computed from them |
//! | `possible` | counts, times and distributions of a trial with each other, and with the run |
//! | `slices` | the slices of a trial with their sum, and with the host beside them |
//! | `judged` | the caveats and the verdict of each trial |
//! | `stated` | the report |
mod bounds;
mod judged;
mod possible;
mod slices;
mod stated;

use pippin_model::run::RunRecord;
use pippin_model::text::printable::printable;
use pippin_model::text::units::counted;
use pippin_model::trial::TrialRecord;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::view::{SCHEMA, View};

/// What a text holds that cannot be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It is not JSON, or not a run.
    #[error("not a run with its report: {0}; `pippin export RUN --format record` writes one")]
    Form(#[from] serde_json::Error),
    /// Its report is of another form.
    #[error(
        "its report has schema {found}, but this Pippin reads schema {SCHEMA}; export it again with this version"
    )]
    Schema {
        /// The version in the text.
        found: u32,
    },
}

/// A place of a file that does not agree with the raw slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// Where: `report.rows[2] (go/net-http).goodput_per_s.median`.
    pub place: String,
    /// What stands there.
    pub stands: String,
    /// What follows from the slices, or what a run must have there.
    pub follows: String,
}

/// What came of it.
#[derive(Debug)]
pub struct Verified {
    /// The run, as it stands in the file.
    pub record: RunRecord,
    /// The report that follows from its slices; `None` if none can be computed from them.
    pub view: Option<View>,
    /// All places that do not agree.
    pub disagreements: Vec<Disagreement>,
    /// How many values of the report were compared.
    pub compared: usize,
}

/// The report in the file.
#[derive(Deserialize)]
struct Stated {
    report: Value,
}

/// The version of a report, which is read before the rest.
#[derive(Deserialize)]
struct Schema {
    schema: u32,
}

/// Verifies a run in the form `record`.
///
/// # Errors
/// If the text is something else, or of another version.
pub fn verify(text: &str) -> Result<Verified, VerifyError> {
    let Stated { report } = serde_json::from_str(text)?;
    let Schema { schema: found } = Schema::deserialize(&report)?;
    if found != SCHEMA {
        return Err(VerifyError::Schema { found });
    }
    let record: RunRecord = serde_json::from_str(text)?;
    let mut found = Findings::default();
    bounds::check(text, &mut found)?;
    if !found.0.is_empty() {
        return Ok(Verified { record, view: None, disagreements: found.0, compared: 0 });
    }
    // Who made the file up may have chosen figures that no formula is made for.
    let computed = catch_unwind(AssertUnwindSafe(|| {
        let mut found = Findings::default();
        possible::check(&record, &mut found);
        for (place, trial) in trials(&record) {
            slices::check(&place, trial, &mut found);
        }
        slices::check_apart(&record, &mut found);
        judged::check(&record, &mut found);
        (found, View::of(&record))
    }));
    let Ok((mut found, view)) = computed else {
        found.say("trials", "figures", "no report can be computed from them");
        return Ok(Verified { record, view: None, disagreements: found.0, compared: 0 });
    };
    let compared = stated::check(&report, &view, &mut found)?;
    Ok(Verified { record, view: Some(view), disagreements: found.0, compared })
}

impl Verified {
    /// The most places that [`Verified::words`] lists.
    const LISTED: usize = 20;

    /// The outcome for people.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { record, disagreements, compared, .. } = self;
        let slices: usize = record.trials.iter().map(|trial| trial.slices.len()).sum();
        let made = format!(
            "{} ({}, {})",
            printable(&record.header.id),
            counted(record.trials.len() as u64, "trial"),
            counted(slices as u64, "slice")
        );
        let mut out = if disagreements.is_empty() {
            format!(
                "{made}: all {compared} values of its report, with every figure, rank and verdict, follow from its raw slices. This does not prove that the slices are true.\n"
            )
        } else {
            let places = match disagreements.len() {
                1 => "1 place does".into(),
                several => format!("{several} places do"),
            };
            format!("{made}: {places} not agree with its raw slices.\n")
        };
        for Disagreement { place, stands, follows } in disagreements.iter().take(Self::LISTED) {
            out.push_str(&format!(
                "\n{place}\n  stands there: {stands}\n  follows:      {follows}\n"
            ));
        }
        if disagreements.len() > Self::LISTED {
            out.push_str(&format!("\n... and {} more\n", disagreements.len() - Self::LISTED));
        }
        let (theirs, own) = (&record.header.pippin_version, env!("CARGO_PKG_VERSION"));
        if theirs != own {
            let theirs = printable(theirs);
            out.push_str(&format!(
                "\nIt was made by Pippin {theirs}, and this is Pippin {own}, which may compute figures in another way.\n"
            ));
        }
        out
    }
}

/// Every trial with its name as a place: `trials[3] (go/net-http, repetition 1)`.
fn trials(record: &RunRecord) -> impl Iterator<Item = (String, &TrialRecord)> {
    record.trials.iter().enumerate().map(|(number, trial)| {
        let spec = &trial.spec;
        (format!("trials[{number}] ({}, repetition {})", spec.target, spec.repetition), trial)
    })
}

/// What was found so far.
#[derive(Default)]
struct Findings(Vec<Disagreement>);

impl Findings {
    /// Adds a place that does not agree.
    fn say(&mut self, place: impl Display, stands: impl Display, follows: impl Display) {
        self.0.push(Disagreement {
            place: printable(&place.to_string()),
            stands: printable(&stands.to_string()),
            follows: printable(&follows.to_string()),
        });
    }

    /// Adds the place unless both are equal.
    fn equal<T: PartialEq + Display>(&mut self, place: impl Display, stands: T, follows: T) {
        if stands != follows {
            self.say(place, stands, follows);
        }
    }

    /// Adds the place unless this holds.
    fn holds(
        &mut self,
        is_so: bool,
        place: impl Display,
        stands: impl Display,
        follows: impl Display,
    ) {
        if !is_so {
            self.say(place, stands, follows);
        }
    }
}
