//! A private PostgreSQL cluster that lives as long as a run.
//!
//! Targets are other people's programs, and other people may have accounts on the machine. So the
//! cluster allows as little as possible. One role is the lab's: it owns all databases and makes the
//! roles of targets, and is no superuser. Each role has a random password, checked by SCRAM, on the
//! loopback only. Nobody can log in as the superuser: the lab's role and the template are made in
//! single-user mode, and pg_hba.conf refuses that login. The server never runs as root.
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::postgres::connect;
use super::{ServiceSettings, secret};
use crate::error::LabError;
use crate::install::embedded_postgres;
use crate::lifecycle::environment;
use crate::lifecycle::life::Life;
use crate::lifecycle::port;
use crate::lifecycle::supervised::{Launch, Supervised};

/// The lab's role.
pub const LAB: &str = "pippin_lab";
/// The database that those of targets are copied from.
pub const TEMPLATE: &str = "pippin_template";
/// The database to which the lab connects to make others.
pub const MAINTENANCE: &str = "postgres";
/// PostgreSQL's account of statements.
const STATEMENTS: &str = "pg_stat_statements";

/// A role that can log in.
#[derive(Debug, Clone)]
pub struct Login {
    /// Its name.
    pub name: String,
    /// Its password.
    pub password: String,
}

impl Login {
    /// With a random password.
    ///
    /// # Errors
    /// If the kernel gives no random numbers.
    pub fn new(name: &str) -> Result<Self, LabError> {
        Ok(Self { name: name.into(), password: password()? })
    }
}

/// A running cluster; dropping it ends it and removes its files.
#[derive(Debug)]
pub struct Cluster {
    process: Supervised,
    lab: Login,
    port: u16,
    _data: Data,
}

impl Cluster {
    /// Makes a cluster and starts it. It answers when this returns.
    ///
    /// # Errors
    /// If there are no PostgreSQL programs, or the cluster does not start.
    pub fn start(
        settings: &ServiceSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        let programs = programs()?;
        let privilege = Privilege::here(&programs);
        let data = Data::new(privilege, settings.folder)?;
        let lab = Login::new(LAB)?;
        init(privilege, &programs, &data.path)?;
        let port = port::free().map_err(LabError::io("find a port for PostgreSQL"))?;
        let has_account = has_account(&programs);
        make_template(privilege, &programs, &data.path, &lab, has_account)?;
        let process = launch(privilege, &programs, &data.path, port, settings, has_account)?;
        let mut cluster = Self { process, lab, port, _data: data };
        cluster.wait_for_answer(interrupted)?;
        Ok(cluster)
    }

