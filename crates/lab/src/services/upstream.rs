//! The slow upstream: a separate process of Pippin, so that its CPU time is counted apart.
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use pippin_model::target::manifest::Ready;
use pippin_reference::numbers::Numbers;

use super::{ServiceSettings, secret};
use crate::error::LabError;
use crate::lifecycle::environment;
use crate::lifecycle::life::Life;
use crate::lifecycle::supervised::{Launch, Supervised, own_program};
use crate::lifecycle::{port, ready};
use crate::running::way::Way;
use crate::target::keys::Keys;
use crate::verify::http::{Client, Request};

/// The variables by which its process is told the key of its numbers and the secret of its reset.
pub const KEY: &str = "PIPPIN_UPSTREAM_KEY";
/// See [`KEY`].
pub const SECRET: &str = "PIPPIN_UPSTREAM_SECRET";

/// A running upstream.
#[derive(Debug)]
pub struct Upstream {
    process: Supervised,
    address: SocketAddr,
    numbers: Numbers,
    secret: u128,
    delay_ns: u64,
}

impl Upstream {
    /// Starts it on a free port.
    ///
    /// # Errors
    /// If it does not answer in time.
    pub fn start(
        settings: &ServiceSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        let port = port::free().map_err(LabError::io("find a port for the upstream"))?;
        let program = own_program()?.to_string_lossy().into_owned();
        let arguments = [
            "__upstream",
            "--port",
            &port.to_string(),
            "--delay-ns",
            &settings.upstream_delay_ns.to_string(),
        ]
        .map(String::from);
        let key = secret::random("make a key for the upstream")?;
        let secret = secret::random("make a secret for the upstream")?;
        let mut env = environment::inherited();
        // The command line would be shown to everybody.
        env.insert(KEY.into(), format!("{key:032x}"));
        env.insert(SECRET.into(), format!("{secret:032x}"));
        let mut process = Supervised::start(&Launch {
            command: std::iter::once(program).chain(arguments).collect(),
            env,
            folder: settings.folder.into(),
            log: settings.folder.join("upstream.log"),
            errors: None,
            cpus: settings.cpus.clone(),
            stop: "SIGTERM".into(),
            grace: Duration::from_secs(5),
            apart: false,
        })?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        ready::wait_until_ready(
            &mut process,
            &Way::plain(address),
            &Ready { path: "/count".into(), status: None, timeout: "10s".into() },
            Keys::Nowhere,
            interrupted,
        )?;
        let (numbers, delay_ns) = (Numbers::new(key), settings.upstream_delay_ns);
        Ok(Self { process, address, numbers, secret, delay_ns })
    }

    /// `http://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The supervising process.
    #[must_use]
    pub fn supervisor_pid(&self) -> i32 {
        self.process.supervisor_pid()
    }

    /// Whether it lives.
    #[must_use]
    pub fn life(&self) -> Arc<Life> {
        self.process.life()
    }

    /// What reads the numbers that it issues.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        self.numbers.clone()
    }

    /// How long it waits before it answers a call, in nanoseconds.
    #[must_use]
    pub const fn delay_ns(&self) -> u64 {
        self.delay_ns
    }

    /// GETs of `/slow` that were answered since the start or the last reset.
    ///
    /// # Errors
    /// If the upstream does not answer.
    pub fn calls(&mut self) -> Result<u64, String> {
        self.count("upstream_answered")
    }

    /// Calls of `/slow` that are not answered yet.
    ///
    /// # Errors
    /// If the upstream does not answer.
    pub fn waiting(&mut self) -> Result<u64, String> {
        self.count("upstream_waiting")
    }

    fn count(&mut self, name: &str) -> Result<u64, String> {
        self.account()?
            .get(name)
            .map(|count| *count as u64)
            .ok_or_else(|| format!("the upstream does not tell `{name}`"))
    }

    /// Every number of its account, by name with the prefix `upstream_`.
    ///
    /// # Errors
    /// If the upstream does not answer.
    pub fn account(&mut self) -> Result<BTreeMap<String, f64>, String> {
        let mut client = Client::connect(&Way::plain(self.address), Duration::from_secs(5))?;
        let answer = client.exchange(&Request::get("/count").closing())?;
        let numbers: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&answer.body)
            .map_err(|error| format!("the upstream's account: {error}"))?;
        Ok(numbers
            .into_iter()
            .filter_map(|(name, value)| Some((format!("upstream_{name}"), value.as_f64()?)))
            .collect())
    }

    /// Forgets its account, so that the next trial's stands alone.
    ///
    /// # Errors
    /// If the upstream does not answer.
    pub fn reset(&mut self) -> Result<(), String> {
        let answer = Client::connect(&Way::plain(self.address), Duration::from_secs(5))?
            .exchange(&Request::new("POST", &format!("/reset/{:032x}", self.secret)).closing())?;
        if answer.status == 200 {
            Ok(())
        } else {
            Err(format!("the upstream answers {} to a reset", answer.status))
        }
    }
}
