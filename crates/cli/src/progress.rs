//! What is told while something runs, on standard error: a live view on a terminal, plain lines
//! elsewhere, nothing where that is wished.
use pippin_lab::observer::{Event, Observer, Silent};
use pippin_model::load_result::Window;
use pippin_model::trial::{Step, TrialRecord, TrialSpec};
use pippin_model::units::{counted, format_count, format_ns};

use crate::live::{Live, Subject, choice};
use crate::output;

/// The observer of a run or of a load.
pub fn observer(quiet: bool, subject: Subject) -> Box<dyn Observer> {
    match choice::look() {
        _ if quiet => Box::new(Silent),
        Some(look) => Box::new(Live::new(subject, look)),
        None => Box::new(Lines::of(&subject)),
    }
}

/// Plain lines, for logs and continuous integration.
pub struct Lines {
    /// A run tells of each trial, a load of each second.
    each_second: bool,
}

impl Lines {
    /// The lines that fit what is measured.
    pub const fn of(subject: &Subject) -> Self {
        Self { each_second: matches!(subject, Subject::Url(_)) }
    }

    /// What is told of an event.
    pub fn lines(&self, event: &Event<'_>) -> Vec<String> {
        match event {
            Event::Note(text) => vec![(*text).to_string()],
            Event::Unavailable(target, failure) => with_tail(
                format!("{target} is unavailable: {}", failure.message),
                "    ",
                &failure.log_tail,
            ),
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
                words(spec.step).into_iter().collect()
            }
            Event::TrialStarted(spec, number, total) => vec![announcement(spec, *number, *total)],
            Event::TrialFinished(record) if !self.each_second => outcome(record),
            Event::Window(window, _) if self.each_second => vec![second(window)],
            Event::TrialFinished(_) | Event::Slice(..) | Event::Stage(_) | Event::Window(..) => {
                Vec::new()
            }
        }
    }
}

impl Observer for Lines {
    fn event(&self, event: &Event<'_>) {
        for line in self.lines(event) {
            output::say(line);
        }
    }
}

fn with_tail(first: String, before: &str, tail: &[String]) -> Vec<String> {
    std::iter::once(first).chain(tail.iter().map(|line| format!("{before}{line}"))).collect()
}

fn words(step: Option<Step>) -> Option<String> {
    match step? {
        Step::Connections { count } => Some(format!("{count} connections")),
        Step::Rate { per_s } => Some(format!("{} requests/s", format_count(per_s))),
    }
}

fn announcement(spec: &TrialSpec, number: usize, total: usize) -> String {
    let step = words(spec.step).map_or(String::new(), |step| format!(", {step}"));
    // A search takes as many steps as it needs.
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
            let p99 = measured.spans.response_time.quantile_ns(0.99).map_or("-".into(), format_ns);
            vec![format!(
                "        {}: {rate} requests/s, p99 {p99}, {} errors, {}",
                record.spec.target,
                measured.errors_total(),
                record.verdict
            )]
        }
        (None, None) => Vec::new(),
    }
}

fn second(window: &Window) -> String {
    // How long the warm-up takes is not known before it ends.
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
        "{at:>9}  {rate:>10} requests/s  p99 {p99:>9}  {} errors  {} connections",
        window.errors, window.live_connections
    )
}
