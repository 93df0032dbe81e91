//! What stands around one start of a user's own target: services that only it uses, and the commands
//! before and after it.
use pippin_model::plan::cpus::CpuSet;
use pippin_model::target::manifest::Command;
use pippin_model::target::project::world::{OwnService, Shown, TargetService, World};
use pippin_model::trial::{Exit, Failure, Stage};
use pippin_model::verdict::{Caveat, Severity};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::databases::Databases;
use super::given_server::VARIABLE;
use super::postgres::masked;
use crate::error::LabError;
use crate::install::{Installed, base_values, steps};
use crate::lifecycle::life::Life;
use crate::lifecycle::supervised::{Launch, Supervised};
use crate::lifecycle::{environment, log, port, ready};
use crate::running::way::Way;
use crate::target::Target;
use crate::target::keys::Keys;

/// How long a service may take to stop after its signal.
const GRACE: Duration = Duration::from_secs(10);
/// How long a command may take to stop when its time is over.
const COMMAND_GRACE: Duration = Duration::from_secs(3);
/// How long after an attempt to find a service ready the next one begins.
const AGAIN: Duration = Duration::from_millis(20);

/// Where a world is made.
#[derive(Debug)]
pub struct Ground<'a> {
    /// The folder of the logs.
    pub folder: &'a Path,
    /// The processors of the services.
    pub cpus: &'a CpuSet,
    /// The databases, if any target of the run has one.
    pub databases: Option<&'a mut Databases>,
    /// Services that others use too: their names, lives and logs.
    pub shared: Vec<Watched>,
    /// The variables that they give.
    pub env: BTreeMap<String, String>,
}

/// A service that must live as long as the target is measured.
#[derive(Debug, Clone)]
pub struct Watched {
    /// Its name.
    pub name: String,
    /// Whether it lives.
    pub life: Arc<Life>,
    /// Its log.
    pub log: PathBuf,
}

/// What stands around a target that is up. All that it says is without the password of the database.
/// Dropping it runs the commands of `cleanup`, and ends the services.
#[derive(Debug)]
pub struct Around {
    /// The variables that the target reads.
    pub env: BTreeMap<String, String>,
    /// In the order of their start.
    services: Vec<Supervised>,
    watched: Vec<Watched>,
    cleanup: Vec<Launch>,
    within: Duration,
    /// Why its database is that of other starts too, if it is.
    shares_database: Option<String>,
}

/// Makes the world of one start.
struct Maker<'a> {
    around: Around,
    target: &'a Target,
    installed: &'a Installed,
    folder: &'a Path,
    cpus: &'a CpuSet,
    interrupted: &'a dyn Fn() -> bool,
}

impl Around {
    /// Starts the services of a target, makes its database, and runs the commands before its start.
    ///
    /// # Errors
    /// A target failure that names the service or the command, with the end of its output; interruption.
    pub fn make(
        target: &Target,
        installed: &Installed,
        ground: Ground<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        let Ground { folder, cpus, databases, shared, mut env } = ground;
        if let Some(revision) = &target.revision {
            env.insert("PIPPIN_REVISION".into(), revision.clone());
        }
        let around = Self {
            env,
            services: Vec::new(),
            watched: shared,
            cleanup: Vec::new(),
            within: target.world.within,
            shares_database: None,
        };
        let mut maker = Maker { around, target, installed, folder, cpus, interrupted };
        let made = maker.all(databases);
        made.map_err(|error| maker.around.shown_error(error))?;
        Ok(maker.around)
    }

    /// What is to be said of its database, if it is that of other starts too.
    #[must_use]
    pub fn doubt(&self) -> Option<Caveat> {
        let why = self.shares_database.as_ref()?;
        Some(Caveat {
            id: "database_shared".into(),
            severity: Severity::Suspect,
            evidence: self.shown(&format!(
                "Pippin is not allowed to create databases in the server of {VARIABLE} ({why}), so all starts share the database that it names, and `migrate` ran on what the one before had left"
            )),
            advice:
                "allow it (ALTER ROLE ... CREATEDB), or unset the variable for a private server"
                    .into(),
        })
    }

    /// The supervising processes of its own services.
    pub fn supervisors(&self) -> impl Iterator<Item = i32> {
        self.services.iter().map(Supervised::supervisor_pid)
    }

