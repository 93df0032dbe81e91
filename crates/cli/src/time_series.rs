//! `--timeseries FILE`: a line of JSON for each window of a load, as it passes.
use pippin_lab::observer::{Event, Observer};
use pippin_lab::trial::unix_now_ns;
use pippin_model::load_result::Window;
use pippin_model::time_series::Moment;
use pippin_model::trial::TrialSpec;
use pippin_model::usage::{Role, UsageSample};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exit::CliError;
use crate::live::use_between;

/// Writes each window to a file; whoever reads the file sees it at once.
pub struct TimeSeries {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    run: String,
    spec: Option<TrialSpec>,
    round: Option<u32>,
    /// The newest sample before the present window.
    sample: Option<UsageSample>,
    /// What went wrong first; nothing is written from then on.
    failure: Option<io::Error>,
}

impl TimeSeries {
    /// Begins the file anew.
    ///
    /// # Errors
    /// If it cannot be made, or is standard output, which has the result.
    pub fn create(path: &Path) -> Result<Self, CliError> {
        if path.as_os_str() == "-" {
            return Err(CliError::User(
                "--timeseries: standard output has the result; name a file or a named pipe (mkfifo)"
                    .into(),
            ));
        }
        let file = File::create(path).map_err(|error| {
            CliError::User(format!("--timeseries: cannot write {}: {error}", path.display()))
        })?;
        let state = State {
            file,
            run: String::new(),
            spec: None,
            round: None,
            sample: None,
            failure: None,
        };
        Ok(Self { path: path.into(), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all lines were written.
    ///
    /// # Errors
    /// If one could not be.
    pub fn finish(&self) -> Result<(), CliError> {
        let what = format!("the time series is not complete: write {}", self.path.display());
        self.state().failure.take().map_or(Ok(()), |error| Err(CliError::Io(what, error)))
    }
}

impl Observer for TimeSeries {
    fn event(&self, event: &Event<'_>) {
        let mut state = self.state();
        match event {
            Event::RunStarted(header) => state.run.clone_from(&header.id),
            Event::TrialStarted(spec, ..) => state.begin(spec, None),
            Event::Slice(spec, round, _) => state.begin(spec, Some(*round)),
            Event::Window(window, sample) => state.window(window, *sample),
            Event::Note(_) | Event::Unavailable(..) | Event::Stage(_) | Event::TrialFinished(_) => {
            }
        }
    }
}

impl State {
    fn begin(&mut self, spec: &TrialSpec, round: Option<u32>) {
        // Counters of another target's processes say nothing of this one's.
        self.sample = None;
        (self.spec, self.round) = (Some(spec.clone()), round);
    }

    fn window(&mut self, window: &Window, sample: Option<&UsageSample>) {
        let Some(spec) = self.spec.as_ref().filter(|_| self.failure.is_none()) else { return };
        let used = self.sample.as_ref().zip(sample).map(|(from, to)| use_between(from, to));
        let cores = |role| used.as_ref().and_then(|used| used.cores.get(&role).copied());
        let moment = Moment {
            round: self.round,
            target_cores: cores(Role::Target),
            generator_cores: cores(Role::Generator),
            target_rss_bytes: sample
                .and_then(|sample| sample.roles.get(&Role::Target))
                .and_then(|role| role.rss_bytes),
            ..Moment::of(&self.run, spec, window, unix_now_ns())
        };
        self.sample = sample.cloned().or(self.sample.take());
        self.failure = self.write(&moment).err();
    }

    fn write(&mut self, moment: &Moment) -> io::Result<()> {
        let mut line = serde_json::to_vec(moment).map_err(io::Error::other)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}
