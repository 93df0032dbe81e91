//! A checkout for each test: the shipped workloads, and the targets and plans that the test writes.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

use super::pippin::{Outcome, Started, pippin};
use super::processes::{alive_with, until};

/// Copies the files of a folder, and those below it, each with the name that this makes of its own.
pub fn copy(from: &Path, to: &Path, named: fn(&str) -> &str) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(name), named);
        } else {
            fs::copy(entry.path(), to.join(named(&name))).unwrap();
        }
    }
}

/// A temporary checkout. Everything that Pippin starts for it has its folder's name in the command
/// line.
pub struct Checkout {
    folder: TempDir,
}

const HELLO: &str = r#"import http.server, os, signal, sys

class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "12")
        self.end_headers()
        self.wfile.write(b"Hello World!")

    def log_message(self, *words):
        pass

def server(handler):
    return http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler)

"#;

impl Checkout {
    /// With the shipped workloads, without targets and plans.
    pub fn new() -> Self {
        let checkout = Self::of_a_user();
        for name in ["targets", "plans"] {
            fs::create_dir(checkout.path().join(name)).unwrap();
        }
        copy(&repository().join("workloads"), &checkout.path().join("workloads"), |name| name);
        checkout
    }

    /// A repository of a user's, and not a checkout of Pippin: an empty folder.
    pub fn of_a_user() -> Self {
        Self { folder: tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap() }
    }

    /// With one target `test/NAME`, the cheating server in this mode.
    pub fn with_cheat(mode: &str, workloads: &[&str]) -> Self {
        let checkout = Self::new();
        checkout.add_cheat("it", mode, workloads);
        checkout
    }

    /// A user's, with these targets, the workload `home` (`GET /`, answered with 200), and the plan `ci`: a
    /// closed loop of 4 connections for 2 s, of the targets in `names`, with `more` keys.
    pub fn with_a_home(targets: &str, names: &str, more: &str) -> Self {
        let checkout = Self::of_a_user();
        checkout.write(
            "pippin.toml",
            &format!(
                "{targets}\n[workload.home]\nrequest = {{ path = \"/\" }}\nanswer = {{ status = 200 }}\n\
                 [plan.ci]\nworkload = \"home\"\ntargets = [{names}]\nrepetitions = 1\n{more}\n\
                 profile = {{ kind = \"closed\", connections = 4, duration = \"2s\", warm_up = \"none\" }}\n\
                 cpus = {{ share = true }}\n"
            ),
        );
        checkout
    }

    /// Writes a server in Python, which takes its port from the command line: the class `Hello` answers
    /// `GET /`, and the function `server` listens for such a class.
    pub fn write_server(&self, path: &str, text: &str) {
        self.write(path, &format!("{HELLO}{text}"));
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The text that is in the command line of every process of this checkout.
    pub fn marker(&self) -> String {
        self.folder.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// Adds the target `test/NAME`: the cheating server in this mode.
    pub fn add_cheat(&self, name: &str, mode: &str, workloads: &[&str]) {
        self.write(
            &format!("targets/test/{name}/target.toml"),
            &self.manifest(name, mode, workloads),
        );
    }

    /// The manifest of the cheating server in this mode. A test only waits for the end of the time
    /// to get ready where the server never is.
    pub fn manifest(&self, name: &str, mode: &str, workloads: &[&str]) -> String {
        const NEVER_READY: [&str; 4] = ["hangs", "answers-500", "closes-at-once", "fixed-port:0"];
        let (cheat, marker) = (cheat().display().to_string(), self.marker());
        let limit = if NEVER_READY.contains(&mode) { "2s" } else { "60s" };
        format!(
            "schema = 1\nname = \"{name}\"\nlanguage = \"test\"\nframework = \"none\"\nruntime = \"native\"\nworkloads = {workloads:?}\n\
             [start]\ncommand = [\"{cheat}\", \"{mode}\", \"{marker}\"]\nready = {{ path = \"/\", timeout = \"{limit}\" }}\n"
        )
    }

    /// Adds the plan `NAME`: a closed loop of 4 connections for 300 ms, once.
    pub fn add_plan(&self, name: &str, workload: &str, targets: &[&str]) {
        self.write(
            &format!("plans/{name}.toml"),
            &plan(
                workload,
                targets,
                "kind = \"closed\"\nconnections = 4\nduration = \"300ms\"\nwarm_up = \"none\"\n",
            ),
        );
    }

    /// Writes a file of the checkout.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs Pippin in it to the end.
    pub fn pippin(&self, arguments: &[&str]) -> Outcome {
        let store = self.store_path().display().to_string();
        pippin(self.path(), &[&["--store", store.as_str()], arguments].concat())
    }

    /// Starts Pippin in it.
    pub fn start(&self, arguments: &[&str]) -> Started {
        let store = self.store_path().display().to_string();
        Started::new(self.path(), &[&["--store", store.as_str()], arguments].concat())
    }

    /// The database of its runs.
    pub fn store_path(&self) -> PathBuf {
        self.path().join(".pippin/pippin.db")
    }

    /// The database of its runs, opened.
    pub fn store(&self) -> pippin_store::Store {
        pippin_store::Store::open(&self.store_path()).unwrap()
    }

    /// No process that was started for it may still run.
    #[track_caller]
    pub fn left_nothing(&self) {
        assert_eq!(alive_with(&self.marker()), Vec::<String>::new());
    }

    /// Every process that was started for it must end soon.
    #[track_caller]
    pub fn is_soon_left_by_all(&self) {
        assert!(
            until(|| alive_with(&self.marker()).is_empty()),
            "still there: {:?}",
            alive_with(&self.marker())
        );
    }

    /// Waits until a process of this checkout has `text` in its command line.
    #[track_caller]
    pub fn wait_for_process(&self, text: &str) {
        let there = || {
            alive_with(&self.marker())
                .iter()
                .any(|line| line.contains(text) && !line.contains("__supervise"))
        };
        assert!(until(there), "no process {text:?}: {:?}", alive_with(&self.marker()));
    }
}

/// A plan with this profile, one repetition, a fast upstream, everything on all processors.
pub fn plan(workload: &str, targets: &[&str], profile: &str) -> String {
    format!(
        "title = \"A test\"\nworkload = \"{workload}\"\ntargets = {targets:?}\nrepetitions = 1\nupstream_delay = \"40ms\"\n[cpus]\nshare = true\n[profile]\n{profile}"
    )
}

/// The profile of a closed loop of so many requests, without a warm-up.
pub fn counted(connections: u32, requests: u32) -> String {
    format!(
        "kind = \"closed\"\nconnections = {connections}\nrequests = {requests}\nwarm_up = \"none\"\n"
    )
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The program `crates/reference/examples/cheat`, built if its source is newer.
pub fn cheat() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_pippin")).parent().unwrap();
        let program = folder.join("examples/cheat");
        let newest = ["examples/cheat", "src"].into_iter().flat_map(|folder| {
            fs::read_dir(repository().join("crates/reference").join(folder)).unwrap().flatten()
        });
        let newest =
            newest.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max().unwrap();
        if program
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|built| built >= newest)
        {
            return program;
        }
        let mut build = Command::new(env!("CARGO"));
        build
            .args([
                "build",
                "--quiet",
                "--package",
                "pippin-reference",
                "--example",
                "cheat",
                "--target-dir",
            ])
            .arg(folder.parent().unwrap());
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(
            build.current_dir(repository()).status().unwrap().success(),
            "the example `cheat` does not build"
        );
        program
    })
}
