//! Progress on standard error: a live view on a terminal, plain lines elsewhere, nothing if the
//! user wants it quiet.
use pippin_lab::run::observer::Event;
use pippin_model::result::Window;
use pippin_model::target::TargetId;
use pippin_model::text::units::{counted, format_count, format_ns};
use pippin_model::trial::{Failure, Step, TrialRecord, TrialSpec};
use pippin_stats::rank::due;
use pippin_store::Store;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::live::{Follower, Outlet, Subject, choice};

/// How progress is shown, as the command line says.
#[derive(Debug, Clone, Copy)]
pub struct ProgressStyle {
    /// Not at all.
    pub quiet: bool,
    /// With colours, where the terminal has them.
    pub colour: bool,
}

/// The observer of a run or a load. With a store, `pippin serve` can show its progress.
pub fn observer<'a>(
    manner: ProgressStyle,
    subject: Subject,
    store: Option<&'a Store>,
) -> Follower<'a> {
    let outlet = match choice::look(manner.colour) {
        _ if manner.quiet => Outlet::Nobody,
        Some(look) => Outlet::Terminal(look),
        None => Outlet::Lines,
    };
    Follower::new(subject, outlet, store)
}

/// Plain lines, for logs and continuous integration.
pub struct Lines {
    /// Whether to write a line for each second (a load) or for each trial (a run).
    each_second: bool,
    /// Why targets are unavailable, and the first that each cause was told of.
    causes: Mutex<BTreeMap<String, TargetId>>,
}

impl Lines {
    /// The lines for this subject.
    pub fn from_subject(subject: &Subject) -> Self {
        let each_second = matches!(subject, Subject::Url(_));
        Self { each_second, causes: Mutex::new(BTreeMap::new()) }
    }

    /// The lines for an event.
    pub fn lines(&self, event: &Event<'_>) -> Vec<String> {
        match event {
            Event::Note(text) => vec![(*text).to_string()],
            Event::NotStored(why) => vec![format!("this is not stored: {why}")],
            Event::Unavailable(target, failure) if target.is_own() => {
                // Why one's own server cannot be built is worth more than a line.
                with_tail(self.unavailable(target, failure), "    ", &failure.log_tail)
            }
            Event::Unavailable(target, failure) => vec![self.unavailable(target, failure)],
            Event::RunStarted(_) if self.each_second => Vec::new(),
            Event::RunStarted(header) => {
                vec![format!(
                    "{}: {} ({}, seed {})",
                    header.id,
                    header.plan.title,
                    counted(header.plan.targets.len() as u64, "target"),
                    header.seed
                )]
            }
            Event::TrialStarted(spec, ..) if self.each_second => {
                spec.step.map(Step::in_words).into_iter().collect()
            }
            Event::TrialStarted(spec, number, total) => vec![announcement(spec, *number, *total)],
            Event::TrialFinished(record) if !self.each_second => outcome(record),
            Event::Window(window, _) if self.each_second => vec![second(window)],
            Event::WarmingUp(words) if self.each_second => vec![format!("warming up: {words}")],
            Event::TrialFinished(_)
            | Event::Slice(..)
            | Event::Stage(_)
            | Event::WarmingUp(_)
            | Event::Window(..) => Vec::new(),
        }
    }
}

impl Lines {
    /// One line; the cause stands in that of the first target that it keeps away. The page has the
    /// log.
    fn unavailable(&self, target: &TargetId, failure: &Failure) -> String {
        let cause = failure.message.lines().next().unwrap_or_default();
        let mut causes = self.causes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = causes.get(cause) {
            return format!("{target} is unavailable, as {first} is");
        }
        causes.insert(cause.into(), target.clone());
        format!("{target} is unavailable: {cause}")
    }
}

fn with_tail(first: String, before: &str, tail: &[String]) -> Vec<String> {
    std::iter::once(first).chain(tail.iter().map(|line| format!("{before}{line}"))).collect()
}

fn announcement(spec: &TrialSpec, number: usize, total: usize) -> String {
    let step = spec.step.map_or(String::new(), |step| format!(", {}", step.in_words()));
    // The number of steps of a search is not known beforehand.
    let of = if number <= total { format!("/{total}") } else { String::new() };
    format!("[{number}{of}] {} (repetition {}{step})", spec.target, spec.repetition + 1)
}

fn outcome(record: &TrialRecord) -> Vec<String> {
    match (&record.failure, &record.load) {
        (Some(failure), _) => {
            let first = format!(
                "        {} failed at {}: {}",
                record.spec.target,
                failure.stage.name(),
                failure.message
            );
            with_tail(first, "        | ", &failure.log_tail)
        }
        (None, Some(load)) => {
            let measured = &load.measured;
            let rate = measured.throughput_per_s().map_or("-".into(), format_count);
            let p99 = due::quantile_ns(measured, 0.99).map_or("-".into(), format_ns);
            vec![format!(
                "        {}: {rate} requests/s, response p99 {p99}, {}, {}",
                record.spec.target,
                counted(measured.errors_total(), "error"),
                record.verdict
            )]
        }
        (None, None) => Vec::new(),
    }
}

fn second(window: &Window) -> String {
    // The length of the warm-up is not known before it ends.
    let at = if window.from_ns < 0 {
        "warm-up".to_string()
    } else {
        format!("{:.1} s", window.from_ns as f64 / 1e9)
    };
    let seconds = window.duration_ns as f64 / 1e9;
    let rate =
        if seconds > 0.0 { format_count(window.completed as f64 / seconds) } else { "-".into() };
    let p99 = window.response_p99_ns.map_or("-".into(), format_ns);
    format!(
        "{at:>9}  {rate:>10} requests/s  response p99 {p99:>9}  {}  {}",
        counted(window.errors, "error"),
        counted(window.live_connections, "connection")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::trial::Stage;

    #[test]
    fn a_load_says_what_its_warm_up_waits_for_and_a_run_does_not() {
        let words = "the JVM compiles, 24 % of a processor";
        let load = Lines::from_subject(&Subject::Url("http://[::1]/".into()));
        let wanted = ["warming up: the JVM compiles, 24 % of a processor"];
        assert_eq!(load.lines(&Event::WarmingUp(words)), wanted);
        assert!(Lines::from_subject(&Subject::Plan).lines(&Event::WarmingUp(words)).is_empty());
    }

    #[test]
    fn unavailable_targets_have_a_line_each_and_a_cause_is_said_once() {
        let lines = Lines::from_subject(&Subject::Plan);
        let told = |target: &str, message: &str| {
            let failure = Failure {
                stage: Stage::Install,
                message: message.into(),
                log_tail: vec!["fetching".into(), "no such host".into()],
            };
            lines.lines(&Event::Unavailable(&target.parse().unwrap(), &failure))
        };
        let cause = "hex.pm cannot be reached";
        assert_eq!(
            told("elixir/plug", cause),
            ["elixir/plug is unavailable: hex.pm cannot be reached"]
        );
        assert_eq!(
            told("elixir/phoenix", cause),
            ["elixir/phoenix is unavailable, as elixir/plug is"]
        );
        let log = ["    fetching", "    no such host"];
        let own = ["own/shop is unavailable: npm is missing", log[0], log[1]];
        assert_eq!(told("own/shop", "npm is missing"), own);
        assert_eq!(
            told("ruby/rails", "ruby is missing\nhelp"),
            ["ruby/rails is unavailable: ruby is missing"]
        );
    }
}
