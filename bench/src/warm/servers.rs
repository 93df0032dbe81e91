//! Servers on runtimes that compile while they serve.
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The JDK's server writes head and body apart, and without this the body waits for an
/// acknowledgement.
const NO_DELAY: &str = "-Dsun.net.httpserver.nodelay=true";

/// A runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The JDK's own server.
    Jvm,
    /// Node's own server.
    Node,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Jvm, Self::Node];

    /// Its name in tables and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jvm => "jvm",
            Self::Node => "node",
        }
    }

    /// Those with these names; without names, all.
    pub fn chosen(names: &[String]) -> Result<Vec<Self>, String> {
        let named = |name: &String| {
            let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
            found.ok_or_else(|| format!("there is no runtime {name}; known are jvm and node"))
        };
        if names.is_empty() { Ok(Self::ALL.to_vec()) } else { names.iter().map(named).collect() }
    }
}

/// The servers' files, ready to be started.
pub struct Built {
    folder: tempfile::TempDir,
    core: u32,
}

impl Built {
    /// Writes and compiles them. They run on this processor.
    pub fn new(core: u32) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).map_err(|error| error.to_string())
        };
        write("Hello.java", include_str!("../../warm/Hello.java"))?;
        write("hello.js", include_str!("../../warm/hello.js"))?;
        let compiled = Command::new("javac").arg("Hello.java").current_dir(folder.path()).output();
        let compiled = compiled.map_err(|error| format!("javac: {error}; install a JDK"))?;
        if !compiled.status.success() {
            return Err(format!("javac: {}", String::from_utf8_lossy(&compiled.stderr)));
        }
        Ok(Self { folder, core })
    }

    /// The processor of the servers.
    pub const fn core(&self) -> u32 {
        self.core
    }

    /// Where the compiled files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The JVM's command line with these options, without the port.
    pub fn java(&self, options: &[&str]) -> Vec<String> {
        let folder = self.folder().display().to_string();
        let given = options.iter().copied().chain([NO_DELAY, "-cp", &folder, "Hello"]);
        std::iter::once("java").chain(given).map(str::to_string).collect()
    }

    /// Starts one on its processor, on a free port.
    pub fn start(&self, kind: Kind) -> Result<Server, String> {
        let command = match kind {
            Kind::Jvm => self.java(&[]),
            Kind::Node => vec!["node".into(), self.folder().join("hello.js").display().to_string()],
        };
        let child = Command::new("taskset")
            .args(["-c", &self.core.to_string()])
            .args(&command)
            .arg("0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("taskset: {error}"))?;
        let mut server = Server { child, port: 0 };
        let said = server.child.stdout.take().map(BufReader::new).and_then(|output| {
            output
                .lines()
                .map_while(Result::ok)
                .find_map(|line| line.strip_prefix("port ")?.parse().ok())
        });
        server.port = said.ok_or_else(|| format!("{} did not start", command.join(" ")))?;
        Ok(server)
    }
}

/// A server; it ends with this value.
pub struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Where it answers.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_chosen_by_name() {
        let chosen = |names: &[&str]| {
            Kind::chosen(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&[]), Ok(vec![Kind::Jvm, Kind::Node]));
        assert_eq!(chosen(&["node"]), Ok(vec![Kind::Node]));
        assert!(chosen(&["perl"]).unwrap_err().contains("no runtime perl"));
    }
}
