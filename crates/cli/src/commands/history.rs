//! `pippin history`
use pippin_lab::load::address::Url;
use pippin_lab::load::url::target_of;
use pippin_model::run::HistoryPoint;
use pippin_model::target::project::LANGUAGE;
use pippin_report::history::{self, Figure, History, Run};
use pippin_report::terminal::{self, Style};
use pippin_report::words;
use pippin_store::Store;
use pippin_store::listing::{ListedRun, RunFilter};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Shared, print_text};
use crate::arguments::{HistoryArguments, JsonArguments, LabelledArguments};
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
    let labelled = filter(&arguments.labelled);
    let Some(target) = &arguments.target else {
        return print_text(&runs(&store, &labelled, arguments.number)?);
    };
    let (target, points) = found(&store, target)?;
    let filter = RunFilter { target: target.clone(), ..labelled };
    let points = among(&store, &filter, points)?;
    if let Some(file) = &arguments.html {
        return page(&store, &target, &points, file);
    }
    let histories = histories(&store, &target, &points)?;
    let text = || print_text(&of_target(&store, &filter, &histories, arguments.number)?);
    let json = JsonArguments { file: arguments.json.clone() };
    json.show(text, || history::json(&target, &histories))
}

/// The runs that carry these labels.
fn filter(LabelledArguments { name, tag }: &LabelledArguments) -> RunFilter {
    RunFilter { name: name.clone().unwrap_or_default(), tags: tag.clone(), ..RunFilter::default() }
}

/// The trials of the runs that a filter leaves.
fn among(
    store: &Store,
    filter: &RunFilter,
    mut points: Vec<HistoryPoint>,
) -> Result<Vec<HistoryPoint>, CliError> {
    if !filter.asks_for_labels() {
        return Ok(points);
    }
    let kept = store.page(filter, 0, u64::MAX)?.runs;
    let runs: BTreeSet<&str> = kept.iter().map(|run| run.summary.id.as_str()).collect();
    points.retain(|point| runs.contains(point.run.as_str()));
    if points.is_empty() { Err(no_labelled(&filter.target)) } else { Ok(points) }
}

fn no_labelled(target: &str) -> CliError {
    CliError::User(format!(
        "no run with a trial of `{target}` has this name and these tags; `pippin history {target}` shows what its runs have"
    ))
}

/// The trials of a target, the oldest first, and its whole name: `shop` is short for `own/shop`, and a
/// URL may be written as for `pippin load`.
fn found(store: &Store, target: &str) -> Result<(String, Vec<HistoryPoint>), CliError> {
    let own = (!target.contains('/')).then(|| format!("{LANGUAGE}/{target}"));
    let url = Url::parse(target).ok().map(|url| target_of(&url.whole()).to_string());
    for name in std::iter::once(target.to_string()).chain(own).chain(url) {
        let points = store.history(&name)?;
        if !points.is_empty() {
            return Ok((name, points));
        }
    }
    Err(no_trial(target))
}

fn no_trial(target: &str) -> CliError {
    CliError::User(format!(
        "no trial of `{target}` is in the store; names are written like go/net-http, javascript/express:cluster or http://127.0.0.1:8080/"
    ))
}

fn nothing_kept(store: &Path) -> String {
    format!(
        "No run is kept in {} yet. `pippin load URL` and `pippin run PLAN` keep theirs.\n",
        store.display()
    )
}

/// All runs, the newest first.
fn runs(store: &Store, filter: &RunFilter, number: u32) -> Result<String, CliError> {
    let shown = store.page(filter, 0, number.into())?;
    if shown.all == 0 {
        return Ok(nothing_kept(store.path()));
    }
    if shown.runs.is_empty() {
        return Ok(
            "No run has this name and these tags; `pippin history` shows what runs have.\n".into()
        );
    }
    Ok(rows(&shown.runs, None))
}

