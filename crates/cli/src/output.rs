//! The only way to standard output and standard error.
//!
//! `println!` and `eprintln!` panic if the reader is gone or the disk is full. A panic in the
//! middle of a load is worse than a lost line. The lints `print_stdout` and `print_stderr` forbid
//! them in all other code.
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use pippin_model::text::printable::printable;

use crate::exit::{self, CliError};
use crate::signals;

/// Writes a result to standard output. If the reader closes it early (`| head`), that is not an
/// error.
///
/// # Errors
/// If it cannot be written for another reason, such as a full disk.
pub fn print(bytes: &[u8]) -> Result<u8, CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if !is_gone(&error) => Err(CliError::Io("write the result".into(), error)),
        _ => Ok(exit::OK),
    }
}

/// Prints a text without control characters, for text that may quote files and programs of others.
///
/// # Errors
/// As [`print`].
pub fn print_text(text: &str) -> Result<u8, CliError> {
    print(printable(text).as_bytes())
}

/// Writes a line of progress or advice to standard error. Leaves out control characters, because it
/// may quote files and programs of others.
///
/// If the reader is gone, Pippin stops, as SIGPIPE stops other programs. If the line cannot be
/// written for another reason, such as a full disk, only the line is lost.
pub fn say(line: impl Display) {
    write_error(&format!("{}\n", printable(&line.to_string())));
}

/// Writes a question to standard error. The answer follows on the same line.
pub fn ask(question: &str) {
    write_error(question);
}

fn write_error(text: &str) {
    if io::stderr().lock().write_all(text.as_bytes()).is_err_and(|error| is_gone(&error)) {
        signals::nobody_reads();
    }
}

/// Whether the reader is gone for good: a closed pipe, or a terminal that hung up (EIO).
pub fn is_gone(error: &io::Error) -> bool {
    error.kind() == ErrorKind::BrokenPipe || error.raw_os_error() == Some(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_and_a_lost_terminal_are_gone_and_a_full_disk_is_not() {
        for (errno, gone) in [(libc::EPIPE, true), (libc::EIO, true), (libc::ENOSPC, false)] {
            assert_eq!(is_gone(&io::Error::from_raw_os_error(errno)), gone, "{errno}");
        }
    }
}
