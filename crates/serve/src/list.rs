//! Runs with filter and search.
use maud::{Markup, html};
use pippin_model::live::LiveRun;
use pippin_model::run::RunState;
use pippin_report::words;
use pippin_store::runs::RunSummary;
use serde::Deserialize;

/// What the list is narrowed to; as it stands in the address.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Filter {
    /// Words that must all occur in name, plan, title, workload, profile or state.
    #[serde(default)]
    pub q: String,
    /// Only this plan.
    #[serde(default)]
    pub plan: String,
    /// Only this state.
    #[serde(default)]
    pub state: String,
}

impl Filter {
    /// Whether a run is shown.
    #[must_use]
    pub fn keeps(&self, run: &RunSummary) -> bool {
        let all = format!(
            "{} {} {} {} {} {}",
            run.id,
            run.plan,
            run.title,
            run.workload,
            run.profile,
            run.state.name()
        )
        .to_lowercase();
        let words_occur = self.q.to_lowercase().split_whitespace().all(|word| all.contains(word));
        words_occur
            && (self.plan.is_empty() || self.plan == run.plan)
            && (self.state.is_empty() || self.state == run.state.name())
    }
}

/// The list, below what is told of runs under way.
#[must_use]
pub fn body(runs: &[RunSummary], filter: &Filter, live: &[LiveRun], under_way: &Markup) -> Markup {
    let shown: Vec<&RunSummary> = runs.iter().filter(|run| filter.keeps(run)).collect();
    let mut plans: Vec<&str> = runs.iter().map(|run| run.plan.as_str()).collect();
    plans.sort_unstable();
    plans.dedup();
    html! {
        main id="main" {
            (under_way)
            h1 { "Runs" }
            form.filter method="get" action="/" role="search" {
                label { "Search " input type="search" name="q" value=(filter.q) placeholder="plan, title, workload, state"; }
                label { "Plan " (choice("plan", &plans, &filter.plan)) }
                label { "State " (choice("state", &["finished", "interrupted", "failed", "killed", "running"], &filter.state)) }
                button type="submit" { "Show" }
            }
            p.hint { (shown.len()) " of " (runs.len()) " runs" }
            @if shown.is_empty() { p { "No run matches." @if runs.is_empty() { " `pippin run hello --quick` makes one." } } }
            @else { (table(&shown, live)) }
        }
    }
}

fn choice(name: &str, values: &[&str], chosen: &str) -> Markup {
    html! { select name=(name) { option value="" { "any" } @for value in values { option value=(value) selected[*value == chosen] { (value) } } } }
}

fn table(runs: &[&RunSummary], live: &[LiveRun]) -> Markup {
    html! {
        form method="get" action="/compare" {
            div.scroll tabindex="0" role="region" aria-label="Runs, scrolls sideways" {
                table.sortable {
                    thead { tr { th scope="col" { "Run" } th scope="col" { "Title" } th scope="col" { "Started" } th scope="col" { "Profile" } th scope="col" { "State" } th.number scope="col" { "Targets" } th.number scope="col" { "Trials" } th.number scope="col" { "Invalid" } th.choice scope="col" { "A" } th.choice scope="col" { "B" } } }
                    tbody { @for run in runs { (line(run, live)) } }
                }
            }
            p { button type="submit" { "Compare A with B" } }
        }
    }
}

/// A run that has not ended is under way here, or another machine makes it.
fn state(run: &RunSummary, live: &[LiveRun]) -> &'static str {
    match run.state {
        RunState::Running if live.iter().any(|live| live.run == run.id) => "under way",
        RunState::Running => "not ended",
        other => other.name(),
    }
}

fn line(run: &RunSummary, live: &[LiveRun]) -> Markup {
    html! {
        tr {
            th scope="row" { a href=(format!("/runs/{}", run.id)) { (run.id) } }
            td { (run.title) @if run.quick { " " span.tag { "quick" } } }
            td data-value=(run.started_unix_ns / 1_000_000) { (words::time(run.started_unix_ns)) }
            td { (run.profile) }
            td { (state(run, live)) }
            td.number { (run.targets) }
            td.number { (run.trials) }
            td.number { (run.invalid) }
            td { input type="radio" name="a" value=(run.id) aria-label=(format!("{} is A", run.id)); }
            td { input type="radio" name="b" value=(run.id) aria-label=(format!("{} is B", run.id)); }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_must_occur() {
        let run = RunSummary {
            id: "20261121-203539-hello".into(),
            started_unix_ns: 0,
            ended_unix_ns: None,
            state: RunState::Finished,
            plan: "hello".into(),
            title: "Hello World".into(),
            workload: "hello".into(),
            profile: "closed".into(),
            quick: false,
            trials: 1,
            targets: 1,
            invalid: 0,
        };
        let filter = |q: &str, plan: &str, state: &str| Filter {
            q: q.into(),
            plan: plan.into(),
            state: state.into(),
        };
        assert!(
            filter("", "", "").keeps(&run)
                && filter("WORLD closed", "hello", "finished").keeps(&run)
        );
        assert_eq!(
            (state(&run, &[]), state(&RunSummary { state: RunState::Running, ..run.clone() }, &[])),
            ("finished", "not ended")
        );
        assert!(
            !filter("world open", "", "").keeps(&run)
                && !filter("", "users", "").keeps(&run)
                && !filter("", "", "running").keeps(&run)
        );
    }
}