/// The runs with a target, the newest first, how it started, warmed up and ended in them, and where
/// its figures changed.
fn of_target(
    store: &Store,
    filter: &RunFilter,
    histories: &[History],
    number: u32,
) -> Result<String, CliError> {
    let target = Some(filter.target.as_str());
    let listed = store.page(filter, 0, number.into())?.runs;
    let mut out = rows(&listed, target);
    let known: BTreeMap<&str, &Run> =
        histories.iter().flat_map(|history| &history.runs).map(|run| (&*run.id, run)).collect();
    let runs: Vec<&Run> =
        listed.iter().filter_map(|run| known.get(&*run.summary.id).copied()).collect();
    let lives = terminal::history::lives(&runs, &Style::of_stdout());
    if !lives.is_empty() {
        out.push_str(&format!("{lives}\n"));
    }
    for history in histories {
        for change in Figure::ALL.into_iter().flat_map(|figure| history.changes(figure)) {
            out.push_str(&format!("{}: {}\n", history.title(), change.words()));
        }
    }
    Ok(out)
}

/// A row for each run, however many steps or repetitions it has: what was loaded, how, and what
/// came out. The figures are those of `target`, or of the only target.
fn rows(runs: &[ListedRun], target: Option<&str>) -> String {
    let line = |run: &str, state: &str, rate: &str, p99: &str, verdict: &str, what: &str| {
        format!("{run:<30} {state:<11} {rate:>10} {p99:>12}  {verdict:<7}  {what}\n")
    };
    let mut out = line("run", "state", "requests/s", "response p99", "verdict", "what");
    for run in runs {
        let targets = run.digest.as_ref().map_or(&[][..], |digest| &digest.targets);
        let shown = match (target, targets) {
            (Some(name), all) => all.iter().find(|one| one.target.to_string() == name),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let is_search = run.summary.profile == "capacity";
        let rate = shown.and_then(|it| if is_search { it.figure } else { it.goodput_per_s });
        let verdict = shown.and_then(|it| it.verdict).map(|verdict| verdict.to_string());
        out.push_str(&line(
            &run.summary.id,
            run.summary.state.name(),
            &words::count(rate),
            &words::ns_f(shown.and_then(|it| it.p99_ns)),
            &verdict.or_else(|| run.worst.clone()).unwrap_or_else(|| words::UNKNOWN.into()),
            &what(run),
        ));
    }
    out
}

/// What was measured and how, and what the user calls it: `http://127.0.0.1:8080/, closed loop, 10
/// connections, 10 s · nightly · branch=main`.
fn what(run: &ListedRun) -> String {
    let summary = &run.summary;
    let quick = if summary.quick { " (quick)" } else { "" };
    let targets = match summary.targets {
        0 | 1 => String::new(),
        count => format!(", {count} targets"),
    };
    let load = run.digest.as_ref().map_or(&summary.profile, |digest| &digest.load);
    let sides = run.digest.as_ref().map_or("", |digest| digest.compared.as_str());
    let sides = if sides.is_empty() { String::new() } else { format!(": {sides}") };
    let labels = run.labels.in_a_line();
    let separator = if labels.is_empty() { "" } else { " · " };
    format!("{}{quick}{targets}{sides}, {load}{separator}{labels}", summary.title)
}

fn page(store: &Store, target: &str, points: &[HistoryPoint], file: &Path) -> Result<u8, CliError> {
    let notes = match points.last() {
        Some(newest) => history::support_notes(&store.header(&newest.run)?, target),
        None => Vec::new(),
    };
    let histories = histories(store, target, points)?;
    output_file::write(file, history::page(target, &histories, &notes)).map(|()| exit::OK)
}

/// The histories of a target with the figures of the reports of its runs, and its lives.
fn histories(
    store: &Store,
    target: &str,
    points: &[HistoryPoint],
) -> Result<Vec<History>, CliError> {
    let runs = || points.iter().map(|point| point.run.as_str());
    let (digests, lives) = (store.digests_of(target, runs())?, store.lives_of(target, runs())?);
    Ok(history::from_points(points)
        .into_iter()
        .map(|history| history.with(&digests, &lives))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run as example;
    use pippin_model::result::WarmUpWindow;
    use pippin_model::run::RunRecord;
    use pippin_report::digest;
    use pippin_report::view::View;
    use serde_json::Value;

    fn stored(records: &[RunRecord]) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("pippin.db")).unwrap();
        for record in records {
            let id = &record.header.id;
            store.begin(&record.header).unwrap();
            for (place, trial) in record.trials.iter().enumerate() {
                store.add_trial(id, place as u64, trial).unwrap();
            }
            for life in &record.lives {
                store.add_life(id, life).unwrap();
            }
            store.end(id, record.state, record.ended_unix_ns.unwrap()).unwrap();
            store.keep_digest(id, &digest::from_view(&View::of(record))).unwrap();
        }
        (folder, store)
    }

    /// A sweep of seven steps and a search of ten are a row each, and a load says what it was.
    #[test]
    fn a_run_is_a_row_with_its_answer() {
        let (_folder, store) = stored(&[example::load(), example::sweep(), example::capacity()]);
        let text = runs(&store, &RunFilter::default(), 20).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        let row = |part: &str| text.lines().find(|line| line.contains(part)).unwrap();
        let load = row("http://127.0.0.1:8080/, closed loop, 10 connections");
        assert!(load.contains("SUSPECT") && load.contains(" 44,"), "{load}");
        assert!(row("search for the highest rate").contains(" 6,000 "), "{text}");
        let of_one = |target: &str| {
            let (name, points) = found(&store, target).unwrap();
            let histories = histories(&store, &name, &points).unwrap();
            let filter = RunFilter { target: name, ..RunFilter::default() };
            of_target(&store, &filter, &histories, 20).unwrap()
        };
        let express = of_one("javascript/express");
        assert_eq!(express.matches("-capacity").count(), 1, "{express}");
        assert_eq!(of_one("go/net-http").matches("-sweep").count(), 1, "{}", of_one("go/net-http"));
    }

    /// What was kept of a run that is steady after 20 windows of 200 ms, and of its target's life.
    #[test]
    fn a_stored_run_says_how_its_target_started() {
        let mut record = example::rounds();
        let target = "rust/axum";
        let window = |at: u32| WarmUpWindow {
            answers_per_s: if at < 20 { 1_000.0 } else { 3_000.0 },
            cores: Some(1.0),
            compiler: None,
        };
        for trial in record.trials.iter_mut().filter(|it| it.spec.target.to_string() == target) {
            trial.load.as_mut().unwrap().warm_up.windows = (0..60).map(window).collect();
        }
        let mut plain = example::hello();
        plain.header.id = "20261101-000000-hello".into();
        plain.header.started_unix_ns -= 1;
        let (_folder, store) = stored(&[record, plain]);
        let points = store.history(target).unwrap();
        let histories = histories(&store, target, &points).unwrap();
        let filter = RunFilter { target: target.into(), ..RunFilter::default() };
        let text = of_target(&store, &filter, &histories, 20).unwrap();
        let (_, table) = text.split_once("Starts, memory and ends").unwrap();
        for part in ["4.00 s", "12.0 ms", "4.00 MiB", "9.00 MiB", "6.00 MiB"] {
            assert_eq!(table.matches(part).count(), 1, "{part}: {text}");
        }
        assert_eq!(table.matches('–').count(), 8, "nothing is known of the other run: {text}");
        let json: Value =
            serde_json::from_str(&history::json(target, &histories).unwrap()).unwrap();
        let runs = json["histories"].as_array().unwrap().iter().flat_map(|it| {
            it["runs"].as_array().unwrap().iter().map(|run| {
                let steady = run["warm_up"]["steady_after_ns"].as_u64();
                (run["id"].as_str().unwrap(), steady, run["life"]["start_ns"].as_u64())
            })
        });
        let mut runs: Vec<_> = runs.collect();
        runs.sort_unstable();
        let known = (Some(4_000_000_000), Some(12_000_000));
        assert_eq!(
            runs,
            [("20261101-000000-hello", None, None), ("20261121-203539-hello", known.0, known.1)]
        );
        // The runs that are not listed are in no row.
        let newest = of_target(&store, &filter, &histories, 1).unwrap();
        assert!(newest.contains("12.0 ms") && !newest.contains("20261101"), "{newest}");
    }
}
