//! A running target: started as its manifest says, waited for until ready, and checked for
//! leftovers when it is stopped.
//!
//! | module | what it does |
//! |---|---|
//! | [`way`] | how requests reach it: addresses, TLS, protocol |
//! | [`certificate`] | its certificate |
//! | [`crash`] | its end while it is loaded |
//! | [`draining`] | users who ask it while it is ended |
//! | `launching` | command, variables and certificate of a start, or the container of an image |
//! | `socket` | its unix socket |
//! | [`limits`] | what it may use at the most: whether that can be held, is held, and who was killed at it |
//! | [`helping`] | processes that help it from outside |
pub mod certificate;
pub mod crash;
pub mod draining;
pub mod helping;
mod launching;
pub mod limits;
mod socket;
pub mod way;

use pippin_model::load::spoken::Spoken;
use pippin_model::load::websocket::Messages;
use pippin_model::load::{LoadSpec, Request, Requests};
use pippin_model::plan::cpus::CpuSet;
use pippin_model::plan::limits::Limits;
use pippin_model::target::TargetId;
use pippin_model::trial::{Exit, Failure, ServerEnd, Stage};
use pippin_model::verdict::{Caveat, Severity};
use pippin_probe::cgroup;
use pippin_probe::kernel_files::KernelFiles;
use pippin_probe::memory::killed_for_memory;
use pippin_probe::{RoleRoot, server};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::install::Installed;
use crate::lifecycle::group::{Group, killed_in_words};
use crate::lifecycle::life::Life;
use crate::lifecycle::supervised::{Launch, Supervised};
use crate::lifecycle::supervisor::IS_INSTALLED;
use crate::lifecycle::{log, port, ready};
use crate::running::certificate::Certificate;
use crate::running::crash::Crash;
use crate::running::launching::{Container, Given, certificate, launch, of_container};
use crate::running::socket::Socket;
use crate::running::way::Way;
use crate::services::world::Around;
use crate::target::elsewhere;
use crate::target::keys::{Keys, Topic};
use crate::target::{Kind, Listening, Target};
use crate::trial::unix_now_ns;

/// How long a target may take to stop after its signal.
pub const GRACE: Duration = Duration::from_secs(10);

/// What a start needs besides the target.
#[derive(Debug, Clone)]
pub struct StartSettings<'a> {
    /// The target's processors.
    pub cpus: CpuSet,
    /// `WORKERS`; 1 for a broadcast, where a target starts a process for each.
    pub workers: u32,
    /// What it may use at the most.
    pub limits: Limits,
    /// `DATABASE_POOL`.
    pub database_pool: u32,
    /// Variables of this start alone, beside those of its services.
    pub more: &'a [(&'a str, &'a str)],
    /// Where its log goes, and its certificate if it needs one.
    pub folder: &'a Path,
    /// Where it listens, an address of this machine.
    pub address: IpAddr,
    /// The plan's protocol, for targets whose manifest names none.
    pub protocol: Option<Spoken>,
    /// The kind of messages, if the workload uses WebSocket.
    pub messages: Option<Messages>,
    /// Its port; `None` for one that is free.
    pub port: Option<u16>,
    /// Words before its command, as of a tool that counts what it does. A container has none.
    pub before: &'a [String],
}

/// A target that runs.
#[derive(Debug)]
pub struct RunningTarget {
    /// `None` if Pippin did not start it.
    process: Option<Supervised>,
    start_up: Option<Duration>,
    /// The name of its main process, where Pippin started it.
    name: String,
    /// How many processes the kernel had killed for lack of memory when it began.
    killed_before: Option<u64>,
    limits: Limits,
    /// The folder in which the kernel counts whom it kills at the limit of memory; `None` without one.
    memory_group: Option<PathBuf>,
    /// How many these were when the present step of the load began.
    killed_before_step: u64,
    /// Whether `crashed` has said that its main process ended.
    end_is_told: bool,
    /// A file of the user's checkout that it runs in place of its revision's.
    elsewhere: Option<PathBuf>,
    id: TargetId,
    /// Its first processes, as far as they are known.
    roots: Vec<RoleRoot>,
    /// Processes below those that do not belong to it.
    apart: BTreeSet<i32>,
    /// The processors it was started on; none if it may use all, or Pippin did not start it.
    given: CpuSet,
    reached: Reached,
    may_have_services: bool,
    /// What was made for this start: ended after its process.
    around: Around,
    /// Its control group, removed after its processes have ended.
    group: Option<Group>,
    /// Removes the container when this is dropped.
    container: Option<Container>,
    /// Removes the unix socket when this is dropped.
    socket: Option<Socket>,
    /// Removes the certificate when this is dropped.
    _certificate: Option<Certificate>,
}

