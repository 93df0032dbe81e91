//! `pippin run`
use pippin_lab::catalog::Catalog;
use pippin_lab::run::{RunSettings, run as execute};
use pippin_model::caveat::Verdict;
use pippin_model::plan::PlanOptions;
use pippin_model::run::{RunRecord, RunState};
use pippin_report::{html, terminal, view::View};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Shared, consent, here, print};
use crate::arguments::RunArguments;
use crate::exit::{self, CliError};
use crate::live::{Published, Subject};
use crate::progress;
use crate::signals;

pub fn run(shared: &Shared, arguments: &RunArguments) -> Result<u8, CliError> {
    let catalog = Catalog::find(&here()?)?;
    let options = PlanOptions {
        quick: arguments.quick,
        targets: if arguments.targets.is_empty() { None } else { Some(catalog.select(&arguments.targets)?) },
        repetitions: arguments.repeat,
        scale: arguments.scale.as_deref().map(fraction).transpose()?,
    };
    let plan = catalog.plan(&arguments.plan, &options)?;
    let apt = arguments.install && consent::for_packages(&catalog, &plan.targets, &catalog.workload(&plan.workload)?.services, arguments.yes)?;
    let store = shared.store(catalog.root())?;
    let stop = signals::catch();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let folder = arguments.out.clone().unwrap_or_else(|| catalog.root().join("runs").join(format!("{}-{}", plan.id, now / 1_000)));
    // What is started there has folders of its own, from which a relative path would lead elsewhere.
    let folder = std::path::absolute(&folder).map_err(CliError::io(format!("find {}", folder.display())))?;
    let observer = Published::new(progress::observer(shared.quiet, Subject::Plan), &store);
    let settings = RunSettings {
        catalog: &catalog,
        store: &store,
        folder: folder.clone(),
        install: arguments.install,
        apt,
        seed: arguments.seed.unwrap_or(now),
        calibration: store.calibration()?,
        observer: &observer,
        stop,
    };
    let record = execute(plan, &settings)?;
    drop(observer);
    show(&record, &folder)
}

fn show(record: &RunRecord, folder: &std::path::Path) -> Result<u8, CliError> {
    let view = View::of(record);
    let page: PathBuf = folder.join("report.html");
    std::fs::write(&page, html::page(&view)).map_err(CliError::io(format!("write {}", page.display())))?;
    print(terminal::table(&view, &terminal::Style::of_stdout()).as_bytes())?;
    eprintln!("run {}: page {}", record.header.id, page.display());
    Ok(exit_code(record))
}

/// Interrupted before invalid before ok. A target that failed or is unavailable is data; a run without any valid result is not.
fn exit_code(record: &RunRecord) -> u8 {
    match record.state {
        RunState::Interrupted => exit::INTERRUPTED,
        _ if record.trials.iter().any(|trial| trial.failure.is_none() && trial.verdict == Verdict::Invalid) => exit::INVALID,
        _ if record.trials.iter().all(|trial| trial.failure.is_some()) => exit::LAB_FAILURE,
        _ => exit::OK,
    }
}

/// `1/10` or `0.1`.
fn fraction(text: &str) -> Result<f64, CliError> {
    let number = |part: &str| part.trim().parse::<f64>().ok();
    let value = match text.split_once('/') {
        Some((above, below)) => number(above).zip(number(below)).map(|(above, below)| above / below),
        None => number(text),
    };
    value
        .filter(|value| *value > 0.0 && *value <= 1_000.0)
        .ok_or_else(|| CliError::User(format!("--scale `{text}` is not a fraction; write it like 1/10 or 0.1")))
}