    /// The address of a database for this login.
    #[must_use]
    pub fn url(&self, Login { name, password }: &Login, database: &str) -> String {
        format!("postgres://{name}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// The address of a database for the lab.
    #[must_use]
    pub fn lab_url(&self, database: &str) -> String {
        self.url(&self.lab, database)
    }

    /// The supervising process.
    #[must_use]
    pub fn supervisor_pid(&self) -> i32 {
        self.process.supervisor_pid()
    }

    /// Whether the server lives.
    #[must_use]
    pub fn life(&self) -> Arc<Life> {
        self.process.life()
    }

    fn wait_for_answer(&mut self, interrupted: &dyn Fn() -> bool) -> Result<(), LabError> {
        let deadline = Instant::now() + Duration::from_secs(20);
        let url = self.lab_url(MAINTENANCE);
        loop {
            let Err(error) = connect(&url) else { return Ok(()) };
            if interrupted() {
                return Err(LabError::Interrupted);
            }
            let exited = self.process.ended();
            if exited.is_some() || Instant::now() > deadline {
                let how = exited.map_or_else(|| "does not answer".into(), |exit| exit.to_string());
                return Err(LabError::User(format!(
                    "PostgreSQL {how} ({error}); its log ends: {}",
                    self.process.log_tail(5).join(" | ")
                )));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Before its files are removed.
        self.process.stop();
    }
}

/// A random password in hexadecimal digits, which need no encoding in an address.
fn password() -> Result<String, LabError> {
    secret::random("make a password for PostgreSQL").map(|bits| format!("{bits:032x}"))
}

/// The folder of `initdb` and `postgres`: the newest of Debian's, else on PATH, else the embedded
/// package's.
///
/// # Errors
/// If there are none; the message says how to get them.
pub fn programs() -> Result<PathBuf, LabError> {
    let mut installed: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .filter(|(_, bin)| bin.join("initdb").is_file() && bin.join("postgres").is_file())
        .collect();
    installed.sort();
    if let Some((_, bin)) = installed.pop() {
        return Ok(bin);
    }
    if let Some(initdb) = environment::find_program("initdb") {
        let real = initdb.canonicalize().unwrap_or(initdb);
        if let Some(bin) = real.parent().filter(|bin| bin.join("postgres").is_file()) {
            return Ok(bin.into());
        }
    }
    embedded_postgres::programs().ok_or_else(|| {
        LabError::User(
            "PostgreSQL is not installed: `apt-get install postgresql`, or `pippin run ... --install`, or set PIPPIN_DATABASE_URL to a database of your own"
                .into(),
        )
    })
}

/// How the programs are kept from running as root, which they refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Privilege {
    /// Pippin is no root itself.
    None,
    /// As the user nobody, who owns the data.
    Nobody,
    /// If that is not possible, for example because the user nobody may not read the programs: in
    /// its own user namespace. There the process is nobody too, but its files stay ours
    /// (user_namespaces(7)).
    Namespace,
}

/// The user and group nobody (Linux: the overflow user, `/proc/sys/kernel/overflowuid`).
const NOBODY: u32 = 65_534;

impl Privilege {
    fn here(programs: &Path) -> Self {
        // SAFETY: geteuid(2) cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            return Self::None;
        }
        let program = programs.join("postgres");
        if Self::Nobody.runs(&program.to_string_lossy(), "--version") {
            Self::Nobody
        } else {
            Self::Namespace
        }
    }

    /// Whether a program with one argument succeeds.
    fn runs(self, program: &str, argument: &str) -> bool {
        let words = self.command(Path::new(program));
        let status = Command::new(&words[0])
            .args(&words[1..])
            .arg(argument)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    }

    fn command(self, program: &Path) -> Vec<String> {
        let prefix: Vec<String> = match self {
            Self::None => Vec::new(),
            // A change of user clears the signal for the parent's death (prctl(2)).
            Self::Nobody => vec![
                "setpriv".into(),
                format!("--reuid={NOBODY}"),
                format!("--regid={NOBODY}"),
                "--clear-groups".into(),
                "--no-new-privs".into(),
                "--pdeathsig=KILL".into(),
            ],
            Self::Namespace => vec!["unshare".into(), "-U".into()],
        };
        prefix.into_iter().chain([program.to_string_lossy().into_owned()]).collect()
    }

    /// Makes a folder that only this user may enter.
    fn make(self, path: &Path) -> Result<(), LabError> {
        let made = DirBuilder::new().mode(0o700).create(path);
        made.map_err(LabError::io(format!("create {}", path.display())))?;
        self.give(path)
    }

    /// Makes this user the owner.
    fn give(self, path: &Path) -> Result<(), LabError> {
        if self != Self::Nobody {
            return Ok(());
        }
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY))
            .map_err(LabError::io(format!("change the owner of {}", path.display())))
    }

    /// One of the programs with its arguments, in a folder that everyone may enter.
    fn run(self, program: &Path, arguments: &[&str]) -> Command {
        let words = self.command(program);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(arguments).current_dir("/");
        command
    }
}

/// An empty folder for the cluster's files that only the server's user may enter. Dropping it removes
/// it.
#[derive(Debug)]
struct Data {
    path: PathBuf,
    /// What holds it; `None` in the folder for temporary files.
    home: Option<Home>,
}

/// The name of the folder in that of a run that holds a cluster.
const FOLDER: &str = "postgres";
/// The cluster's files in it.
const FILES: &str = "data";
/// A file in it that Pippin holds locked as long as the cluster lives.
const LOCK: &str = "pippin.lock";
/// What the lock says. Without it, the folder is not Pippin's.
const MARK: &str = "Pippin made this folder, and removes it.\n";

