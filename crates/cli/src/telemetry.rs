//! `--otlp URL`: sends the figures of each window to a collector of OpenTelemetry during the load.
use pippin_lab::run::observer::{Event, Observer};
use pippin_otlp::Exporter;
use std::sync::{Mutex, PoisonError};

use crate::exit::CliError;
use crate::moments::Moments;
use crate::output::say;

/// Passes each window to the exporter.
pub struct Telemetry(Mutex<(Moments, Exporter)>);

impl Telemetry {
    /// Begins to export.
    ///
    /// # Errors
    /// If the URL is not that of a collector.
    pub fn start(url: &str) -> Result<Self, CliError> {
        let exporter =
            Exporter::start(url).map_err(|error| CliError::User(format!("--otlp: {error}")))?;
        Ok(Self(Mutex::new((Moments::default(), exporter))))
    }

    /// Waits until everything is exported. If some of it was not, prints that but fails no load:
    /// the result is complete without it.
    pub fn finish(self) {
        let (_, exporter) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = exporter.finish() {
            say(format_args!("--otlp: {error}"));
        }
    }
}

impl Observer for Telemetry {
    fn event(&self, event: &Event<'_>) {
        let (moments, exporter) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(moment) = moments.observe(event) {
            exporter.see(moment);
        }
    }
}
