//! Commands that print a line or two and end, such as `node --version`.
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The JVM on a busy host needs a few seconds to print its version. A command that needs longer has
/// probably started something.
const LIMIT: Duration = Duration::from_secs(20);
/// More than any version needs.
const ENOUGH_BYTES: u64 = 64 * 1024;

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Whether it exited with code 0.
    pub success: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a command to its end; `None` if it cannot be started or does not end within 20 s, when it
/// is killed.
#[must_use]
pub fn output(command: &mut Command) -> Option<Output> {
    output_within(command, LIMIT)
}

fn output_within(command: &mut Command, limit: Duration) -> Option<Output> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let deadline = Instant::now() + limit;
    let success = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    // A process that it left in the background may keep the streams open. What came until then
    // counts.
    let text =
        |stream: Receiver<String>| stream.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    Some(Output { success, stdout: text(stdout), stderr: text(stderr) })
}

fn reader(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.map(|stream| stream.take(ENOUGH_BYTES).read_to_end(&mut bytes));
        // Nobody may wait for it any more.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let begin = Instant::now();
        assert_eq!(output_within(Command::new("sleep").arg("60"), Duration::from_millis(50)), None);
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn both_streams_are_kept() {
        let output =
            output(Command::new("sh").args(["-c", "echo 1.2; echo 3.4 >&2; exit 1"])).unwrap();
        assert_eq!(
            output,
            Output { success: false, stdout: "1.2\n".into(), stderr: "3.4\n".into() }
        );
    }
}
