//! `--timeseries FILE`: writes a line of JSON for each window of a load, during the load.
use pippin_lab::run::observer::{Event, Observer};
use pippin_model::result::time_series::Moment;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exit::CliError;
use crate::moments::Moments;
use crate::output_file;

/// Writes each window to a file at once, so that readers of the file see it.
pub struct TimeSeries {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    moments: Moments,
    /// The first error. After it, nothing more is written.
    failure: Option<io::Error>,
}

impl TimeSeries {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// If that fails, or the file is standard output, where the result goes.
    pub fn create(path: &Path) -> Result<Self, CliError> {
        if path.as_os_str() == "-" {
            return Err(CliError::User(
                "--timeseries: standard output has the result; name a file or a named pipe (mkfifo)"
                    .into(),
            ));
        }
        let file = output_file::create(path).map_err(|error| {
            CliError::User(format!("--timeseries: cannot write {}: {error}", path.display()))
        })?;
        let state = State { file, moments: Moments::default(), failure: None };
        Ok(Self { path: path.into(), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that all lines were written.
    ///
    /// # Errors
    /// If one could not be written.
    pub fn finish(&self) -> Result<(), CliError> {
        let what = format!("the time series is not complete: write {}", self.path.display());
        self.state().failure.take().map_or(Ok(()), |error| Err(CliError::Io(what, error)))
    }
}

impl Observer for TimeSeries {
    fn event(&self, event: &Event<'_>) {
        let mut state = self.state();
        if let Some(moment) = state.moments.observe(event).filter(|_| state.failure.is_none()) {
            state.failure = state.write(&moment).err();
        }
    }
}

impl State {
    fn write(&mut self, moment: &Moment) -> io::Result<()> {
        let mut line = serde_json::to_vec(moment).map_err(io::Error::other)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}
