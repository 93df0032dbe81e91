//! `pippin history`
use pippin_model::units::{format_count, format_ns};

use super::{Shared, print, root};
use crate::arguments::HistoryArguments;
use crate::exit::CliError;

pub fn run(shared: &Shared, arguments: &HistoryArguments) -> Result<u8, CliError> {
    let store = shared.store(&root()?)?;
    let mut out = String::new();
    match &arguments.target {
        Some(target) => {
            let points = store.history(target)?;
            out.push_str(&format!("{:<40} {:<14} {:>14} {:>12}  {}\n", "run", "plan", "right/s", "p99", "verdict"));
            for point in points.iter().rev().take(arguments.number) {
                let rate = point.goodput_per_s.map_or("-".into(), format_count);
                let p99 = point.p99_ns.map_or("-".into(), format_ns);
                out.push_str(&format!("{:<40} {:<14} {rate:>14} {p99:>12}  {}\n", point.run, point.plan, point.verdict));
            }
        }
        None => {
            out.push_str(&format!("{:<40} {:<12} {:>8} {:>8} {:>8}  {}\n", "run", "state", "targets", "trials", "invalid", "title"));
            for run in store.list()?.iter().take(arguments.number) {
                let quick = if run.quick { " (quick)" } else { "" };
                out.push_str(&format!(
                    "{:<40} {:<12} {:>8} {:>8} {:>8}  {}{quick}\n",
                    run.id,
                    run.state.name(),
                    run.targets,
                    run.trials,
                    run.invalid,
                    run.title
                ));
            }
        }
    }
    print(out.as_bytes())
}
