//! `make warm`: whether a load of a fresh start measures a warm server, or says that it does not.
//!
//! A server on a runtime that compiles while it serves is started anew many times. Its first load, as
//! a user would make it, is compared with another one after a minute of load. The machine may change
//! its speed meanwhile, so a native server, which is as it is from the start, is measured after each of
//! the two, on the same processor; only what the runtime's server changed more than that one counts.
//! Where other programs disturbed what a first load that is VALID is compared with, or the machine itself changed by
//! more than the tolerance, nothing is known of it, and the start is made again.
//!
//! | module | what it holds |
//! |---|---|
//! | `servers` | the servers, and how they are started on one processor |
//! | `order` | one server with three kinds of compiling as the targets of a plan |
mod order;
mod servers;

use clap::Args;
use pippin_model::figure::Figure;
use pippin_model::text::units::format_ns;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Severity, Verdict};
use pippin_stats::judge::noisy_neighbour::IDS as DISTURBED;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::measured::measured;
use crate::results::{self, Machine};
use crate::sense;
use crate::server::Server as Native;
use servers::{Built, Kind};

/// Seconds that a load of the native server measures.
const CONTROL_S: u32 = 4;
/// At most so many starts are made for each that counts.
const TRIES: usize = 2;
/// The first load must need as much processor time for a request as the later one, within this.
const NEAR: f64 = 0.05;

/// `pippin-bench warm`
#[derive(Debug, Args)]
pub struct WarmArguments {
    /// Fresh starts of each runtime.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=1000))]
    starts: u32,
    /// Seconds that each load measures.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Seconds of load between the first measured load and the later one.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    between: u32,
    /// Repetitions of the plan that compares three kinds of compiling; 0 leaves it out.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100))]
    repetitions: u32,
    /// Only these runtimes (comma-separated): jvm, node.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Results of before, whose starts count too: only what they lack is done.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Begin no start after so many minutes, and leave the plan out; go on later, with --with.
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=1440))]
    minutes: Option<u32>,
    /// Two starts, loads of 5 s, 20 s between and one repetition: to check that everything works, not
    /// to quote.
    #[arg(long, conflicts_with_all = ["starts", "seconds", "between", "repetitions"])]
    quick: bool,
    /// The server's processor.
    #[arg(long, default_value_t = 0)]
    server_core: u32,
    /// The program that measures; by default `pippin` beside this one.
    #[arg(long, value_name = "FILE")]
    pippin: Option<PathBuf>,
    /// Folder for the result as JSON.
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    results: PathBuf,
}

/// How long everything takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Form {
    starts: u32,
    seconds: u32,
    between_s: u32,
    repetitions: u32,
}

impl Form {
    const fn from_arguments(arguments: &WarmArguments) -> Self {
        if arguments.quick {
            return Self { starts: 2, seconds: 5, between_s: 20, repetitions: 1 };
        }
        let WarmArguments { starts, seconds, between, repetitions, .. } = *arguments;
        Self { starts, seconds, between_s: between, repetitions }
    }
}

/// What a load said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Said {
    /// Processor time of the server for a request, in nanoseconds; `None` if it is unknown.
    cpu_ns: Option<f64>,
    requests_per_s: Option<f64>,
    warm_up_ns: u64,
    verdict: Verdict,
    /// The caveats behind the verdict, without notes.
    doubts: Vec<String>,
}

impl Said {
    fn from_trial(trial: &TrialRecord) -> Self {
        Self {
            cpu_ns: Figure::Cpu.read(trial),
            requests_per_s: Figure::Goodput.read(trial),
            warm_up_ns: trial.load.as_ref().map_or(0, |load| load.warm_up.duration_ns),
            verdict: trial.verdict,
            doubts: doubts(trial).collect(),
        }
    }
}

/// The caveats behind a trial's verdict, without notes.
fn doubts(trial: &TrialRecord) -> impl Iterator<Item = String> {
    let doubts = trial.caveats.iter().filter(|caveat| caveat.severity > Severity::Note);
    doubts.map(|caveat| caveat.id.clone())
}

/// A fresh start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Start {
    runtime: String,
    first: Said,
    later: Said,
    /// The native server after each of them.
    controls: [Said; 2],
}

/// Whether two loads needed as much for a request, by their ratio.
fn is_near(ratio: f64) -> bool {
    (ratio - 1.0).abs() <= NEAR
}