/// The requests for a target, and how they reach it.
#[derive(Debug, Clone)]
struct Reached {
    way: Way,
    host: String,
    requests: Option<Vec<Request>>,
    is_proved: bool,
}

/// How a target is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By the signal that stops it cleanly.
    Stopped,
    /// By SIGKILL to its main process.
    Killed,
}

/// What is known of the end of a main process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ended {
    /// How it ended.
    pub exit: Option<Exit>,
    /// When that was known, nanoseconds since 1970.
    pub at_unix_ns: Option<u64>,
    /// Whether it did not stop in time and was killed.
    pub forced: bool,
}

/// The process of a target, in its control group if it has one. A process that cannot be started is
/// a failure of its target.
fn launched(
    launch: &Launch,
    group: Option<&Group>,
    keys: Keys<'_>,
) -> Result<Supervised, LabError> {
    if !launch.folder.is_dir() {
        let folder = launch.folder.display();
        let message = format!("the folder {folder}, in which it is to run, is not there");
        return Err(LabError::target(Stage::Start, message));
    }
    let process = Supervised::start_in(launch, group).map_err(|error| match error {
        LabError::User(message) => LabError::target(Stage::Start, with_remedy(&message, keys)),
        other => other,
    })?;
    if group.is_some_and(Group::has_limits) && !process.is_grouped() {
        let message = "it could not enter the control group that holds its limits: run Pippin as root, or leave --cpu and --memory out";
        return Err(LabError::target(Stage::Start, message));
    }
    Ok(process)
}

/// The message with what installs the program, if it is not there.
fn with_remedy(message: &str, keys: Keys<'_>) -> String {
    match (message.strip_suffix(IS_INSTALLED), keys.about(Topic::Program)) {
        (Some(message), Some(remedy)) => format!("{message} (is it installed? {remedy})"),
        _ => message.into(),
    }
}

