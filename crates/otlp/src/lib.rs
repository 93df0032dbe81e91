//! Figures of a load under way for OpenTelemetry collectors: metrics as OTLP over HTTP, one export
//! for each window (docs/formats.md). A slow or missing collector never delays the load.
//!
//! | module | what it does |
//! |---|---|
//! | [`figures`] | the instruments and their figures |
//! | [`post`] | sends the packed figures |
mod figures;
mod post;

use opentelemetry_otlp::{MetricExporter, Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};
use pippin_model::result::time_series::Moment;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use figures::Figures;
use post::Post;

/// How many windows may wait for the collector. Later ones are dropped and counted.
const WAITING: usize = 64;
/// How long one export may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Never export on the reader's own clock: each window triggers its export.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3_600);

/// Why figures did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The exporter could not be made.
    #[error("{0}")]
    Start(String),
    /// Some windows did not reach the collector.
    #[error("{lost} of {all} windows did not reach the collector: {why}")]
    Lost {
        /// How many did not.
        lost: u64,
        /// How many windows there were.
        all: u64,
        /// The first reason.
        why: String,
    },
}

/// Passes windows to a thread that exports them.
#[derive(Debug)]
pub struct Exporter {
    windows: SyncSender<Moment>,
    worker: JoinHandle<Sent>,
    all: u64,
    left_out: u64,
}

/// The result of the thread.
#[derive(Debug, Default)]
struct Sent {
    lost: u64,
    why: Option<String>,
}

impl Exporter {
    /// Begins to export to a collector. A URL without a path gets the default path of metrics
    /// (OTLP/HTTP, section "Requests"): `/v1/metrics`.
    ///
    /// # Errors
    /// If the URL cannot be a collector's, or no thread can be started.
    pub fn start(url: &str) -> Result<Self, Error> {
        let start = |error: &dyn std::fmt::Display| Error::Start(error.to_string());
        let exporter = MetricExporter::builder()
            .with_http()
            .with_http_client(Post::new(PATIENCE))
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint(url)?)
            // Delta, because a figure that is unknown in a window must not keep the value of the
            // window before.
            .with_temporality(Temporality::Delta)
            .build()
            .map_err(|error| start(&error))?;
        let reader = PeriodicReader::builder(exporter).with_interval(NEVER).build();
        let resource = Resource::builder().with_service_name("pippin").build();
        let provider =
            SdkMeterProvider::builder().with_reader(reader).with_resource(resource).build();
        let (windows, waiting) = sync_channel(WAITING);
        let worker = std::thread::Builder::new()
            .name("otlp".into())
            .spawn(move || export(&waiting, &provider))
            .map_err(|error| start(&error))?;
        Ok(Self { windows, worker, all: 0, left_out: 0 })
    }

    /// Takes a window. Never blocks.
    pub fn see(&mut self, moment: Moment) {
        self.all += 1;
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            self.windows.try_send(moment)
        {
            self.left_out += 1;
        }
    }

    /// Waits until everything is exported.
    ///
    /// # Errors
    /// If some windows did not arrive.
    pub fn finish(self) -> Result<(), Error> {
        drop(self.windows);
        let Sent { lost, why } = self.worker.join().unwrap_or_default();
        match lost + self.left_out {
            0 => Ok(()),
            lost => Err(Error::Lost {
                lost,
                all: self.all,
                why: why.unwrap_or_else(|| "it was too slow".into()),
            }),
        }
    }
}

fn export(waiting: &Receiver<Moment>, provider: &SdkMeterProvider) -> Sent {
    let figures = Figures::from_provider(provider);
    let mut sent = Sent::default();
    for moment in waiting {
        figures.record(&moment);
        if let Err(error) = provider.force_flush() {
            sent.lost += 1;
            sent.why.get_or_insert_with(|| error.to_string());
        }
    }
    // Everything was exported, or the reason why not is known.
    _ = provider.shutdown();
    sent
}

fn endpoint(url: &str) -> Result<String, Error> {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    if !["http", "https"].contains(&scheme) || rest.is_empty() {
        return Err(Error::Start(format!(
            "`{url}` is not the URL of a collector; write it like http://localhost:4318"
        )));
    }
    Ok(match rest.trim_end_matches('/').split_once('/') {
        None => format!("{}/v1/metrics", url.trim_end_matches('/')),
        Some(_) => url.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::endpoint;

    #[test]
    fn a_url_without_a_path_gets_that_of_metrics() {
        let of = |url| endpoint(url).map_err(|error| error.to_string());
        assert_eq!(of("http://a:4318").unwrap(), "http://a:4318/v1/metrics");
        assert_eq!(of("https://a/").unwrap(), "https://a/v1/metrics");
        assert_eq!(
            of("http://a/api/v1/otlp/v1/metrics").unwrap(),
            "http://a/api/v1/otlp/v1/metrics"
        );
        assert!(of("localhost:4318").unwrap_err().contains("write it like http://localhost:4318"));
    }
}
