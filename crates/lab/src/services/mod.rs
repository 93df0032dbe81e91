//! The services of a workload. The run starts them, and stops and removes them afterwards.
//!
//! | module | what it does |
//! |---|---|
//! | [`databases`], `given_server` | a database for each start of the user's own targets, in the lab's server or in one that the user gave |
//! | [`table_kind`] | the table of a workload: its columns, its rows, what changes in it |
//! | [`products`] | the table `products`, which targets write, as the lab reads it |
//! | [`world`] | what stands around one start of a user's own target |
mod cluster;
pub mod databases;
pub mod files;
mod given_server;
pub mod items;
pub mod postgres;
pub mod products;
mod secret;
pub mod table_kind;
pub mod upstream;
pub mod world;

use pippin_model::plan::cpus::CpuSet;
use pippin_model::workload::{Service, Source, Workload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::install::{Installed, Installer};
use crate::lifecycle::life::Life;
use crate::target::Target;
use databases::Databases;
use files::{Files, Folders};
use items::{Items, ItemsFiles};
use postgres::Postgres;
use table_kind::TableKind;
use upstream::Upstream;
use world::{Around, Ground, Watched};

/// So long without a call the upstream is still.
const STILL: Duration = Duration::from_millis(100);

/// The services of a run.
#[derive(Debug, Default)]
pub struct Services {
    postgres: Option<Postgres>,
    upstream: Option<Upstream>,
    items: Option<ItemsFiles>,
    files: Option<Folders>,
    /// Of targets that have databases of their own.
    databases: Option<Databases>,
    folder: PathBuf,
    cpus: CpuSet,
}

/// What services are told.
#[derive(Debug, Clone)]
pub struct ServiceSettings<'a> {
    /// A folder for their files, removed with them.
    pub folder: &'a Path,
    /// The processors they may use.
    pub cpus: CpuSet,
    /// Connections that targets may open to the database.
    pub database_connections: u32,
    /// Targets that are up at the same time: each has a table of its own.
    pub tables: u32,
    /// How long the slow upstream takes, in nanoseconds.
    pub upstream_delay_ns: u64,
    /// Whether a target has a database of its own.
    pub databases: bool,
}

impl Services {
    /// Starts what a workload needs.
    ///
    /// # Errors
    /// If a service is not there or does not start; the message says what to install.
    pub fn start(
        workload: &Workload,
        settings: &ServiceSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        let mut services =
            Self { folder: settings.folder.into(), cpus: settings.cpus.clone(), ..Self::default() };
        if settings.databases {
            services.databases = Some(Databases::start(settings, interrupted)?);
        }
        if workload.answer.from == Some(Source::Items) {
            services.items = Some(ItemsFiles::within(settings.folder)?);
        }
        if workload.answer.from == Some(Source::Files) {
            services.files = Some(Folders::within(settings.folder)?);
        }
        for service in &workload.services {
            match service {
                Service::Postgres => {
                    let kind = TableKind::from_workload(workload);
                    services.postgres = Some(Postgres::start(kind, settings, interrupted)?);
                }
                Service::Upstream => {
                    services.upstream = Some(Upstream::start(settings, interrupted)?)
                }
            }
        }
        Ok(services)
    }

    /// Installs what is missing of the services that are named, and of what `databases` need, as far as
    /// the installer may.
    ///
    /// # Errors
    /// If it cannot be installed.
    pub fn provide(
        needed: &[Service],
        databases: bool,
        installer: &Installer<'_>,
    ) -> Result<(), LabError> {
        let is_needed = databases || needed.contains(&Service::Postgres);
        if is_needed { postgres::provide(installer) } else { Ok(()) }
    }

    /// The database.
    ///
    /// # Errors
    /// If the workload does not say that it needs it.
    pub fn postgres(&mut self) -> Result<&mut Postgres, String> {
        self.postgres
            .as_mut()
            .ok_or_else(|| "the workload needs `services = [\"postgres\"]` for this proof".into())
    }

    /// How many targets can have a table of their own at the same time; without a database there is
    /// no limit.
    #[must_use]
    pub fn tables(&self) -> usize {
        let tables = self.postgres.as_ref().map_or(usize::MAX, Postgres::tables);
        tables.min(self.databases.as_ref().map_or(usize::MAX, Databases::slots))
    }

    /// Selects the table, the data file, or the folder of files, of this target, counted from 0, for everything that
    /// follows.
    pub fn choose_table(&mut self, table: usize) {
        self.postgres.iter_mut().for_each(|postgres| postgres.choose(table));
        self.databases.iter_mut().for_each(|databases| databases.choose(table));
        self.items.iter_mut().for_each(|items| items.choose(table));
        self.files.iter_mut().for_each(|files| files.choose(table));
    }

