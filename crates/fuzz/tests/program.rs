//! The program as continuous integration calls it.
#![allow(clippy::unwrap_used)] // a failure here is the test's message
use std::process::{Command, Output};

fn fuzz(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pippin-fuzz")).args(arguments).output().unwrap()
}

#[test]
fn a_target_is_fed_and_told_of() {
    let output = fuzz(&["hpack", "frames", "--inputs", "2000"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("hpack") && lines[1].starts_with("frames"), "{said}");
    assert!(lines.iter().all(|line| line.contains("2000 inputs, ")), "{said}");
}

#[test]
fn an_unknown_target_is_told_which_there_are() {
    let output = fuzz(&["decodr"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("decoder   answers of HTTP/1.1"), "{said}");
}