    /// The first service that has ended, in words, and the end of its log.
    #[must_use]
    pub fn dead(&self) -> Option<Dead> {
        self.ended().map(|Dead { message, log_tail }| Dead {
            message: self.shown(&message),
            log_tail: self.shown_lines(&log_tail),
        })
    }

    /// As [`Self::dead`], with the passwords that its log may hold.
    fn ended(&self) -> Option<Dead> {
        self.watched.iter().find_map(|it| {
            it.life.ended_unix_ns()?;
            let how = it.life.exit().map_or_else(|| "ended".into(), |exit| exit.to_string());
            let log_tail = log::tail(&it.log, 15);
            let message = format!("its service `{}` {how}{}", it.name, steps::reason(&log_tail));
            Some(Dead { message, log_tail })
        })
    }

    /// Runs the commands after the end of the target and ends its services. Returns what is worth
    /// reporting about it.
    pub fn end(mut self) -> Vec<String> {
        let mut said: Vec<String> = self.clean_up().err().into_iter().collect();
        while let Some(mut service) = self.services.pop() {
            let stuck = service.stop().stuck;
            said.extend(stuck.iter().map(|who| format!("a service could not be killed: {who}")));
        }
        self.shown_lines(&said)
    }

    /// A text as it may leave: commands and logs may hold the password of the database.
    fn shown(&self, text: &str) -> String {
        let of_start = self.env.get("DATABASE_URL").cloned();
        // The user's own commands see this one too.
        let given = std::env::var(VARIABLE).ok();
        masked(text, &of_start.into_iter().chain(given).collect::<Vec<_>>())
    }

    fn shown_lines(&self, lines: &[String]) -> Vec<String> {
        lines.iter().map(|line| self.shown(line)).collect()
    }

    /// An error as it may leave.
    fn shown_error(&self, error: LabError) -> LabError {
        match error {
            LabError::User(message) => LabError::User(self.shown(&message)),
            LabError::Target(Failure { stage, message, log_tail }) => {
                let (message, log_tail) = (self.shown(&message), self.shown_lines(&log_tail));
                LabError::Target(Failure { stage, message, log_tail })
            }
            LabError::Io { what, source } => LabError::Io { what: self.shown(&what), source },
            other => other,
        }
    }

    /// Does not listen to interruptions: what was prepared is cleaned up whatever happens.
    fn clean_up(&mut self) -> Result<(), String> {
        let mut outcome = Ok(());
        for launch in std::mem::take(&mut self.cleanup) {
            let ran = steps::run_one(&launch, (Stage::Stop, self.within), &|| false);
            if let Err(error) = ran {
                outcome = outcome.and(Err(format!("cleanup: {error}")));
            }
        }
        outcome
    }
}

impl Drop for Around {
    fn drop(&mut self) {
        // Whoever wants to know calls `end`.
        let _ = self.clean_up();
        // The last one may use those before it.
        while self.services.pop().is_some() {}
    }
}

/// A service that ended while its target was up.
#[derive(Debug, Clone)]
pub struct Dead {
    /// Which it is, and how it ended.
    pub message: String,
    /// The end of its log.
    pub log_tail: Vec<String>,
}

