//! `--otlp URL`: the figures of each window for a collector of OpenTelemetry, as it passes.
use pippin_lab::observer::{Event, Observer};
use pippin_otlp::Exporter;
use std::sync::{Mutex, PoisonError};

use crate::exit::CliError;
use crate::moments::Moments;
use crate::output::say;

/// Hands each window to the exporter.
pub struct Telemetry(Mutex<(Moments, Exporter)>);

impl Telemetry {
    /// Begins to export.
    ///
    /// # Errors
    /// If this is no URL of a collector.
    pub fn start(url: &str) -> Result<Self, CliError> {
        let exporter =
            Exporter::start(url).map_err(|error| CliError::User(format!("--otlp: {error}")))?;
        Ok(Self(Mutex::new((Moments::default(), exporter))))
    }

    /// Waits until everything is exported. That some of it was not is told, and fails no load: the
    /// result is complete without it.
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
        if let Some(moment) = moments.of(event) {
            exporter.see(moment);
        }
    }
}
