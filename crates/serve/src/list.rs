//! Runs with filter and search, a page at a time.
use maud::{Markup, html};
use pippin_model::run::RunState;
use pippin_model::run::digest::{CalmSlices, RunDigest};
use pippin_model::run::live::LiveRun;
use pippin_model::text::units::format_whole;
use pippin_model::verdict::Verdict;
use pippin_report::digest as in_words;
use pippin_report::html::badge;
use pippin_report::words;
use pippin_store::listing::{Choices, ListedRun, RunFilter, RunPage};
use serde::Deserialize;

use crate::page::pages;

/// The number of runs on a page.
pub const PER_PAGE: u64 = 50;
const DAY_NS: u64 = 86_400_000_000_000;

/// The filter of the list, as it is in the address.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Filter {
    /// Words that must all occur in name, plan, title, workload, profile, host, a target, or what the
    /// user calls the run.
    #[serde(default)]
    pub q: String,
    /// Only this plan.
    #[serde(default)]
    pub plan: String,
    /// Only runs with this target.
    #[serde(default)]
    pub target: String,
    /// Only this host.
    #[serde(default)]
    pub host: String,
    /// Only this worst verdict.
    #[serde(default)]
    pub verdict: String,
    /// Only this state.
    #[serde(default)]
    pub state: String,
    /// Only from this day on, `2026-11-22`, UTC.
    #[serde(default)]
    pub from: String,
    /// Only up to this day.
    #[serde(default)]
    pub to: String,
    /// Which page, from 1.
    #[serde(default)]
    pub page: String,
}

const STATES: [RunState; 5] = [
    RunState::Finished,
    RunState::Interrupted,
    RunState::Failed,
    RunState::Killed,
    RunState::Running,
];
const VERDICTS: [Verdict; 3] = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];

impl Filter {
    /// This filter for the store.
    ///
    /// # Errors
    /// If a day, a state or a verdict is not valid.
    pub fn for_store(&self) -> Result<RunFilter, String> {
        let state = match self.state.as_str() {
            "" => None,
            name => {
                Some(STATES.into_iter().find(|state| state.name() == name).ok_or_else(|| {
                    let names = STATES.map(RunState::name).join(", ");
                    format!("state: `{name}` is not one; there are {names}")
                })?)
            }
        };
        let verdict = self.verdict.trim().to_uppercase();
        if !verdict.is_empty() && VERDICTS.iter().all(|one| one.to_string() != verdict) {
            return Err(format!(
                "verdict: `{verdict}` is not one; there are VALID, SUSPECT, INVALID"
            ));
        }
        Ok(RunFilter {
            words: self.q.split_whitespace().map(Into::into).collect(),
            plan: self.plan.trim().into(),
            target: self.target.trim().into(),
            host: self.host.trim().into(),
            verdict,
            state,
            // Words find names, notes and tags.
            name: String::new(),
            tags: Vec::new(),
            from_unix_ns: day("from", &self.from)?,
            before_unix_ns: day("to", &self.to)?.map(|start| start + DAY_NS),
        })
    }
}

/// The beginning of a day, nanoseconds since 1970.
fn day(name: &str, text: &str) -> Result<Option<u64>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    words::day(text.trim())
        .map(Some)
        .ok_or_else(|| format!("{name}: `{text}` is not a day; write it as 2026-11-22"))
}

/// The list of runs, with the runs under way above it.
#[must_use]
pub fn body(
    shown: &RunPage,
    filter: &Filter,
    page: u64,
    choices: &Choices,
    live: &[LiveRun],
    under_way: &Markup,
) -> Markup {
    html! {
        main id="main" {
            (under_way)
            h1 { "Runs" }
            (form(filter, choices))
            p.hint role="status" { (format_whole(shown.kept)) " of " (counted(shown.all)) @if shown.kept > PER_PAGE { ", page " (page) " of " (shown.kept.div_ceil(PER_PAGE)) } }
            @if shown.all == 0 { p { "There is no run yet. " code { "pippin run hello --quick" } " makes one." } }
            @else if shown.runs.is_empty() { p { "No run matches." } }
            @else { (table(&shown.runs, live)) (pages(page, shown.kept.div_ceil(PER_PAGE))) }
        }
    }
}

fn counted(runs: u64) -> String {
    pippin_model::text::units::counted(runs, "run")
}

fn form(filter: &Filter, choices: &Choices) -> Markup {
    let states: Vec<String> = STATES.iter().map(|state| state.name().to_string()).collect();
    let verdicts: Vec<String> = VERDICTS.iter().map(ToString::to_string).collect();
    html! {
        form.filter id="filter" method="get" action="/" role="search" {
            label { "Search " input type="search" name="q" value=(filter.q) placeholder="title, target, host ..."; }
            label { "Target " input type="search" name="target" value=(filter.target) list="targets" placeholder="go/net-http"; }
            label { "Plan " (choice("plan", &choices.plans, &filter.plan)) }
            label { "Host " (choice("host", &choices.hosts, &filter.host)) }
            label { "Worst verdict " (choice("verdict", &verdicts, &filter.verdict)) }
            label { "State " (choice("state", &states, &filter.state)) }
            label { "From " input type="date" name="from" value=(filter.from); }
            label { "To " input type="date" name="to" value=(filter.to); }
            button type="submit" { "Show" }
            datalist id="targets" { @for target in &choices.targets { option value=(target) {} } }
        }
    }
}

