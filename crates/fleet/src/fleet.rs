//! A fleet as a generator of the lab, and the process of an agent.
use pippin_engine::{Briefing, Control, Referee};
use pippin_lab::LabError;
use pippin_lab::target::catalog::Catalog;
use pippin_lab::trial::generator::{Applied, Generator, NotApplied};
use pippin_model::load::{LoadSpec, WarmUp};
use pippin_model::result::Window;
use pippin_model::run::Calibration;
use pippin_model::text::few::few;
use pippin_model::text::units::counted;
use pippin_model::trial::agent::AgentPart;
use pippin_probe::RoleRoot;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::actor::live;
use crate::agent::{Agent, Means, Policy, Worker};
use crate::clock::Clock;
use crate::coordinator::{Coordinator, Event, Instruction, Outcome, Task, Wanted};
use crate::error::FleetError;
use crate::local::Local;
use crate::message::{Hello, Key, Peer, subject};
use crate::nats::{Connection, Nats};
use crate::probe::worker::{ProbeWorker, Site};

/// How often a fleet checks whether its user wants to stop.
const LOOK: Duration = Duration::from_millis(20);
/// How long an agent waits before it tries to connect again.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// Agents that apply loads together.
pub struct Fleet {
    tell: UnboundedSender<Instruction>,
    events: Mutex<Receiver<Event>>,
    threads: Option<u32>,
    host: Option<(String, u16)>,
    /// The agents that take part now.
    agents: Mutex<Vec<(String, Hello)>>,
    /// Why the last load lost agents, if it did.
    lost: Mutex<Option<String>>,
    boot: Option<String>,
    coordinator: Option<JoinHandle<()>>,
    /// Dropped last, because this ends the server.
    local: Option<Local>,
}

/// The settings of a fleet.
pub struct FleetSettings<'a> {
    /// The server.
    pub nats: Nats,
    /// How many agents, and how long they may take to answer.
    pub wanted: Wanted,
    /// Threads on each agent.
    pub threads: Option<u32>,
    /// The host and port that agents look up themselves, where loads have no addresses.
    pub host: Option<(String, u16)>,
    /// The server and the agents, if this fleet started them here.
    pub local: Option<Local>,
    /// Prints what happens.
    pub say: &'a dyn Fn(&str),
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

impl Fleet {
    /// Connects and gathers the agents.
    ///
    /// # Errors
    /// If the server cannot be reached, or too few agents answer in time.
    pub fn gather(settings: FleetSettings<'_>) -> Result<Self, FleetError> {
        settings.nats.check()?;
        let (tell, told) = unbounded_channel();
        let (sender, events) = channel();
        let boot = boot();
        let member = Member { nats: settings.nats, wanted: settings.wanted, boot: boot.clone() };
        let coordinator = std::thread::Builder::new()
            .name("fleet".into())
            .spawn(move || member.live(told, sender))
            .map_err(LabError::io("start a thread"))?;
        let fleet = Self {
            tell,
            events: Mutex::new(events),
            threads: settings.threads,
            host: settings.host,
            agents: Mutex::default(),
            lost: Mutex::default(),
            boot,
            coordinator: Some(coordinator),
            local: settings.local,
        };
        *locked(&fleet.agents) = fleet.gathered(settings.say, settings.stop)?;
        Ok(fleet)
    }

