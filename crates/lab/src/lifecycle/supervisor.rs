//! The small process between Pippin and what it starts. It is a child subreaper (prctl(2),
//! PR_SET_CHILD_SUBREAPER), so that every descendant stays below it even when its parent dies, and
//! it ends everything below it when it is told to, when the started process ends, or when Pippin is
//! gone, in whatever way: its standard input is a pipe that only Pippin holds open.
//!
//! It writes one line for each event to its standard output:
//!
//! | line | meaning |
//! |---|---|
//! | `started PID GROUPED` | the command runs. GROUPED is 1 if it began in its control groups |
//! | `failed MESSAGE` | the command could not be executed |
//! | `log_cut` | the log became so long that only its beginning and its end are kept |
//! | `used WALL CPU MEMORY` | how long the main process lived and its CPU time (nanoseconds), its peak resident memory (bytes) |
//! | `exited CODE`, `killed SIGNAL` | how the main process ended |
//! | `stuck WHO...` | descendants that could not be killed |
//! | `gone FORCED UNASKED LEFT...` | the last line. FORCED is 1 if the main process had to be killed; UNASKED is 1 if it ended before it was asked to; LEFT are the command lines (percent-encoded) of descendants that outlived it |
use pippin_model::plan::cpus::CpuSet;
use pippin_model::workload::percent_encode;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::affinity;
use super::apart;
use super::descendants::{self, command_line, descendants};
use super::group;
use super::log;

/// What the supervisor is to run.
#[derive(Debug, Clone)]
pub struct Orders {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where its output goes; appended.
    pub log: PathBuf,
    /// Where its standard error goes, if not to the log.
    pub errors: Option<PathBuf>,
    /// Its folder.
    pub folder: PathBuf,
    /// The processors it may use; empty for all.
    pub cpus: CpuSet,
    /// The folders of the control groups that it enters, and that are removed after it if nobody else is left to do that.
    pub groups: Vec<PathBuf>,
    /// It is to see its own processes and no others, where that is allowed.
    pub apart: bool,
    /// The signal that stops it cleanly.
    pub stop: i32,
    /// How long it may take to stop before it is killed.
    pub grace: Duration,
}

impl Orders {
    /// Reads what [`super::supervised::Supervised::start`] writes; `None` if it is not that.
    fn parse(arguments: &[String]) -> Option<Self> {
        let separator = arguments.iter().position(|argument| argument == "--")?;
        let (options, command) = arguments.split_at(separator);
        let value = |name: &str| {
            let at = options.iter().position(|argument| argument == name)?;
            options.get(at + 1).map(String::as_str)
        };
        let stop = match value("--stop")? {
            "SIGINT" => libc::SIGINT,
            "SIGQUIT" => libc::SIGQUIT,
            "SIGHUP" => libc::SIGHUP,
            _ => libc::SIGTERM,
        };
        Some(Self {
            command: command[1..].to_vec(),
            log: value("--log")?.into(),
            errors: value("--errors").map(Into::into),
            folder: value("--folder")?.into(),
            cpus: value("--cpus").and_then(|cpus| CpuSet::parse(cpus).ok()).unwrap_or_default(),
            groups: options
                .windows(2)
                .filter(|pair| pair[0] == "--group")
                .map(|pair| PathBuf::from(&pair[1]))
                .collect(),
            apart: options.iter().any(|option| option == APART),
            stop,
            grace: Duration::from_millis(value("--grace-ms")?.parse().ok()?),
        })
    }
}

/// The hidden command as which Pippin starts itself to supervise.
pub const COMMAND: &str = "__supervise";

/// The option by which the command gets a process namespace.
pub const APART: &str = "--apart";

/// Supervises as these arguments of [`COMMAND`] say; the exit code of the supervising process.
#[must_use]
pub fn run(arguments: &[String]) -> i32 {
    Orders::parse(arguments).map_or(2, |orders| supervise(&orders))
}