fn choice(name: &str, values: &[String], chosen: &str) -> Markup {
    html! { select name=(name) { option value="" { "any" } @for value in values { option value=(value) selected[*value == chosen] { (value) } } } }
}

fn table(runs: &[ListedRun], live: &[LiveRun]) -> Markup {
    html! {
        form method="get" action="/compare" {
            div.scroll tabindex="0" role="region" aria-label="Runs, scrolls sideways" {
                table.sortable.runs {
                    thead { tr {
                        th scope="col" { "Run" } th.wide scope="col" { "Kind" } th scope="col" { "Verdict" } th scope="col" { "Fastest" }
                        th.number scope="col" { "Requests/s" } th.number.wide scope="col" { "p99" } th.number.roomy scope="col" { "Calm slices" }
                        th.choice.roomy scope="col" { "Over time" } th scope="col" { "Started (UTC)" } th.choice scope="col" { "Compare" }
                    } }
                    tbody { @for run in runs { (line(run, live)) } }
                }
            }
            p { button type="submit" { "Compare the chosen runs" } }
        }
    }
}

/// The state in words. A run that has not ended is under way here or on another machine.
fn state(run: &ListedRun, live: &[LiveRun]) -> &'static str {
    match run.summary.state {
        RunState::Running if live.iter().any(|live| live.run == run.summary.id) => "under way",
        RunState::Running => "not ended",
        other => other.name(),
    }
}

fn line(run: &ListedRun, live: &[LiveRun]) -> Markup {
    let summary = &run.summary;
    let worst = VERDICTS.into_iter().find(|verdict| run.worst == Some(verdict.to_string()));
    let calm = run.digest.as_ref().and_then(|digest| digest.slices);
    let share = |CalmSlices { made, calm }: CalmSlices| calm as f64 / made.max(1) as f64;
    let first = run.digest.as_ref().and_then(|digest| digest.leaders().next());
    let is_search = summary.profile == "capacity";
    // What a search found is no rate of its best step.
    let rate = first.and_then(|it| if is_search { it.figure } else { it.goodput_per_s });
    let p99 = first.and_then(|it| it.p99_ns);
    html! {
        tr {
            th.wrap scope="row" { a href=(format!("/runs/{}", summary.id)) { (summary.title) } @if summary.quick { " " span.tag { "quick" } } @let labels = run.labels.in_a_line(); @if !labels.is_empty() { span.sub { (labels) } } @if let Some(note) = &run.labels.note { span.sub { (note) } } span.sub { (summary.id) } }
            td.wrap.wide { (kind(run)) span.sub { (summary.profile) } }
            td.wrap { @match worst { Some(verdict) => (badge(verdict)), None => (words::UNKNOWN) } @if let Some(digest) = &run.digest { span.sub { (in_words::trust_in_short(digest)) } } }
            td.wrap { (fastest(run)) }
            td.number data-value=[rate] { (words::count(rate)) }
            td.number.wide data-value=[p99] { (words::ns_f(p99)) }
            td.number.roomy data-value=[calm.map(share)] { @match calm { Some(calm) => { (calm.calm) " of " (calm.made) }, None => (words::UNKNOWN) } }
            td.roomy { @if let Some(digest) = &run.digest { (spark(&digest.spark)) } }
            td data-value=(summary.started_unix_ns / 1_000_000) {
                @let (day, time) = day_and_time(summary.started_unix_ns);
                (day) span.sub { (time) }
                @if summary.state != RunState::Finished { span.sub { (state(run, live)) } }
                span.sub { (run.host.as_deref().unwrap_or(words::UNKNOWN)) }
            }
            td { input type="checkbox" name="run" value=(summary.id) aria-label=(format!("Compare {}", summary.id)); }
        }
    }
}

/// What kind of run it is: a plan has its name.
fn kind(run: &ListedRun) -> &str {
    match run.summary.plan.as_str() {
        "load" => "load",
        "compare" => "comparison",
        plan => plan,
    }
}

