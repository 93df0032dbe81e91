//! A database for each start of the user's own targets: in one private cluster, or in the server that
//! `PIPPIN_DATABASE_URL` names.
//!
//! Each build, as that of a revision, has a template, in which its `migrate` has made the schema and the
//! data. Each start gets a copy of the template (docs/decisions/own-worlds.md).
use pippin_model::target::TargetId;
use postgres::Client;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::ServiceSettings;
use super::cluster::{self, Cluster, Login};
use super::given_server::{self, GivenServer};
use super::postgres::{connect, run};
use crate::error::LabError;
use crate::lifecycle::life::Life;

/// Connections that each target may open at least: the default of PostgreSQL.
const CONNECTIONS: u32 = 100;

/// The databases of the targets that are up.
#[derive(Debug)]
pub struct Databases {
    server: Server,
    builds: BTreeMap<TargetId, Build>,
    /// The database of each target that is up.
    slots: Vec<Option<String>>,
    /// The selected slot.
    chosen: usize,
    /// How many databases were made so far.
    made: u32,
}

/// Where the databases are.
#[derive(Debug)]
enum Server {
    Private(Cluster),
    Given(GivenServer),
}

/// What all starts of a build have in common.
#[derive(Debug, Clone)]
struct Build {
    /// Who owns the databases, and all that is in them; `None` for the login that the user gave.
    login: Option<Login>,
    template: String,
}

impl Server {
    /// The lab's own address of a database.
    fn lab_url(&self, database: &str) -> String {
        match self {
            Self::Private(cluster) => cluster.lab_url(database),
            Self::Given(given) => given.url(database),
        }
    }

    /// A connection that makes databases.
    fn maker(&self) -> Result<Client, LabError> {
        let url = match self {
            Self::Private(cluster) => cluster.lab_url(cluster::MAINTENANCE),
            Self::Given(given) => given.url.clone(),
        };
        connect(&url).map_err(LabError::User)
    }

    /// How the names of its databases begin.
    fn prefix(&self) -> &str {
        match self {
            Self::Private(_) => "pippin",
            Self::Given(given) => &given.prefix,
        }
    }
}

impl Databases {
    /// Starts the cluster, or connects to the server that the user gave.
    ///
    /// # Errors
    /// If there are no PostgreSQL programs, or the server does not answer.
    pub fn start(
        settings: &ServiceSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        let tables = settings.tables.max(1);
        let (server, slots) = match given_server::url()? {
            Some(url) => {
                let given = GivenServer::find(url)?;
                let slots = if given.denied.is_some() { 1 } else { tables };
                (Server::Given(given), slots)
            }
            None => {
                let database_connections = settings.database_connections.max(CONNECTIONS * tables);
                let settings = ServiceSettings { database_connections, ..settings.clone() };
                (Server::Private(Cluster::start(&settings, interrupted)?), tables)
            }
        };
        let slots = vec![None; slots as usize];
        Ok(Self { server, builds: BTreeMap::new(), slots, chosen: 0, made: 0 })
    }

    /// Why all starts share one database, if they do: in the server that the user gave, Pippin may make no
    /// others.
    #[must_use]
    pub fn are_shared(&self) -> Option<&str> {
        match &self.server {
            Server::Private(_) => None,
            Server::Given(given) => given.denied.as_deref(),
        }
    }

    /// How many targets may be up together.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Selects this slot, counted from 0, or the last one if there are fewer.
    pub fn choose(&mut self, slot: usize) {
        self.chosen = slot.min(self.slots.len() - 1);
    }

    /// The supervising process; `None` for a server that the user gave.
    #[must_use]
    pub fn supervisor_pid(&self) -> Option<i32> {
        self.cluster().map(Cluster::supervisor_pid)
    }

    /// Whether the server lives; `None` for one that the user gave.
    #[must_use]
    pub fn life(&self) -> Option<Arc<Life>> {
        self.cluster().map(Cluster::life)
    }

    const fn cluster(&self) -> Option<&Cluster> {
        match &self.server {
            Server::Private(cluster) => Some(cluster),
            Server::Given(_) => None,
        }
    }

