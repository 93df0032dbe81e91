//! Help, completions and the man page, all from the same definitions.
use super::support::{Outcome, pippin};
use std::path::Path;

fn say(arguments: &[&str]) -> Outcome {
    pippin(&std::env::temp_dir(), arguments)
}

/// The commands that the program's help lists.
fn commands() -> Vec<String> {
    let help = say(&["--help"]);
    let (_, list) = help.stdout.split_once("Commands:\n").unwrap();
    let names = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    let names: Vec<String> = names
        .filter_map(|line| line.split_whitespace().next().map(String::from))
        .filter(|name| name != "help")
        .collect();
    for name in ["run", "load", "targets", "report", "calibrate", "history", "completions", "man"] {
        assert!(names.contains(&name.to_string()), "{name}: {names:?}");
    }
    names
}

/// Users read this, so each change must be intended and reviewed. `INSTA_UPDATE=always cargo test`
/// accepts it.
#[test]
fn help_of_the_program_and_of_every_command() {
    insta::assert_snapshot!("help", say(&["--help"]).exits(0).stdout);
    for name in commands() {
        insta::assert_snapshot!(format!("help-{name}"), say(&[&name, "--help"]).exits(0).stdout);
    }
    for name in ["list", "install", "check", "new"] {
        insta::assert_snapshot!(
            format!("help-targets-{name}"),
            say(&["targets", name, "--help"]).exits(0).stdout
        );
    }
}

/// What `-h` shows of the commands with many options.
#[test]
fn short_help_shows_what_most_people_need() {
    for name in ["load", "run", "compare"] {
        insta::assert_snapshot!(format!("short-{name}"), say(&[name, "-h"]).exits(0).stdout);
    }
    say(&["help", "gates"]).exits(0).says(&["# "]);
    say(&["help", "targets", "check"]).exits(0).says(&["Usage: pippin targets check"]);
    say(&["help", "nothing"]).is_a_user_error(&["there is no help on `nothing`", "gates"]);
}

#[test]
fn help_and_version_are_no_errors_and_nothing_at_all_is() {
    let versions = say(&["--version"]);
    assert_eq!(versions.exits(0).stdout, format!("pippin {}\n", env!("CARGO_PKG_VERSION")));
    say(&[]).exits(2).says(&["Usage: pippin", "Commands:"]);
    say(&["--help"]).exits(0).says(&["Exit codes:", "130  interrupted"]);
    say(&["--help"]).keeps_quiet_about(&["__supervise", "__upstream"]);
}

#[test]
fn completions_of_every_shell_ask_the_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        say(&["completions", shell]).exits(0).says(&["pippin", "COMPLETE"]);
    }
}

#[test]
fn bash_completes_commands_and_flags() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("pippin.bash"),
        say(&["completions", "bash"]).exits(0).stdout.clone(),
    )
    .unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_pippin")).parent().unwrap().display().to_string();
    let complete = |words: &str, index: &str, word: &str| {
        let script = format!(
            "source ./pippin.bash; COMP_WORDS=({words}); COMP_CWORD={index}; COMP_TYPE=9; _clap_complete_pippin pippin {word} x; echo ${{COMPREPLY[@]}}"
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder.path())
            .env("PATH", format!("{programs}:/usr/bin:/bin"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    };
    assert_eq!(complete("pippin tar", "1", "tar"), "targets");
    for name in commands() {
        assert!(complete("pippin \"\"", "1", "\"\"").contains(&name), "{name}");
    }
    assert_eq!(complete("pippin load --expect-b", "2", "--expect-b"), "--expect-body");
}

#[test]
fn the_man_page_describes_every_command_and_its_flags() {
    let page = say(&["man"]);
    page.exits(0).says(&[".TH pippin", "SYNOPSIS", "\\-\\-expect\\-body", "Exit codes"]);
    for name in commands() {
        assert!(
            page.stdout.contains(&format!("pippin-{name}"))
                || page.stdout.contains(&format!("pippin\\-{name}")),
            "{name}"
        );
    }
    // Subcommands of `targets` too.
    page.says(&["\\-\\-require", "pippin\\-targets\\-check"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let program = env!("CARGO_BIN_EXE_pippin");
    let output = std::process::Command::new("bash")
        .args(["-c", &format!("set -o pipefail; {program} man | head -1")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}
