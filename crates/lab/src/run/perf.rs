//! Runs `perf` of the Linux kernel: where the processes of a target spend their CPU time, and how
//! many system calls they make. It samples by the CPU clock, which virtual machines have too.
use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::processor::ProcessorCounter;
use crate::error::LabError;

/// Samples per second and processor. Not a multiple of common frequencies, so that samples do not
/// run in step with periodic work.
const SAMPLES_PER_S: &str = "499";
/// How often Pippin checks whether `perf` is ready.
const LOOK: Duration = Duration::from_millis(20);
/// The time that a sample stands for, as `perf` writes it, nanoseconds.
const SAMPLE_NS: u64 = 1_000_000_000 / 499;
/// The files in which runtimes name the functions that they have compiled.
const MAPS: &str = "/tmp";
/// Variables that make runtimes write these files: Node.js (`node --perf-basic-prof`), Python from
/// 3.12 on (<https://docs.python.org/3/howto/perf_profiling.html>), .NET, and the JVM from 17 on,
/// when it ends. Others ignore them; an older JVM would not start with options that it does not know, if
/// the first of them did not allow it. Go and Rust need none.
pub const ENVIRONMENT: [(&str, &str); 4] = [
    ("NODE_OPTIONS", "--perf-basic-prof"),
    ("PYTHONPERFSUPPORT", "1"),
    // learn.microsoft.com, .NET runtime configuration, debugging and profiling: perf map and perfinfo.
    ("DOTNET_PerfMapEnabled", "1"),
    (
        "JAVA_TOOL_OPTIONS",
        "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer",
    ),
];

/// The program `perf`, which may be used here.
#[derive(Debug, Clone)]
pub struct Perf {
    /// Whether the machine has hardware counters.
    pub has_hardware_counters: bool,
}

/// What is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counted {
    /// Context switches.
    pub switches: Option<u64>,
    /// System calls.
    pub syscalls: Option<u64>,
}

impl Perf {
    /// Looks whether `perf` is there and may be used.
    ///
    /// # Errors
    /// If it is not; the message says what to do.
    pub fn find(folder: &Path) -> Result<Self, LabError> {
        let data = folder.join("perf-trial.data");
        let tried = Command::new("perf")
            .args(["record", "-q", "-e", "cpu-clock", "-o"])
            .arg(&data)
            .args(["--", "true"])
            .stdin(Stdio::null())
            .output();
        drop(fs::remove_file(&data));
        let output = tried.map_err(|_| {
            LabError::User(
                "--explain needs perf: install linux-perf (Debian), linux-tools-generic (Ubuntu) or perf (Fedora, Arch)".into(),
            )
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason");
            return Err(LabError::User(format!(
                "--explain: perf may not take samples here ({}); run as root, or allow it: sysctl kernel.perf_event_paranoid=1",
                line.trim()
            )));
        }
        Ok(Self { has_hardware_counters: ProcessorCounter::find().is_ok() })
    }

    /// Begins to sample these processes and what they start, into a file.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn record(&self, processes: &[i32], data: &Path) -> io::Result<Running> {
        let arguments = ["record", "-q", "-e", "cpu-clock", "-F", SAMPLES_PER_S, "-g", "-o"];
        Running::start(arguments.map(OsStr::new).into_iter().chain([data.as_os_str()]), processes)
    }

    /// Begins to count what these processes and what they start ask of the kernel.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn count(&self, processes: &[i32], data: &Path) -> io::Result<Running> {
        let events =
            ["stat", "-x,", "-e", "context-switches", "-e", "raw_syscalls:sys_enter", "-o"];
        Running::start(events.map(OsStr::new).into_iter().chain([data.as_os_str()]), processes)
    }
}

/// `perf` at work.
#[derive(Debug)]
pub struct Running {
    child: Child,
}

