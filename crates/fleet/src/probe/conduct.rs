//! A probe's run, shown and kept on this machine.
use pippin_lab::LabError;
use pippin_lab::run::observer::{Event as Happened, Observer};
use pippin_lab::run::recording::{Keeping, KeptRequests, Recording};
use pippin_lab::target::catalog::Catalog;
use pippin_model::run::labels::Labels;
use pippin_model::run::{RunHeader, RunRecord, RunState};
use pippin_model::target::TargetId;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::client::{Event, Instruction, ProbeClient};
use super::{Entry, RunOrder};
use crate::actor::live;
use crate::clock::Clock;
use crate::error::FleetError;
use crate::fleet::{coordinator_peer, on_this_thread, random_key};
use crate::message::subject;
use crate::nats::Nats;

/// How often to check whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(20);

/// A run to be made by a probe.
pub struct Conducting<'a> {
    /// The NATS server of the probe and the agents.
    pub nats: Nats,
    /// The probe's name.
    pub probe: String,
    /// The run; the probe may take as long to answer as the agents.
    pub run_order: RunOrder,
    /// How finished trials are kept here.
    pub keeping: Keeping<'a>,
    /// What the user calls the run.
    pub labels: Labels,
    /// Whether the record keeps what may be a secret.
    pub keep_requests: bool,
    /// The catalog here. What ships with the program holds no secret.
    pub catalog: &'a Catalog,
    /// The observer of the run.
    pub observer: &'a dyn Observer,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// Lets a probe make a run, and blocks until it is over.
///
/// # Errors
/// If the server or the probe cannot be reached, the run cannot be made, or the probe is lost.
/// Trials that were finished before are kept.
pub fn conduct(conducting: Conducting<'_>) -> Result<RunRecord, FleetError> {
    let Conducting {
        nats,
        probe,
        run_order,
        keeping,
        labels,
        keep_requests,
        catalog,
        observer,
        stop,
    } = conducting;
    nats.check()?;
    let (tell, told) = unbounded_channel();
    let (sender, events) = channel();
    let name = probe.clone();
    let lost = sender.clone();
    let within_ns = run_order.wanted.within_ns;
    let member = async move |told: UnboundedReceiver<Instruction>| {
        let (me, clock, mut told) = (coordinator_peer()?, Clock::of_this_process(), told);
        let mut connection = nats.connect(&me.name).await?;
        let subjects = [subject::reports(&me)];
        let key = random_key()?;
        let mut client =
            ProbeClient::new((me, key), name, run_order, (within_ns, clock.now_ns()), sender);
        live(&mut connection, &subjects, &mut client, &mut told, clock).await
    };
    let thread = std::thread::Builder::new()
        .name("probe".into())
        .spawn(move || {
            if let Err(error) = on_this_thread(member(told)) {
                drop(lost.send(Event::Lost(error.to_string())));
            }
        })
        .map_err(LabError::io("start a thread"))?;
    let mut following = Following {
        keeping: Some(keeping),
        labels,
        keep_requests,
        catalog,
        observer,
        recording: None,
        skipped: BTreeSet::new(),
    };
    let outcome = following.follow(&events, stop, &|told| drop(tell.send(told)));
    drop(tell.send(Instruction::End));
    drop(thread.join());
    following.close(outcome).map_err(|error| match error {
        FleetError::User(why) => FleetError::User(format!("probe {probe}: {why}")),
        FleetError::Lost(why) => FleetError::Lost(format!("probe {probe}: {why}")),
        other => other,
    })
}

/// The run as far as it was reported.
struct Following<'a> {
    keeping: Option<Keeping<'a>>,
    labels: Labels,
    keep_requests: bool,
    catalog: &'a Catalog,
    observer: &'a dyn Observer,
    recording: Option<Recording<'a>>,
    /// Targets to skip that the probe was already told.
    skipped: BTreeSet<TargetId>,
}

impl<'a> Following<'a> {
    /// Follows the run until its end and returns how it ended.
    fn follow(
        &mut self,
        events: &Receiver<Event>,
        stop: &AtomicBool,
        tell: &dyn Fn(Instruction),
    ) -> Result<RunState, FleetError> {
        let mut has_stopped = false;
        let mut is_found = false;
        loop {
            match events.recv_timeout(LOOK) {
                Ok(Event::Found(hello)) => {
                    is_found = true;
                    let host = hello.host.hostname.unwrap_or_else(|| "an unnamed host".into());
                    self.observer.event(&Happened::Note(&format!("the targets run on {host}")));
                }
                Ok(Event::Entry(entry)) => {
                    if let Some(over) = self.take(*entry)? {
                        return over.map_err(FleetError::User);
                    }
                }
                Ok(Event::Second(window)) => self.observer.event(&Happened::Window(&window, None)),
                Ok(Event::Lost(why)) => return Err(FleetError::Lost(why)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FleetError::User("the thread of its connection ended".into()));
                }
            }
            if !has_stopped && stop.load(Ordering::Relaxed) {
                if !is_found {
                    return Err(LabError::Interrupted.into());
                }
                has_stopped = true;
                tell(Instruction::Stop);
            }
            for target in self.newly_skipped() {
                tell(Instruction::Skip(target));
            }
        }
    }

    fn newly_skipped(&mut self) -> Vec<TargetId> {
        let Some(recording) = &self.recording else { return Vec::new() };
        let targets = recording.header().plan.targets.iter();
        let is_new = |id: &&TargetId| !self.skipped.contains(*id) && self.observer.skips(id);
        let new: Vec<TargetId> = targets.filter(is_new).cloned().collect();
        self.skipped.extend(new.iter().cloned());
        new
    }

    /// Keeps and shows an entry. Returns how the run ended if the entry says so.
    fn take(&mut self, entry: Entry) -> Result<Option<Result<RunState, String>>, FleetError> {
        match entry {
            Entry::Note(text) => self.observer.event(&Happened::Note(&text)),
            Entry::Unavailable(id, failure) => {
                self.observer.event(&Happened::Unavailable(&id, &failure));
            }
            Entry::Started(header) => {
                if let Some(keeping) = self.keeping.take() {
                    let public = self.catalog.public(&header).map_err(FleetError::from)?;
                    let kept = KeptRequests::new(keeping, public, self.keep_requests);
                    let header = RunHeader { labels: self.labels.clone(), ..*header };
                    let begun = Recording::begin(header, keeping, kept, self.observer)?;
                    self.recording = Some(begun);
                }
            }
            Entry::Trial(spec, number, of) => {
                self.observer.event(&Happened::TrialStarted(&spec, number, of));
            }
            Entry::Stage(text) => self.observer.event(&Happened::Stage(&text)),
            Entry::Finished(record) => {
                if let Some(recording) = &mut self.recording {
                    recording.keep(*record)?;
                }
            }
            Entry::Over(over) => return Ok(Some(over)),
        }
        Ok(None)
    }

    fn close(self, outcome: Result<RunState, FleetError>) -> Result<RunRecord, FleetError> {
        let state = outcome.as_ref().map_or(RunState::Failed, |state| *state);
        let record = self.recording.map(|recording| recording.end(state)).transpose()?;
        outcome?;
        record.ok_or_else(|| LabError::Interrupted.into())
    }
}