/// One load's processor time of a request over another one's.
fn ratio(one: &Said, other: &Said) -> Option<f64> {
    Some(one.cpu_ns.filter(|ns| *ns > 0.0)? / other.cpu_ns.filter(|ns| *ns > 0.0)?)
}

impl Start {
    /// By how much the machine was slower at the first load than at the later one.
    fn of_machine(&self) -> Option<f64> {
        let [first, later] = &self.controls;
        ratio(first, later)
    }

    /// The first load's processor time of a request over the later one's, without what the machine
    /// changed.
    fn ratio(&self) -> Option<f64> {
        Some(ratio(&self.first, &self.later)? / self.of_machine()?)
    }

    /// Whether it shows if the first load was right: that load says itself that it may mislead, or nobody
    /// disturbed those that it is compared with. A machine that changed by more than the tolerance shows nothing: two
    /// programs need not change alike.
    fn counts(&self) -> bool {
        let is_calm = |said: &Said| !said.doubts.iter().any(|id| DISTURBED.contains(&id.as_str()));
        self.first.verdict != Verdict::Valid
            || self.later.verdict == Verdict::Valid
                && self.controls.iter().all(is_calm)
                && self.of_machine().is_some_and(is_near)
    }

    /// Whether the first load measured a warm server or says that it may mislead.
    fn is_right(&self) -> bool {
        self.first.verdict != Verdict::Valid || self.ratio().is_some_and(is_near)
    }
}

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    unix_seconds: u64,
    form: Form,
    machine: Machine,
    /// Those of this run.
    starts: &'a [Start],
    /// The files of runs before it that the printed sums have too.
    with: &'a [PathBuf],
    order: Option<&'a order::Order>,
}

/// What is read of a result of before.
#[derive(Deserialize)]
struct Earlier {
    form: Form,
    starts: Vec<Start>,
}

/// The starts of earlier results, which must have been made in the same form.
fn earlier(files: &[PathBuf], form: Form) -> Result<Vec<Start>, String> {
    let mut all = Vec::new();
    for file in files {
        let of_file = |error: String| format!("--with {}: {error}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| of_file(error.to_string()))?;
        let found: Earlier =
            serde_json::from_str(&text).map_err(|error| of_file(error.to_string()))?;
        let length = |form: Form| (form.seconds, form.between_s);
        if length(found.form) != length(form) {
            return Err(of_file("its loads have another length than those of this run".into()));
        }
        all.extend(found.starts);
    }
    Ok(all)
}

/// Of which runtime a start is made next: of the one with the fewest, because the machine changes its speed
/// over an hour. `None` if all have enough that count, or were tried too often.
fn next(kinds: &[Kind], starts: u32, made: &[Start]) -> Option<Kind> {
    let starts = starts as usize;
    let of = |kind: Kind| made.iter().filter(move |start| start.runtime == kind.name());
    let counting = |kind: Kind| of(kind).filter(|start| start.counts()).count();
    let is_open = |kind: &Kind| counting(*kind) < starts && of(*kind).count() < TRIES * starts;
    kinds.iter().copied().filter(is_open).min_by_key(|kind| of(*kind).count())
}

/// Runs everything, prints the tables and keeps them.
pub fn run(arguments: &WarmArguments) -> Result<(), String> {
    let pippin = sense::program(arguments.pippin.as_deref())?;
    let form = Form::from_arguments(arguments);
    let kinds = Kind::chosen(&arguments.only)?;
    let before = earlier(&arguments.with, form)?;
    let built = Built::new(arguments.server_core)?;
    let until = arguments.minutes.map(|m| Instant::now() + Duration::from_secs(60 * u64::from(m)));
    let mut all = before.clone();
    let unix_seconds = results::unix_seconds();
    // After each start: who stops an hour of measuring keeps what was measured.
    let keep = |all: &[Start], order: Option<&order::Order>| {
        let kept = Results {
            schema: "pippin-warm/2",
            unix_seconds,
            form,
            machine: results::machine(),
            starts: &all[before.len()..],
            with: &arguments.with,
            order,
        };
        results::write(&arguments.results, &format!("warm-{unix_seconds}"), &kept)
    };
    let heads = ["runtime", "warm-up", "first", "later", "machine", "ratio", "verdict", "doubts"];
    println!("{}", line(heads));
    while let Some(kind) = next(&kinds, form.starts, &all) {
        if until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        let start = fresh_start(&pippin, &built, kind, form)?;
        println!("{}", told(&start));
        all.push(start);
        keep(&all, None)?;
    }
    for kind in &kinds {
        println!("{}", summed(kind.name(), &all));
    }
    let order = (form.repetitions > 0 && until.is_none())
        .then(|| order::run(&pippin, &built, form.seconds, form.repetitions))
        .transpose()?;
    if let Some(order) = &order {
        println!("\n{}", order.table());
    }
    let path = keep(&all, order.as_ref())?;
    eprintln!("kept in {}", path.display());
    Ok(())
}

fn fresh_start(pippin: &Path, built: &Built, kind: Kind, form: Form) -> Result<Start, String> {
    let server = built.start(kind)?;
    let native = Native::null(built.core())?;
    let control = || load(pippin, &native.url(), &["-d", &format!("{CONTROL_S}s")]);
    let first = load(pippin, &server.url(), &["-d", &format!("{}s", form.seconds)])?;
    let before = control()?;
    // Without a load, nothing is compiled.
    load(pippin, &server.url(), &["-d", &format!("{}s", form.between_s), "--warm-up", "none"])?;
    let later = load(pippin, &server.url(), &["-d", &format!("{}s", form.seconds)])?;
    let controls = [Said::from_trial(&before), Said::from_trial(&control()?)];
    Ok(Start {
        runtime: kind.name().into(),
        first: Said::from_trial(&first),
        later: Said::from_trial(&later),
        controls,
    })
}

/// What a load of a URL says, with a store of its own.
fn load(pippin: &Path, url: &str, how: &[&str]) -> Result<TrialRecord, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let load = ["load", url, "--quiet", "-c", "10"];
    let run = measured(pippin, folder.path(), &[&load[..], how].concat())?.run;
    run.trials.into_iter().next().ok_or_else(|| "the load has no trial".into())
}

