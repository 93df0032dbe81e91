//! Three hosts on this machine: network namespaces connected by veth. The hub has a NATS server
//! with TLS and users with minimal rights, and a server to load; `a` and `b` have agents.
use pippin_fleet::accounts::{Account, Members};
use pippin_testing::skipped::skip;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::pippin::{Started, command};
use super::processes::until;

/// The hub's address for `a` and `b`.
const HUB: &str = "10.77.1.1";
/// The address of `b` for the others.
pub const SITE: &str = "10.77.2.2";

/// The hosts. Dropping this removes them.
pub struct Hosts {
    id: String,
    folder: tempfile::TempDir,
    nats: Option<Child>,
    requests: Arc<AtomicU64>,
    port: u16,
}

impl Hosts {
    /// `None` if this machine does not allow network namespaces or has no nats-server. That is
    /// printed and written to the file in `PIPPIN_SKIPPED`.
    pub fn new(test: &str) -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let id = format!("p{}x{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        if !run(&["ip", "netns", "add", &format!("{id}-c")]) {
            skip(test, "network namespaces are not allowed here");
            return None;
        }
        if Command::new("nats-server").arg("--version").output().is_err() {
            skip(test, "there is no nats-server");
            run(&["ip", "netns", "delete", &format!("{id}-c")]);
            return None;
        }
        wire(&id);
        let requests = Arc::new(AtomicU64::new(0));
        let port = serve(&id, Arc::clone(&requests));
        let folder = tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap();
        let mut hosts = Self { id, folder, nats: None, requests, port };
        hosts.write_files();
        hosts.start_nats();
        Some(hosts)
    }

    /// The accounts that `pippin fleet init` would write.
    fn write_files(&self) {
        let members = Members {
            servers: vec![HUB.into()],
            port: 4222,
            agents: vec!["a".into(), "b".into()],
            probes: vec!["site".into()],
            cluster: Vec::new(),
            place: self.folder.path().join("server"),
        };
        for Account { path, text } in members.accounts().unwrap() {
            let path = self.folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    /// Starts the server, or starts it again, and waits until it listens: a load does not.
    pub fn start_nats(&mut self) {
        let config = self.folder.path().join("server/nats.conf");
        let mut command = self.inside("c", "nats-server");
        let child = command.arg("-c").arg(config).stderr(Stdio::null()).spawn().unwrap();
        self.nats = Some(child);
        let listens = in_hub(&self.id, || until(|| TcpStream::connect((HUB, 4222)).is_ok()));
        assert!(listens, "nats-server does not listen");
    }

    /// Kills the server.
    pub fn kill_nats(&mut self) {
        if let Some(mut child) = self.nats.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// How many requests the server has received.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Cuts a host off, or connects it again.
    pub fn set_link(&self, host: &str, up: bool) {
        let namespace = format!("{}-c", self.id);
        let state = if up { "up" } else { "down" };
        assert!(run(&[
            "ip",
            "netns",
            "exec",
            &namespace,
            "ip",
            "link",
            "set",
            &format!("to-{host}"),
            state
        ]));
    }

    fn inside(&self, host: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}-{host}", self.id), program]);
        command
    }

    /// Starts the program on a host.
    pub fn start(&self, host: &str, words: &[&str], variables: &[(&str, &str)]) -> Started {
        // The same settings for another program.
        let like = command(self.folder.path(), &[]);
        let mut inside = self.inside(host, env!("CARGO_BIN_EXE_pippin"));
        inside.args(words).current_dir(self.folder.path());
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside.envs(variables.iter().copied());
        inside.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Started::spawn(&mut inside)
    }

    /// Starts an agent with the host's name. It may load the hub.
    pub fn agent(&self, host: &str, variables: &[(&str, &str)]) -> Started {
        self.agent_for(HUB, host, variables)
    }

    /// An agent that may load this host instead.
    pub fn agent_for(&self, target: &str, host: &str, variables: &[(&str, &str)]) -> Started {
        let file = format!("members/{host}.env");
        let words = ["agent", "--nats-file", &file, "--cpus", "0", "--allow-host", target];
        self.start(host, &words, variables)
    }

    /// Starts the probe `site` on `b`.
    pub fn probe(&self) -> Started {
        let words = ["agent", "--probe", "--address", SITE, "--nats-file", "members/site.env"];
        self.start("b", &words, &[])
    }

    /// Starts a run of this plan. The probe has the targets and `a` loads them.
    pub fn run_at_site(&self, plan: &str, words: &[&str]) -> Started {
        let run = ["run", plan, "--probe", "site", "--agents", "1", "--nats-file", COORDINATOR];
        self.start("c", &[&run[..], words].concat(), &[])
    }

    /// The folder in which all programs are started.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Delays and loses packets between the hub and this host; `false` if the kernel cannot do
    /// that.
    pub fn disturb(&self, test: &str, host: &str) -> bool {
        let namespace = format!("{}-c", self.id);
        let device = format!("to-{host}");
        let words = ["ip", "netns", "exec", &namespace, "tc", "qdisc", "add", "dev", &device];
        let how = ["root", "netem", "delay", "50ms", "loss", "1%"];
        let can = run(&[&words[..], &how[..]].concat());
        if !can {
            skip(test, "the kernel has no netem");
        }
        can
    }

    /// Starts a load of the hub's server from both agents.
    pub fn load(&self, words: &[&str]) -> Started {
        self.load_at(HUB, words)
    }

    /// A load with another address of the hub.
    pub fn load_at(&self, host: &str, words: &[&str]) -> Started {
        let url = format!("http://{host}:{}/", self.port);
        let fleet = ["--nats-file", COORDINATOR, "--agents", "2", "--agents-within", "5s"];
        let all = [&["load", &url], &fleet[..], &["--allow-host", host], words].concat();
        self.start("c", &all, &[])
    }
}

/// The file of those who run loads.
const COORDINATOR: &str = "members/coordinator.env";

impl Drop for Hosts {
    fn drop(&mut self) {
        self.kill_nats();
        for host in ["a", "b", "c"] {
            run(&["ip", "netns", "delete", &format!("{}-{host}", self.id)]);
        }
    }
}

/// Connects `a` and `b` to the hub.
fn wire(id: &str) {
    let name = |host: &str| format!("{id}-{host}");
    let hub = name("c");
    let within = |namespace: &str, words: &[&str]| {
        assert!(run(&[&["ip", "netns", "exec", namespace, "ip"], words].concat()), "{words:?}");
    };
    within(&hub, &["link", "set", "lo", "up"]);
    let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward";
    assert!(run(&["ip", "netns", "exec", &hub, "sh", "-c", forward]), "{forward}");
    for (host, net) in [("a", 1), ("b", 2)] {
        let (namespace, here) = (name(host), format!("to-{host}"));
        let (near, far) = (format!("10.77.{net}.1"), format!("10.77.{net}.2"));
        assert!(run(&["ip", "netns", "add", &namespace]));
        within(
            &hub,
            &["link", "add", &here, "type", "veth", "peer", "name", "up0", "netns", &namespace],
        );
        within(&hub, &["address", "add", &format!("{near}/24"), "dev", &here]);
        within(&hub, &["link", "set", &here, "up"]);
        within(&namespace, &["link", "set", "lo", "up"]);
        within(&namespace, &["address", "add", &format!("{far}/24"), "dev", "up0"]);
        within(&namespace, &["link", "set", "up0", "up"]);
        within(&namespace, &["route", "add", "default", "via", &near]);
    }
}

/// Does something in the network of the hub.
fn in_hub<T: Send + 'static>(id: &str, what: impl FnOnce() -> T + Send + 'static) -> T {
    let namespace = std::fs::File::open(format!("/run/netns/{id}-c")).unwrap();
    let inside = std::thread::spawn(move || {
        // SAFETY: setns(2) changes only this thread, and the descriptor is open.
        assert_eq!(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }, 0);
        what()
    });
    inside.join().unwrap()
}

/// A server in the hub that answers and counts each request. Its threads end with the test.
fn serve(id: &str, requests: Arc<AtomicU64>) -> u16 {
    let listener = in_hub(id, || TcpListener::bind("0.0.0.0:0").unwrap());
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let requests = Arc::clone(&requests);
            std::thread::spawn(move || answer(stream, &requests));
        }
    });
    port
}

fn answer(mut stream: TcpStream, requests: &AtomicU64) {
    let mut bytes = [0; 4096];
    while stream.read(&mut bytes).is_ok_and(|count| count > 0) {
        requests.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(1));
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            return;
        }
    }
}

fn run(words: &[&str]) -> bool {
    let output = Command::new(words[0]).args(&words[1..]).output();
    output.is_ok_and(|output| output.status.success())
}