impl Data {
    /// Below the run's folder. If the user nobody may not enter it, in the folder for temporary
    /// files.
    fn new(privilege: Privilege, folder: &Path) -> Result<Self, LabError> {
        let folder = std::path::absolute(folder)
            .map_err(LabError::io(format!("find {}", folder.display())))?;
        folder.parent().into_iter().for_each(remove_of_killed_runs);
        let home = Home::make(&folder.join(FOLDER))?;
        privilege.give(&home.folder)?;
        let own = Self { path: home.folder.join(FILES), home: Some(home) };
        privilege.make(&own.path)?;
        let is_reached = || privilege.runs("ls", &own.path.to_string_lossy());
        if privilege != Privilege::Nobody || is_reached() {
            return Ok(own);
        }
        drop(own);
        let temporary = std::env::temp_dir();
        remove_left_over(&temporary);
        let id = std::process::id();
        let path = temporary.join(format!("{LEFT_OVER}{id}-{}", &password()?[..8]));
        privilege.make(&path)?;
        Ok(Self { path, home: None })
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        // What stays, the next run removes.
        let _ = match &self.home {
            Some(home) => home.remove(),
            None => fs::remove_dir_all(&self.path),
        };
    }
}

/// The folder of a cluster, which this process holds.
#[derive(Debug)]
struct Home {
    folder: PathBuf,
    /// Locked.
    _lock: File,
}

impl Home {
    /// Makes the folder. It has its name only when its lock is held, so that nobody takes it for that of
    /// a killed run.
    fn make(folder: &Path) -> Result<Self, LabError> {
        if let Some(left) = Self::of_killed_run(folder) {
            left.remove().map_err(LabError::io(format!("remove {}", folder.display())))?;
        }
        let random = secret::random("name a folder")? as u32;
        let new = folder.with_extension(format!("{random:08x}.new"));
        let make = || -> std::io::Result<File> {
            DirBuilder::new().mode(0o700).create(&new)?;
            let mut lock = File::create(new.join(LOCK))?;
            lock.write_all(MARK.as_bytes())?;
            lock.lock()?;
            // Another folder of this name must be empty (rename(2)).
            fs::rename(&new, folder)?;
            Ok(lock)
        };
        let lock = make().map_err(|error| {
            let _ = fs::remove_file(new.join(LOCK));
            let _ = fs::remove_dir(&new);
            if folder.exists() {
                return LabError::User(format!(
                    "{} is there already: another Pippin uses it, or it is yours; name another folder with --out, or move it away",
                    folder.display()
                ));
            }
            LabError::io(format!("create {}", folder.display()))(error)
        })?;
        Ok(Self { folder: folder.into(), _lock: lock })
    }

    /// The folder, if Pippin made it and nobody holds its lock; it is then held.
    fn of_killed_run(folder: &Path) -> Option<Self> {
        let path = folder.join(LOCK);
        let lock = File::open(&path).ok()?;
        lock.try_lock().ok()?;
        // Another Pippin may have removed the folder meanwhile, and a third one made it again.
        let (held, there) = (lock.metadata().ok()?, path.symlink_metadata().ok()?);
        let is_there = (held.dev(), held.ino()) == (there.dev(), there.ino());
        let is_ours = fs::read_to_string(&path).is_ok_and(|text| text == MARK);
        (is_there && is_ours).then(|| Self { folder: folder.into(), _lock: lock })
    }