fn told(start: &Start) -> String {
    let said = match (start.counts(), start.is_right()) {
        (false, _) => " UNKNOWN",
        (true, false) => " WRONG",
        (true, true) => "",
    };
    let times = |ratio: Option<f64>| ratio.map_or_else(|| "-".into(), |it| format!("{it:.3}"));
    let ns = |ns: Option<f64>| ns.map_or_else(|| "-".into(), |ns| format_ns(ns as u64));
    line([
        &start.runtime,
        &format_ns(start.first.warm_up_ns),
        &ns(start.first.cpu_ns),
        &ns(start.later.cpu_ns),
        &times(start.of_machine()),
        &times(start.ratio()),
        &format!("{}{said}", start.first.verdict),
        &start.first.doubts.join(", "),
    ])
}

/// In how many starts the first load was right, and in how many it was VALID.
fn summed(runtime: &str, starts: &[Start]) -> String {
    let (starts, unknown): (Vec<&Start>, Vec<&Start>) =
        starts.iter().filter(|start| start.runtime == runtime).partition(|start| start.counts());
    let right = starts.iter().filter(|start| start.is_right()).count();
    let valid = starts.iter().filter(|start| start.first.verdict == Verdict::Valid).count();
    let all = starts.len();
    let sum =
        format!("{runtime}: {right} of {all} within 5 % or not VALID; {valid} of {all} VALID");
    match unknown.len() {
        0 => sum,
        some => format!(
            "{sum}; {some} more say nothing, because others disturbed the comparison or the machine changed"
        ),
    }
}

