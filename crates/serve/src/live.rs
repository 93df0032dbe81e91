//! Runs under way: what they do, their progress, and what is still to come.
use maud::{Markup, PreEscaped, html};
use pippin_model::host::usage::Role;
use pippin_model::run::live::{
    LiveFinished, LiveOverall, LiveQueued, LiveRun, LiveSecond, LiveTrial, LiveUse,
};
use pippin_model::verdict::Verdict;
use pippin_report::html::figure;
use pippin_report::words;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{live_charts, live_standing};

/// Style rules of these parts.
pub const STYLE: &str = include_str!("live.css");
/// The script that reloads them each second.
pub const SCRIPT: &str = include_str!("live.js");
/// Height of a sparkline and width of a bar in drawing units. The sparkline is stretched to fit.
const HEIGHT: f64 = 100.0;
const BAR: f64 = 10.0;
/// The least number of seconds in a sparkline, so that the first bars are not wide blocks.
const FEWEST_BARS: usize = 30;

/// A part that the script reloads each second from `address`. Without a script, the whole page is
/// reloaded.
#[must_use]
pub fn asked_anew(address: &str, content: &Markup) -> Markup {
    html! {
        div data-live=(address) { (content) }
        noscript { meta http-equiv="refresh" content="3"; }
        script { (PreEscaped(SCRIPT)) }
    }
}

/// All runs under way in a few lines each, for the list.
#[must_use]
pub fn several(runs: &[LiveRun]) -> Markup {
    html! {
        @for live in runs {
            section.live aria-label="Run under way" {
                h2 { a href=(format!("/runs/{}", live.run)) { (live.title) } " " span.tag { "under way" } }
                @if let Some(trial) = &live.trial { p.now { (trial_in_words(trial, live.repetitions)) } }
                (overall(live))
            }
        }
    }
}

/// Everything about one run; `seen` is the number of finished trials on the page around it.
#[must_use]
pub fn one(live: &LiveRun, seen: u64) -> Markup {
    let new = (live.finished.len() as u64).saturating_sub(seen);
    html! {
        section.live id="live" aria-label="Run under way" {
            h2 { "Under way: " (live.title) @if live.is_stopping { " " span.tag { "stopping" } } }
            (overall(live))
            (live_standing::render(live))
            @match &live.trial {
                Some(trial) => (of_trial(trial, live.repetitions)),
                None => p.hint { "Between two trials." },
            }
            @if new > 0 { p { a href=(format!("/runs/{}", live.run)) { "Show the report with " (new) " more finished " @if new == 1 { "trial" } @else { "trials" } } } }
            (finished(&live.finished))
            (queued(&live.queued))
        }
    }
}

fn overall(live: &LiveRun) -> Markup {
    let Some(LiveOverall { number, at_most, fraction, left_ns }) = &live.overall else {
        return html! { p.hint { "Starting services." } };
    };
    let place = at_most.map_or_else(
        || format!("step {number} of a search"),
        |at_most| format!("trial {number} of {at_most}"),
    );
    way("The whole run", *fraction, &place, *left_ns)
}

/// A progress bar with words beside it.
fn way(name: &str, fraction: Option<f64>, place: &str, left_ns: Option<u64>) -> Markup {
    html! {
        div.way {
            @match fraction {
                Some(fraction) => progress aria-label=(name) max="1" value=(format!("{fraction:.3}")) {},
                None => progress aria-label=(name) {},
            }
            span { (place) @if let Some(left) = left_ns { ", " (words::length(left)) " left" } }
        }
    }
}

fn trial_in_words(trial: &LiveTrial, repetitions: u32) -> Markup {
    html! {
        strong { (trial.target) }
        @if repetitions > 1 { " · repetition " (trial.repetition + 1) " of " (repetitions) }
        " · " (trial.load) " · " (trial.stage)
    }
}

