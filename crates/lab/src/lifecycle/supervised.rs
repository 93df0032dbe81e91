//! Pippin's side of a supervised process.
use pippin_model::plan::cpus::CpuSet;
use pippin_model::trial::Exit;
use pippin_model::workload::percent_decode;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::group::Group;
use super::life::Life;
use super::supervisor::{APART, COMMAND, KILL_LIMIT, LINGER};
use super::{log, orphans};
use crate::error::LabError;

/// Extra time for a busy machine.
const MARGIN: Duration = Duration::from_secs(10);

/// What is to be started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program and arguments.
    pub command: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// Its folder.
    pub folder: PathBuf,
    /// Where its output goes; appended.
    pub log: PathBuf,
    /// Where its standard error goes, if not to the log.
    pub errors: Option<PathBuf>,
    /// The processors it may use; empty for all.
    pub cpus: CpuSet,
    /// The signal that stops it cleanly: `"SIGTERM"`.
    pub stop: String,
    /// How long it may take to stop before it is killed.
    pub grace: Duration,
    /// It is to see its own processes and no others, where that is allowed.
    pub apart: bool,
}

/// A process under its supervisor. Dropping it ends both and everything below them.
#[derive(Debug)]
pub struct Supervised {
    supervisor: Child,
    lifeline: Option<ChildStdin>,
    events: Receiver<Event>,
    used: Option<Used>,
    ended: Option<Exit>,
    main: Started,
    life: Arc<Life>,
    gone: Option<Gone>,
    log: PathBuf,
    /// How long a stop may take before the supervisor itself is killed.
    stop_limit: Duration,
    stuck: Vec<String>,
    log_is_cut: bool,
}

#[derive(Debug)]
enum Event {
    Stuck(Vec<String>),
    LogCut,
    Started(Started),
    Used(Used),
    Ended(Exit),
    Failed(String),
    Gone(Gone),
}

/// The main process at its begin.
#[derive(Debug, Clone, Copy, Default)]
struct Started {
    pid: i32,
    is_grouped: bool,
}

/// What the main process used, with the children that it waited for (wait4(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// From its start to its end.
    pub wall: Duration,
    /// User and system time, nanoseconds.
    pub cpu_ns: u64,
    /// Peak resident memory.
    pub max_rss_bytes: u64,
}

/// How everything ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gone {
    /// The main process did not stop when asked and was killed.
    pub forced: bool,
    /// The main process ended before it was asked to, or another process killed it.
    pub unasked: bool,
    /// Command lines of descendants that outlived the main process; they were killed.
    pub left_behind: Vec<String>,
    /// What could not be killed and may still run, as pid and command line.
    pub stuck: Vec<String>,
    /// Its log became longer than [`log::MOST_BYTES`]: only the beginning and the end are kept.
    pub log_is_cut: bool,
}

impl Supervised {
    /// Starts the supervisor (this very program, as `pippin __supervise`) and through it the
    /// command.
    ///
    /// # Errors
    /// If either cannot be started.
    pub fn start(launch: &Launch) -> Result<Self, LabError> {
        Self::start_with(&own_program()?, launch, None)
    }

    /// Starts the command in this control group. The supervisor stays outside of it, and
    /// starts the command without it if the group cannot be entered ([`Self::is_grouped`]).
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_in(launch: &Launch, group: Option<&Group>) -> Result<Self, LabError> {
        Self::start_with(&own_program()?, launch, group)
    }