impl RunningTarget {
    /// Starts a target in what was made for it, and waits until it is ready.
    ///
    /// # Errors
    /// A target failure with the end of its log; interruption.
    pub fn start(
        target: &Target,
        id: &TargetId,
        installed: &Installed,
        settings: &StartSettings<'_>,
        around: Around,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        let spoken = target
            .spoken(id.variant.as_deref(), settings.protocol)
            .map_err(|message| LabError::target(Stage::Start, message))?;
        if let Kind::Listening(listening) = &target.kind {
            return Self::found(target, id, listening, spoken, settings.messages, around);
        }
        let certificate = certificate(spoken, id, settings)?;
        let port = settings.port.map_or_else(|| port::free_at(settings.address), Ok);
        let port = port
            .map_err(LabError::io(format!("find a port of {} for the target", settings.address)))?;
        let address = SocketAddr::from((settings.address, port));
        let socket =
            target.manifest.has_unix_socket(id.variant.as_deref()).then(|| Socket::named(port));
        let container = Container::from_target(target, address)?;
        let launch = match &container {
            // A container has its own network, so it is not told of the socket.
            Some(container) => of_container(container, target, id, settings, port),
            None => {
                let given =
                    Given { installed, services: &around.env, certificate: certificate.as_ref() };
                let mut launch = launch(target, id, given, settings, port);
                launch.command.splice(..0, settings.before.iter().cloned());
                socket.iter().for_each(|socket| socket.tell(&mut launch));
                launch
            }
        };
        // A container's runtime makes a group of its own.
        let group = if container.is_none() { Group::make(settings.limits) } else { Ok(None) };
        let group = group.map_err(LabError::User)?;
        let keys = Keys::of(id);
        let killed_before = killed_for_memory(&KernelFiles::default());
        let mut process = launched(&launch, group.as_ref(), keys)?;
        let tls = certificate.as_ref().map(Certificate::trust);
        let way = Way::plain(address)
            .over(tls, spoken.protocol())
            .with(settings.messages)
            .behind(socket.as_ref().map(|socket| socket.path.clone()));
        let start_up = ready::wait_until_ready(
            &mut process,
            &way,
            &target.manifest.start.ready,
            keys,
            interrupted,
        )
        .map_err(|error| {
            limits::with_reason(group.as_ref(), settings.limits, beside(&around, error))
        })?;
        let group = group.filter(|_| process.is_grouped());
        let inside = container.as_ref().and_then(|it| it.image.process(&it.name));
        let first = inside.unwrap_or_else(|| process.main_pid());
        limits::is_held(settings.limits, first)?;
        let memory_group = limits::memory_group(settings.limits, first);
        let elsewhere = elsewhere::file_of_checkout(process.supervisor_pid(), &target.folder);
        let main = server::of_processes(&[process.main_pid()]).unwrap_or_default();
        let root = inside.map_or(RoleRoot::Below(process.supervisor_pid()), RoleRoot::Tree);
        Ok(Self {
            process: Some(process),
            start_up: Some(start_up),
            name: main.processes.into_iter().map(|main| main.name).next().unwrap_or_default(),
            killed_before,
            limits: settings.limits,
            memory_group,
            killed_before_step: 0,
            end_is_told: false,
            elsewhere,
            id: id.clone(),
            roots: vec![root],
            apart: BTreeSet::new(),
            given: settings.cpus.clone(),
            reached: Reached {
                way,
                host: address.to_string(),
                requests: target.requests.clone(),
                is_proved: target.is_proved(),
            },
            may_have_services: !matches!(target.kind, Kind::Catalog),
            around,
            group,
            container,
            socket,
            _certificate: certificate,
        })
    }

    /// A server that runs already, with its processes if they are on this machine and visible.
    fn found(
        target: &Target,
        id: &TargetId,
        listening: &Listening,
        spoken: Spoken,
        messages: Option<Messages>,
        around: Around,
    ) -> Result<Self, LabError> {
        let addresses = listening.resolved().map_err(|error| match error {
            LabError::User(message) => LabError::target(Stage::Start, message),
            other => other,
        })?;
        let place = match spoken {
            Spoken::H3 => server::Place::Udp(addresses.clone()),
            _ => server::Place::Addresses(addresses.clone()),
        };
        let servers = server::behind(&place).unwrap_or_default();
        let way =
            Way::to(addresses, listening.tls.clone(), spoken.protocol()).ok_or_else(|| {
                LabError::target(Stage::Start, format!("{} has no address", listening.url.host))
            })?;
        let way = way.with(messages);
        let proxy = listening.proxy.as_ref().map(|proxy| proxy.to(&listening.url, way.protocol));
        let way = way.through(proxy);
        Ok(Self {
            process: None,
            start_up: None,
            name: String::new(),
            killed_before: None,
            limits: Limits::default(),
            memory_group: None,
            killed_before_step: 0,
            end_is_told: false,
            elsewhere: None,
            id: id.clone(),
            roots: servers.processes.iter().map(|server| server.root).collect(),
            apart: servers.apart,
            given: CpuSet::default(),
            reached: Reached {
                way,
                host: listening.url.authority.clone(),
                requests: target.requests.clone(),
                is_proved: target.is_proved(),
            },
            may_have_services: true,
            around,
            group: None,
            container: None,
            socket: None,
            _certificate: None,
        })
    }

    /// A file of the user's checkout that it runs in place of its revision's.
    #[must_use]
    pub fn elsewhere(&self) -> Option<&Path> {
        self.elsewhere.as_deref()
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.reached.way.address()
    }

    /// How it is reached.
    #[must_use]
    pub const fn way(&self) -> &Way {
        &self.reached.way
    }

    /// Whether the workload's proofs apply to it.
    #[must_use]
    pub const fn is_proved(&self) -> bool {
        self.reached.is_proved
    }

