//! Shell completions besides commands and flags: the names of plans, targets, runs and charts. The
//! script of `pippin completions` asks the program at each key press, so the names are always
//! current. If something cannot be read, nothing is completed: a shell cannot show a message here.
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use pippin_lab::LabError;
use pippin_lab::target::catalog::Catalog;
use pippin_model::plan::PlanOptions;
use pippin_report::chart;
use pippin_report::view::View;
use pippin_store::Store;
use pippin_store::listing::RunFilter;
use std::ffi::OsStr;

use crate::commands;

/// The number of runs to complete, the newest first.
const MOST_RUNS: u64 = 50;

/// The script that a shell loads.
pub fn script(shell: clap_complete::Shell) -> std::io::Result<Vec<u8>> {
    let name = shell.to_string();
    let shells = Shells::builtins();
    let completer =
        shells.completer(&name).ok_or_else(|| std::io::Error::other("there is none"))?;
    let mut script = Vec::new();
    completer.write_registration("COMPLETE", "pippin", "pippin", "pippin", &mut script)?;
    Ok(script)
}

/// Plans, with their titles.
pub fn plans() -> Vec<CompletionCandidate> {
    let found = |catalog: &Catalog| {
        let named = |name: String| {
            let title = catalog.plan(&name, &PlanOptions::default()).ok().map(|plan| plan.title);
            CompletionCandidate::new(name).help(title.map(Into::into))
        };
        Ok(catalog.plan_ids()?.into_iter().map(named).collect())
    };
    in_catalog(found)
}

/// Targets and their variants.
pub fn targets() -> Vec<CompletionCandidate> {
    in_catalog(|catalog| {
        let all = catalog.select(&["all".into()])?;
        Ok(all.iter().map(|id| CompletionCandidate::new(id.to_string())).collect())
    })
}

/// Targets in a comma-separated list.
pub fn list_of_targets(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = current.to_str() else { return Vec::new() };
    let (before, last) = typed.rfind(',').map_or(("", typed), |comma| typed.split_at(comma + 1));
    let starts = |name: &CompletionCandidate| name.get_value().to_string_lossy().starts_with(last);
    targets().into_iter().filter(starts).map(|name| name.add_prefix(before)).collect()
}

/// Runs, the newest first, and `latest`.
pub fn runs() -> Vec<CompletionCandidate> {
    let newest = store().and_then(|store| store.page(&RunFilter::default(), 0, MOST_RUNS).ok());
    let Some(page) = newest else { return Vec::new() };
    let named = page
        .runs
        .into_iter()
        .map(|run| CompletionCandidate::new(run.summary.id).help(Some(run.summary.title.into())));
    std::iter::once(CompletionCandidate::new("latest")).chain(baselines()).chain(named).collect()
}

/// Baselines, with their runs.
pub fn baselines() -> Vec<CompletionCandidate> {
    let all = store().and_then(|store| store.baselines().ok()).unwrap_or_default();
    all.into_iter()
        .map(|one| CompletionCandidate::new(one.name).help(Some(one.run.into())))
        .collect()
}

/// The charts of the newest run.
pub fn charts() -> Vec<CompletionCandidate> {
    let newest = store().and_then(|store| store.load("latest").ok());
    let charts = newest.map(|run| chart::all(&View::of(&run))).unwrap_or_default();
    charts
        .into_iter()
        .map(|chart| CompletionCandidate::new(chart.name).help(Some(chart.title.into())))
        .collect()
}

fn in_catalog<F>(find: F) -> Vec<CompletionCandidate>
where
    F: FnOnce(&Catalog) -> Result<Vec<CompletionCandidate>, LabError>,
{
    let found = commands::place().and_then(|place| Ok(find(&commands::catalog(&place)?)?));
    found.unwrap_or_default()
}

/// The store of this place, if there is one.
fn store() -> Option<Store> {
    let path = commands::place().ok()?.database().ok()?;
    if path.is_file() { Store::open(&path).ok() } else { None }
}
