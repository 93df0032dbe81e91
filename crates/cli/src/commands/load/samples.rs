//! `--samples FILE`: every request of the measured part as a row, or a random sample of them.
use pippin_model::result::RequestSample;
use pippin_model::run::RunRecord;
use pippin_model::text::units::counted;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::arguments::LoadArguments;
use crate::exit::CliError;
use crate::output::say;
use crate::output_file::{must_be_writable, replace};

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Csv,
    JsonLines,
}

/// Where the rows go.
#[derive(Debug)]
pub struct Samples {
    file: PathBuf,
    form: Form,
    seed: u64,
}

impl Samples {
    /// What the flags ask for.
    ///
    /// # Errors
    /// If the name of the file says no form, or it cannot be written.
    pub fn from_arguments(arguments: &LoadArguments) -> Result<Option<Self>, CliError> {
        let Some(file) = arguments.samples.clone() else { return Ok(None) };
        let refuse = |why: &str| Err(CliError::User(format!("--samples: {why}")));
        if file.as_os_str() == "-" {
            return refuse(
                "standard output has the result; name a file that ends in .csv or .jsonl",
            );
        }
        let form = match file.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Form::Csv,
            Some("jsonl" | "ndjson") => Form::JsonLines,
            _ => {
                return refuse(&format!(
                    "{}: the ending does not say which format to write; use .csv, or .jsonl for JSON lines",
                    file.display()
                ));
            }
        };
        must_be_writable("--samples", Some(&file))?;
        Ok(Some(Self { file, form, seed: arguments.seed }))
    }

    /// Writes the rows of a load, and says how many they are.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, record: &RunRecord) -> Result<(), CliError> {
        let load = record.trials.first().and_then(|trial| trial.load.as_ref());
        let Some(sample) = load.and_then(|load| load.request_sample.as_ref()) else {
            return Ok(());
        };
        replace(&self.file, |out| match self.form {
            Form::Csv => csv(sample, out),
            Form::JsonLines => json_lines(sample, out),
        })?;
        say(format_args!("{}", self.said(sample)));
        Ok(())
    }

    fn said(&self, sample: &RequestSample) -> String {
        let (file, kept) = (self.file.display(), sample.requests.len() as u64);
        if sample.is_whole() {
            return format!("{file} has the measured part's {}", counted(kept, "request"));
        }
        format!(
            "{file} is a random sample: {kept} of the measured part's {}, each with the same chance (--seed {}, --samples-most {kept})",
            counted(sample.of, "request"),
            self.seed
        )
    }
}

fn csv(sample: &RequestSample, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = ::csv::Writer::from_writer(out);
    for row in sample.rows() {
        rows.serialize(row).map_err(io::Error::other)?;
    }
    rows.flush()
}

fn json_lines(sample: &RequestSample, out: &mut dyn Write) -> io::Result<()> {
    for row in sample.rows() {
        serde_json::to_writer(&mut *out, &row)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