    /// Directs a load to it. `requests` are the workload's; a target with requests of its own gets
    /// those instead.
    pub fn aim(&self, load: &mut LoadSpec, requests: Requests) {
        let reached = &self.reached;
        reached.way.aim(load);
        load.requests = reached.requests.clone().map_or(requests, Into::into);
        for request in load.requests.iter_mut() {
            request.host.clone_from(&reached.host);
        }
    }

    /// Time from start to the first answer; `None` if it ran before.
    #[must_use]
    pub const fn start_up(&self) -> Option<Duration> {
        self.start_up
    }

    /// The first processes of its trees; none where they are not known.
    #[must_use]
    pub fn roots(&self) -> &[RoleRoot] {
        &self.roots
    }

    /// The services that only it uses, each with all of its processes.
    #[must_use]
    pub fn services(&self) -> Vec<RoleRoot> {
        self.around.supervisors().map(RoleRoot::Tree).collect()
    }

    /// What is to be said of its start, whatever is measured.
    #[must_use]
    pub fn doubts(&self) -> Vec<Caveat> {
        self.around.doubt().into_iter().chain(self.killed_lately()).collect()
    }

    /// Another step of its load begins: what is said from now on is about that step.
    pub fn begin_step(&mut self) {
        self.killed_before_step = self.killed_at_limit().unwrap_or(0);
    }

    fn killed_at_limit(&self) -> Option<u64> {
        cgroup::killed_for_memory(self.memory_group.as_ref()?)
    }

    /// How many of its processes the kernel has killed at its limit of memory in this step; `None`
    /// without such a limit, or if the kernel does not count them.
    #[must_use]
    pub fn killed_in_step(&self) -> Option<u64> {
        Some(self.killed_at_limit()?.saturating_sub(self.killed_before_step))
    }

    /// What is said of those, while its main process lived.
    fn killed_lately(&self) -> Option<Caveat> {
        killed_in_words(self.killed_in_step()?, self.limits).map(limits::memory_limit)
    }

    /// The service that has ended meanwhile, in words.
    #[must_use]
    pub fn dead_service(&self) -> Option<String> {
        self.around.dead().map(|dead| dead.message)
    }

    /// Processes below its first ones that do not belong to it, with everything below them.
    #[must_use]
    pub const fn apart(&self) -> &BTreeSet<i32> {
        &self.apart
    }

    /// The processors it was started on; none if it may use all, or Pippin did not start it.
    #[must_use]
    pub const fn given(&self) -> &CpuSet {
        &self.given
    }

    /// The folder of its control group, if it has one of its own.
    #[must_use]
    pub fn group(&self) -> Option<&Path> {
        self.group.as_ref().and_then(Group::account)
    }

    /// The process below which all of it runs; `None` for what Pippin did not start, and for
    /// containers, whose runtime has processes of its own.
    #[must_use]
    pub fn supervisor_pid(&self) -> Option<i32> {
        self.process.as_ref().filter(|_| self.container.is_none()).map(Supervised::supervisor_pid)
    }

    /// Whether it may use services that Pippin did not start, such as a database that ran before.
    #[must_use]
    pub const fn may_have_services(&self) -> bool {
        self.may_have_services
    }

    /// Its log, if Pippin started it.
    #[must_use]
    pub fn log(&self) -> Option<PathBuf> {
        self.process.as_ref().map(|process| process.log().into())
    }

    /// The end of its log.
    #[must_use]
    pub fn log_tail(&self) -> Vec<String> {
        self.process.as_ref().map(|process| process.log_tail(15)).unwrap_or_default()
    }

    /// Whether it lives, for a load that is to end with it; `None` if Pippin did not start it.
    #[must_use]
    pub fn life(&self) -> Option<Arc<Life>> {
        self.process.as_ref().map(Supervised::life)
    }

    /// Whether it or one of its services ended by itself, and how.
    pub fn crashed(&mut self) -> Option<Crash> {
        let crash = self.process_crashed();
        let Some(dead) = self.around.dead() else { return crash };
        let then = crash.as_ref().map_or(String::new(), |it| format!("; {}", it.failure.message));
        let message = format!("{} while {} was measured{then}", dead.message, self.id);
        let failure = Failure { stage: Stage::Services, message, log_tail: dead.log_tail };
        Some(Crash { failure, ended: crash.and_then(|it| it.ended) })
    }

