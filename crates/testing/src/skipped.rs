//! Tests that cannot run on a machine say so.
use std::io::Write as _;

/// Says that a test was skipped, now and at the end of all tests.
#[allow(clippy::print_stderr)] // for whoever reads a test's output
pub fn skip(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
    let Some(path) = std::env::var_os("PIPPIN_SKIPPED") else { return };
    if let Ok(mut file) = std::fs::File::options().append(true).create(true).open(path) {
        let _ = writeln!(file, "{test}: {why}");
    }
}