    fn gathered(
        &self,
        say: &dyn Fn(&str),
        stop: &AtomicBool,
    ) -> Result<Vec<(String, Hello)>, FleetError> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match events.recv_timeout(LOOK) {
                Ok(Event::Gathered(agents)) => return Ok(agents),
                Ok(Event::TooFew(why)) => return Err(FleetError::Lost(why)),
                Ok(Event::Note(text)) => say(&text),
                Ok(Event::Gathering(able, wanted)) => {
                    say(&format!("{able} of {}", counted(wanted as u64, "agent")))
                }
                Ok(Event::Second(_) | Event::Over(_)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Event::Broken(error)) => return Err(error),
                Err(RecvTimeoutError::Disconnected) => return Err(ended().into()),
            }
            if stop.load(Ordering::Relaxed) {
                return Err(LabError::Interrupted.into());
            }
        }
    }

    /// The agents by name, with their answers to the call.
    #[must_use]
    pub fn agents(&self) -> Vec<(String, Hello)> {
        locked(&self.agents).clone()
    }

    /// Checks that the agents can apply this load at all.
    fn check(&self, load: &LoadSpec) -> Result<(), LabError> {
        splits(load.connections.count.into(), locked(&self.agents).len())?;
        let is_loopback = |address: &SocketAddr| address.ip().is_loopback();
        match (load.addresses.iter().find(|address| is_loopback(address)), self.elsewhere()) {
            (Some(address), Some(name)) => Err(LabError::User(format!(
                "agent {name} is on another machine, where {address} is that machine itself; name an address that all agents reach"
            ))),
            _ => Ok(()),
        }
    }

    /// What the agents need to judge answers in this referee's place.
    fn briefing(&self, referee: &dyn Referee, load: &LoadSpec) -> Result<String, LabError> {
        let Some(Briefing { text, is_timed }) = referee.briefing(load) else {
            return Err(LabError::User("agents cannot judge the answers to this load".into()));
        };
        match self.elsewhere().filter(|_| is_timed) {
            Some(name) => Err(LabError::User(format!(
                "agent {name} is on another machine, and its clock cannot tell whether the upstream was asked for each answer: use agents on the target's machine"
            ))),
            None => Ok(text),
        }
    }

    /// An agent that is not on this machine.
    fn elsewhere(&self) -> Option<String> {
        let agents = locked(&self.agents);
        let other = agents.iter().find(|(_, hello)| hello.boot != self.boot);
        other.map(|(name, _)| name.clone())
    }

    fn note_loss(&self, error: &LabError) {
        if let LabError::Agents(why) = error {
            *locked(&self.lost) = Some(why.clone());
        }
    }

    fn wait(&self, control: &Control<'_>) -> Result<Outcome, LabError> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let mut has_stopped = false;
        loop {
            match events.recv_timeout(LOOK) {
                Ok(Event::Over(outcome)) => return Ok(*outcome),
                Ok(Event::Second(window)) => {
                    if let Some(listen) = control.on_window {
                        listen(&window);
                    }
                }
                Ok(Event::Gathered(agents)) => *locked(&self.agents) = agents,
                Ok(Event::TooFew(_)) if has_stopped => return Err(LabError::Interrupted),
                Ok(Event::TooFew(why)) => return Err(LabError::Agents(why)),
                Ok(Event::Broken(error)) => return Err(error.into()),
                Ok(Event::Note(text)) => note(control, &text),
                Ok(Event::Gathering(able, wanted)) => {
                    let wanted = counted(wanted as u64, "agent");
                    note(control, &format!("agents are looked for: {able} of {wanted}"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            }
            if !has_stopped && control.is_stopped() {
                has_stopped = true;
                drop(self.tell.send(Instruction::Stop));
            }
        }
    }
}

fn note(control: &Control<'_>, text: &str) {
    if let Some(listen) = control.on_note {
        listen(text);
    }
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that this many connections can be split among this many agents.
///
/// # Errors
/// If an agent would have none.
pub fn splits(connections: u64, agents: usize) -> Result<(), LabError> {
    if connections >= agents as u64 {
        return Ok(());
    }
    Err(LabError::User(format!(
        "{} cannot be split among {}: each needs at least one",
        counted(connections, "connection"),
        counted(agents as u64, "agent")
    )))
}

/// Whether a check of the load asks a referee, or answers at random places are examined by one.
fn is_refereed(load: &LoadSpec) -> bool {
    load.surprises.as_ref().is_some_and(|surprises| surprises.by_referee)
        || load.requests.iter().any(|request| request.check.body.needs_referee())
}

fn ended() -> LabError {
    LabError::Agents("the fleet's own thread ended; its message says why".into())
}

impl Generator for Fleet {
    fn fit(&self, load: &mut LoadSpec) {
        // Agents would end an automatic warm-up at different instants, so they all take the longest
        // one.
        if let WarmUp::Auto { at_most_ns } = load.warm_up {
            load.warm_up = WarmUp::Fixed { duration_ns: at_most_ns };
        }
    }

    fn apply(&self, load: &LoadSpec, control: &Control<'_>) -> Result<Applied, NotApplied> {
        self.check(load)?;
        let referee = control.referee.as_deref().filter(|_| is_refereed(load));
        let briefing = referee.map(|referee| self.briefing(referee, load)).transpose()?;
        *locked(&self.lost) = None;
        let host = self.host.clone().filter(|_| load.addresses.is_empty());
        let task = Task { load: load.clone(), host, threads: self.threads, briefing };
        self.tell.send(Instruction::Apply(Box::new(task))).map_err(|_| ended())?;
        let outcome = self.wait(control).inspect_err(|error| self.note_loss(error))?;
        let Outcome { agents, merged, windows, has_started, found, from_seconds, is_lost } =
            outcome;
        if is_lost {
            *locked(&self.lost) = Some(failures(&agents));
        }
        let mut found = found.iter().filter_map(|found| Some((referee?, found)));
        found.try_for_each(|(referee, found)| referee.take(found)).map_err(LabError::User)?;
        let is_whole = merged.slices() == agents.len();
        let mut merged = merged.load();
        // Without all agents, the live figures do not match the result.
        if let Some(load) = merged.as_mut().filter(|_| is_whole) {
            take_figures_of_time(&mut load.windows, &windows);
        }
        match merged.or(from_seconds) {
            Some(load) if has_started || control.is_stopped() => Ok(Applied { load, agents }),
            _ => {
                let why = without_result(has_started, &agents);
                Err(if is_lost { LabError::Agents(why) } else { LabError::User(why) }.into())
            }
        }
    }

    fn lost(&self) -> Option<String> {
        locked(&self.lost).clone()
    }

    fn roots(&self) -> Vec<RoleRoot> {
        self.local.as_ref().map_or(Vec::new(), Local::roots)
    }
}

/// Results only have the counters of each second. The time figures were merged while the load ran.
fn take_figures_of_time(windows: &mut [Window], live: &[Window]) {
    let live: BTreeMap<i64, &Window> = live.iter().map(|window| (window.from_ns, window)).collect();
    for window in windows {
        if let Some(same) = live.get(&window.from_ns) {
            window.clone_from(same);
        }
    }
}

/// Why there is no result. A load that has started may have reached the target.
pub(crate) fn without_result(has_started: bool, agents: &[AgentPart]) -> String {
    let what =
        if has_started { "the load began, and no result came back" } else { "no load was applied" };
    format!("{what}: {}", failures(agents))
}

fn failures(agents: &[AgentPart]) -> String {
    let failed =
        |agent: &AgentPart| Some(format!("agent {}: {}", agent.name, agent.failure.as_ref()?));
    let failures: Vec<String> = agents.iter().filter_map(failed).collect();
    few(&failures, "; ")
}

impl Drop for Fleet {
    fn drop(&mut self) {
        drop(self.tell.send(Instruction::End));
        if let Some(thread) = self.coordinator.take() {
            drop(thread.join());
        }
    }
}

/// The coordinator's thread.
struct Member {
    nats: Nats,
    wanted: Wanted,
    boot: Option<String>,
}

impl Member {
    fn live(self, told: UnboundedReceiver<Instruction>, events: Sender<Event>) {
        let failed = events.clone();
        if let Err(error) = on_this_thread(self.coordinate(told, events)) {
            drop(failed.send(Event::Broken(error)));
        }
    }

    async fn coordinate(
        self,
        mut told: UnboundedReceiver<Instruction>,
        events: Sender<Event>,
    ) -> Result<(), FleetError> {
        let me = coordinator_peer()?;
        let mut connection = self.nats.connect(&me.name).await?;
        let clock = Clock::of_this_process();
        let subjects = [subject::reports(&me)];
        // Without random numbers there would have been no peer either.
        let keys = Box::new(|| random_key().unwrap_or_default());
        let mut coordinator = Coordinator::new((me, self.boot), clock, self.wanted, keys, events);
        live(&mut connection, &subjects, &mut coordinator, &mut told, clock).await
    }
}

/// The settings of an agent.
pub struct AgentSettings<'a> {
    /// The server.
    pub nats: Nats,
    /// Its name; by default made from the host's.
    pub name: Option<String>,
    /// Its operator's tags.
    pub tags: Vec<String>,
    /// What it does: apply parts of loads, or be a probe.
    pub duty: Duty,
    /// Prints what happens.
    pub say: &'a dyn Fn(&str),
    /// Set when its operator ends it.
    pub stop: &'a AtomicBool,
}

/// The work of an agent.
pub enum Duty {
    /// It applies slices of loads.
    Load {
        /// Hosts that it may load besides loopback.
        policy: Policy,
        /// Its processors, with a thread on each.
        cores: Vec<u32>,
        /// Local addresses to connect from.
        source_addresses: Vec<IpAddr>,
        /// Its ceiling, if it is calibrated.
        calibration: Option<Box<Calibration>>,
    },
    /// It is a probe: it makes runs on the targets' machine.
    Probe {
        /// Its targets, workloads and services.
        catalog: Box<Catalog>,
        /// Where targets listen: an address of this machine that the agents can reach.
        address: IpAddr,
        /// Whether targets may be installed.
        install: bool,
        /// Whether system packages may be installed.
        apt: bool,
    },
}

/// Runs an agent until its operator ends it.
///
/// # Errors
/// If the server cannot be used with these settings.
pub fn serve(settings: AgentSettings<'_>) -> Result<(), FleetError> {
    settings.nats.check()?;
    on_this_thread(serve_on(settings))
}

async fn serve_on(settings: AgentSettings<'_>) -> Result<(), FleetError> {
    let AgentSettings { nats, name, tags, duty, say, stop } = settings;
    let kind = if matches!(duty, Duty::Probe { .. }) { "probe" } else { "agent" };
    let name = name.unwrap_or_else(|| {
        format!("{}-{}", host_name().unwrap_or_else(|| kind.into()), std::process::id())
    });
    let me = peer(name)?;
    let clock = Clock::of_this_process();
    let hello = Hello {
        tags,
        host: pippin_probe::fingerprint(),
        boot: boot(),
        processors: 0,
        ceiling_per_s: None,
        claimed_by: None,
        is_probe: false,
    };
    let Some(connection) = connected(&nats, &me.name, say, stop).await? else { return Ok(()) };
    say(&format!("{kind} {} at {}", me.name, nats.name()));
    let member = Joined { me, hello, connection, clock, say, stop };
    match duty {
        Duty::Load { policy, cores, source_addresses, calibration } => {
            let hello = Hello {
                processors: cores.len() as u32,
                ceiling_per_s: calibration.as_deref().and_then(ceiling),
                ..member.hello.clone()
            };
            let calibration = calibration.map(|calibration| *calibration);
            let means = Means { policy, cores, source_addresses, calibration, clock };
            member.live(hello, means).await
        }
        Duty::Probe { catalog, address, install, apt } => {
            let hello = Hello { is_probe: true, ..member.hello.clone() };
            let name = member.me.name.clone();
            let site = Site { catalog: *catalog, address, nats, name, install, apt };
            member.live(hello, ProbeWorker(Arc::new(site))).await
        }
    }
}

/// An agent or a probe with its connection.
struct Joined<'a> {
    me: Peer,
    hello: Hello,
    connection: Connection,
    clock: Clock,
    say: &'a dyn Fn(&str),
    stop: &'a AtomicBool,
}

impl Joined<'_> {
    async fn live(mut self, hello: Hello, worker: impl Worker) -> Result<(), FleetError> {
        let (tell, mut told) = unbounded_channel();
        let mut agent =
            Agent::new((self.me, hello), self.clock, worker, tell, (self.stop, self.say));
        let subjects = agent.subjects();
        live(&mut self.connection, &subjects, &mut agent, &mut told, self.clock).await
    }
}

