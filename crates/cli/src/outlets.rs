//! Where figures go during a load: `--timeseries`, `--otlp`.
use pippin_lab::run::observer::Observer;

use crate::arguments::OutletArguments;
use crate::exit::CliError;
#[cfg(feature = "otlp")]
use crate::telemetry::Telemetry;
use crate::time_series::TimeSeries;

/// The outlets that the flags ask for.
pub struct Outlets {
    series: Option<TimeSeries>,
    #[cfg(feature = "otlp")]
    telemetry: Option<Telemetry>,
}

impl Outlets {
    /// Opens the outlets.
    ///
    /// # Errors
    /// If one cannot be opened.
    pub fn open(arguments: &OutletArguments) -> Result<Self, CliError> {
        #[cfg(not(feature = "otlp"))]
        if arguments.otlp.is_some() {
            return Err(CliError::User(
                "--otlp: this Pippin was built without it; build it with `cargo install --path crates/cli --features otlp`".into(),
            ));
        }
        Ok(Self {
            series: arguments.timeseries.as_deref().map(TimeSeries::create).transpose()?,
            #[cfg(feature = "otlp")]
            telemetry: arguments.otlp.as_deref().map(Telemetry::start).transpose()?,
        })
    }

    /// The observers of all outlets.
    pub fn listeners(&self) -> Vec<&dyn Observer> {
        let mut all: Vec<&dyn Observer> = Vec::new();
        all.extend(self.series.iter().map(|series| series as &dyn Observer));
        #[cfg(feature = "otlp")]
        all.extend(self.telemetry.iter().map(|telemetry| telemetry as &dyn Observer));
        all
    }

    /// Closes the outlets.
    ///
    /// # Errors
    /// If a file is not complete.
    pub fn finish(self) -> Result<(), CliError> {
        #[cfg(feature = "otlp")]
        if let Some(telemetry) = self.telemetry {
            telemetry.finish();
        }
        self.series.map_or(Ok(()), |series| series.finish())
    }
}
