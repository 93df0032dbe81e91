//! Child processes bound to a core, with the kernel's account of what they used.
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How a child ended and what it used.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub wall: Duration,
    /// User and system time of the process and of the children it waited for (wait4(2)).
    pub cpu_ns: u64,
    /// ru_maxrss.
    pub max_rss_bytes: u64,
    pub stdout: String,
    pub stderr: String,
}

/// Binds the command's process to one core and makes it end with this one.
pub fn bind(command: &mut Command, core: u32) {
    let set_up = move || {
        // SAFETY: plain system calls on local data, allowed between fork and exec.
        unsafe {
            let mut set: libc::cpu_set_t = MaybeUninit::zeroed().assume_init();
            libc::CPU_SET(core as usize, &mut set);
            if libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) < 0 {
                return Err(io::Error::last_os_error());
            }
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        Ok(())
    };
    // SAFETY: see above; the closure allocates nothing.
    unsafe { command.pre_exec(set_up) };
}

/// Runs a command to its end on one core; kills it after `limit`.
pub fn run(command: &mut Command, core: u32, limit: Duration) -> Result<Ended, String> {
    bind(command, core);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let (stop_watch, watch) = watch(&child, limit);
    let (status, usage) = wait(child)?;
    let wall = begin.elapsed();
    drop(stop_watch);
    let killed = watch.join().unwrap_or(false);
    if killed {
        return Err(format!("did not end within {} s", limit.as_secs()));
    }
    Ok(Ended {
        status,
        wall,
        cpu_ns: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
        // The kernel gives KiB.
        max_rss_bytes: usage.ru_maxrss as u64 * 1_024,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

/// Waits for a child and takes its account.
pub fn wait(child: Child) -> Result<(ExitStatus, libc::rusage), String> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers outlive the call.
        let result =
            unsafe { libc::wait4(child.id() as i32, &raw mut status, 0, usage.as_mut_ptr()) };
        if result >= 0 {
            // SAFETY: wait4 filled it; all its fields are plain numbers anyway.
            return Ok((ExitStatus::from_raw(status), unsafe { usage.assume_init() }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(format!("wait4: {error}"));
        }
    }
}

pub fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

fn drain(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What could be read before an error is what there is to show.
            _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Kills the child if the sender is still alive after `limit`; returns whether it did.
fn watch(
    child: &Child,
    limit: Duration,
) -> (std::sync::mpsc::Sender<()>, std::thread::JoinHandle<bool>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let id = child.id() as i32;
    let watch = std::thread::spawn(move || {
        let late = receiver.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if late {
            // SAFETY: no pointers are passed. The child is not waited for yet, so its number is
            // still its own.
            unsafe { libc::kill(id, libc::SIGKILL) };
        }
        late
    });
    (sender, watch)
}

#[cfg(test)]
mod tests {
    use super::run;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn a_busy_child_is_charged_for_what_it_used() {
        let ended = run(
            Command::new("sh")
                .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done"]),
            0,
            Duration::from_secs(20),
        )
        .unwrap();
        assert_eq!(ended.stdout, "done\n");
        assert!(ended.cpu_ns > 10_000_000, "{}", ended.cpu_ns);
        let asleep = run(Command::new("sleep").arg("0.2"), 0, Duration::from_secs(20)).unwrap();
        assert!(
            asleep.cpu_ns < 100_000_000 && asleep.wall >= Duration::from_millis(200),
            "{asleep:?}"
        );
    }

    #[test]
    fn a_child_that_does_not_end_is_ended() {
        assert!(
            run(Command::new("sleep").arg("60"), 0, Duration::from_millis(100))
                .unwrap_err()
                .contains("did not end")
        );
    }
}
