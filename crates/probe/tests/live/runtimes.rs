//! The runtimes of real programs, beside what these programs say of themselves.
use pippin_probe::facts::Living;
use pippin_probe::kernel_files::KernelFiles;
use pippin_probe::runtimes::Runtimes;
use pippin_testing::skipped::skip;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A program that has printed its own version, and waits.
struct Waiting {
    child: Child,
    output: Option<BufReader<ChildStdout>>,
    says: String,
}

impl Waiting {
    /// `None` if the program is not installed here.
    fn start(test: &str, words: &[&str]) -> Option<Self> {
        let mut command = Command::new(words[0]);
        let command = command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = command.stderr(Stdio::null()).spawn() else {
            skip(test, &format!("{} is not installed here", words[0]));
            return None;
        };
        let output = child.stdout.take().map(BufReader::new);
        let mut waiting = Self { child, output, says: String::new() };
        waiting.says = waiting.line();
        Some(waiting)
    }

    /// The next line that it prints.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        line.trim().to_string()
    }

    /// What it prints after a line of input.
    fn answer(&mut self, line: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.line()
    }

    /// What one look sees of it from outside.
    fn seen_by(&self, runtimes: &mut Runtimes) -> String {
        let files = KernelFiles::default();
        let process = Living::seen(&files, i32::try_from(self.child.id()).unwrap(), 1, 0);
        let found = runtimes.look(&files, &[process]);
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    fn seen(&self) -> String {
        self.seen_by(&mut Runtimes::default())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn node_python_and_java_are_told_with_their_version() {
    let test = "runtimes::node_python_and_java_are_told_with_their_version";
    let node = "console.log(process.versions.node); setInterval(() => {}, 1000)";
    let python =
        "import platform, sys; print(platform.python_version(), flush=True); sys.stdin.read()";
    let folder = tempfile::tempdir().unwrap();
    let java = folder.path().join("Says.java");
    let program = r#"
public class Says {
    public static void main(String[] arguments) throws Exception {
        System.out.println(System.getProperty("java.version"));
        Thread.sleep(600_000);
    }
}
"#;
    std::fs::write(&java, program).unwrap();
    for (name, words) in [
        ("Node", &["node", "-e", node][..]),
        ("Python", &["python3", "-c", python]),
        ("JVM", &["java", java.to_str().unwrap()]),
    ] {
        let Some(waiting) = Waiting::start(test, words) else { continue };
        assert!(!waiting.says.is_empty(), "{name} says nothing");
        assert_eq!(waiting.seen(), format!("{name} {}", waiting.says));
    }
}

/// The tool itself is a Go program, and says which version built it.
#[test]
fn a_program_of_go_is_told_with_its_version() {
    let test = "runtimes::a_program_of_go_is_told_with_its_version";
    // It waits for the files that are to be formatted.
    let Ok(tool) = Command::new("go").args(["env", "GOROOT"]).output() else {
        return skip(test, "go is not installed here");
    };
    let root = String::from_utf8(tool.stdout).unwrap();
    let format = format!("{}/bin/gofmt", root.trim());
    let says = Command::new("go").args(["version", &format]).output().unwrap();
    let says = String::from_utf8(says.stdout).unwrap();
    let version = says.trim().rsplit("go").next().unwrap().to_string();
    let child = Command::new(&format).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let waiting = Waiting { child: child.unwrap(), output: None, says: version };
    // It is looked at from its very begin, when nothing of it is mapped yet.
    let mut runtimes = Runtimes::default();
    let mut looks = (0..1_000).map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        waiting.seen_by(&mut runtimes)
    });
    let seen = looks.find(|seen| !seen.is_empty());
    assert_eq!(seen, Some(format!("Go {}", waiting.says)));
}

/// A shell becomes another program and keeps its number and its start.
#[test]
fn a_process_that_becomes_another_program_is_told_anew() {
    let test = "runtimes::a_process_that_becomes_another_program_is_told_anew";
    let python = "import platform; print(platform.python_version(), flush=True); input()";
    if Command::new("python3").arg("--version").output().is_err() {
        return skip(test, "python3 is not installed here");
    }
    let script = format!("echo shell; read line; exec python3 -c '{python}'");
    let mut waiting = Waiting::start(test, &["sh", "-c", &script]).unwrap();
    let mut runtimes = Runtimes::default();
    for _ in 0..3 {
        assert_eq!(waiting.seen_by(&mut runtimes), "");
    }
    let version = waiting.answer("go on");
    assert_eq!(waiting.seen_by(&mut runtimes), format!("Python {version}"));
}

/// This test itself, and a shell.
#[test]
fn native_programs_have_none() {
    let files = KernelFiles::default();
    let me = Living::seen(&files, i32::try_from(std::process::id()).unwrap(), 1, 0);
    assert_eq!(Runtimes::default().look(&files, &[me]), []);
    let shell = Waiting::start("runtimes::native", &["sh", "-c", "echo sh; read line"]).unwrap();
    assert_eq!(shell.seen(), "");
}
