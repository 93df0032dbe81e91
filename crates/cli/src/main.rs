//! The binary `pippin`: reads the arguments and makes one call.
//!
//! | module | what it does |
//! |---|---|
//! | [`arguments`] | every command and flag, defined once, for help, completions and man page |
//! | [`values`] | parses the values of flags |
//! | [`commands`] | one file for each command: checked arguments in, one call, the result on standard output |
//! | [`completions`] | what shells complete: names of plans, targets, runs, charts |
//! | [`exit`] | exit codes |
//! | [`descriptors`] | the limit of open files |
//! | [`progress`], [`live`] | progress on standard error: plain lines or a live view |
//! | [`outlets`], [`time_series`], `telemetry`, [`moments`] | figures during a load: a line of JSON for each second, a collector of OpenTelemetry |
//! | [`fail_fast`] | ends a load whose gates cannot be passed any more |
//! | [`json_file`] | `--json FILE`: results for programs |
//! | [`output`] | the only way to standard output and standard error |
//! | [`signals`] | Ctrl-C, SIGTERM, a closed terminal |
//! | [`other_words`] | options of other load generators, and what to write instead |
//! | [`hidden`] | hidden commands with which Pippin starts itself: supervisor, services |
mod arguments;
mod commands;
mod completions;
mod descriptors;
mod exit;
mod fail_fast;
mod hidden;
mod json_file;
mod live;
mod moments;
mod other_words;
mod outlets;
mod output;
mod output_file;
mod progress;
mod signals;
#[cfg(feature = "otlp")]
mod telemetry;
mod time_series;
mod values;

use clap::parser::ValueSource;
use clap::{ArgMatches, ColorChoice, FromArgMatches};
use clap_complete::CompleteEnv;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// The names of a command's arguments that are given on the command line, without defaults.
fn given(matches: &ArgMatches) -> BTreeSet<String> {
    let Some((_, command)) = matches.subcommand() else { return BTreeSet::new() };
    let is_given = |name: &&str| command.value_source(name) == Some(ValueSource::CommandLine);
    command.ids().map(clap::Id::as_str).filter(is_given).map(String::from).collect()
}

fn main() -> ExitCode {
    // clap refuses arguments that are not UTF-8.
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(code) = hidden::run(&words) {
        return ExitCode::from(code as u8);
    }
    // If a shell asks for completions, this answers and exits.
    CompleteEnv::with_factory(arguments::command).complete();
    descriptors::raise_limit();
    signals::survive_file_limit();
    // Where no colours are wanted, help and errors have none either.
    let colour = if words.iter().any(|word| word == "--no-color") {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    };
    let is_short = words.iter().any(|word| word == "-h");
    let command = if is_short { arguments::short_command() } else { arguments::command() };
    let parsed = command.color(colour).try_get_matches().and_then(|matches| {
        Ok((arguments::Arguments::from_arg_matches(&matches)?, given(&matches)))
    });
    let (arguments, given) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            if let Some(said) = other_words::said(&error) {
                output::say(format_args!("pippin: {said}"));
                return ExitCode::from(exit::USER_ERROR);
            }
            // clap prints help and version to standard output and counts them as success.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USER_ERROR } else { exit::OK });
        }
    };
    let outcome = commands::run(arguments, given);
    if signals::is_unread() {
        return ExitCode::from(exit::UNREAD);
    }
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            if !matches!(error, exit::CliError::Lab(pippin_lab::LabError::Interrupted)) {
                output::say(format_args!("pippin: {error}"));
            }
            ExitCode::from(error.code())
        }
    }
}