    /// Removes what Pippin made, the lock after the files. Anything else in the folder stays.
    fn remove(&self) -> std::io::Result<()> {
        match fs::remove_dir_all(self.folder.join(FILES)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::remove_file(self.folder.join(LOCK))?;
        fs::remove_dir(&self.folder)
    }
}

/// Removes the clusters of runs that were killed, if this is a folder of Pippin's that holds runs: beside
/// the database of runs, or beside the folder with that database.
fn remove_of_killed_runs(runs: &Path) {
    let has_database = |beside: &Path| {
        ["pippin.db", ".pippin/pippin.db"].iter().any(|file| beside.join(file).is_file())
    };
    if !runs.ends_with("runs") || !runs.parent().is_some_and(has_database) {
        return;
    }
    for run in fs::read_dir(runs).into_iter().flatten().flatten() {
        // Another Pippin may be quicker.
        let _ = Home::of_killed_run(&run.path().join(FOLDER)).map(|left| left.remove());
    }
}

/// How the folders for temporary files begin; the number of Pippin's process follows.
const LEFT_OVER: &str = "pippin-postgres-";

/// Removes the leftovers of a Pippin that was killed.
fn remove_left_over(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(LEFT_OVER).and_then(|rest| rest.split('-').next());
        // Whatever others have put there under such a name stays.
        let is_ours = entry.metadata().is_ok_and(|it| {
            // SAFETY: geteuid(2) cannot fail.
            it.is_dir() && (it.uid() == unsafe { libc::geteuid() } || it.uid() == NOBODY)
        });
        let is_gone = process.is_some_and(|pid| {
            pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists()
        });
        if is_ours && is_gone {
            // Another Pippin may be quicker.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn init(privilege: Privilege, programs: &Path, data: &Path) -> Result<(), LabError> {
    let words = ["-A", "reject", "-U", "postgres", "-E", "UTF8", "--no-locale", "--no-sync", "-D"];
    let output = privilege
        .run(&programs.join("initdb"), &words)
        .arg(data)
        .output()
        .map_err(LabError::io("run initdb"))?;
    if !output.status.success() {
        return Err(LabError::User(format!(
            "initdb failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    let access = data.join("pg_hba.conf");
    // The first line that fits decides.
    let rules = "host all postgres 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 scram-sha-256\n";
    fs::write(&access, rules).map_err(LabError::io(format!("write {}", access.display())))
}

/// Whether the extension that counts statements is installed beside the programs: Debian has it in
/// `lib`, others in `lib/postgresql`.
fn has_account(programs: &Path) -> bool {
    let lib = programs.join("../lib");
    let file = format!("{STATEMENTS}.so");
    [lib.clone(), lib.join("postgresql")].iter().any(|folder| folder.join(&file).is_file())
}

/// Makes the lab's role, and the template in which targets may do nothing but what is granted later:
/// no tables, also no temporary ones, no functions, no blocks of code.
fn make_template(
    privilege: Privilege,
    programs: &Path,
    data: &Path,
    Login { name, password }: &Login,
    has_account: bool,
) -> Result<(), LabError> {
    let roles = format!(
        "CREATE ROLE {name} LOGIN NOSUPERUSER CREATEDB CREATEROLE NOREPLICATION PASSWORD '{password}';
GRANT pg_read_all_stats, pg_signal_backend TO {name};
CREATE DATABASE {TEMPLATE} OWNER {name};
REVOKE ALL ON DATABASE {TEMPLATE}, {MAINTENANCE}, template1 FROM PUBLIC;
GRANT CONNECT ON DATABASE {MAINTENANCE} TO {name};
"
    );
    single_user(privilege, programs, data, "postgres", &roles)?;
    let account =
        if has_account { format!("CREATE EXTENSION {STATEMENTS};\n") } else { String::new() };
    let rights = format!(
        "{account}REVOKE ALL ON LANGUAGE plpgsql FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO PUBLIC;
ALTER SCHEMA public OWNER TO {name};
"
    );
    single_user(privilege, programs, data, TEMPLATE, &rights)
}

/// Executes lines of SQL in single-user mode, before anybody can connect.
fn single_user(
    privilege: Privilege,
    programs: &Path,
    data: &Path,
    database: &str,
    sql: &str,
) -> Result<(), LabError> {
    let run = || {
        let mut child = privilege
            .run(
                &programs.join("postgres"),
                &["--single", "-c", "password_encryption=scram-sha-256"],
            )
            .arg("-D")
            .arg(data)
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(sql.as_bytes())?;
        }
        child.wait_with_output()
    };
    let output = run().map_err(LabError::io("run postgres --single"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let wrong = said.lines().find(|line| line.contains("ERROR:") || line.contains("FATAL:"));
    match wrong {
        None if output.status.success() => Ok(()),
        _ => Err(LabError::User(format!(
            "PostgreSQL cannot make the template of targets' databases: {}",
            wrong.unwrap_or(said.trim())
        ))),
    }
}

fn launch(
    privilege: Privilege,
    programs: &Path,
    data: &Path,
    port: u16,
    settings: &ServiceSettings<'_>,
    has_account: bool,
) -> Result<Supervised, LabError> {
    let mut command = privilege.command(&programs.join("postgres"));
    // Pippin has two of its own for each table, and one to make databases.
    let connections = settings.database_connections + 2 * settings.tables + 11;
    let words = ["-D".into(), data.to_string_lossy().into_owned(), "-p".into(), port.to_string()];
    command.extend(words);
    // Durable settings (fsync, synchronous_commit, full_page_writes) stay as they are.
    let settings_of_run = [
        "listen_addresses=127.0.0.1".to_string(),
        "unix_socket_directories=".to_string(),
        format!("max_connections={connections}"),
        // Nothing reads it. It shows people and scripts to which run the server belongs.
        format!("pippin.folder={}", settings.folder.display()),
    ];
    // What targets ask is counted by the shape of their statements.
    let account = has_account.then(|| format!("shared_preload_libraries={STATEMENTS}"));
    for setting in settings_of_run.into_iter().chain(account) {
        command.extend(["-c".into(), setting]);
    }
    Supervised::start(&Launch {
        command,
        env: environment::inherited(),
        // It must be able to enter the folder that it starts in.
        folder: data.into(),
        log: settings.folder.join("postgres.log"),
        errors: None,
        cpus: settings.cpus.clone(),
        stop: "SIGINT".into(), // "fast shutdown"
        grace: Duration::from_secs(10),
        apart: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of runs, and the folder of a cluster in that of a run.
    fn runs() -> (tempfile::TempDir, impl Fn(&str) -> PathBuf) {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("pippin.db"), "").unwrap();
        let runs = place.path().join("runs");
        for run in ["killed", "lives", "of-the-user", "unmarked"] {
            fs::create_dir_all(runs.join(run)).unwrap();
        }
        (place, move |run| runs.join(run).join(FOLDER))
    }

    fn made(folder: &Path) -> Home {
        let home = Home::make(folder).unwrap();
        fs::create_dir_all(folder.join(FILES).join("base")).unwrap();
        home
    }

    #[test]
    fn only_clusters_of_pippins_whose_locks_nobody_holds_are_removed() {
        let (place, cluster) = runs();
        drop(made(&cluster("killed")));
        let lives = made(&cluster("lives"));
        fs::create_dir_all(cluster("of-the-user").join(FILES)).unwrap();
        fs::create_dir_all(cluster("unmarked").join(FILES)).unwrap();
        fs::write(cluster("unmarked").join(LOCK), "").unwrap();
        let left = || {
            ["killed", "lives", "of-the-user", "unmarked"]
                .map(|run| cluster(run).join(FILES).exists())
        };
        let runs = place.path().join("runs");
        fs::rename(place.path().join("pippin.db"), place.path().join("other.db")).unwrap();
        remove_of_killed_runs(&runs);
        assert_eq!(left(), [true; 4], "it is no folder of Pippin's");
        fs::rename(place.path().join("other.db"), place.path().join("pippin.db")).unwrap();
        remove_of_killed_runs(&runs);
        assert_eq!(left(), [false, true, true, true]);
        assert!(!cluster("killed").exists());
        drop(lives);
        remove_of_killed_runs(&runs);
        assert!(!cluster("lives").exists());
    }

    #[test]
    fn a_folder_that_is_in_use_or_of_the_users_is_refused_and_stays() {
        let (_place, cluster) = runs();
        let _lives = made(&cluster("lives"));
        fs::create_dir_all(cluster("of-the-user").join("photographs")).unwrap();
        for run in ["lives", "of-the-user"] {
            let error = Home::make(&cluster(run)).unwrap_err().to_string();
            assert!(error.contains("is there already"), "{error}");
            let entries = fs::read_dir(cluster(run).parent().unwrap()).unwrap().count();
            assert_eq!(entries, 1, "nothing else is left there");
        }
        assert!(cluster("of-the-user").join("photographs").exists());
        drop(made(&cluster("killed")));
        // What a killed run has left is replaced.
        made(&cluster("killed")).remove().unwrap();
        assert!(!cluster("killed").exists());
    }
}