    fn start_with(
        program: &Path,
        launch: &Launch,
        group: Option<&Group>,
    ) -> Result<Self, LabError> {
        let mut supervisor = Command::new(program);
        supervisor.arg(COMMAND).arg("--log").arg(&launch.log).arg("--folder").arg(&launch.folder);
        supervisor.args([
            "--stop",
            &launch.stop,
            "--grace-ms",
            &launch.grace.as_millis().to_string(),
        ]);
        if !launch.cpus.is_empty() {
            supervisor.args(["--cpus", &launch.cpus.to_string()]);
        }
        if let Some(errors) = &launch.errors {
            supervisor.arg("--errors").arg(errors);
        }
        if launch.apart {
            supervisor.arg(APART);
        }
        for folder in group.into_iter().flat_map(Group::folders) {
            supervisor.arg("--group").arg(folder);
        }
        supervisor.arg("--").args(&launch.command).env_clear().envs(&launch.env);
        supervisor.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut supervisor = orphans::start(&mut supervisor)
            .map_err(LabError::io("cannot start the supervising process"))?;
        let lifeline = supervisor.stdin.take();
        let (sender, events) = channel();
        let life = Arc::new(Life::default());
        let watched = Arc::clone(&life);
        if let Some(stdout) = supervisor.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    let Some(event) = parse_event(&line) else { continue };
                    let end = if let Event::Ended(exit) = &event { Some(*exit) } else { None };
                    if let Some(exit) = end {
                        watched.note_end(exit);
                    }
                    if sender.send(event).is_err() {
                        return;
                    }
                    if end.is_some() {
                        watched.say_end();
                    }
                }
            });
        }
        let mut this = Self {
            supervisor,
            lifeline,
            events,
            used: None,
            ended: None,
            main: Started::default(),
            life,
            gone: None,
            log: launch.log.clone(),
            stop_limit: launch.grace + LINGER * 2 + KILL_LIMIT * 2 + MARGIN,
            stuck: Vec::new(),
            log_is_cut: false,
        };
        match this.events.recv_timeout(Duration::from_secs(20)) {
            Ok(Event::Started(main)) => {
                this.main = main;
                Ok(this)
            }
            Ok(Event::Failed(message)) => Err(LabError::User(message)),
            _ => {
                this.stop();
                Err(LabError::User("the supervising process said nothing".into()))
            }
        }
    }

    /// The supervisor's process, below which everything runs.
    #[must_use]
    pub fn supervisor_pid(&self) -> i32 {
        self.supervisor.id() as i32
    }

    /// The main process.
    #[must_use]
    pub const fn main_pid(&self) -> i32 {
        self.main.pid
    }

    /// Whether the main process began in the control group of [`Self::start_in`]. It may have left
    /// since.
    #[must_use]
    pub const fn is_grouped(&self) -> bool {
        self.main.is_grouped
    }

    /// Whether the main process lives.
    #[must_use]
    pub fn life(&self) -> Arc<Life> {
        Arc::clone(&self.life)
    }

    /// How the main process ended, if it did.
    pub fn ended(&mut self) -> Option<Exit> {
        while let Ok(event) = self.events.try_recv() {
            self.take(event);
        }
        self.ended
    }

    /// What the main process used; `None` until it has ended.
    #[must_use]
    pub const fn used(&self) -> Option<Used> {
        self.used
    }

    /// Waits until the main process ends by itself.
    ///
    /// # Errors
    /// [`LabError::Interrupted`] if `interrupted` says so first. `Ok(None)` at the time limit.
    pub fn wait(
        &mut self,
        limit: Duration,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Option<Exit>, LabError> {
        let deadline = Instant::now() + limit;
        while self.ended.is_none() {
            if interrupted() {
                return Err(LabError::Interrupted);
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            match self.events.recv_timeout(Duration::from_millis(50)) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(self.ended),
            }
        }
        Ok(self.ended)
    }

    /// Ends everything: asks the main process to stop, kills it after its grace time, kills what it
    /// left behind.
    pub fn stop(&mut self) -> Gone {
        drop(self.lifeline.take());
        let deadline = Instant::now() + self.stop_limit;
        while self.gone.is_none() {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.stuck.push(format!(
                        "{} the supervising process, which did not answer and was killed",
                        self.supervisor.id()
                    ));
                    let _ = self.supervisor.kill();
                    break;
                }
            }
        }
        let _ = self.supervisor.wait();
        orphans::ended(&self.supervisor);
        let is_killed = self.gone.is_none();
        let stuck = std::mem::take(&mut self.stuck);
        let gone = self.gone.get_or_insert_default();
        gone.stuck.extend(stuck);
        gone.log_is_cut = self.log_is_cut;
        gone.unasked |= !gone.forced && self.ended == Some(Exit::Signal(libc::SIGKILL));
        if is_killed {
            let left = orphans::kill(KILL_LIMIT);
            gone.left_behind.extend(left.killed);
            gone.stuck.extend(left.stuck);
        }
        gone.clone()
    }

    /// The last lines of its log.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        log::tail(&self.log, lines)
    }

    /// Its log.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Used(used) => self.used = Some(used),
            Event::Ended(exit) => self.ended = Some(exit),
            Event::Gone(gone) => self.gone = Some(gone),
            Event::Stuck(who) => self.stuck = who,
            Event::LogCut => self.log_is_cut = true,
            Event::Started(_) | Event::Failed(_) => {}
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if self.gone.is_none() {
            self.stop();
        }
    }
}