fn of_trial(trial: &LiveTrial, repetitions: u32) -> Markup {
    let now_ns =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let stage = format!(
        "{} {}",
        trial.stage,
        words::length(now_ns.saturating_sub(trial.stage_began_unix_ns))
    );
    html! {
        p.now { (trial_in_words(trial, repetitions)) }
        (way("This trial", trial.fraction, &stage, trial.left_ns))
        div.pair {
            (sparkline("Requests/s", &trial.seconds, |second| second.requests_per_s, |value| words::count(Some(value))))
            (sparkline("Response time p99", &trial.seconds, |second| second.p99_ns.map(|ns| ns as f64), |value| words::ns_f(Some(value))))
        }
        div.figures { @for chart in live_charts::charts(trial) { (figure(&chart)) } }
        dl.tiles {
            (tile("Errors", &words::whole(trial.errors), trial.errors > 0))
            (tile("Response time p50", &words::ns(trial.seconds.last().and_then(|second| second.p50_ns)), false))
            (tile("Open connections", &format!("{} of {}", trial.live_connections.map_or_else(|| words::UNKNOWN.into(), words::whole), words::whole(u64::from(trial.asked))), false))
            @for of in &trial.uses { (cpu(of)) }
            (tile("Memory of the target", &words::bytes(trial.target_memory_bytes), false))
        }
    }
}

fn tile(name: &str, value: &str, is_bad: bool) -> Markup {
    html! { div { dt { (name) } dd .bad[is_bad] { (value) } } }
}

fn cpu(of: &LiveUse) -> Markup {
    let name = match of.role {
        Role::Target => "CPU of the target",
        Role::Generator => "CPU of the generator",
        Role::Services => "CPU of the services",
    };
    let given = match of.given {
        0 => " cores".into(),
        1 => " of 1 core".into(),
        more => format!(" of {more} cores"),
    };
    // A generator that is fully busy measures itself.
    let is_full = of.role == Role::Generator
        && of.cores.is_some_and(|cores| cores > 0.95 * f64::from(of.given.max(1)));
    tile(
        name,
        &format!(
            "{}{given}",
            of.cores.map_or_else(|| words::UNKNOWN.into(), |cores| format!("{cores:.2}"))
        ),
        is_full,
    )
}

/// One bar for each second: grey in the warm-up, red if there were errors.
fn sparkline(
    name: &str,
    seconds: &[LiveSecond],
    value: impl Fn(&LiveSecond) -> Option<f64>,
    write: impl Fn(f64) -> String,
) -> Markup {
    let most = seconds.iter().filter_map(&value).fold(0.0, f64::max);
    let newest = seconds.last().and_then(&value).map_or_else(|| words::UNKNOWN.to_string(), &write);
    let width = seconds.len().max(FEWEST_BARS) as f64 * BAR;
    let words = if most > 0.0 { format!("highest {}", write(most)) } else { "nothing yet".into() };
    html! {
        div {
            p { span { (name) " " strong { (newest) } } span.hint { (words) } }
            svg viewBox=(format!("0 0 {width} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(format!("{name} over {} seconds: now {newest}, {words}", seconds.len())) {
                @for (place, second) in seconds.iter().enumerate() {
                    @if let Some(value) = value(second).filter(|_| most > 0.0) {
                        @let height = (value / most * (HEIGHT - 4.0)).max(1.0);
                        rect class=(colour(second)) x=(place as f64 * BAR + 1.0) width=(BAR - 2.0) y=(format!("{:.1}", HEIGHT - height)) height=(format!("{height:.1}")) {}
                    }
                }
            }
        }
    }
}

const fn colour(second: &LiveSecond) -> &'static str {
    match second {
        LiveSecond { errors: 1.., .. } => "bad",
        LiveSecond { from_ns: ..0, .. } => "warm",
        _ => "bar",
    }
}

/// The finished trials, the newest first.
fn finished(trials: &[LiveFinished]) -> Markup {
    html! {
        @if !trials.is_empty() {
            h3 { "Finished" span.count { (trials.len()) } }
            div.scroll tabindex="0" role="region" aria-label="Finished trials, scrolls sideways" {
                table {
                    thead { tr { th scope="col" { "Target" } th.number scope="col" { "Repetition" } th.number scope="col" { "Requests/s" } th.number scope="col" { "p99" } th.number scope="col" { "Errors" } th scope="col" { "Verdict" } th scope="col" { "First caveat" } } }
                    tbody { @for trial in trials.iter().rev() { (line(trial)) } }
                }
            }
        }
    }
}

