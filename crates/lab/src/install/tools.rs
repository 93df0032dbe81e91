//! Programs that must be on PATH, with an optional least version: `"node >= 18"`.
use std::process::Command;

use crate::lifecycle::environment::find_program_in;
use crate::lifecycle::short_command;

/// The needs that are not met, each with what was found.
#[must_use]
pub fn missing(needs: &[String], path: &str) -> Vec<String> {
    needs.iter().filter_map(|need| lacks(need, path)).collect()
}

fn lacks(need: &str, path: &str) -> Option<String> {
    let (name, least) = match need.split_once(">=") {
        Some((name, least)) => (name.trim(), Some(least.trim())),
        None => (need.trim(), None),
    };
    let Some(program) = find_program_in(name, path) else {
        return Some(format!("{need} (not on PATH)"));
    };
    let least = least?;
    match version_of(&program) {
        Some(found) if parts(&found) >= parts(least) => None,
        Some(found) => Some(format!("{need} (found {found})")),
        None => Some(format!("{need} (its version is unknown)")),
    }
}

/// The version that `PROGRAM --version`, `version` or `-version` prints.
fn version_of(program: &std::path::Path) -> Option<String> {
    let name = program
        .file_name()
        .map(|name| name.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    ["--version", "version", "-version"].iter().find_map(|argument| {
        let output = short_command::output(Command::new(program).arg(argument))?;
        version_in(&output.stdout, &name).or_else(|| version_in(&output.stderr, &name))
    })
}

/// The first dotted number behind the program's own name; else the first dotted number; else the
/// first number. (`elixir --version` names Erlang and its version first.)
fn version_in(text: &str, program: &str) -> Option<String> {
    let own = text.to_ascii_lowercase().find(program).map(|at| &text[at + program.len()..]);
    own.and_then(dotted).or_else(|| dotted(text)).or_else(|| {
        text.split(|c: char| !c.is_ascii_digit()).find(|word| !word.is_empty()).map(str::to_string)
    })
}

fn dotted(text: &str) -> Option<String> {
    let words =
        text.split(|c: char| !(c.is_ascii_digit() || c == '.')).map(|word| word.trim_matches('.'));
    words
        .into_iter()
        .find(|word| word.contains('.') && word.split('.').all(|part| !part.is_empty()))
        .map(str::to_string)
}

fn parts(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_print_them() {
        for (program, text, version) in [
            ("node", "v20.20.2", "20.20.2"),
            ("go", "go version go1.26.8 linux/amd64", "1.26.8"),
            ("java", "openjdk 17.0.15 2025-04-15", "17.0.15"),
            (
                "elixir",
                "Erlang/OTP 25 [erts-13.1.5] [source]\n\nElixir 1.14.0 (compiled with Erlang/OTP 24)",
                "1.14.0",
            ),
            (
                "perl",
                "\nThis is perl 5, version 36, subversion 0 (v5.36.0) built for x86_64",
                "5.36.0",
            ),
            ("ruby", "ruby 3.1.2p20 (2022-04-12)", "3.1.2"),
            ("tool", "tool 7", "7"),
        ] {
            assert_eq!(version_in(text, program).as_deref(), Some(version), "{text}");
        }
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(parts("20.20.2") >= parts("18"));
        assert!(parts("1.9") < parts("1.22"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let lacking = missing(&["no-such-tool >= 3".into(), "sh".into()], "/usr/bin:/bin");
        assert_eq!(lacking, ["no-such-tool >= 3 (not on PATH)"]);
    }
}
