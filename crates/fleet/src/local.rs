//! A NATS server and agents as processes of this machine, for `--agents N` without a server.
//! Supervisors start them, and end them together with this process, however it ends.
use pippin_lab::LabError;
use pippin_lab::lifecycle::environment;
use pippin_lab::lifecycle::port;
use pippin_lab::lifecycle::supervised::{Launch, Supervised, own_program};
use pippin_model::plan::cpus::CpuSet;
use pippin_probe::RoleRoot;
use rand::TryRng;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::accounts::variable;
use crate::error::FleetError;
use crate::nats::Nats;

/// How long the server may take until it listens.
const START: Duration = Duration::from_secs(10);
/// The longest message that our server takes, in bytes: nats-server allows no more.
const MOST_BYTES: u64 = 64 << 20;
/// What may wait for one client of our server, in bytes. The longest message and its frame must fit,
/// or the server cuts the client off.
const MOST_WAITING_BYTES: u64 = 4 * MOST_BYTES;

/// What to start.
pub struct LocalSettings<'a> {
    /// How many agents.
    pub agents: usize,
    /// The generator's processors.
    pub cpus: CpuSet,
    /// Hosts that the user allowed to load.
    pub allowed_hosts: &'a [String],
    /// The store with the generator's ceiling.
    pub store: Option<PathBuf>,
}

/// The server and its agents.
pub struct Local {
    nats: Nats,
    agents: Vec<Supervised>,
    server: Supervised,
    _folder: Folder,
}

/// The beginning of the names of [`Folder`]s; the process's id follows.
const PREFIX: &str = "pippin-fleet-";

/// A folder that is removed when dropped. Other users of this machine cannot read it.
pub(crate) struct Folder {
    path: PathBuf,
    /// Its lock ends with this process, however that ends: this tells others that the folder is in
    /// use.
    _lock: File,
}

impl Folder {
    /// A new one for this process. Those that killed processes of this user left are removed, because
    /// nobody else would.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn private() -> Result<Self, FleetError> {
        let place = std::env::temp_dir();
        let folder = Self::within(&place)?;
        folder.remove_left(&place);
        Ok(folder)
    }

    fn within(place: &Path) -> Result<Self, FleetError> {
        use std::os::unix::fs::DirBuilderExt;
        let path = place.join(format!("{PREFIX}{}-{}", std::process::id(), random()?));
        let failed = || LabError::io(format!("create {}", path.display()));
        std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed())?;
        let lock = File::open(&path).map_err(failed())?;
        // A file system without locks has the process's id in the name only.
        drop(lock.try_lock_shared());
        Ok(Self { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folders of this user whose process is gone. What cannot be read or removed stays.
    fn remove_left(&self, place: &Path) {
        let Ok(own) = std::fs::metadata(&self.path) else { return };
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let is_ours = entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == own.uid());
            if is_ours && is_left(&entry.path()) {
                drop(std::fs::remove_dir_all(entry.path()));
            }
        }
    }
}

/// Whether this is a folder of a process that is gone: there is none of its id, and nobody has its
/// lock. The lock counts for processes of other containers too, whose ids are others here.
fn is_left(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let pid =
        name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
    pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
        && File::open(path).is_ok_and(|folder| folder.try_lock().is_ok())
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}

impl Local {
    /// Starts the server and the agents.
    ///
    /// # Errors
    /// If there is no nats-server, or a process does not start.
    pub fn start(settings: &LocalSettings<'_>) -> Result<Self, FleetError> {
        let program = environment::find_program("nats-server").ok_or_else(|| {
            FleetError::User("there is no nats-server here: `apt-get install nats-server`, or `go install github.com/nats-io/nats-server/v2@latest`; or name a server with --nats URL".into())
        })?;
        let folder = Folder::private()?;
        let (server, nats) = start_server(&program, &folder.path)?;
        let agents = deal(&settings.cpus, settings.agents)
            .into_iter()
            .enumerate()
            .map(|(nth, cpus)| start_agent(nth + 1, cpus, &nats, &folder.path, settings))
            .collect::<Result<_, _>>()?;
        Ok(Self { nats, agents, server, _folder: folder })
    }

    /// The server's address.
    #[must_use]
    pub const fn nats(&self) -> &Nats {
        &self.nats
    }

    /// The processes of the generator on this machine: the agents, the server, and this process.
    #[must_use]
    pub fn roots(&self) -> Vec<RoleRoot> {
        let started = self.agents.iter().chain([&self.server]);
        let trees = started.map(|process| RoleRoot::Tree(process.supervisor_pid()));
        trees.chain([RoleRoot::Process(std::process::id() as i32)]).collect()
    }
}

