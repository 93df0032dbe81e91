//! `pippin history`
use pippin_model::run::HistoryPoint;
use pippin_model::target::project::LANGUAGE;
use pippin_model::text::units::{format_count, format_ns};
use pippin_report::history::{self, Figure};
use pippin_store::Store;
use pippin_store::listing::RunFilter;
use std::fmt::Write as _;
use std::path::Path;

use super::{Shared, print_text};
use crate::arguments::HistoryArguments;
use crate::exit::{self, CliError};
use crate::output_file;

pub fn run(shared: &Shared, arguments: &HistoryArguments) -> Result<u8, CliError> {
    let path = shared.store_path()?;
    // Looking creates nothing.
    if !path.exists() {
        return match &arguments.target {
            Some(target) => Err(no_trial(target)),
            None => print_text(&nothing_kept(&path)),
        };
    }
    let store = shared.store()?;
    let Some(target) = &arguments.target else {
        return print_text(&runs(&store, arguments.number)?);
    };
    let (target, points) = found(&store, target)?;
    match &arguments.html {
        Some(file) => page(&store, &target, &points, file),
        None => print_text(&trials(&points, arguments.number)),
    }
}

/// The trials of a target, the oldest first, and its whole name: `shop` is short for `own/shop`.
fn found(store: &Store, target: &str) -> Result<(String, Vec<HistoryPoint>), CliError> {
    let own = (!target.contains('/')).then(|| format!("{LANGUAGE}/{target}"));
    for name in std::iter::once(target.to_string()).chain(own) {
        let points = store.history(&name)?;
        if !points.is_empty() {
            return Ok((name, points));
        }
    }
    Err(no_trial(target))
}

fn no_trial(target: &str) -> CliError {
    CliError::User(format!(
        "no trial of `{target}` is in the store; names are written like go/net-http or javascript/express:cluster"
    ))
}

fn nothing_kept(store: &Path) -> String {
    format!(
        "No run is kept in {} yet. `pippin load URL` and `pippin run PLAN` keep theirs.\n",
        store.display()
    )
}

/// All runs, the newest first.
fn runs(store: &Store, number: usize) -> Result<String, CliError> {
    let mut out = format!(
        "{:<40} {:<12} {:>8} {:>8} {:>8}  {}\n",
        "run", "state", "targets", "trials", "invalid", "title"
    );
    let shown = store.page(&RunFilter::default(), 0, number as u64)?;
    if shown.all == 0 {
        return Ok(nothing_kept(store.path()));
    }
    for run in shown.runs {
        let run = run.summary;
        let quick = if run.quick { " (quick)" } else { "" };
        let (id, state) = (&run.id, run.state.name());
        // Writing into a String cannot fail.
        let _ = writeln!(
            out,
            "{id:<40} {state:<12} {:>8} {:>8} {:>8}  {}{quick}",
            run.targets, run.trials, run.invalid, run.title
        );
    }
    Ok(out)
}

/// The trials of a target, the newest first, and where its figures changed.
fn trials(points: &[HistoryPoint], number: usize) -> String {
    let mut out =
        format!("{:<40} {:<14} {:>14} {:>12}  {}\n", "run", "plan", "right/s", "p99", "verdict");
    for point in points.iter().rev().take(number) {
        let rate = point.goodput_per_s.map_or("-".into(), format_count);
        let p99 = point.p99_ns.map_or("-".into(), format_ns);
        let plan = format!("{}{}", point.plan, if point.quick { " (quick)" } else { "" });
        let _ =
            writeln!(out, "{:<40} {plan:<14} {rate:>14} {p99:>12}  {}", point.run, point.verdict);
    }
    for history in history::of(points) {
        for change in Figure::ALL.into_iter().flat_map(|figure| history.changes(figure)) {
            let _ = writeln!(out, "{}: {}", history.title(), change.words());
        }
    }
    out
}

fn page(store: &Store, target: &str, points: &[HistoryPoint], file: &Path) -> Result<u8, CliError> {
    let notes = match points.last() {
        Some(newest) => history::support_notes(&store.header(&newest.run)?, target),
        None => Vec::new(),
    };
    output_file::write(file, history::page(target, points, &notes)).map(|()| exit::OK)
}