/// Runs the orders to their end; the exit code of the supervising process.
fn supervise(orders: &Orders) -> i32 {
    match Supervisor::start(orders) {
        Ok(mut supervisor) => {
            supervisor.watch();
            // Who started it reads what the groups say of the end, and removes them.
            if supervisor.is_alone() {
                orders.groups.iter().for_each(|folder| group::remove(folder));
            }
            0
        }
        Err(error) => {
            say(&format!("failed {}", one_line(&error.to_string())));
            1
        }
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    // Nobody may be left to hear it.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

/// How long workers may live on after their master. What lives longer was left behind.
pub(super) const LINGER: Duration = Duration::from_millis(2_500);
/// How long the rest of a group has after its main process before it gets the signal too.
const MOMENT: Duration = Duration::from_millis(500);
/// How long killed processes may take to disappear.
pub(super) const KILL_LIMIT: Duration = Duration::from_secs(10);
/// The grace time if Pippin itself is gone and nobody waits for a clean stop.
const ORPHANS_GRACE: Duration = Duration::from_secs(2);
/// How often the log is looked at.
const LOG_CHECK_MS: i32 = 1_000;

struct Supervisor<'a> {
    orders: &'a Orders,
    /// Pippin.
    parent: i32,
    main: i32,
    /// The first process of its namespace, if it has one.
    keeper: Option<i32>,
    begin: Instant,
    signals: libc::c_int,
    /// `None` where the file system cannot free a part of a file.
    log: Option<log::Bounded>,
}

/// Why watching ended.
enum End {
    /// The main process ended by itself.
    ByItself,
    /// Pippin said so, or is gone.
    Told,
}

impl<'a> Supervisor<'a> {
    fn start(orders: &'a Orders) -> io::Result<Self> {
        // SAFETY: plain system calls with constant arguments; a failure of setsid (already a
        // leader) does no harm.
        unsafe {
            libc::setsid();
            if libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) != 0
                || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) != 0
            {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: getppid(2) cannot fail.
        let parent = unsafe { libc::getppid() };
        let signals = signal_fd()?;
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        let log = open(&orders.log)?;
        let errors = orders.errors.as_ref().map_or_else(|| log.try_clone(), open)?;
        let cpus = (!orders.cpus.is_empty()).then(|| affinity::kernel_set(&orders.cpus));
        let entrance = |folder: &PathBuf| {
            OpenOptions::new().write(true).open(folder.join("cgroup.procs")).ok()
        };
        // All of them, or none.
        let entrances: Option<Vec<_>> = orders.groups.iter().map(entrance).collect();
        let entrances = entrances.unwrap_or_default();
        let keeper = if orders.apart { apart::begin()? } else { None };
        // After the keeper, which would hold an end of it open.
        let (mut entries, entry) = io::pipe()?;
        let is_apart = keeper.is_some();
        let mut command = Command::new(&orders.command[0]);
        command
            .args(&orders.command[1..])
            .current_dir(&orders.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(errors);
        // SAFETY: only async-signal-safe calls between fork and exec.
        unsafe {
            command.pre_exec(move || {
                libc::setsid();
                unblock_signals();
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // 0 means the writing process. It says itself that it entered, because it may leave
                // before anybody looks.
                let has_entered = |mut entrance: &File| entrance.write(b"0").is_ok();
                if !entrances.is_empty() && entrances.iter().all(has_entered) {
                    let _ = (&entry).write(b"1");
                }
                if is_apart {
                    apart::see_own_processes();
                }
                cpus.as_ref().map_or(Ok(()), affinity::bind_current)
            });
        }
        let begin = Instant::now();
        let child = command.spawn().map_err(|error| explain_spawn(&orders.command[0], &error))?;
        let main = child.id() as i32;
        // With it goes this process's end of the pipe. The child's was closed by exec.
        drop(command);
        let grouped = entries.read(&mut [0])?;
        say(&format!("started {main} {grouped}"));
        let log = Some(log::Bounded::new(log, log::MOST_BYTES));
        Ok(Self { orders, parent, main, keeper, begin, signals, log })
    }

    /// Whether the process that started this one is gone.
    fn is_alone(&self) -> bool {
        // SAFETY: getppid(2) cannot fail.
        let parent = unsafe { libc::getppid() };
        parent != self.parent
    }

    fn watch(&mut self) {
        let (forced, unasked) = match self.wait_for_end() {
            End::ByItself => (false, true),
            End::Told => {
                let forced = self.stop_main();
                if !forced {
                    self.pass_on();
                }
                (forced, false)
            }
        };
        self.look_at_log();
        let left: Vec<String> = self
            .left_behind()
            .into_iter()
            .filter_map(command_line)
            .map(|line| percent_encode(&line))
            .collect();
        if let Some(line) = stuck_line(&kill_everything(KILL_LIMIT)) {
            say(&line);
        }
        say(&format!("gone {} {} {}", i32::from(forced), i32::from(unasked), left.join(" ")));
    }

    /// Some programs end at the signal and leave what they started, as npm does with the program of
    /// `npm start`. What is still there a moment later, in the group of the main process, gets the
    /// signal too.
    fn pass_on(&mut self) {
        let begin = Instant::now();
        let mut has_told = false;
        while begin.elapsed() < LINGER {
            self.reap();
            // SAFETY: getpgid(2) has no effect. While a descendant is in the group, its number is not
            // given to another.
            let is_of_group = |pid: &i32| unsafe { libc::getpgid(*pid) } == self.main;
            if !descendants(own_pid()).iter().any(is_of_group) {
                return;
            }
            if !has_told && begin.elapsed() >= MOMENT {
                // SAFETY: kill(2) on the group of our own child.
                unsafe { libc::kill(-self.main, self.orders.stop) };
                has_told = true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Descendants that are still alive a moment after the main process has ended.
    fn left_behind(&mut self) -> Vec<i32> {
        let deadline = Instant::now() + LINGER;
        loop {
            // Reaps dead workers first: they do not count as left behind.
            self.reap();
            let mut alive = descendants(own_pid());
            alive.retain(|pid| Some(*pid) != self.keeper);
            if alive.is_empty() || Instant::now() >= deadline {
                return alive;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn grace(&self) -> Duration {
        if self.is_alone() { self.orders.grace.min(ORPHANS_GRACE) } else { self.orders.grace }
    }

    /// Waits until the main process ends, Pippin asks for the end, or Pippin is gone.
    fn wait_for_end(&mut self) -> End {
        loop {
            if self.reap() {
                return End::ByItself;
            }
            let [lifeline, signal] = self.poll(LOG_CHECK_MS);
            self.look_at_log();
            if signal && self.take_signals() {
                return End::Told;
            }
            if lifeline {
                // It may have ended since the last look.
                return if self.reap() { End::ByItself } else { End::Told };
            }
        }
    }

    fn look_at_log(&mut self) {
        match self.log.as_mut().map(log::Bounded::look) {
            Some(Ok(true)) => say("log_cut"),
            Some(Err(_)) => self.log = None,
            Some(Ok(false)) | None => {}
        }
    }

    /// Asks the main process to stop, and kills it after the grace time. Returns whether it had to.
    fn stop_main(&mut self) -> bool {
        // SAFETY: kill(2) on our own child, which has not been waited for.
        unsafe { libc::kill(self.main, self.orders.stop) };
        let begin = Instant::now();
        while begin.elapsed() < self.grace() {
            if self.reap() {
                return false;
            }
            let left = self.grace().saturating_sub(begin.elapsed());
            // Polls for signals only: the lifeline is closed already and stays readable.
            let mut poll = [libc::pollfd { fd: self.signals, events: libc::POLLIN, revents: 0 }];
            // SAFETY: one live pollfd.
            unsafe { libc::poll(poll.as_mut_ptr(), 1, left.as_millis().min(1_000) as i32) };
            self.take_signals();
        }
        // SAFETY: as above; the group is the main process's own session.
        unsafe { libc::kill(-self.main, libc::SIGKILL) };
        let killed = Instant::now();
        // A process that waits for a device dies only when the device answers.
        while !self.reap() && killed.elapsed() < KILL_LIMIT {
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Reaps all children that have ended. Returns whether the main process was one of them, or
    /// none are left.
    fn reap(&mut self) -> bool {
        loop {
            let mut status = 0;
            // SAFETY: rusage is plain numbers.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            // SAFETY: both pointers are to live values.
            let pid = unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage) };
            if pid == 0 {
                return false;
            }
            if pid < 0 {
                return true;
            }
            if pid == self.main {
                say(&used(self.begin.elapsed(), &usage));
                if libc::WIFSIGNALED(status) {
                    say(&format!("killed {}", libc::WTERMSIG(status)));
                } else {
                    say(&format!("exited {}", libc::WEXITSTATUS(status)));
                }
                return true;
            }
        }
    }

    fn poll(&self, timeout_ms: i32) -> [bool; 2] {
        let pollfd = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds = [pollfd(io::stdin().as_raw_fd()), pollfd(self.signals)];
        // SAFETY: two live pollfds.
        unsafe { libc::poll(fds.as_mut_ptr(), 2, timeout_ms) };
        [fds[0].revents != 0, fds[1].revents != 0]
    }

    /// Reads all pending signals. Returns whether one of them asks to end.
    fn take_signals(&self) -> bool {
        let mut told = false;
        // SAFETY: the descriptor is non-blocking and the buffer has the size of one record
        // (signalfd(2)).
        unsafe {
            let mut record: libc::signalfd_siginfo = std::mem::zeroed();
            let size = std::mem::size_of_val(&record);
            while libc::read(self.signals, (&raw mut record).cast(), size) == size as isize {
                told |= record.ssi_signo != libc::SIGCHLD as u32;
            }
        }
        told
    }
}

/// What a process used, with the children that it waited for (wait4(2)).
fn used(wall: Duration, usage: &libc::rusage) -> String {
    let ns = |time: libc::timeval| time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000;
    let cpu_ns = ns(usage.ru_utime) + ns(usage.ru_stime);
    // The kernel gives KiB.
    format!("used {} {cpu_ns} {}", wall.as_nanos(), usage.ru_maxrss * 1_024)
}

fn own_pid() -> i32 {
    std::process::id() as i32
}

/// Kills descendants until none is left or the time is over. Returns those that are left.
fn kill_everything(limit: Duration) -> Vec<i32> {
    let is_over = |_: &[i32]| loop {
        match descendants::take_in(-1) {
            -1 => return true,
            0 => return false,
            _ => {}
        }
    };
    descendants::kill(limit, || descendants(own_pid()), is_over)
}

/// The line that names what could not be killed; `None` if there is nothing.
pub(super) fn stuck_line(left: &[i32]) -> Option<String> {
    let who: Vec<String> =
        descendants::named(left).iter().map(|name| percent_encode(name)).collect();
    (!who.is_empty()).then(|| format!("stuck {}", who.join(" ")))
}

fn signal_fd() -> io::Result<libc::c_int> {
    // SAFETY: the set is plain data; the signals are blocked so that they arrive at the descriptor
    // only.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(&mut set, signal);
        }
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        let fd = libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(fd) }
    }
}

fn unblock_signals() {
    // SAFETY: as in signal_fd; sigprocmask is async-signal-safe.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
    }
}

/// Ends the message about a program that is not there.
pub const IS_INSTALLED: &str = " (is it installed?)";

fn explain_spawn(program: &str, error: &io::Error) -> io::Error {
    let exists = CString::new(std::ffi::OsStr::new(program).as_bytes()).is_ok()
        && std::path::Path::new(program).exists();
    let hint = if error.kind() == io::ErrorKind::NotFound && !exists { IS_INSTALLED } else { "" };
    io::Error::new(error.kind(), format!("cannot start `{program}`: {error}{hint}"))
}
