//! `pippin calibrate`: measures the limits of the generator on this machine, against servers that
//! answer at once or after a known wait.
use pippin_model::load::{Check, Connections, LoadSpec, Request};
use pippin_model::plan::cpus::CpuSplit;
use pippin_model::plan::profile::{Arrivals, Profile, StopRule, WarmUp};
use pippin_model::result::LoadResult;
use pippin_model::run::Calibration;
use pippin_model::target::manifest::Ready;
use pippin_model::text::units::Spread;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::LabError;
use crate::lifecycle::environment;
use crate::lifecycle::supervised::{Launch, Supervised, own_program};
use crate::lifecycle::{port, ready};
use crate::load;
use crate::run::observer::Silent;
use crate::running::way::Way;
use crate::target::keys::Keys;
use crate::trial::{Trial, Watch, unix_now_ns};

/// With how many connections the ceiling is measured.
const CONNECTIONS: [u32; 4] = [1, 10, 64, 1_000];
/// Requests per second of the open-loop part. Far below every ceiling, so that only the timer can
/// make requests late.
const PACED_PER_S: f64 = 5_000.0;

/// What a calibration needs.
pub struct Calibrator<'a> {
    /// A folder for the servers' logs.
    pub folder: &'a Path,
    /// Who runs where: the servers take the target's processors.
    pub cpus: CpuSplit,
    /// Length of each part.
    pub part: Duration,
    /// Told what is being done.
    pub say: &'a dyn Fn(&str),
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// One of Pippin's reference servers, in its own process.
pub struct ReferenceServer {
    address: SocketAddr,
    _process: Supervised,
}

impl ReferenceServer {
    /// Starts the hidden command with these arguments on a free port of the target's processors.
    ///
    /// # Errors
    /// If it does not answer in time.
    pub fn start(
        command: &str,
        arguments: &[String],
        calibrator: &Calibrator<'_>,
    ) -> Result<Self, LabError> {
        let port = port::free().map_err(LabError::io("find a port"))?;
        let mut words = vec![
            own_program()?.to_string_lossy().into_owned(),
            command.into(),
            "--port".into(),
            port.to_string(),
        ];
        words.extend_from_slice(arguments);
        let mut process = Supervised::start(&Launch {
            command: words,
            env: environment::for_targets(),
            folder: calibrator.folder.into(),
            log: calibrator.folder.join(format!("{}.log", command.trim_start_matches('_'))),
            errors: None,
            cpus: calibrator.cpus.target.clone(),
            stop: "SIGTERM".into(),
            grace: Duration::from_secs(3),
            apart: false,
        })?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let interrupted = || calibrator.stop.load(Ordering::Relaxed);
        let way = Way::plain(address);
        let ready = Ready { path: "/".into(), status: None, timeout: "10s".into() };
        ready::wait_until_ready(&mut process, &way, &ready, Keys::Nowhere, &interrupted)?;
        Ok(Self { address, _process: process })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Calibrator<'_> {
    /// Measures ceiling, cost, lateness and shortest round trip.
    ///
    /// # Errors
    /// If the null server does not start, the engine refuses, or the user stops it.
    pub fn calibrate(&self) -> Result<Calibration, LabError> {
        let server = ReferenceServer::start("__null", &[], self)?;
        let mut calibration = Calibration {
            at_unix_ns: unix_now_ns(),
            pippin_version: env!("CARGO_PKG_VERSION").into(),
            io: String::new(),
            threads: 0,
            ceiling_per_s: BTreeMap::new(),
            ceiling_connect_per_s: None,
            min_round_trip_ns: None,
            send_lag_p99_ns: None,
            cpu_per_request_ns: BTreeMap::new(),
        };
        for connections in CONNECTIONS {
            (self.say)(&format!("closed loop, {connections} connections"));
            let result = self.load(&server, &self.closed(Connections::kept(connections)))?;
            self.note_ceiling(&mut calibration, connections, &result);
        }
        (self.say)("a connection for each request");
        let result = self.load(
            &server,
            &self.closed(Connections { requests_per_connection: Some(1), ..Connections::kept(64) }),
        )?;
        calibration.ceiling_connect_per_s = result.measured.goodput_per_s();
        (self.say)("constant rate");
        let result = self.load(&server, &self.paced())?;
        calibration.send_lag_p99_ns = result.measured.spans.send_lag.quantile_ns(0.99);
        Ok(calibration)
    }

    fn note_ceiling(&self, calibration: &mut Calibration, connections: u32, result: &LoadResult) {
        let measured = &result.measured;
        calibration.io.clone_from(&result.io);
        calibration.threads = calibration.threads.max(result.threads);
        if let Some(rate) = measured.goodput_per_s() {
            calibration.ceiling_per_s.insert(connections, rate);
        }
        if measured.requests.completed > 0 {
            calibration.cpu_per_request_ns.insert(
                connections,
                result.generator.cpu_ns as f64 / measured.requests.completed as f64,
            );
        }
        calibration.min_round_trip_ns =
            [calibration.min_round_trip_ns, measured.spans.service_time.min_ns()]
                .into_iter()
                .flatten()
                .min();
    }

    fn part_ns(&self) -> u64 {
        self.part.as_nanos() as u64
    }

    fn closed(&self, connections: Connections) -> Profile {
        Profile {
            connections,
            warm_up: WarmUp::Fixed { duration_ns: self.part_ns() / 4 },
            ..Profile::closed(1, StopRule::after(self.part_ns()))
        }
    }

    fn paced(&self) -> Profile {
        let part_ns = self.part_ns();
        Profile::open(PACED_PER_S, Arrivals::Constant, 64, part_ns / 4, part_ns)
    }

    /// Loads Pippin's device server, to see how many devices the generator and the kernel can hold
    /// on this machine.
    ///
    /// # Errors
    /// As [`Self::calibrate`].
    pub fn devices(
        &self,
        devices: u32,
        think: Spread,
        phases_ns: [u64; 3],
    ) -> Result<LoadResult, LabError> {
        let threads = pippin_reference::device::threads_for(devices as usize)
            .map_err(|error| LabError::User(error.to_string()))?;
        let server =
            ReferenceServer::start("__device", &["--threads".into(), threads.to_string()], self)?;
        self.load(&server, &Profile::devices(devices, 100, think, phases_ns))
    }

    fn load(&self, server: &ReferenceServer, profile: &Profile) -> Result<LoadResult, LabError> {
        let cores = self.cpus.generator.0.iter().copied().collect();
        let requests = vec![request(server.address())];
        let base = LoadSpec { requests: requests.into(), ..load::base(server.address(), cores, 1) };
        let mut trial = Trial::from_load(load::from_profile(profile, None, base));
        let load = trial.measure(&Watch { observer: &Silent, stop: self.stop })?.load;
        if load.interrupted { Err(LabError::Interrupted) } else { Ok(load) }
    }
}

fn request(address: SocketAddr) -> Request {
    let get = Request::get("/device", &address.to_string());
    Request { check: Check { status: vec![200], ..get.check }, ..get }
}
