//! Servers of the shapes that people run: with workers, behind a proxy, handing over, as a daemon, in
//! a namespace of their own. Each answers a request with the processor time that it used for it, by
//! the kernel's account of the processes that took part. So what is counted of it from outside has a
//! known right value, however busy the machine is.
//!
//! They are one Python program, `shapes/shape.py`, with a function for each shape.
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The program.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/shapes/shape.py");

/// A server of one shape. Dropping it ends all processes that it named.
#[derive(Debug)]
pub struct Shape {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The process that said where it listens, and those that answered since.
    pub pids: Vec<i32>,
    /// Its port, if it has one.
    pub port: u16,
    path: Option<PathBuf>,
}

/// What was done for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Processor time in nanoseconds.
    pub used_ns: u64,
    /// The process that answered.
    pub pid: i32,
}

impl Shape {
    /// Starts a server of this kind, a function of the program, with its arguments. `None` if this
    /// machine does not allow it.
    ///
    /// # Errors
    /// If Python is missing, or the program fails.
    pub fn start(kind: &str, arguments: &[&str]) -> io::Result<Option<Self>> {
        let mut child =
            command(kind, arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let mut stdout = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let path = arguments.iter().find(|it| it.contains('/')).map(PathBuf::from);
        let mut shape = Self { child, stdin, stdout, pids: Vec::new(), port: 0, path };
        if line.trim() == "cannot" {
            return Ok(None);
        }
        let Some((port, pid)) = numbers(&line) else {
            return Err(io::Error::other(format!("{kind} says `{line}`")));
        };
        shape.port = u16::try_from(port).unwrap_or(0);
        shape.pids.push(pid);
        Ok(Some(shape))
    }

    /// Where it listens on 127.0.0.1.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// The first process that it named.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pids.first().copied().unwrap_or(0)
    }

    /// Uses this much processor time for one request, at this address.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn burn_at(&mut self, address: SocketAddr, ms: u64) -> io::Result<Done> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(format!("burn {ms}\n").as_bytes())?;
        self.done(&mut stream)
    }

    /// Uses this much processor time for one request, wherever it listens.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn burn(&mut self, ms: u64) -> io::Result<Done> {
        let path = self.path.clone().filter(|_| self.port == 0);
        match path {
            Some(path) => self.burn_in(&path, ms),
            None => self.burn_at(self.address(), ms),
        }
    }

    fn burn_in(&mut self, path: &Path, ms: u64) -> io::Result<Done> {
        let mut stream = UnixStream::connect(path)?;
        stream.write_all(format!("burn {ms}\n").as_bytes())?;
        self.done(&mut stream)
    }

    /// Uses this much processor time for one request, where nobody can connect to it from here.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn burn_inside(&mut self, ms: u64) -> io::Result<Done> {
        self.stdin.write_all(format!("burn {ms}\n").as_bytes())?;
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        self.read(&line)
    }

    /// Makes it do what its shape is about.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn go(&mut self) -> io::Result<Done> {
        let mut stream = TcpStream::connect(self.address())?;
        stream.write_all(b"go\n")?;
        self.done(&mut stream)
    }

    /// Ends its first process by a signal.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn done(&mut self, stream: &mut impl io::Read) -> io::Result<Done> {
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        self.read(&text)
    }

    fn read(&mut self, text: &str) -> io::Result<Done> {
        let (used, pid) = numbers(text).ok_or_else(|| io::Error::other(format!("`{text}`")))?;
        self.pids.push(pid);
        Ok(Done { used_ns: used, pid })
    }
}

impl Drop for Shape {
    fn drop(&mut self) {
        self.kill();
        for pid in &self.pids {
            let name = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            // A number may be another process's by now.
            if String::from_utf8_lossy(&name).contains("shape.py") {
                // SAFETY: no pointers.
                unsafe { libc::kill(*pid, libc::SIGKILL) };
            }
        }
    }
}

/// What a process of one thread has used, in nanoseconds, by the scheduler's own account
/// (`/proc/PID/schedstat`), with the children that it waited for (cutime and cstime in
/// `/proc/PID/stat`, in ticks); `None` if there is no such process.
#[must_use]
pub fn scheduled_ns(pid: i32) -> Option<u64> {
    let text = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    let own: u64 = text("schedstat")?.split_ascii_whitespace().next()?.parse().ok()?;
    let stat = text("stat")?;
    // The name may hold anything. After it, the state is field 3 and cutime field 16.
    let fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(own + ticks * 10_000_000)
}

/// The program as a command of this kind.
#[must_use]
pub fn command(kind: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.arg(PROGRAM).arg(kind).args(arguments);
    command
}

fn numbers(line: &str) -> Option<(u64, i32)> {
    let (first, second) = line.trim().split_once(' ')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}
