//! Running the program.
use super::checkout::Checkout;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The outcome of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    /// The exit code must be this one.
    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Each of these texts must be on one of the streams.
    #[track_caller]
    pub fn says(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(self.has(text), "it does not say {text:?}\n{self}");
        }
        self
    }

    /// The result of a load of so many requests as JSON. All must have right answers.
    #[track_caller]
    pub fn all_good(&self, requests: u64) -> serde_json::Value {
        // A busy machine may make a short load invalid. Its counts are right all the same.
        assert!(matches!(self.code, Some(0 | 3)), "{self}");
        let json: serde_json::Value = serde_json::from_str(&self.stdout).unwrap();
        assert_eq!(json["requests"]["good"], requests, "{self}");
        json
    }

    /// Whether this text is on one of the streams.
    pub fn has(&self, text: &str) -> bool {
        self.stdout.contains(text) || self.stderr.contains(text)
    }

    /// None of these texts may be on either stream.
    #[track_caller]
    pub fn keeps_quiet_about(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(
                !self.stdout.contains(text) && !self.stderr.contains(text),
                "it says {text:?}\n{self}"
            );
        }
        self
    }

    /// The output must be a message for people, without anything from Rust's internals.
    #[track_caller]
    pub fn is_a_user_error(&self, texts: &[&str]) -> &Self {
        self.exits(2)
            .says(texts)
            .keeps_quiet_about(&["panicked", "Os {", "Error {", "Some(", "Err("])
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "exit code {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.code, self.stdout, self.stderr
        )
    }
}

/// The program in this folder. If the folder is a checkout, it is the only catalog. The caller's
/// own settings do not reach it.
pub fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pippin"));
    command
        .args(arguments)
        .current_dir(home)
        .env_remove("PIPPIN_HOME")
        .env("XDG_STATE_HOME", home)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if home.join("targets").is_dir() && home.join("workloads").is_dir() {
        command.env("PIPPIN_HOME", home);
    }
    for variable in [
        "PIPPIN_ALLOW_HOST",
        "PIPPIN_NATS",
        "PIPPIN_NATS_USER",
        "PIPPIN_NATS_PASSWORD",
        "PIPPIN_NATS_TOKEN",
        "PIPPIN_AGENT",
        "PIPPIN_DATABASE_URL",
        "PIPPIN_PROGRAM",
        "COLUMNS",
        "CLICOLOR_FORCE",
    ] {
        command.env_remove(variable);
    }
    command
}

/// Runs the program to its end in this folder.
pub fn pippin(home: &Path, arguments: &[&str]) -> Outcome {
    Started::new(home, arguments).finish()
}

/// Starts the program in this folder.
pub fn start(home: &Path, arguments: &[&str]) -> Started {
    Started::new(home, arguments)
}

/// Runs `pippin` in a checkout and with these variables.
pub fn pippin_with(checkout: &Checkout, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let child = command(checkout.path(), arguments)
        .envs(variables.iter().copied())
        .process_group(0)
        .spawn()
        .unwrap();
    Started { child }.finish()
}

/// A call under way. Dropping this kills it.
pub struct Started {
    child: Child,
}

impl Started {
    /// Starts it in its own process group, as a shell does.
    pub fn new(home: &Path, arguments: &[&str]) -> Self {
        Self::spawn(&mut command(home, arguments))
    }

    /// Starts a prepared command.
    pub fn spawn(command: &mut Command) -> Self {
        Self { child: command.process_group(0).spawn().unwrap() }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: kill(2) on our own child, which has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// SIGINT to its whole process group, as a terminal sends it.
    pub fn press_ctrl_c(&self) {
        // SAFETY: as above; the group is the child's own.
        assert_eq!(unsafe { libc::kill(-(self.child.id() as i32), libc::SIGINT) }, 0);
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Outcome {
        // Read each stream on its own thread, so that neither fills up.
        let mut stderr = self.child.stderr.take().unwrap();
        let reader = std::thread::spawn(move || text(&mut stderr));
        let stdout = text(&mut self.child.stdout.take().unwrap());
        let status: ExitStatus = self.child.wait().unwrap();
        Outcome { code: status.code(), stdout, stderr: reader.join().unwrap() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
