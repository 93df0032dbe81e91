//! Makes runs on this machine, with agents that load it over the network.
use pippin_lab::LabError;
use pippin_lab::run::observer::{Event, Observer};
use pippin_lab::run::recording::Keeping;
use pippin_lab::run::{RunSettings, run};
use pippin_lab::target::catalog::Catalog;
use pippin_model::result::Window;
use pippin_model::run::RunState;
use pippin_model::run::labels::Labels;
use pippin_model::target::TargetId;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

use super::{Entry, RunOrder};
use crate::agent::{Assignment, Skips, Work, WorkEvent, Worker};
use crate::caught::caught;
use crate::fleet::{Fleet, FleetSettings};
use crate::local::Folder;
use crate::nats::Nats;

/// What a probe uses to make runs.
#[derive(Debug)]
pub struct Site {
    /// Its targets, workloads and services.
    pub catalog: Catalog,
    /// Where targets listen: an address of this machine that the agents can reach.
    pub address: IpAddr,
    /// The NATS server of the agents.
    pub nats: Nats,
    /// The name of the probe.
    pub name: String,
    /// Whether its operator allows installing targets.
    pub install: bool,
    /// Whether its operator allows installing system packages.
    pub apt: bool,
}

/// A probe's worker.
#[derive(Debug)]
pub struct ProbeWorker(pub Arc<Site>);

impl Worker for ProbeWorker {
    fn allows(&self, work: &Work) -> Result<(), String> {
        match work {
            Work::Run(_) => Ok(()),
            Work::Slice(_) => Err("it is a probe, which applies no loads".into()),
        }
    }

    fn begin(&self, assignment: Assignment) {
        let site = Arc::clone(&self.0);
        std::thread::spawn(move || {
            let Assignment { work, stop, skips, tell, .. } = assignment;
            let Work::Run(run_order) = work else { return };
            let told = Telling { run: run_order.run, skips, tell };
            let over = match caught(|| site.make(*run_order, &told, &stop)) {
                Ok(Ok(state)) => Ok(state),
                Ok(Err(LabError::Interrupted)) => Ok(RunState::Interrupted),
                Ok(Err(error)) => Err(error.to_string()),
                Err(panic) => Err(panic),
            };
            told.entry(&Entry::Over(over));
            drop(told.tell.send(WorkEvent::Over(told.run)));
        });
    }
}

impl Site {
    fn make(
        &self,
        run_order: RunOrder,
        told: &Telling,
        stop: &AtomicBool,
    ) -> Result<RunState, LabError> {
        let fleet = Fleet::gather(FleetSettings {
            nats: self.nats.clone(),
            wanted: run_order.wanted,
            threads: None,
            host: None,
            local: None,
            say: &|text| told.entry(&Entry::Note(text.into())),
            stop,
        })?;
        let folder = Folder::private()?;
        let settings = RunSettings {
            explaining: None,
            is_open: None,
            is_decided: None,
            needs_all: false,
            catalog: &self.catalog,
            keeping: Keeping::Not,
            // The coordinator, who asked for the run, labels it.
            labels: Labels::default(),
            keep_requests: true,
            folder: folder.path().into(),
            install: self.install,
            apt: self.apt,
            seed: run_order.seed,
            calibration: None,
            generator: &fleet,
            address: self.address,
            probe: Some(self.name.clone()),
            observer: told,
            stop,
        };
        Ok(run(run_order.plan, &settings)?.state)
    }
}

/// Tells the coordinator what happens here.
struct Telling {
    run: u64,
    skips: Skips,
    tell: UnboundedSender<WorkEvent>,
}

impl Telling {
    fn entry(&self, entry: &Entry) {
        let text = serde_json::to_string(entry).unwrap_or_default();
        // If the probe has ended, nobody needs this.
        drop(self.tell.send(WorkEvent::Text(self.run, text)));
    }
}

impl Observer for Telling {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Note(text) => self.entry(&Entry::Note((*text).into())),
            Event::NotStored(why) => {
                self.entry(&Entry::Note(format!("this is not stored: {why}")));
            }
            Event::Unavailable(id, failure) => {
                self.entry(&Entry::Unavailable((*id).clone(), (*failure).clone()));
            }
            Event::RunStarted(header) => self.entry(&Entry::Started(Box::new((*header).clone()))),
            Event::TrialStarted(spec, number, of) => {
                self.entry(&Entry::Trial(Box::new((*spec).clone()), *number, *of));
            }
            Event::Stage(text) => self.entry(&Entry::Stage((*text).into())),
            Event::Window(window, _) => {
                let window = Window { histograms: None, ..(*window).clone() };
                drop(self.tell.send(WorkEvent::Second(self.run, Box::new(window))));
            }
            Event::TrialFinished(record) => {
                self.entry(&Entry::Finished(Box::new((*record).clone())));
            }
            // Agents apply each load in one stretch, so there are no slices, and warm up for a fixed
            // time.
            Event::Slice(..) | Event::WarmingUp(_) => {}
        }
    }

    fn skips(&self, target: &TargetId) -> bool {
        self.skips.lock().unwrap_or_else(PoisonError::into_inner).contains(target)
    }
}
