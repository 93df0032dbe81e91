//! The only way to standard output and standard error.
//!
//! `println!` and `eprintln!` panic when the reader is gone or the disk is full, and a panic in the
//! middle of a load is worse than a lost line. The lints `print_stdout` and `print_stderr` keep all
//! other code away from them.
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use pippin_model::printable::printable;

use crate::exit::{self, CliError};
use crate::signals;

/// Writes a result to standard output. A reader that has seen enough (`| head`) is no error.
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

/// The same for text that may quote files and programs that nobody here wrote: without control
/// characters.
///
/// # Errors
/// As [`print`].
pub fn print_text(text: &str) -> Result<u8, CliError> {
    print(printable(text).as_bytes())
}

/// Writes a line of progress or of advice to standard error, without control characters: it may
/// quote files and programs that nobody here wrote.
///
/// If the reader is gone, Pippin stops what it does, as SIGPIPE stops other programs. A line that
/// cannot be written for another reason, such as a full disk, is lost and no more.
pub fn say(line: impl Display) {
    write_error(&format!("{}\n", printable(&line.to_string())));
}

/// A question to standard error; the answer follows on the same line.
pub fn ask(question: &str) {
    write_error(question);
}

fn write_error(text: &str) {
    if io::stderr().lock().write_all(text.as_bytes()).is_err_and(|error| is_gone(&error)) {
        signals::nobody_reads();
    }
}

/// Whether nobody will ever read: a closed pipe, or a terminal that hung up (EIO).
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
