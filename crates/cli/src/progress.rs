//! What is told while something runs, on standard error.
use pippin_lab::observer::{Event, Observer, Silent};
use pippin_model::load_result::Window;
use pippin_model::trial::Step;
use pippin_model::units::{format_count, format_ns};

/// The observer of a run.
pub fn for_run(quiet: bool) -> Box<dyn Observer> {
    if quiet { Box::new(Silent) } else { Box::new(Lines) }
}

/// One line an event: for logs and continuous integration.
struct Lines;

impl Observer for Lines {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Note(text) => eprintln!("{text}"),
            Event::Unavailable(target, failure) => {
                eprintln!("{target} is unavailable: {}", failure.message);
                for line in &failure.log_tail {
                    eprintln!("    {line}");
                }
            }
            Event::RunStarted(header) => eprintln!("{}: {} ({} targets, seed {})", header.id, header.plan.title, header.plan.targets.len(), header.seed),
            Event::TrialStarted(spec, number, total) => {
                let step = match spec.step {
                    Some(Step::Connections { count }) => format!(", {count} connections"),
                    Some(Step::Rate { per_s }) => format!(", {} requests/s", format_count(per_s)),
                    None => String::new(),
                };
                eprintln!("[{number}/{total}] {} (repetition {}{step})", spec.target, spec.repetition + 1);
            }
            Event::TrialFinished(record) => match (&record.failure, &record.load) {
                (Some(failure), _) => {
                    eprintln!("        {}: {}", failure.stage.name(), failure.message);
                    for line in &failure.log_tail {
                        eprintln!("        | {line}");
                    }
                }
                (None, Some(load)) => {
                    let rate = load.measured.throughput_per_s().map_or("-".into(), format_count);
                    let p99 = load.measured.spans.response_time.quantile_ns(0.99).map_or("-".into(), format_ns);
                    eprintln!("        {rate} requests/s, p99 {p99}, {} errors, {}", load.measured.errors_total(), record.verdict);
                }
                (None, None) => {}
            },
            Event::Stage(_) | Event::Window(..) => {}
        }
    }
}

/// Told each second of a load.
pub trait LoadObserver: Sync {
    /// Another second.
    fn window(&self, window: &Window);
}

/// The observer of `pippin load`.
pub fn for_load(quiet: bool) -> Box<dyn LoadObserver> {
    if quiet { Box::new(NoLines) } else { Box::new(LoadLines) }
}

struct NoLines;

impl LoadObserver for NoLines {
    fn window(&self, _window: &Window) {}
}

struct LoadLines;

impl LoadObserver for LoadLines {
    fn window(&self, window: &Window) {
        let at = window.from_ns as f64 / 1e9;
        let seconds = window.duration_ns as f64 / 1e9;
        let rate = if seconds > 0.0 { format_count(window.completed as f64 / seconds) } else { "-".into() };
        let p99 = window.response_p99_ns.map_or("-".into(), format_ns);
        let warm = if window.from_ns < 0 { " warm-up" } else { "" };
        eprintln!("{at:>7.1} s  {rate:>10} requests/s  p99 {p99:>9}  {} errors  {} connections{warm}", window.errors, window.live_connections);
    }
}