impl Maker<'_> {
    fn all(&mut self, mut databases: Option<&mut Databases>) -> Result<(), LabError> {
        let target = self.target;
        let World { services, migrate, prepare, cleanup, .. } = &target.world;
        for service in services {
            match service {
                TargetService::Postgres => {
                    let Some(databases) = databases.as_deref_mut() else { continue };
                    let made = databases.renew(&target.id, &mut |url| self.migrate(url));
                    let url = made.map_err(|error| self.without_server(error))?;
                    self.around.env.insert(service.variable(), url);
                    self.around.shares_database = databases.are_shared().map(Into::into);
                }
                TargetService::Redis => self.redis()?,
                TargetService::Own(own) => {
                    let port = self.start(own)?;
                    self.around.env.insert(service.variable(), port.to_string());
                }
            }
        }
        if !target.world.has_database() {
            self.run("migrate", migrate)?;
        }
        self.around.cleanup = self.launches("cleanup", cleanup);
        self.run("prepare", prepare)
    }

    /// The error of a database that cannot be made, with the end of its server if that is why.
    fn without_server(&self, error: LabError) -> LabError {
        match (error, self.around.ended()) {
            (LabError::User(message), Some(Dead { message: dead, log_tail })) => {
                let message = format!("{dead}; {message}");
                LabError::Target(Failure { stage: Stage::Services, message, log_tail })
            }
            (error, _) => error,
        }
    }

    /// Makes schema and data in the database at this address.
    fn migrate(&mut self, url: &str) -> Result<(), LabError> {
        self.around.env.insert("DATABASE_URL".into(), url.into());
        self.run("migrate", &self.target.world.migrate)
    }

    fn run(&self, key: &str, commands: &[Command]) -> Result<(), LabError> {
        let limits = (Stage::Start, self.target.world.within);
        let named = |error: LabError| error.reworded(|message| format!("{key}: {message}"));
        let launches = self.launches(key, commands);
        launches
            .iter()
            .try_for_each(|launch| steps::run_one(launch, limits, self.interrupted).map_err(named))
    }

    /// The commands of a key, with the variables that are known now. Each has a log of its own, so that a
    /// failure shows the output of no other.
    fn launches(&self, key: &str, commands: &[Command]) -> Vec<Launch> {
        let launches = commands.iter().enumerate();
        launches
            .map(|(index, command)| {
                let log = self.log(&format!("{key}-{}", index + 1));
                // It may be left from the start before.
                let _ = std::fs::remove_file(&log);
                Launch { log, ..self.launch_of(command) }
            })
            .collect()
    }

    /// What is known before the target is started, by placeholder.
    fn values(&self) -> BTreeMap<String, String> {
        let mut values = base_values(self.target);
        values.extend(self.around.env.clone());
        values.extend(self.installed.env.get("PATH").map(|path| ("PATH".into(), path.clone())));
        values
    }

    /// The variables of the user and of the services that are up.
    fn env(&self) -> BTreeMap<String, String> {
        let mut env = environment::of_the_user();
        env.extend(self.around.env.clone());
        env
    }

    /// A command of the target's, with its variables.
    fn launch_of(&self, command: &Command) -> Launch {
        let values = self.values();
        let mut env = self.env();
        env.extend(self.installed.env.clone());
        env.extend(environment::known(&self.target.manifest.start.env, &values));
        Launch {
            command: filled(command, &values),
            env,
            folder: self.target.folder.clone(),
            log: PathBuf::new(),
            errors: None,
            cpus: CpuSet::default(),
            stop: "SIGTERM".into(),
            grace: COMMAND_GRACE,
            apart: false,
        }
    }

    fn log(&self, of: &str) -> PathBuf {
        self.folder.join(format!("{}.{of}.log", self.target.id.file_name()))
    }

    /// A Redis that keeps nothing on disk.
    fn redis(&mut self) -> Result<(), LabError> {
        let program = ["redis-server", "valkey-server"]
            .into_iter()
            .find_map(environment::find_program)
            .ok_or_else(|| {
                let message = "Redis is not installed: `apt-get install redis-server`";
                LabError::target(Stage::Services, message)
            })?;
        let words = ["--port", "{PORT}", "--bind", "{HOST}", "--save", "", "--appendonly", "no"];
        let program = program.to_string_lossy().into_owned();
        let redis = OwnService {
            name: TargetService::Redis.name().into(),
            command: std::iter::once(program).chain(words.map(Into::into)).collect(),
            env: BTreeMap::new(),
            folder: None,
            ready: Shown::Port,
            ready_within: Duration::from_secs(20),
            stop: "SIGTERM".into(),
        };
        let port = self.start(&redis)?;
        let url = format!("redis://{}:{port}/0", Ipv4Addr::LOCALHOST);
        self.around.env.insert(TargetService::Redis.variable(), url);
        Ok(())
    }

    /// Starts a service and waits until it is ready. Returns its port.
    fn start(&mut self, own: &OwnService) -> Result<u16, LabError> {
        let port = port::free().map_err(LabError::io("find a port for a service"))?;
        let mut values = self.values();
        values.insert("HOST".into(), Ipv4Addr::LOCALHOST.to_string());
        values.insert("PORT".into(), port.to_string());
        let launch = self.launch_of_service(own, &values);
        let mut process = Supervised::start(&launch).map_err(|error| of_service(own, error))?;
        let place = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let waited = match own.ready.as_answer(own.ready_within) {
            Some(answer) => {
                let (way, keys) = (Way::plain(place), Keys::Nowhere);
                ready::wait_until_ready(&mut process, &way, &answer, keys, self.interrupted)
                    .map(drop)
            }
            None => {
                let check = self.check_of(own, &launch, &values);
                wait(&mut process, own, place, check.as_ref(), self.interrupted)
            }
        };
        waited.map_err(|error| of_service(own, error))?;
        let (life, log) = (process.life(), launch.log);
        self.around.watched.push(Watched { name: own.name.clone(), life, log });
        self.around.services.push(process);
        Ok(port)
    }

    /// The command of a service. `values` has its `HOST` and `PORT`.
    fn launch_of_service(&self, own: &OwnService, values: &BTreeMap<String, String>) -> Launch {
        let mut env = self.env();
        env.extend(["HOST", "PORT"].map(|name| (name.into(), values[name].clone())));
        env.extend(environment::known(&own.env, values));
        let folder = match &own.folder {
            Some(folder) => self.target.folder.join(folder),
            None => self.target.folder.clone(),
        };
        Launch {
            command: filled(&own.command, values),
            env,
            folder,
            log: self.log(&own.name),
            errors: None,
            cpus: self.cpus.clone(),
            stop: own.stop.clone(),
            grace: GRACE,
            apart: false,
        }
    }

    /// The command that shows that a service is ready, if one does.
    fn check_of(
        &self,
        own: &OwnService,
        launch: &Launch,
        values: &BTreeMap<String, String>,
    ) -> Option<Launch> {
        let command = filled(own.ready.command(), values);
        let log = self.log(&format!("{}-ready", own.name));
        (!command.is_empty()).then(|| Launch {
            command,
            log,
            grace: COMMAND_GRACE,
            ..launch.clone()
        })
    }
}

