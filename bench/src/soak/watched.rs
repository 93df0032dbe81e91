//! A process whose memory and descriptors are sampled until it ends.
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::flat::Look;

/// The process. Dropping this kills it.
pub struct Watched {
    child: Child,
    begun: Instant,
}

impl Watched {
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
        Ok(Self { child, begun: Instant::now() })
    }

    /// `None` once it has ended.
    pub fn look(&self) -> Option<Look> {
        let folder = format!("/proc/{}", self.child.id());
        let status = std::fs::read_to_string(format!("{folder}/status")).ok()?;
        // An ended process that was not waited for has no memory (proc_pid_status(5)).
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
        let descriptors = std::fs::read_dir(format!("{folder}/fd")).ok()?.count() as u64;
        let at_ms = self.begun.elapsed().as_millis() as u64;
        Some(Look { at_ms, rss_bytes: kib * 1024, descriptors })
    }

    /// Samples it until it ends. Returns its exit code too.
    pub fn until_its_end(mut self, every: Duration) -> Result<(Vec<Look>, Option<i32>), String> {
        let mut looks = Vec::new();
        loop {
            if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
                return Ok((looks, status.code()));
            }
            looks.extend(self.look());
            std::thread::sleep(every);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
