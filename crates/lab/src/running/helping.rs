//! Looks for processes that help a target from outside, by the CPU time of all others while the
//! target is under load and while it has no requests.
use pippin_engine::Control;
use pippin_model::load::{Connections, LoadSpec, Request, StopRule};
use pippin_model::trial::outside::Outside;
use pippin_probe::bystanders::{Bystanders, Look};
use pippin_probe::{RoleRoot, server};
use pippin_reference::null;
use pippin_stats::bottleneck::helpers::{Stretch, helpers, told_apart};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::load;
use crate::running::RunningTarget;

/// How long a target gets no requests, so that helpers can be seen at rest.
const REST: Duration = Duration::from_millis(300);
/// How long a server of Pippin's own is loaded, so that those who follow every load can be seen, and
/// by how many connections.
const CONTROL: Duration = Duration::from_millis(500);
const CONTROL_CONNECTIONS: u32 = 8;
/// Shorter stretches say nothing.
const SHORTEST_NS: u64 = 100_000_000;

/// What other processes used in each load of a target, and while it had no requests.
#[derive(Debug, Default)]
pub struct Helping {
    stretches: Vec<Stretch>,
    /// Processes that a socket connected with the target at one of the looks.
    connected: BTreeSet<i32>,
}

impl Helping {
    /// Adds the time between two looks: a load with this number of answers, or, without a number,
    /// rest.
    pub fn add(&mut self, answers: Option<u64>, from: &Look, to: &Look) {
        let length_ns = to.at_ns.saturating_sub(from.at_ns);
        if length_ns < SHORTEST_NS {
            return;
        }
        self.connected.extend(&to.connected);
        let used = to.own_ns.iter().filter_map(|(process, to_ns)| {
            Some((*process, to_ns.saturating_sub(*from.own_ns.get(process)?)))
        });
        self.stretches.push(Stretch { answers, length_ns, used_ns: used.collect() });
    }

    /// Measures other processes while the target has no requests, where that matters.
    pub fn rest(&mut self, bystanders: &mut Bystanders, target: &RunningTarget) {
        if target.may_have_services() {
            return;
        }
        let before = look(bystanders, target);
        std::thread::sleep(REST);
        self.add(None, &before, &look(bystanders, target));
    }

    /// Forgets the loads: others follow.
    pub fn forget_loads(&mut self) {
        self.stretches.retain(|stretch| stretch.answers.is_none());
    }

    /// All processes that helped the target, with its load or by listening on its port.
    #[must_use]
    pub fn found(&self, bystanders: &mut Bystanders, target: &RunningTarget) -> Vec<Outside> {
        let mut found = strangers(target);
        if !target.may_have_services() {
            let is_connected = |pid| self.connected.contains(&pid);
            let helpers = helpers(&self.stretches, is_connected, |pid| bystanders.name(pid));
            // Where there is no control, they stay helpers.
            let control = if helpers.is_empty() { None } else { control(bystanders, target) };
            found.extend(match control {
                Some(control) => told_apart(helpers, &control),
                None => helpers,
            });
        }
        found
    }
}

/// What other processes do while a server of Pippin's own is loaded, and the target is not. `None` if
/// it cannot be loaded.
fn control(bystanders: &mut Bystanders, target: &RunningTarget) -> Option<Stretch> {
    let server = null::spawn(null::Config::default()).ok()?;
    let address = server.address();
    let load = LoadSpec {
        requests: vec![Request::get("/", &address.to_string())].into(),
        connections: Connections::kept(CONTROL_CONNECTIONS),
        stop: StopRule::after(CONTROL.as_nanos() as u64),
        threads: 1,
        ..load::base(address, Vec::new(), 1)
    };
    let before = look(bystanders, target);
    let result = pippin_engine::run(&load, &Control::new(&AtomicBool::new(false), &|_| true));
    let after = look(bystanders, target);
    let answers = load::answers(&result.ok()?);
    let mut control = Helping::default();
    control.add(Some(answers).filter(|answers| *answers > 0), &before, &after);
    control.stretches.pop().filter(|stretch| stretch.answers.is_some())
}

/// Watches all processes but those of the target, Pippin and its services.
pub fn look(bystanders: &mut Bystanders, target: &RunningTarget) -> Look {
    let roots = target.roots().iter().map(|root| match root {
        RoleRoot::Tree(pid) | RoleRoot::Below(pid) | RoleRoot::Process(pid) => *pid,
    });
    bystanders.look(&roots.collect::<Vec<_>>())
}

/// Processes that are no part of the target and listen on its port. None where Pippin did not start
/// it, or started a container: its runtime may listen for it.
#[must_use]
pub fn strangers(target: &RunningTarget) -> Vec<Outside> {
    let Some(supervisor) = target.supervisor_pid() else { return Vec::new() };
    let strangers = server::strangers(target.address(), supervisor);
    strangers.into_iter().map(|(pid, name)| Outside::Socket { pid, name }).collect()
}
