//! A target that runs: started as its manifest says, ready, and stopped with a look at what it
//! leaves.
use pippin_model::cpus::CpuSet;
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Stage};
use pippin_model::units::parse_duration_ns;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::catalog::Target;
use crate::environment;
use crate::error::LabError;
use crate::install::{Installed, base_values};
use crate::lifecycle::supervised::{Launch, Supervised};
use crate::lifecycle::{port, ready};

/// How long a target may take to stop after its signal.
pub const GRACE: Duration = Duration::from_secs(10);

/// What a start needs besides the target.
#[derive(Debug, Clone)]
pub struct StartSettings<'a> {
    /// The target's processors.
    pub cpus: CpuSet,
    /// `WORKERS`.
    pub workers: u32,
    /// `DATABASE_POOL`.
    pub database_pool: u32,
    /// `DATABASE_URL`, `UPSTREAM_URL`: only those that the workload needs.
    pub services: BTreeMap<String, String>,
    /// Where its log goes.
    pub folder: &'a Path,
}

/// A target that runs.
#[derive(Debug)]
pub struct RunningTarget {
    process: Supervised,
    address: SocketAddr,
    start_up: Duration,
    name: String,
}

impl RunningTarget {
    /// Starts a target and waits until it is ready.
    ///
    /// # Errors
    /// A target failure with the end of its log; interruption.
    pub fn start(
        target: &Target,
        id: &TargetId,
        installed: &Installed,
        settings: &StartSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        let port = port::free().map_err(LabError::io("find a port for the target"))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let launch = launch(target, id, installed, settings, port);
        let limit = parse_duration_ns(&target.manifest.start.ready.timeout)
            .map(Duration::from_nanos)
            .unwrap_or(Duration::from_secs(20));
        let mut process = Supervised::start(&launch).map_err(|error| match error {
            LabError::User(message) => LabError::target(Stage::Start, message),
            other => other,
        })?;
        let start_up = ready::wait_until_ready(
            &mut process,
            address,
            &target.manifest.start.ready.path,
            limit,
            interrupted,
        )?;
        Ok(Self { process, address, start_up, name: id.to_string() })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Time from start to the first answer.
    #[must_use]
    pub const fn start_up(&self) -> Duration {
        self.start_up
    }

    /// The supervising process, below which it runs.
    #[must_use]
    pub fn supervisor_pid(&self) -> i32 {
        self.process.supervisor_pid()
    }

    /// Its log.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.process.log().into()
    }

    /// The end of its log.
    #[must_use]
    pub fn log_tail(&self) -> Vec<String> {
        self.process.log_tail(15)
    }

    /// Whether it ended by itself, and how, as a failure.
    pub fn crashed(&mut self) -> Option<Failure> {
        let exit = self.process.ended()?;
        Some(Failure {
            stage: Stage::Load,
            message: format!("{} {exit} while it was measured", self.name),
            log_tail: self.log_tail(),
        })
    }

    /// Stops it; what was not clean about that, in words.
    pub fn stop(mut self) -> Vec<String> {
        let crashed = self.process.ended().is_some();
        let gone = self.process.stop();
        let mut unclean = Vec::new();
        if gone.forced {
            unclean.push(format!(
                "it did not stop within {} s of its signal and was killed",
                GRACE.as_secs()
            ));
        }
        if !gone.left_behind.is_empty() && !gone.forced && !crashed {
            unclean.push(format!(
                "it left {} process(es) behind, which were killed: {}",
                gone.left_behind.len(),
                gone.left_behind.join("; ")
            ));
        }
        if !gone.stuck.is_empty() {
            unclean.push(format!("could not be killed: {}", gone.stuck.join("; ")));
        }
        let deadline = Instant::now() + Duration::from_secs(2);
        while port::is_listening(self.address.port()) {
            if Instant::now() > deadline {
                unclean.push(format!("port {} is still listened on", self.address.port()));
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        unclean
    }
}

fn launch(
    target: &Target,
    id: &TargetId,
    installed: &Installed,
    settings: &StartSettings<'_>,
    port: u16,
) -> Launch {
    let manifest = &target.manifest;
    let variant = manifest.variant(id.variant.as_deref());
    let mut values = base_values(target);
    values.extend([
        ("HOST".to_string(), "127.0.0.1".to_string()),
        ("PORT".to_string(), port.to_string()),
        ("WORKERS".to_string(), settings.workers.to_string()),
        ("DATABASE_POOL".to_string(), settings.database_pool.to_string()),
    ]);
    values.extend(settings.services.clone());
    let mut env = environment::for_targets();
    for name in ["HOST", "PORT", "WORKERS"] {
        env.insert(name.into(), values[name].clone());
    }
    if settings.services.contains_key("DATABASE_URL") {
        env.insert("DATABASE_POOL".into(), values["DATABASE_POOL"].clone());
    }
    env.extend(settings.services.clone());
    env.extend(installed.env.clone());
    if let Some(path) = installed.env.get("PATH") {
        values.insert("PATH".into(), path.clone());
    }
    let own =
        manifest.start.env.iter().chain(variant.iter().flat_map(|variant| variant.env.iter()));
    env.extend(own.map(|(name, value)| (name.clone(), environment::fill(value, &values))));
    let command =
        variant.and_then(|variant| variant.command.as_ref()).unwrap_or(&manifest.start.command);
    let file_name = id.to_string().replace(['/', ':'], "-");
    Launch {
        command: command.iter().map(|word| environment::fill(word, &values)).collect(),
        env,
        folder: target.folder.clone(),
        log: settings.folder.join(format!("{file_name}.log")),
        cpus: settings.cpus.clone(),
        stop: manifest.start.stop.clone(),
        grace: GRACE,
    }
}