impl Running {
    /// Runs it with these words, until it has begun to watch the processes.
    pub(super) fn start<'a>(
        arguments: impl Iterator<Item = &'a OsStr>,
        processes: &[i32],
    ) -> io::Result<Self> {
        let list: Vec<String> = processes.iter().map(ToString::to_string).collect();
        let child = Command::new("perf")
            .args(arguments)
            .args(["-p", &list.join(",")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        watches(child.id());
        Ok(Self { child })
    }

    /// Ends it as Ctrl-C does, which lets it write what it has.
    ///
    /// # Errors
    /// What it says of a failure.
    pub fn finish(self) -> Result<(), String> {
        // SAFETY: kill(2) on our own child, which has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) };
        let output = self.child.wait_with_output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        // After an interrupt, it ends by the signal or with a code that means the same.
        let line = said.lines().map(str::trim).find(|line| line.to_lowercase().contains("error"));
        line.map_or(Ok(()), |line| Err(line.into()))
    }
}

/// Waits until `perf` has opened its events, for at most 5 s. A thread that starts before that is
/// neither listed nor inherited, so `perf` would miss it.
fn watches(perf: u32) {
    let mut before = 0;
    for _ in 0..250 {
        std::thread::sleep(LOOK);
        let opened = events_of(perf);
        if opened > 0 && opened == before {
            return;
        }
        before = opened;
    }
}

/// How many events a process has open: links to `anon_inode:[perf_event]` in `/proc/PID/fd`
/// (proc_pid_fd(5)).
fn events_of(process: u32) -> usize {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/fd")) else { return 0 };
    let links = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter(|link| link.as_os_str() == "anon_inode:[perf_event]").count()
}

/// The stacks of a file of samples, folded: one line for each stack, with its number of samples.
///
/// # Errors
/// If they cannot be read.
pub fn stacks(data: &Path) -> Result<String, String> {
    let output = Command::new("perf")
        .args(["script", "--no-inline", "-i"])
        .arg(data)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(said.lines().next().unwrap_or("perf script failed").trim().into());
    }
    fold(&output.stdout)
}

fn fold(script: &[u8]) -> Result<String, String> {
    let mut folded = Vec::new();
    Folder::from(Options::default())
        .collapse(script, &mut folded)
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&folded).lines().filter_map(in_samples).collect())
}

/// A folded line with the number of its samples instead of the time that they stand for,
/// nanoseconds.
fn in_samples(line: &str) -> Option<String> {
    let (stack, time_ns) = line.rsplit_once(' ')?;
    let count = time_ns.parse::<u64>().ok()?.div_ceil(SAMPLE_NS);
    Some(format!("{stack} {count}\n"))
}

/// The number of samples of folded stacks.
#[must_use]
pub fn samples(stacks: &str) -> u64 {
    let counts = stacks.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
    counts.sum()
}

/// What `perf stat -x,` wrote: a line an event, its count first.
#[must_use]
pub fn counted(text: &str) -> Counted {
    let of = |event: &str| {
        let line = text.lines().find(|line| line.contains(event))?;
        line.split(',').next()?.trim().parse().ok()
    };
    Counted { switches: of("context-switches"), syscalls: of("sys_enter") }
}

/// Removes what runtimes wrote for `perf`.
pub fn tidy(processes: &[i32]) {
    for pid in processes {
        // The second one is what .NET writes beside it: the libraries that it has loaded.
        for name in [format!("perf-{pid}.map"), format!("perfinfo-{pid}.map")] {
            drop(fs::remove_file(Path::new(MAPS).join(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_folded_by_their_stacks() {
        let script = b"server 7/8 100.5: 2004008 cpu-clock:pppH: \n\t 10 write+0x1 (/lib/libc.so)\n\t 20 main+0x2 (/bin/server)\n\nserver 7/8 100.6: 2004008 cpu-clock:pppH: \n\t 10 write+0x5 (/lib/libc.so)\n\t 20 main+0x2 (/bin/server)\n\n";
        let folded = fold(script).unwrap();
        assert_eq!(folded, "server;main;write 2\n");
        assert_eq!(samples(&folded), 2);
        assert_eq!(samples(""), 0);
    }

    #[test]
    fn counts_are_read_and_what_was_not_counted_is_unknown() {
        let text = "# started on Mon\n\n1234,,context-switches,5000,100.00,,\n<not supported>,,raw_syscalls:sys_enter,0,100.00,,\n";
        assert_eq!(counted(text), Counted { switches: Some(1_234), syscalls: None });
        let both = "7,,context-switches,1,100.00,,\n99,,raw_syscalls:sys_enter,1,100.00,,\n";
        assert_eq!(counted(both), Counted { switches: Some(7), syscalls: Some(99) });
        assert_eq!(counted(""), Counted::default());
    }
}