fn line(cells: [&str; 8]) -> String {
    let [runtime, warm_up, first, later, machine, ratio, verdict, doubts] = cells;
    format!("{runtime:<8} {warm_up:>9} {first:>9} {later:>9} {machine:>7} {ratio:>6}  {verdict:<14} {doubts}")
        .trim_end()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(first: Option<f64>, later: Option<f64>, verdict: Verdict) -> Start {
        let said = |cpu_ns, verdict| Said {
            cpu_ns,
            requests_per_s: Some(1_000.0),
            warm_up_ns: 7_000_000_000,
            verdict,
            doubts: Vec::new(),
        };
        let (first, later) = (said(first, verdict), said(later, Verdict::Valid));
        let controls = [said(Some(3_000.0), Verdict::Valid), said(Some(3_000.0), Verdict::Valid)];
        Start { runtime: "jvm".into(), first, later, controls }
    }

    #[test]
    fn what_the_machine_changed_is_not_the_runtimes() {
        // The machine was a quarter slower at the first load, and so was the runtime's server.
        let mut one = start(Some(15_000.0), Some(12_000.0), Verdict::Valid);
        assert!(!one.is_right());
        one.controls[0].cpu_ns = Some(3_750.0);
        assert!(one.is_right() && one.ratio() == Some(1.0), "{:?}", one.ratio());
        one.controls[1].cpu_ns = None;
        assert!(!one.is_right(), "without its control nothing is known");
    }

    #[test]
    fn a_first_load_is_right_if_it_is_near_or_doubted_and_unknown_is_not_near() {
        let is_right = |first, later, verdict| start(first, later, verdict).is_right();
        assert!(is_right(Some(10_400.0), Some(10_000.0), Verdict::Valid));
        assert!(is_right(Some(9_600.0), Some(10_000.0), Verdict::Valid));
        assert!(!is_right(Some(24_900.0), Some(12_500.0), Verdict::Valid));
        assert!(is_right(Some(24_900.0), Some(12_500.0), Verdict::Suspect));
        assert!(!is_right(None, Some(10_000.0), Verdict::Valid));
        assert!(!is_right(Some(10_000.0), None, Verdict::Valid));
        assert!(!is_right(Some(10_000.0), Some(0.0), Verdict::Valid));
    }

    #[test]
    fn a_start_counts_only_if_nobody_disturbed_what_it_is_compared_with() {
        let valid = || start(Some(20.0), Some(10.0), Verdict::Valid);
        assert!(valid().counts());
        let of_later =
            Start { later: Said { verdict: Verdict::Suspect, ..valid().later }, ..valid() };
        let mut of_control = valid();
        of_control.controls[1].doubts = vec!["generator_busy".into()];
        assert!(of_control.counts());
        of_control.controls[1].doubts.push("other_programs".into());
        let mut of_machine = valid();
        of_machine.controls[0].cpu_ns = Some(3_300.0);
        for one in [of_later, of_control, of_machine] {
            assert!(!one.counts());
            assert!(told(&one).contains("VALID UNKNOWN"), "{}", told(&one));
            let doubted = Said { verdict: Verdict::Suspect, ..one.first.clone() };
            assert!(Start { first: doubted, ..one.clone() }.counts());
            let sum = summed("jvm", &[one, valid()]);
            assert!(sum.starts_with("jvm: 0 of 1 within 5 %") && sum.contains("; 1 more"), "{sum}");
        }
    }

    #[test]
    fn runtimes_take_turns_and_what_was_done_before_counts() {
        let kinds = Kind::chosen(&[]).unwrap();
        let one = |runtime: &str, later: Verdict| {
            let mut one = start(Some(10.0), Some(10.0), Verdict::Valid);
            one.later.verdict = later;
            Start { runtime: runtime.into(), ..one }
        };
        let names = |mut made: Vec<Start>, later: Verdict| {
            let mut names = Vec::new();
            while let Some(kind) = next(&kinds, 2, &made) {
                names.push(kind.name());
                made.push(one(kind.name(), later));
            }
            names
        };
        assert_eq!(names(vec![], Verdict::Valid), ["jvm", "node", "jvm", "node"]);
        let before = vec![one("jvm", Verdict::Valid), one("jvm", Verdict::Suspect)];
        assert_eq!(names(before, Verdict::Valid), ["node", "node", "jvm"]);
        assert_eq!(names(vec![], Verdict::Suspect).len(), 2 * 2 * TRIES, "it ends");
    }

    #[test]
    fn the_sum_counts_what_is_right_and_what_is_valid() {
        let starts = [
            start(Some(10.0), Some(10.0), Verdict::Valid),
            start(Some(20.0), Some(10.0), Verdict::Valid),
            start(Some(20.0), Some(10.0), Verdict::Suspect),
        ];
        let wanted = "jvm: 2 of 3 within 5 % or not VALID; 2 of 3 VALID";
        assert_eq!(summed("jvm", &starts), wanted);
        assert!(told(&starts[1]).contains("VALID WRONG"), "{}", told(&starts[1]));
    }
}