/// The program to run as supervisor and as service: the variable `PIPPIN_PROGRAM` (for tests, which
/// are other programs), else this one.
///
/// # Errors
/// If the kernel does not say which program this is.
pub fn own_program() -> Result<PathBuf, LabError> {
    match std::env::var_os("PIPPIN_PROGRAM") {
        Some(program) => Ok(program.into()),
        // The link itself, because it stays valid if a new build replaces the file.
        None => std::fs::read_link("/proc/self/exe")
            .map(|path| if path.exists() { path } else { "/proc/self/exe".into() })
            .map_err(LabError::io("cannot find Pippin's own program")),
    }
}

fn parse_event(line: &str) -> Option<Event> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "started" => {
            let (pid, grouped) = rest.split_once(' ')?;
            Some(Event::Started(Started { pid: pid.parse().ok()?, is_grouped: grouped == "1" }))
        }
        "exited" => rest.parse().ok().map(|code| Event::Ended(Exit::Code(code))),
        "killed" => rest.parse().ok().map(|signal| Event::Ended(Exit::Signal(signal))),
        "used" => {
            let mut numbers = rest.split_ascii_whitespace().map_while(|word| word.parse().ok());
            Some(Event::Used(Used {
                wall: Duration::from_nanos(numbers.next()?),
                cpu_ns: numbers.next()?,
                max_rss_bytes: numbers.next()?,
            }))
        }
        "failed" => Some(Event::Failed(rest.into())),
        "gone" => {
            let mut words = rest.split_ascii_whitespace();
            let [forced, unasked] = [words.next(), words.next()].map(|word| word == Some("1"));
            let left_behind = words.map(|word| percent_decode(word.as_bytes())).collect();
            Some(Event::Gone(Gone { forced, unasked, left_behind, ..Gone::default() }))
        }
        "log_cut" => Some(Event::LogCut),
        "stuck" => {
            let lines = rest.split_ascii_whitespace();
            Some(Event::Stuck(lines.map(|line| percent_decode(line.as_bytes())).collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::descendants::tests::zombie;
    use super::super::supervisor::stuck_line;
    use super::*;

    #[test]
    fn a_stop_ends_although_the_supervisor_does_not_answer() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("deaf");
        // Written by a child: a file that this process wrote cannot be executed (ETXTBSY) as long
        // as a child that another test begins to start has its descriptor too.
        let text =
            "printf '#!/bin/sh\necho started 1 0\nexec sleep 600 <&-\n' >deaf && chmod 755 deaf";
        let written = Command::new("sh").args(["-c", text]).current_dir(folder.path()).status();
        assert!(written.unwrap().success());
        let launch = Launch {
            command: vec!["true".into()],
            env: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
            folder: folder.path().into(),
            log: folder.path().join("log"),
            errors: None,
            cpus: CpuSet::default(),
            stop: "SIGTERM".into(),
            grace: Duration::ZERO,
            apart: false,
        };
        let mut process = Supervised::start_with(&program, &launch, None).unwrap();
        process.stop_limit = Duration::from_millis(100);
        let gone = process.stop();
        assert!(gone.stuck[0].contains("did not answer and was killed"), "{gone:?}");
    }

    #[test]
    fn what_the_main_process_used_is_known_when_it_has_ended() {
        let used = parse_event("used 3000000000 2000000000 4096");
        let expected =
            Used { wall: Duration::from_secs(3), cpu_ns: 2_000_000_000, max_rss_bytes: 4_096 };
        assert!(matches!(used, Some(Event::Used(used)) if used == expected));
    }

    /// What the supervisor writes, Pippin reads.
    #[test]
    fn what_cannot_be_killed_is_named() {
        let mut child = zombie();
        let pid = child.id() as i32;
        let event = stuck_line(&[pid]).as_deref().and_then(parse_event);
        assert!(matches!(event, Some(Event::Stuck(who)) if who == [format!("{pid} true")]));
        child.wait().unwrap();
        assert_eq!(stuck_line(&[pid]), None);
        let event = parse_event("stuck 12%20a 13%20b%20c");
        assert!(matches!(event, Some(Event::Stuck(who)) if who == ["12 a", "13 b c"]));
    }
}