    /// Makes a database for the next start of this target, in place of that of the selected slot, and
    /// returns its address. Before the first start of a target, its template is made: `migrate` is called
    /// with the address.
    ///
    /// # Errors
    /// If PostgreSQL does not make them, or `migrate` fails.
    pub fn renew(
        &mut self,
        target: &TargetId,
        migrate: &mut dyn FnMut(&str) -> Result<(), LabError>,
    ) -> Result<String, LabError> {
        if let Server::Given(given) = &mut self.server {
            if given.denied.is_some() {
                migrate(&given.url)?;
                return Ok(given.url.clone());
            }
            given.is_present()?;
        }
        let build = match self.builds.get(target) {
            Some(build) => build.clone(),
            None => {
                let build = self.build(migrate)?;
                self.builds.insert(target.clone(), build.clone());
                build
            }
        };
        let mut maker = self.server.maker()?;
        if let Some(old) = self.slots[self.chosen].take() {
            run(&mut maker, &format!("DROP DATABASE IF EXISTS {old} WITH (FORCE)"))?;
        }
        let name = self.next();
        self.slots[self.chosen] = Some(name.clone());
        make(&mut maker, &name, build.login.as_ref(), &build.template)?;
        Ok(self.url(build.login.as_ref(), &name))
    }

    fn next(&mut self) -> String {
        self.made += 1;
        format!("{}_{}", self.server.prefix(), self.made)
    }

    /// The address of a database for the target.
    fn url(&self, login: Option<&Login>, name: &str) -> String {
        match (&self.server, login) {
            (Server::Private(cluster), Some(login)) => cluster.url(login, name),
            _ => self.server.lab_url(name),
        }
    }

    /// A template that its own role owns, as `migrate` leaves it.
    fn build(
        &mut self,
        migrate: &mut dyn FnMut(&str) -> Result<(), LabError>,
    ) -> Result<Build, LabError> {
        let template = self.next();
        let mut maker = self.server.maker()?;
        let login = match &self.server {
            Server::Private(_) => Some(owner(&mut maker, &format!("{template}_owner"))?),
            Server::Given(_) => None,
        };
        make(&mut maker, &template, login.as_ref(), "template0")?;
        let build = Build { login, template };
        let migrated = migrate(&self.url(build.login.as_ref(), &build.template))
            .and_then(|()| self.finish(&mut maker, &build.template));
        if migrated.is_err() {
            // The error is told. What is left goes with the server, or with the next run.
            let _ = run(&mut maker, &format!("DROP DATABASE {} WITH (FORCE)", build.template));
        }
        migrated.map(|()| build)
    }

    /// Makes a template of a database.
    fn finish(&self, maker: &mut Client, name: &str) -> Result<(), LabError> {
        // What the planner knows is then the same for all starts, and autovacuum has nothing to do in them.
        let mut client = connect(&self.server.lab_url(name)).map_err(LabError::User)?;
        run(&mut client, "VACUUM ANALYZE")?;
        drop(client);
        run(maker, &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
    }
}

impl Drop for Databases {
    fn drop(&mut self) {
        let (Server::Given(_), Ok(mut maker)) = (&self.server, self.server.maker()) else { return };
        let templates = self.builds.values().map(|build| &build.template);
        for name in templates.chain(self.slots.iter().flatten()) {
            // If it stays, the next run drops it.
            let _ = run(&mut maker, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

/// Makes a role that may own databases which the lab makes and copies.
fn owner(maker: &mut Client, name: &str) -> Result<Login, LabError> {
    let login = Login::new(name)?;
    let password = &login.password;
    let role = format!(
        "CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD '{password}'"
    );
    run(maker, &role)?;
    run(maker, &format!("GRANT {name} TO {}", cluster::LAB))?;
    Ok(login)
}

/// Makes a database that only its owner may use. It is made outside of transactions, so that each
/// statement is sent alone.
fn make(
    maker: &mut Client,
    name: &str,
    owner: Option<&Login>,
    template: &str,
) -> Result<(), LabError> {
    let owner = owner.map_or(String::new(), |login| format!("OWNER {} ", login.name));
    run(maker, &format!("CREATE DATABASE {name} {owner}TEMPLATE {template}"))?;
    run(maker, &format!("REVOKE ALL ON DATABASE {name} FROM PUBLIC"))
}