/// The processors of each agent: its own if there are enough, otherwise they share them in turn.
fn deal(cpus: &CpuSet, agents: usize) -> Vec<CpuSet> {
    let all: Vec<u32> = cpus.0.iter().copied().collect();
    let own = |nth: usize| -> CpuSet {
        if all.len() >= agents {
            let (from, to) = (nth * all.len() / agents, (nth + 1) * all.len() / agents);
            CpuSet(all[from..to].iter().copied().collect())
        } else {
            CpuSet(all.get(nth % all.len().max(1)).copied().into_iter().collect())
        }
    };
    (0..agents).map(own).collect()
}

fn random() -> Result<String, FleetError> {
    let number = rand::rngs::SysRng.try_next_u64();
    let number = number
        .map_err(|error| FleetError::User(format!("the kernel has no random numbers: {error}")))?;
    Ok(format!("{number:016x}"))
}

/// The server's file of settings. Other users of this machine can reach the port too, but not
/// without the token.
fn config_of(port: u16, token: &str) -> String {
    format!(
        "listen: \"127.0.0.1:{port}\"\nauthorization {{ token: \"{token}\" }}\nmax_payload: {MOST_BYTES}\nmax_pending: {MOST_WAITING_BYTES}\n"
    )
}

fn start_server(program: &Path, folder: &Path) -> Result<(Supervised, Nats), FleetError> {
    let port = port::free().map_err(LabError::io("find a port"))?;
    let token = random()?;
    let config = folder.join("nats.conf");
    let text = config_of(port, &token);
    std::fs::write(&config, text).map_err(LabError::io(format!("write {}", config.display())))?;
    let mut server = Supervised::start(&Launch {
        command: vec![
            program.to_string_lossy().into_owned(),
            "-c".into(),
            config.to_string_lossy().into_owned(),
        ],
        env: environment::inherited(),
        folder: folder.into(),
        log: folder.join("nats.log"),
        errors: None,
        cpus: CpuSet::default(),
        stop: "SIGTERM".into(),
        grace: Duration::from_secs(2),
        apart: false,
    })?;
    let until = Instant::now() + START;
    while !port::is_listening(port) {
        if server.ended().is_some() || Instant::now() > until {
            let tail = server.log_tail(3).join(" | ");
            return Err(FleetError::User(format!("nats-server did not start: {tail}")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let url = format!("nats://127.0.0.1:{port}");
    Ok((server, Nats { url, token: Some(token), ..Nats::default() }))
}

fn start_agent(
    number: usize,
    cpus: CpuSet,
    nats: &Nats,
    folder: &Path,
    settings: &LocalSettings<'_>,
) -> Result<Supervised, FleetError> {
    let mut command: Vec<String> =
        vec![own_program()?.to_string_lossy().into_owned(), "agent".into()];
    // Pad the numbers, so that sorting agents by name sorts them by number.
    let width = settings.agents.to_string().len();
    command.extend(["--nats".into(), nats.url.clone()]);
    command.extend(["--name".into(), format!("local-{number:0width$}")]);
    if !cpus.is_empty() {
        command.extend(["--cpus".into(), cpus.to_string()]);
    }
    for host in settings.allowed_hosts {
        command.extend(["--allow-host".into(), host.clone()]);
    }
    if let Some(store) = &settings.store {
        command.extend(["--store".into(), store.to_string_lossy().into_owned()]);
    }
    let mut env = environment::inherited();
    // Not on the command line, which everybody can read.
    env.extend(nats.token.clone().map(|token| (variable::TOKEN.to_string(), token)));
    Ok(Supervised::start(&Launch {
        command,
        env,
        folder: folder.into(),
        log: folder.join(format!("agent-{number}.log")),
        errors: None,
        cpus: CpuSet::default(),
        stop: "SIGTERM".into(),
        grace: Duration::from_secs(2),
        apart: false,
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_processors_of_its_own_where_there_are_enough() {
        let dealt = |cpus: &str, agents| -> Vec<String> {
            let cpus = CpuSet::parse(cpus).unwrap();
            deal(&cpus, agents).iter().map(ToString::to_string).collect()
        };
        assert_eq!(dealt("0-7", 3), ["0-1", "2-4", "5-7"]);
        assert_eq!(dealt("1,3", 2), ["1", "3"]);
        assert_eq!(dealt("4-5", 3), ["4", "5", "4"]);
    }

    #[test]
    fn folders_of_processes_that_are_gone_are_removed_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let make = |name: &str| {
            let path = place.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("nats.conf"), "token").unwrap();
            path
        };
        let left = make(&format!("{PREFIX}{}-1", gone.id()));
        // As one of another container, where its process has another id.
        let locked = make(&format!("{PREFIX}{}-2", gone.id()));
        let lock = File::open(&locked).unwrap();
        lock.try_lock_shared().unwrap();
        let others = [
            make(&format!("{PREFIX}{}-3", std::process::id())),
            make(&format!("other-{}-4", gone.id())),
            make(&format!("{PREFIX}x-5")),
        ];
        let folder = Folder::within(place.path()).unwrap();
        folder.remove_left(place.path());
        assert!(!left.exists());
        assert!(locked.exists() && others.iter().all(|path| path.exists()));
        assert!(folder.path().exists());
    }
}
