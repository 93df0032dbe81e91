//! `pippin-fuzz`: feeds random bytes for a while, and keeps inputs that break something.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a tool for developers
use clap::Parser;
use pippin_fuzz::run::{Bounds, Current, Outcome, run};
use pippin_fuzz::target::{TARGETS, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Feeds random bytes to everything that reads bytes from elsewhere.
#[derive(Parser)]
struct Arguments {
    /// Which targets; by default all of them, side by side
    #[arg(value_parser = named)]
    targets: Vec<&'static Target>,
    /// The maximum number of seconds [default: 30, or no limit with --inputs]
    #[arg(long)]
    seconds: Option<u64>,
    /// The maximum number of inputs for each target
    #[arg(long)]
    inputs: Option<u64>,
    /// The seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn named(name: &str) -> Result<&'static Target, String> {
    static ALL: [Target; TARGETS.len()] = TARGETS;
    ALL.iter().find(|target| target.name == name).ok_or_else(|| {
        let lines = ALL.iter().map(|target| format!("  {:<9} {}", target.name, target.about));
        format!("there are\n{}", lines.collect::<Vec<_>>().join("\n"))
    })
}

fn main() -> ExitCode {
    let Arguments { mut targets, seconds, inputs, seed } = Arguments::parse();
    if targets.is_empty() {
        targets = TARGETS.iter().filter_map(|target| named(target.name).ok()).collect();
    }
    // An input that breaks something is reported below.
    std::panic::set_hook(Box::new(|_| {}));
    let seconds = seconds.unwrap_or(if inputs.is_some() { u64::MAX } else { 30 });
    let bounds = Bounds { time: Duration::from_secs(seconds), inputs: inputs.unwrap_or(u64::MAX) };
    let currents: Vec<Current> = targets.iter().map(|_| Mutex::default()).collect();
    let all_right = thread::scope(|scope| {
        let running: Vec<_> = targets
            .iter()
            .zip(&currents)
            .map(|(target, current)| {
                (*target, current, scope.spawn(move || run(target, bounds, seed, current)))
            })
            .collect();
        running
            .into_iter()
            .map(|(target, current, thread)| wait(target, current, thread))
            .fold(true, |all, one| all & one)
    });
    if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// An input that takes longer than this is reported as endless.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a target and prints the outcome. Returns whether all was well.
fn wait(
    target: &Target,
    current: &Current,
    thread: ScopedJoinHandle<'_, std::io::Result<Outcome>>,
) -> bool {
    let mut last = (0, Instant::now());
    while !thread.is_finished() {
        thread::sleep(Duration::from_millis(50));
        let (number, input) = &*current.lock().unwrap_or_else(PoisonError::into_inner);
        if *number != last.0 {
            last = (*number, Instant::now());
        } else if last.1.elapsed() > PATIENCE {
            tell(target, input, "it never ends");
            // The thread cannot be ended.
            std::process::exit(1);
        }
    }
    match thread.join() {
        Ok(Ok(Outcome { inputs, outcomes, broken })) => {
            println!("{:<9} {inputs:>11} inputs, {outcomes:>5} outcomes", target.name);
            if let Some((input, why)) = &broken {
                tell(target, input, why);
            }
            broken.is_none()
        }
        Ok(Err(error)) => {
            eprintln!("{}: its corpus cannot be read: {error}", target.name);
            false
        }
        Err(_) => {
            eprintln!("{}: the mutation itself panicked", target.name);
            false
        }
    }
}

fn tell(target: &Target, input: &[u8], why: &str) {
    eprintln!("{} is broken: {why}", target.name);
    match keep(target, input) {
        Ok(path) => eprintln!(
            "the input is {}; fix the error, and keep the input in crates/fuzz/corpus/{}",
            path.display(),
            target.name
        ),
        Err(error) => eprintln!("the input could not be kept ({error}): {input:?}"),
    }
}

fn keep(target: &Target, input: &[u8]) -> std::io::Result<PathBuf> {
    let folder = Path::new("target/fuzz");
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{}-{}", target.name, std::process::id()));
    fs::write(&path, input)?;
    Ok(path)
}
