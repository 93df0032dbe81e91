//! A host whose processors do what a test says. Pippin runs in its own mount namespace
//! (unshare(1)), where `/proc/stat` is a file that the test writes. So the verdict does not depend
//! on other programs on this machine, and Pippin does not notice.
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::namespace::{may_mount, with_mount};
use super::pippin::{Outcome, Started, command};

/// What the processors do besides running Pippin and its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// Nothing.
    Idle,
    /// The hypervisor takes 30 % of each processor.
    Stolen,
    /// Other programs run on all processors; one of them is real.
    Busy,
}

/// The host. Dropping this removes it.
pub struct ScriptedHost {
    folder: tempfile::TempDir,
    is_over: Arc<AtomicBool>,
    writer: Option<JoinHandle<()>>,
    burner: Option<Child>,
}

impl ScriptedHost {
    /// `None` if this machine does not allow mount namespaces.
    pub fn new(others: Others) -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap();
        let path = folder.path().join("stat");
        fs::write(&path, text(others)).unwrap();
        if !may_mount(&over_stat(&path)) {
            return None;
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let file = File::options().write(true).open(&path).unwrap();
        let ends = Arc::clone(&is_over);
        let writer = std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                file.write_all_at(text(others).as_bytes(), 0).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let burner = (others == Others::Busy).then(|| burner(&path));
        Some(Self { folder, is_over, writer: Some(writer), burner })
    }

    /// Runs Pippin on it to the end.
    pub fn pippin(&self, arguments: &[&str]) -> Outcome {
        let like = command(self.folder.path(), &[]);
        let mut started = with_mount(&over_stat(&self.folder.path().join("stat")));
        started.arg(env!("CARGO_BIN_EXE_pippin")).args(arguments);
        started.current_dir(self.folder.path());
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => started.env(name, value),
                None => started.env_remove(name),
            };
        }
        for stream in [Command::stdout, Command::stderr] {
            stream(&mut started, std::process::Stdio::piped());
        }
        Started::spawn(started.stdin(std::process::Stdio::null())).finish()
    }
}

impl Drop for ScriptedHost {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        if let Some(mut burner) = self.burner.take() {
            let _ = burner.kill();
            let _ = burner.wait();
        }
    }
}

/// The arguments of mount(8) that put this file in place of `/proc/stat`.
fn over_stat(file: &Path) -> [&OsStr; 3] {
    ["--bind".as_ref(), file.as_ref(), "/proc/stat".as_ref()]
}

/// A program that is busy as long as this file is there, at most ten minutes. It is not a child of
/// this process, which is the target of the loads, but of a short-lived one.
fn burner(as_long_as: &Path) -> Child {
    Command::new("setsid")
        .args(["--fork", "timeout", "600", "sh", "-c", "while [ -e \"$0\" ]; do :; done"])
        .arg(as_long_as)
        .spawn()
        .unwrap()
}

/// `/proc/stat` at this instant, for as many processors as this machine has (proc_stat(5)). It
/// always has the same length, so that it can be overwritten in place.
fn text(others: Others) -> String {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let ticks = time.tv_sec as u64 * 100 + time.tv_nsec as u64 / 10_000_000;
    let (idle, steal) = match others {
        Others::Idle => (ticks, 0),
        Others::Stolen => (ticks * 7 / 10, ticks * 3 / 10),
        Others::Busy => (0, 0),
    };
    let numbers = format!("0 0 0 {idle:016} 0 0 0 {steal:016} 0 0\n");
    let real = fs::read_to_string("/proc/stat").unwrap();
    let processors = real.lines().filter(|line| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    let named = processors.map(|line| format!("{} {numbers}", line.split(' ').next().unwrap()));
    format!("cpu  {numbers}{}", named.collect::<String>())
}