/// Waits for a server that is not up yet, because the machines of a fleet start in any order.
/// `None` if the operator ends the agent first.
async fn connected(
    nats: &Nats,
    name: &str,
    say: &dyn Fn(&str),
    stop: &AtomicBool,
) -> Result<Option<Connection>, FleetError> {
    let mut has_said = false;
    while !stop.load(Ordering::Relaxed) {
        match nats.connect(name).await {
            Ok(connection) => return Ok(Some(connection)),
            Err(error @ FleetError::User(_)) => return Err(error),
            Err(error) if !has_said => {
                has_said = true;
                say(&format!("{error}; trying again every {} s", TRY_AGAIN.as_secs()));
            }
            Err(_) => {}
        }
        for _ in 0..TRY_AGAIN.as_millis() / LOOK.as_millis() {
            tokio::time::sleep(LOOK).await;
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
    }
    Ok(None)
}

/// The highest throughput of a calibration, requests per second.
fn ceiling(calibration: &Calibration) -> Option<f64> {
    calibration.ceiling_per_s.values().copied().reduce(f64::max)
}

/// An id of the running kernel (proc_sys_kernel(5)); `None` if it cannot be read.
pub(crate) fn boot() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().into())
}

/// The host's name as one word of a subject.
fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = name.trim().chars().map(word).take(40).collect();
    (!name.is_empty()).then_some(name)
}

/// A peer of this name with a random instance.
///
/// # Errors
/// If an agent cannot have this name.
pub fn peer(name: String) -> Result<Peer, FleetError> {
    if !crate::message::is_name(&name) {
        return Err(FleetError::User(format!(
            "--name `{name}`: a name has 1 to 64 letters, digits, `-` and `_`"
        )));
    }
    Ok(Peer { name, instance: random_key()? })
}

/// A number that nobody can guess.
pub(crate) fn random_key() -> Result<Key, FleetError> {
    use rand::TryRng;
    rand::rngs::SysRng
        .try_next_u64()
        .map_err(|error| FleetError::User(format!("the kernel has no random numbers: {error}")))
}

/// This process as a coordinator.
pub(crate) fn coordinator_peer() -> Result<Peer, FleetError> {
    let name = host_name().unwrap_or_else(|| "coordinator".into());
    peer(format!("{name}-{}", std::process::id()))
}

pub(crate) fn on_this_thread<T>(
    work: impl Future<Output = Result<T, FleetError>>,
) -> Result<T, FleetError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(LabError::io("set up an event loop"))?.block_on(work)
}
