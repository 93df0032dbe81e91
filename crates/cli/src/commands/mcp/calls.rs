//! Calls of tools. Each is a process of Pippin with a command line, so that it measures, judges and
//! keeps its results as it does for people.
use serde_json::{Value, json};
use std::io::Error;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exit;

/// So many lines of what a failed call said are told.
const MOST_LINES: usize = 20;

/// The calls that are not answered yet.
pub struct Calls {
    store: Option<PathBuf>,
    open: Mutex<Vec<Open>>,
    /// Two measurements at once would disturb each other.
    turn: Mutex<()>,
}

struct Open {
    id: Value,
    /// 0 until its process has begun.
    pid: i32,
    is_cancelled: bool,
}

impl Calls {
    pub const fn new(store: Option<PathBuf>) -> Self {
        Self { store, open: Mutex::new(Vec::new()), turn: Mutex::new(()) }
    }

    fn open(&self) -> MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a call in, so that it can be cancelled from now on.
    pub fn accept(&self, id: &Value) {
        self.open().push(Open { id: id.clone(), pid: 0, is_cancelled: false });
    }

    /// Ends a call as Ctrl-C does: what was measured is kept. Of an unknown one nothing is done, as the
    /// protocol says.
    pub fn cancel(&self, id: &Value) {
        self.open().iter_mut().filter(|open| open.id == *id).for_each(Open::cancel);
    }

    /// Ends all calls.
    pub fn cancel_all(&self) {
        self.open().iter_mut().for_each(Open::cancel);
    }

    /// Runs an accepted call when its turn has come. Returns its result, and nothing if it was
    /// cancelled.
    pub fn run(&self, id: &Value, words: &[String]) -> Option<Value> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = self.begin(id, words).map(|begun| begun.and_then(Child::wait_with_output));
        drop(turn);
        let mut open = self.open();
        let place = open.iter().position(|open| open.id == *id)?;
        let is_cancelled = open.swap_remove(place).is_cancelled;
        (!is_cancelled).then(|| match outcome? {
            Ok(output) => Some(result(&output)),
            Err(error) => Some(failed(&format!("pippin cannot be started: {error}"))),
        })?
    }

    /// Starts the process of a call, unless it was cancelled before.
    fn begin(&self, id: &Value, words: &[String]) -> Option<Result<Child, Error>> {
        let mut open = self.open();
        let open = open.iter_mut().find(|open| open.id == *id && !open.is_cancelled)?;
        let child = self.command(words).and_then(|mut command| command.spawn());
        open.pid = child.as_ref().map_or(0, |child| child.id().cast_signed());
        Some(child)
    }

    fn command(&self, words: &[String]) -> Result<Command, Error> {
        let mut command = Command::new(std::env::current_exe()?);
        if let Some(store) = &self.store {
            command.arg("--store").arg(store);
        }
        // What a person allowed for own loads is not allowed here.
        for variable in ["PIPPIN_ALLOW_HOST", "PIPPIN_NATS"] {
            command.env_remove(variable);
        }
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: prctl(2) is a system call without memory of its own, so it may follow fork(2).
        // The process ends too if this one is killed.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGINT) {
                0 => Ok(()),
                _ => Err(Error::last_os_error()),
            });
        }
        Ok(command)
    }
}

impl Open {
    fn cancel(&mut self) {
        self.is_cancelled = true;
        if self.pid > 0 {
            // SAFETY: a system call without memory. The process is not reaped while its call is open,
            // or has been so a moment ago.
            unsafe { libc::kill(self.pid, libc::SIGINT) };
        }
    }
}

/// The result of a process: its JSON or Markdown, and what its exit code means. A gate that failed and a
/// result that is INVALID are results.
fn result(output: &Output) -> Value {
    let code = output.status.code().and_then(|code| u8::try_from(code).ok());
    let printed = String::from_utf8_lossy(&output.stdout);
    match code.and_then(meaning) {
        Some(meaning) if !printed.is_empty() => {
            let result = serde_json::from_str(&printed).unwrap_or_else(|_| json!(printed));
            let structured = json!({ "exit_code": code, "meaning": meaning, "result": result });
            let text = json!({ "type": "text", "text": structured.to_string() });
            json!({ "content": [text], "structuredContent": structured, "isError": false })
        }
        _ => failed(&end(&String::from_utf8_lossy(&output.stderr))),
    }
}

/// What an exit code says of a result.
const fn meaning(code: u8) -> Option<&'static str> {
    match code {
        exit::OK => Some("success"),
        exit::FAILED => Some("a gate or an objective failed"),
        exit::INVALID => Some("a result is INVALID: do not quote its figures"),
        exit::UNDECIDED => Some("a gate could not be decided"),
        _ => None,
    }
}

/// The result of a call that measured nothing.
pub fn failed(why: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": why }], "isError": true })
}

/// The last lines of a text.
fn end(said: &str) -> String {
    let lines: Vec<&str> = said.trim().lines().collect();
    if lines.is_empty() {
        return "pippin ended without a word".into();
    }
    lines[lines.len().saturating_sub(MOST_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn ended(code: i32, stdout: &str, stderr: &str) -> Value {
        result(&Output {
            status: ExitStatus::from_raw(code << 8),
            stdout: stdout.into(),
            stderr: stderr.into(),
        })
    }

    #[test]
    fn a_result_has_its_json_and_what_the_exit_code_means() {
        for (code, part) in [(0, "success"), (1, "failed"), (3, "INVALID"), (5, "decided")] {
            let result = ended(code, r#"{"p99_ns": 1}"#, "");
            assert_eq!(result["isError"], false, "{result}");
            assert_eq!(result["structuredContent"]["result"]["p99_ns"], 1);
            assert!(result["structuredContent"]["meaning"].as_str().unwrap().contains(part));
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        }
    }

    #[test]
    fn what_has_no_result_is_an_error_with_its_reason() {
        for (code, stdout) in [(2, "{}"), (4, "{}"), (130, "{}"), (0, "")] {
            let result = ended(code, stdout, "pippin: no such host\n");
            assert_eq!(result["isError"], true, "{code} {stdout}");
            assert_eq!(result["content"][0]["text"], "pippin: no such host");
        }
        let tables = ended(0, "# Hello World\n", "");
        assert_eq!(tables["structuredContent"]["result"], "# Hello World\n");
        assert_eq!(ended(2, "", "")["content"][0]["text"], "pippin ended without a word");
    }

    #[test]
    fn of_a_long_reason_the_end_is_told() {
        let said = end(&format!("{}the reason\n", "progress\n".repeat(100)));
        assert!(said.starts_with("progress\n") && said.ends_with("\nthe reason"), "{said}");
        assert_eq!(said.lines().count(), MOST_LINES);
    }

    #[test]
    fn what_is_cancelled_before_its_turn_never_begins() {
        let (calls, id) = (Calls::new(None), json!("a"));
        calls.accept(&id);
        calls.cancel(&id);
        assert_eq!(calls.run(&id, &["plans".into()]), None);
        assert!(calls.open().is_empty());
    }
}