    fn process_crashed(&mut self) -> Option<Crash> {
        let exit = self.process.as_mut()?.ended()?;
        let at_limit = self.killed_at_limit().unwrap_or(0);
        let process = self.process.as_ref()?;
        let killed = killed_for_memory(&KernelFiles::default());
        let why = killed_in_words(at_limit, self.limits);
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        let message = format!("{} {exit} while it was measured{why}", self.id);
        let ended = crash::Ended {
            pid: process.main_pid(),
            name: self.name.clone(),
            at_unix_ns: process.life().ended_unix_ns().unwrap_or_else(unix_now_ns),
            end: ServerEnd {
                exit: Some(exit),
                killed_for_memory: killed
                    .zip(self.killed_before)
                    .map(|(now, before)| now.saturating_sub(before)),
                // The failure has it.
                log_tail: Vec::new(),
            },
        };
        self.end_is_told = true;
        Some(Crash {
            ended: Some(ended),
            failure: Failure { stage: Stage::Load, message, log_tail: self.log_tail() },
        })
    }

    /// Ends it in this way, if Pippin started it, with everything that it started. Returns what is
    /// known of the end of its main process.
    #[must_use]
    pub fn end(mut self, how: Ending) -> Ended {
        let Some(process) = &mut self.process else { return Ended::default() };
        if how == Ending::Killed {
            // SAFETY: kill(2) on a process of ours whose supervisor still knows it.
            unsafe { libc::kill(process.main_pid(), libc::SIGKILL) };
            // It cannot refuse. If it hangs in the kernel, `stop` says so.
            let _ = process.wait(GRACE, &|| false);
        }
        let gone = process.stop();
        Ended {
            exit: process.ended(),
            at_unix_ns: process.life().ended_unix_ns(),
            forced: gone.forced,
        }
    }

    /// Stops it, if Pippin started it. Returns what is worth reporting about its end.
    pub fn stop(mut self) -> Vec<Caveat> {
        let mut doubts = self.doubts();
        let Some(process) = &mut self.process else { return doubts };
        // The failure of the trial has said why.
        doubts.retain(|doubt| !self.end_is_told || doubt.id != "memory_limit");
        let gone = process.stop();
        drop(self.container.take());
        let mut unclean = Vec::new();
        // On a busy machine the end may become known only now.
        let exit = process.ended().filter(|_| gone.unasked);
        if let Some(exit) = exit.filter(|_| !self.end_is_told) {
            unclean.push(format!("it {exit} before Pippin stopped it"));
        }
        if gone.forced {
            unclean.push(format!(
                "it did not stop within {} s of its signal and was killed",
                GRACE.as_secs()
            ));
        }
        if !gone.left_behind.is_empty() && !gone.forced && !gone.unasked {
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
        let address = self.address();
        let is_listened_on =
            || port::answers(address) || self.socket.as_ref().is_some_and(Socket::answers);
        while is_listened_on() {
            if Instant::now() > deadline {
                unclean.push(format!("{} is still listened on", self.reached.way.listens_on()));
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        unclean.extend(self.around.end());
        let keys = Keys::of(&self.id).about(Topic::Stop);
        let see = keys.map_or(String::new(), |keys| format!("see {keys}; "));
        let unclean = unclean.into_iter().map(|evidence| Caveat {
            id: "unclean_stop".into(),
            severity: Severity::Suspect,
            evidence,
            advice: see.clone() + "a server that cannot be stopped cleanly may also have lost work",
        });
        unclean.chain(gone.log_is_cut.then(cut_log)).chain(doubts).collect()
    }
}

fn cut_log() -> Caveat {
    Caveat {
        id: "log_cut".into(),
        severity: Severity::Note,
        evidence: format!(
            "its log grew beyond {} MiB: the beginning and the end of it are kept",
            log::MOST_BYTES >> 20
        ),
        advice:
            "see the log for what it writes; a server that logs each request spends time on that"
                .into(),
    }
}

/// The error of a start, with the service that ended meanwhile.
fn beside(around: &Around, error: LabError) -> LabError {
    match around.dead() {
        Some(dead) => error.reworded(|message| format!("{}; {message}", dead.message)),
        None => error,
    }
}