/// When a run began: the day and the time to the second.
fn day_and_time(unix_ns: u64) -> (String, String) {
    let written = words::second(unix_ns);
    let mut parts = written.split(' ').map(Into::into);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

/// The fastest target, and of how many.
fn fastest(run: &ListedRun) -> Markup {
    let leaders: Vec<_> = run.digest.iter().flat_map(RunDigest::leaders).collect();
    let others = leaders.len().saturating_sub(1);
    html! {
        @match leaders.first() {
            None => (words::UNKNOWN),
            // The address of a single load stands in the run's name.
            Some(first) if first.target.is_url() && others == 0 => "",
            Some(first) => { (first.target) @if others > 0 { " and " (others) " more" } },
        }
        @if run.targets.len() > 1 { span.sub title=(run.targets.join(", ")) { "of " (run.targets.len()) " targets" } }
    }
}

/// The leading target, or how many targets cannot be told apart.
pub(crate) fn leader(digest: Option<&RunDigest>) -> Markup {
    let Some(digest) = digest else { return html! { (words::UNKNOWN) } };
    let leaders: Vec<_> = digest.leaders().collect();
    html! {
        @match leaders.as_slice() {
            [] => (words::UNKNOWN),
            [first, rest @ ..] => {
                // The address of a single load stands in the run's name.
                @if !first.target.is_url() || !rest.is_empty() { (first.target) }
                @if !rest.is_empty() { " and " (rest.len()) " more" }
                span.sub { (in_words::figure(digest, first.figure)) }
            }
        }
    }
}

/// The leader's answers per second over time, from 0 up.
fn spark(values: &[f64]) -> Markup {
    let most = values.iter().copied().fold(0.0, f64::max);
    if values.len() < 2 || most <= 0.0 {
        return html! {};
    }
    let step = 100.0 / (values.len() - 1) as f64;
    let points: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(place, value)| {
            format!("{:.1},{:.1}", place as f64 * step, 29.0 - 28.0 * value / most)
        })
        .collect();
    let words = format!(
        "Requests per second of the first target over time, at most {}",
        words::count(Some(most))
    );
    html! { svg.spark viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label=(words) { polyline points=(points.join(" ")) {} } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::run::digest::{MoreFigures, TargetDigest};
    use pippin_model::run::labels::Labels;
    use pippin_store::runs::RunSummary;

    #[test]
    fn a_filter_is_checked_before_it_is_asked() {
        let filter =
            Filter { from: "2026-11-22".into(), to: "2026-11-22".into(), ..Filter::default() };
        let asked = filter.for_store().unwrap();
        assert_eq!(asked.before_unix_ns.unwrap() - asked.from_unix_ns.unwrap(), DAY_NS);
        for (filter, part) in [
            (Filter { from: "yesterday".into(), ..Filter::default() }, "write it as 2026-11-22"),
            (Filter { state: "done".into(), ..Filter::default() }, "there are finished"),
            (Filter { verdict: "good".into(), ..Filter::default() }, "there are VALID"),
        ] {
            let error = filter.for_store().unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_row_has_the_figures_and_the_kind_of_its_run_to_the_second() {
        let record = pippin_model::example::run::rounds();
        let digest = in_words::from_view(&pippin_report::view::View::of(&record));
        let first = digest.leaders().next().unwrap().clone();
        let targets: Vec<String> =
            digest.targets.iter().map(|target| target.target.to_string()).collect();
        let run = |plan: &str| ListedRun {
            summary: RunSummary {
                id: record.header.id.clone(),
                started_unix_ns: 1_795_293_339_000_000_000,
                ended_unix_ns: Some(1_795_293_400_000_000_000),
                state: RunState::Finished,
                plan: plan.into(),
                title: "Hello World".into(),
                workload: "hello".into(),
                profile: "closed".into(),
                quick: false,
                trials: 3,
                targets: targets.len() as u64,
                invalid: 0,
            },
            host: Some("bench-1".into()),
            targets: targets.clone(),
            worst: None,
            labels: Labels::default(),
            digest: Some(digest.clone()),
        };
        let shown = line(&run("hello"), &[]).into_string();
        for part in [
            words::count(first.goodput_per_s),
            words::ns_f(first.p99_ns),
            first.target.to_string(),
            format!("of {} targets", targets.len()),
            "hello<span class=\"sub\">closed".into(),
            "2026-11-21<span class=\"sub\">20:35:39".into(),
        ] {
            assert!(shown.contains(&part), "{part}: {shown}");
        }
        assert!(!shown.contains("Can you trust it?"), "{shown}");
        assert!(line(&run("load"), &[]).into_string().contains("load<span"));
        assert!(line(&run("compare"), &[]).into_string().contains("comparison<span"));
    }

    #[test]
    fn leaders_that_cannot_be_told_apart_are_counted() {
        let target = |name: &str, ranks| TargetDigest {
            target: name.parse().unwrap(),
            verdict: Some(Verdict::Valid),
            ranks: Some(ranks),
            figure: Some(1_000.0),
            conformance: Vec::new(),
            goodput_per_s: Some(1e4),
            p99_ns: Some(2e6),
            more: MoreFigures::default(),
        };
        let digest = RunDigest {
            compared: String::new(),
            trust: "Can you trust it? Yes: it was looked at, and no doubt was found.".into(),
            trials: 1,
            load: "closed loop, 10 connections".into(),
            ranked_by: "goodput".into(),
            targets: vec![target("a/a", (1, 2)), target("b/b", (1, 2)), target("c/c", (3, 3))],
            worst: Some(Verdict::Valid),
            slices: None,
            spark: vec![1.0, 2.0],
            labels: Labels::default(),
        };
        let shown = leader(Some(&digest)).into_string();
        assert!(shown.contains("a/a and 1 more") && shown.contains("1,000 requests/s"), "{shown}");
        assert_eq!(leader(None).into_string(), words::UNKNOWN);
        assert!(spark(&digest.spark).into_string().contains("0.0,15.0 100.0,1.0"));
    }
}