    /// The items of the target's data file.
    ///
    /// # Errors
    /// If the workload's answers are not made of items, or no target was started with some.
    pub fn items(&self) -> Result<Arc<Items>, String> {
        self.items
            .as_ref()
            .and_then(ItemsFiles::items)
            .ok_or_else(|| "no target was started with a data file of items".into())
    }

    /// The files of the target's folder.
    ///
    /// # Errors
    /// If the workload's answers are no files, or no target was started with some.
    pub fn files(&self) -> Result<Arc<Files>, String> {
        self.files
            .as_ref()
            .and_then(Folders::files)
            .ok_or_else(|| "no target was started with a folder of files".into())
    }

    /// The slow upstream.
    ///
    /// # Errors
    /// If the workload does not say that it needs it.
    pub fn upstream(&mut self) -> Result<&mut Upstream, String> {
        self.upstream
            .as_mut()
            .ok_or_else(|| "the workload needs `services = [\"upstream\"]` for this proof".into())
    }

    /// Makes what the next start of a target gets for itself: its database, its data, its services.
    ///
    /// # Errors
    /// If something of it cannot be made; a target failure that names its service or command.
    pub fn of_next_target(
        &mut self,
        target: &Target,
        installed: &Installed,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Around, LabError> {
        let (env, shared) = (self.environment()?, self.shared(target));
        let (folder, cpus, databases) = (&self.folder, &self.cpus, self.databases.as_mut());
        let ground = Ground { folder, cpus, databases, shared, env };
        Around::make(target, installed, ground, interrupted)
    }

    /// The services of the run that a target uses.
    fn shared(&self, target: &Target) -> Vec<Watched> {
        let databases = self.databases.as_ref().filter(|_| target.world.has_database());
        let postgres = databases
            .and_then(Databases::life)
            .or_else(|| self.postgres.as_ref().and_then(Postgres::life));
        let upstream = self.upstream.as_ref().map(Upstream::life);
        let watched = |(service, life): (Service, Option<Arc<Life>>)| {
            let name = service.name();
            let log = self.folder.join(format!("{name}.log"));
            life.map(|life| Watched { name: name.into(), life, log })
        };
        let both = [(Service::Postgres, postgres), (Service::Upstream, upstream)];
        both.into_iter().filter_map(watched).collect()
    }

    /// Makes what the next target gets of the workload, and returns the variables that it reads.
    fn environment(&mut self) -> Result<BTreeMap<String, String>, LabError> {
        let mut env = BTreeMap::new();
        if let Some(postgres) = &mut self.postgres {
            postgres.renew()?;
            env.insert("DATABASE_URL".into(), postgres.url().into());
        }
        if let Some(upstream) = &self.upstream {
            env.insert("UPSTREAM_URL".into(), upstream.url());
        }
        if let Some(items) = &mut self.items {
            env.insert("ITEMS_FILE".into(), items.renew()?.to_string_lossy().into_owned());
        }
        if let Some(files) = &mut self.files {
            env.insert("STATIC_FOLDER".into(), files.renew()?.to_string_lossy().into_owned());
        }
        Ok(env)
    }

    /// The supervising processes below which the services run; a database that the user gave has
    /// none.
    #[must_use]
    pub fn supervisors(&self) -> Vec<i32> {
        let postgres = self.postgres.as_ref().and_then(Postgres::supervisor_pid);
        let databases = self.databases.as_ref().and_then(Databases::supervisor_pid);
        let upstream = self.upstream.as_ref().map(Upstream::supervisor_pid);
        [postgres, databases, upstream].into_iter().flatten().collect()
    }

    /// Resets the counters of the services. Returns whether that worked.
    pub fn reset_account(&mut self) -> bool {
        self.upstream.as_mut().is_none_or(|upstream| upstream.reset().is_ok())
    }

    /// Waits until no call is under way, for `at_most`, so that late calls of one target do
    /// not count for the next.
    pub fn rest(&mut self, at_most: Duration) {
        let deadline = Instant::now() + at_most;
        let Some(upstream) = self.upstream.as_mut() else { return };
        while upstream.waiting().is_ok_and(|waiting| waiting > 0) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until no call is under way and no other comes, for `at_most`. A busy target may
    /// still make the calls of requests whose clients have gone.
    pub fn be_still(&mut self, at_most: Duration) {
        let deadline = Instant::now() + at_most;
        loop {
            self.rest(deadline.saturating_duration_since(Instant::now()));
            let Some(upstream) = self.upstream.as_mut() else { return };
            let before = upstream.calls();
            std::thread::sleep(STILL);
            let is_still = upstream.waiting() == Ok(0) && upstream.calls() == before;
            if is_still || Instant::now() >= deadline {
                return;
            }
        }
    }

    /// What the services counted since [`Self::reset_account`], by name; for the trial's record.
    /// Nothing where they do not tell.
    #[must_use]
    pub fn account(&mut self) -> BTreeMap<String, f64> {
        self.upstream.as_mut().and_then(|upstream| upstream.account().ok()).unwrap_or_default()
    }
}
