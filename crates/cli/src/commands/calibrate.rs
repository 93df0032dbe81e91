//! `pippin calibrate`
use pippin_lab::host::calibrate::Calibrator;
use pippin_lab::lifecycle::affinity;
use pippin_model::plan::cpus::CpuSplit;
use pippin_model::result::LoadResult;
use pippin_model::run::Calibration;
use pippin_model::text::units::{counted, format_bytes, format_count, format_ns};
use std::path::Path;
use std::time::Duration;

use super::{Shared, print_text};
use crate::arguments::CalibrateArguments;
use crate::exit::CliError;
use crate::output;
use crate::signals;

pub fn run(shared: &Shared, arguments: &CalibrateArguments) -> Result<u8, CliError> {
    arguments.json.must_be_writable()?;
    let store = shared.store_path()?;
    let folder = store.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .map_err(CliError::io(format!("create {}", folder.display())))?;
    let say = |text: &str| {
        if !shared.quiet {
            output::say(text);
        }
    };
    let part = Duration::from_nanos(arguments.duration.ns());
    let calibrator = Calibrator {
        folder,
        cpus: CpuSplit::default_for(&affinity::available()),
        part,
        say: &say,
        stop: signals::catch(),
    };
    let (json, text) = match arguments.devices {
        Some(devices) => {
            let result = calibrator.devices(devices, arguments.think, arguments.ramp)?;
            (serde_json::to_string_pretty(&result), device_text(devices, &result))
        }
        None => {
            let calibration = calibrator.calibrate()?;
            shared.store()?.keep_calibration(&calibration)?;
            (serde_json::to_string_pretty(&calibration), text(&calibration))
        }
    };
    arguments.json.show(|| print_text(&text), || json)
}

fn text(calibration: &Calibration) -> String {
    let mut out = format!(
        "{}, {}\n\n{:>12} {:>14} {:>16}\n",
        counted(calibration.threads.into(), "thread"),
        calibration.io,
        "connections",
        "requests/s",
        "CPU per request"
    );
    for (connections, rate) in &calibration.ceiling_per_s {
        let cpu = calibration
            .cpu_per_request_ns
            .get(connections)
            .map_or("-".into(), |ns| format_ns(*ns as u64));
        out.push_str(&format!("{connections:>12} {:>14} {cpu:>16}\n", format_count(*rate)));
    }
    let ns = |value: Option<u64>| value.map_or("-".into(), format_ns);
    out.push_str(&format!(
        "\na connection for each request: {} requests/s\n",
        calibration.ceiling_connect_per_s.map_or("-".into(), format_count)
    ));
    out.push_str(&format!("shortest round trip: {}\n", ns(calibration.min_round_trip_ns)));
    out.push_str(&format!(
        "send lag at 5,000 requests/s: p99 {}\n",
        ns(calibration.send_lag_p99_ns)
    ));
    out
}

fn device_text(devices: u32, result: &LoadResult) -> String {
    let ns = |value: Option<u64>| value.map_or("-".into(), format_ns);
    let mut out = format!(
        "{:<10}{:>10}{:>14}{:>12}{:>14}{:>14}{:>12}{:>10}\n",
        "phase",
        "live",
        "requests/s",
        "connect p99",
        "headers p50",
        "headers p99",
        "lag p99",
        "errors"
    );
    for phase in &result.phases {
        let m = &phase.measured;
        out.push_str(&format!(
            "{:<10}{:>10}{:>14}{:>12}{:>14}{:>14}{:>12}{:>10}\n",
            phase.name,
            m.connections.peak,
            m.throughput_per_s().map_or("-".into(), format_count),
            ns(m.spans.connect.quantile_ns(0.99)),
            ns(m.spans.headers.quantile_ns(0.5)),
            ns(m.spans.headers.quantile_ns(0.99)),
            ns(m.spans.own_lag.quantile_ns(0.99)),
            m.errors_total()
        ));
    }
    if let Some(rss) = result.generator.max_rss_bytes {
        out.push_str(&format!(
            "generator: {} at its peak, {:.0} B a device\n",
            format_bytes(rss),
            rss as f64 / f64::from(devices)
        ));
    }
    out
}
