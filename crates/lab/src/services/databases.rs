//! A database for each start of the user's own targets, in one private cluster.
//!
//! Each build, as that of a revision, has a template, in which its `migrate` has made the schema and the
//! data. Each start gets a copy of the template (docs/decisions/own-worlds.md).
use pippin_model::target::TargetId;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::ServiceSettings;
use super::cluster::{self, Cluster, Login};
use super::postgres::{connect, run};
use crate::error::LabError;
use crate::lifecycle::life::Life;

/// Connections that each target may open at least: the default of PostgreSQL.
const CONNECTIONS: u32 = 100;

/// The databases of the targets that are up.
#[derive(Debug)]
pub struct Databases {
    cluster: Cluster,
    builds: BTreeMap<TargetId, Build>,
    /// The database of each target that is up.
    slots: Vec<Option<String>>,
    /// The selected slot.
    chosen: usize,
    /// How many databases were made so far.
    made: u32,
}

/// What all starts of a build have in common.
#[derive(Debug, Clone)]
struct Build {
    /// Who owns the databases, and all that is in them.
    login: Login,
    template: String,
}

impl Databases {
    /// Starts the cluster.
    ///
    /// # Errors
    /// If there are no PostgreSQL programs, or the cluster does not start; if the user named a database of
    /// their own.
    pub fn start(
        settings: &ServiceSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        if std::env::var_os("PIPPIN_DATABASE_URL").is_some() {
            return Err(LabError::User(
                "PIPPIN_DATABASE_URL names one database, and services = [\"postgres\"] makes one for each start: unset it, or take `postgres` out of `services` and give the target your database in `env`".into(),
            ));
        }
        let tables = settings.tables.max(1);
        let database_connections = settings.database_connections.max(CONNECTIONS * tables);
        let settings = ServiceSettings { database_connections, ..settings.clone() };
        let cluster = Cluster::start(&settings, interrupted)?;
        let slots = vec![None; tables as usize];
        Ok(Self { cluster, builds: BTreeMap::new(), slots, chosen: 0, made: 0 })
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

    /// The supervising process.
    #[must_use]
    pub fn supervisor_pid(&self) -> i32 {
        self.cluster.supervisor_pid()
    }

    /// Whether the server lives.
    #[must_use]
    pub fn life(&self) -> Arc<Life> {
        self.cluster.life()
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
        let build = match self.builds.get(target) {
            Some(build) => build.clone(),
            None => {
                let build = self.build(migrate)?;
                self.builds.insert(target.clone(), build.clone());
                build
            }
        };
        let mut maker =
            connect(&self.cluster.lab_url(cluster::MAINTENANCE)).map_err(LabError::User)?;
        if let Some(old) = self.slots[self.chosen].take() {
            run(&mut maker, &format!("DROP DATABASE IF EXISTS {old} WITH (FORCE)"))?;
        }
        let (owner, template) = (&build.login.name, &build.template);
        let name = self.next();
        let made = format!("CREATE DATABASE {name} OWNER {owner} TEMPLATE {template}");
        run(&mut maker, &made)?;
        run(&mut maker, &format!("REVOKE ALL ON DATABASE {name} FROM PUBLIC"))?;
        self.slots[self.chosen] = Some(name.clone());
        Ok(self.cluster.url(&build.login, &name))
    }

    fn next(&mut self) -> String {
        self.made += 1;
        format!("pippin_{}", self.made)
    }

    /// A role and a template that it owns, as `migrate` leaves it.
    fn build(
        &mut self,
        migrate: &mut dyn FnMut(&str) -> Result<(), LabError>,
    ) -> Result<Build, LabError> {
        let template = self.next();
        let login = Login::new(&format!("{template}_owner"))?;
        let Login { name, password } = &login;
        let mut maker =
            connect(&self.cluster.lab_url(cluster::MAINTENANCE)).map_err(LabError::User)?;
        // A database is made outside of transactions, so each of these is sent alone.
        for sql in [
            format!(
                "CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD '{password}'"
            ),
            // The lab may then give it databases, and copy them.
            format!("GRANT {name} TO {}", cluster::LAB),
            format!("CREATE DATABASE {template} OWNER {name} TEMPLATE template0"),
            format!("REVOKE ALL ON DATABASE {template} FROM PUBLIC"),
        ] {
            run(&mut maker, &sql)?;
        }
        migrate(&self.cluster.url(&login, &template))?;
        // What the planner knows is then the same for all starts, and autovacuum has nothing to do in them.
        let mut client = connect(&self.cluster.lab_url(&template)).map_err(LabError::User)?;
        run(&mut client, "VACUUM ANALYZE")?;
        drop(client);
        run(&mut maker, &format!("ALTER DATABASE {template} ALLOW_CONNECTIONS false"))?;
        Ok(Build { login, template })
    }
}