/// The words of a command, with these values of its placeholders.
fn filled(words: &[String], values: &BTreeMap<String, String>) -> Command {
    words.iter().map(|word| environment::fill(word, values)).collect()
}

/// Waits until a service accepts connections, or until the command succeeds that shows that it is ready.
fn wait(
    process: &mut Supervised,
    own: &OwnService,
    place: SocketAddr,
    check: Option<&Launch>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), LabError> {
    let deadline = Instant::now() + own.ready_within;
    let mut last = format!("nobody listens on {place}");
    loop {
        if interrupted() {
            return Err(LabError::Interrupted);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        match check {
            None if port::answers(place) => return Ok(()),
            None => {}
            Some(check) => {
                let words = check.command.join(" ");
                match Supervised::start(check)?.wait(left, interrupted)? {
                    Some(Exit::Code(0)) => return Ok(()),
                    Some(exit) => last = format!("`{words}` {exit}"),
                    // Its time was cut short, and an earlier one says more.
                    None if last.starts_with('`') => {}
                    None => last = format!("`{words}` did not end"),
                }
            }
        }
        let failed = match process.ended() {
            Some(exit) => {
                format!("it {exit} before it was ready; a service must stay in the foreground")
            }
            None if left.is_zero() => {
                format!("not ready after {} s: {last}", own.ready_within.as_secs_f64())
            }
            None => {
                std::thread::sleep(AGAIN);
                continue;
            }
        };
        let log_tail = process.log_tail(15);
        let failure = Failure { stage: Stage::Services, message: failed, log_tail };
        return Err(LabError::Target(failure));
    }
}

/// The error as a failure of the target that needs this service.
fn of_service(own: &OwnService, error: LabError) -> LabError {
    let named = |message: &str| format!("service `{}`: {message}", own.name);
    match error {
        LabError::User(message) => LabError::target(Stage::Services, named(&message)),
        LabError::Target(failure) => {
            let reason = steps::reason(&failure.log_tail);
            let message = named(&failure.message) + &reason;
            LabError::Target(Failure { stage: Stage::Services, message, ..failure })
        }
        other => other,
    }
}