fn line(trial: &LiveFinished) -> Markup {
    let badge = match trial.verdict {
        Verdict::Valid => "valid",
        Verdict::Suspect => "suspect",
        Verdict::Invalid => "invalid",
    };
    html! {
        tr .invalid[trial.verdict == Verdict::Invalid] {
            th scope="row" { (trial.target) @if let Some(step) = &trial.step { span.sub { (step) } } }
            td.number { (trial.repetition + 1) }
            td.number { (words::count(trial.requests_per_s)) }
            td.number { (words::ns(trial.p99_ns)) }
            td.number { (trial.errors.map_or_else(|| words::UNKNOWN.into(), words::whole)) }
            td { span class=(format!("badge {badge}")) { (trial.verdict) } }
            td.wrap { @if let Some(stage) = &trial.failed_at { "failed at " (stage) ": " } (trial.remark.as_deref().unwrap_or_default()) }
        }
    }
}

fn queued(trials: &[LiveQueued]) -> Markup {
    html! {
        @if !trials.is_empty() {
            h3 { "To come" span.count { (trials.len()) } }
            ol { @for next in trials { li { (next.target) span.hint { " repetition " (next.repetition + 1) } } } }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use pippin_model::run::live::ProcessName;

    fn second(from_s: i64, rate: f64, errors: u64) -> LiveSecond {
        LiveSecond {
            from_ns: from_s * 1_000_000_000,
            requests_per_s: Some(rate),
            offered_per_s: None,
            p50_ns: Some(900_000),
            p99_ns: Some(4_000_000),
            errors,
            target_cores: Some(0.9),
            generator_cores: None,
        }
    }

    pub fn live() -> LiveRun {
        let target = |name: &str| name.parse().unwrap();
        LiveRun {
            run: "20261121-203539-hello".into(),
            title: "Hello <World>".into(),
            process: ProcessName { pid: 1, start_ticks: 1 },
            updated_unix_ns: 0,
            is_stopping: false,
            repetitions: 3,
            by_time: false,
            trial: Some(LiveTrial {
                target: target("go/net-http"),
                repetition: 1,
                load: "10 connections".into(),
                stage: "measuring".into(),
                stage_began_unix_ns: 0,
                fraction: Some(0.25),
                left_ns: Some(7_000_000_000),
                seconds: vec![second(-1, 500.0, 0), second(0, 1_000.0, 0), second(1, 2_000.0, 3)],
                errors: 3,
                live_connections: None,
                asked: 10,
                uses: vec![
                    LiveUse { role: Role::Target, cores: Some(0.98), given: 1 },
                    LiveUse { role: Role::Generator, cores: None, given: 1 },
                ],
                target_memory_bytes: Some(34 << 20),
            }),
            overall: Some(LiveOverall {
                number: 2,
                at_most: Some(6),
                fraction: Some(0.3),
                left_ns: Some(90_000_000_000),
            }),
            finished: vec![LiveFinished {
                target: target("c/nginx"),
                repetition: 0,
                step: None,
                requests_per_s: None,
                p99_ns: None,
                p50_ns: None,
                errors: None,
                verdict: Verdict::Invalid,
                failed_at: Some("start".into()),
                remark: Some("<exit>".into()),
                more_caveats: 0,
            }],
            queued: vec![LiveQueued { target: target("rust/axum"), repetition: 1 }],
        }
    }

    #[test]
    fn everything_that_a_run_tells_is_shown() {
        let page = one(&live(), 0).into_string();
        for part in [
            "trial 2 of 6, 1 min 30 s left",
            "<strong>go/net-http</strong> · repetition 2 of 3 · 10 connections · measuring",
            "7 s left",
            "Requests/s <strong>2,000</strong>",
            "Response time p99 <strong>4.00 ms</strong>",
            "0.98 of 1 core",
            "class=\"warm\"",
            "class=\"bad\"",
            "with 1 more finished trial<",
            "failed at start: &lt;exit&gt;",
            "id=\"chart-live-cpu\"",
            "class=\"plot-data\"",
            "rust/axum<span class=\"hint\"> repetition 2",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        // Unknown is not shown as 0.
        assert!(page.contains("– of 10") && page.contains("– of 1 core"), "{page}");
        assert!(
            !one(&live(), 1).into_string().contains("more finished"),
            "the page shows it already"
        );
    }

    #[test]
    fn the_list_has_each_run_in_few_lines() {
        let list = several(&[live()]).into_string();
        assert!(
            list.contains("href=\"/runs/20261121-203539-hello\"")
                && list.contains("Hello &lt;World&gt;")
                && list.contains("trial 2 of 6"),
            "{list}"
        );
    }
}
