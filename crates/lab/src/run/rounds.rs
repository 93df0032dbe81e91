//! A repetition of loads that are measured in slices. All targets that fit into memory together are
//! started, proved and warmed up; then come rounds: one slice of every target, in random order;
//! then all are proved again and stopped (docs/decisions/slices.md).
use pippin_model::target::TargetId;
use pippin_model::trial::{Stage, Step};
use pippin_model::verdict::Caveat;
use pippin_probe::bystanders::Bystanders;
use pippin_probe::{RoleRoot, TreeClocks};
use pippin_stats::judge;
use pippin_stats::rounds::calm;
use pippin_stats::rounds::order;
use pippin_stats::scalability::ladder;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

use super::execution::Execution;
use super::member::{Group, Member, Shared};
use crate::error::LabError;
use crate::run::observer::Event;
use crate::run::steps::Steps;
use crate::running::helping;
use crate::services::Services;
use crate::slices::idle::{self, Idle, Limits, Restless, Used};
use crate::slices::length::Lengths;
use crate::slices::resting;
use crate::slices::stretch::Stretch;
use crate::trial::empty_record;

/// If a repetition is cut short, its rounds are kept if every target has at least this many.
const FEWEST_ROUNDS: u32 = 3;

/// How the rounds of a group ended.
struct Course {
    lengths: Lengths,
    /// Rounds in which every target had a slice.
    whole: u32,
    /// The user stopped it.
    cut_short: bool,
    /// Targets that are not idle, with the evidence.
    restless: Vec<(TargetId, String)>,
    /// Watches processes that have no part in the run.
    bystanders: Bystanders,
}

impl Execution<'_> {
    /// One repetition of these targets.
    pub(super) fn rounds(
        &mut self,
        repetition: u32,
        targets: Vec<TargetId>,
        services: &mut Services,
    ) -> Result<(), LabError> {
        let (restless, idle): (Vec<_>, Vec<_>) =
            targets.into_iter().partition(|id| self.restless.contains_key(id));
        let mut together = VecDeque::from(idle);
        let mut apart = VecDeque::from(restless);
        // Rounds of different groups are not paired, so their numbers differ.
        let mut round = 0;
        while !together.is_empty() || !apart.is_empty() {
            if self.interrupted() {
                return Err(LabError::Interrupted);
            }
            let reason = if together.is_empty() {
                apart.pop_front().map(|id| {
                    let reason = self.restless.get(&id).cloned();
                    together.push_back(id);
                    reason
                })
            } else {
                None
            };
            let found =
                self.group(repetition, &mut together, reason.flatten(), &mut round, services)?;
            for (id, reason) in found {
                self.settings.observer.event(&Event::Note(&format!("{id}: {reason}")));
                self.restless.insert(id.clone(), reason);
                apart.push_back(id);
            }
        }
        Ok(())
    }

    /// Starts as many of these targets as fit into memory together, and measures them. Returns
    /// those that turned out not to be idle: they must be measured alone.
    fn group(
        &mut self,
        repetition: u32,
        waiting: &mut VecDeque<TargetId>,
        apart: Option<String>,
        round: &mut u32,
        services: &mut Services,
    ) -> Result<Vec<(TargetId, String)>, LabError> {
        let mut steps = Steps::from_profile(&self.header().plan.profile);
        let Some(mut step) = steps.next() else { return Ok(Vec::new()) };
        let (mut members, mut needed_ns) =
            self.start_group(repetition, step, waiting, apart, services)?;
        self.at_rest(&mut members, services);
        let mut restless = Vec::new();
        loop {
            let mut course = self.course(&mut members, needed_ns, round, services);
            let next = steps.next().filter(|_| !course.cut_short);
            restless.extend(course.restless.iter().cloned());
            members = self.end_step(members, &mut course, next.is_none(), services)?;
            if course.cut_short {
                return Err(LabError::Interrupted);
            }
            let Some(next) = next.filter(|_| !members.is_empty()) else { return Ok(restless) };
            step = next;
            needed_ns = None;
            let mut ready = Vec::new();
            for mut member in members {
                let spec = self.spec(&member.spec.target, repetition, step);
                self.announce(&spec);
                member.step(spec);
                needed_ns = needed_ns.max(self.get_ready(&mut member, services));
                ready.push(member);
            }
            members = ready;
        }
    }

    fn start_group(
        &mut self,
        repetition: u32,
        step: Option<Step>,
        waiting: &mut VecDeque<TargetId>,
        apart: Option<String>,
        services: &mut Services,
    ) -> Result<(Vec<Member>, Option<u64>), LabError> {
        let (mut members, mut needed_ns) = (Vec::new(), None);
        while let Some(id) = waiting.front().cloned() {
            if self.interrupted() {
                return Err(LabError::Interrupted);
            }
            if members.len() >= services.tables() {
                break;
            }
            if !members.is_empty() && !self.room.fits(&id) {
                let rest = format!(
                    "{id} does not fit into memory beside the others: it is measured after them"
                );
                self.settings.observer.event(&Event::Note(&rest));
                break;
            }
            waiting.pop_front();
            if !self.takes_part(&id) {
                continue;
            }
            let Some((target, Ok(installed))) = self.prepared.get(&id).cloned() else { continue };
            let spec = self.spec(&id, repetition, step);
            self.announce(&spec);
            services.choose_table(members.len());
            match self.start(&id, &target, &installed, services) {
                Ok(running) => {
                    let mut member = Member::new(spec, running, members.len(), apart.clone());
                    needed_ns = needed_ns.max(self.get_ready(&mut member, services));
                    members.push(member);
                }
                Err(LabError::Target(failure)) => {
                    let mut record = empty_record(&spec);
                    record.failure = Some(failure);
                    // It would fail in every repetition.
                    self.given_up.insert(id);
                    self.finish(record, Vec::new())?;
                }
                Err(other) => return Err(other),
            }
        }
        Ok((members, needed_ns))
    }

    pub(super) fn shared<'a>(&'a self, services: &'a mut Services) -> Shared<'a> {
        Shared {
            plan: &self.recording.header().plan,
            workload: &self.recording.header().workload,
            samples: &self.samples,
            services,
            watch: self.watch(),
        }
    }

    /// Proves and warms up a target. Returns how long its slices must be at least, in nanoseconds,
    /// if that is known.
    fn get_ready(&mut self, member: &mut Member, services: &mut Services) -> Option<u64> {
        self.settings.observer.event(&Event::Stage("proving"));
        let needed_ns = member.get_ready(&mut self.shared(services));
        if let Some(memory_bytes) = member.memory_bytes() {
            self.room.note(&member.spec.target, memory_bytes);
        }
        needed_ns
    }

    /// All rounds of a step.
    fn course(
        &self,
        members: &mut [Member],
        needed_ns: Option<u64>,
        round: &mut u32,
        services: &mut Services,
    ) -> Course {
        let header = self.header();
        let delay = judge::expected_delay(&header.workload, header.plan.upstream_delay_ns);
        let times = self.choice.map_or(1.0, |choice| choice.times);
        let lengths = Lengths::from_plan(&header.plan, delay, needed_ns).with_rounds(times);
        let in_all = members.iter().filter(|member| !member.has_failed()).count() as u64;
        let planned_ns = u64::from(lengths.rounds) * in_all * lengths.whole_ns();
        let mut bystanders = Bystanders::default();
        if let [alone] = &mut *members {
            alone.helping.rest(&mut bystanders, &alone.running);
        }
        let mut rounds = Rounds {
            execution: self,
            members,
            services,
            clocks: TreeClocks::default(),
            bystanders,
            lengths,
            stretch: Stretch::default(),
            first: *round,
            extra_ns: (header.plan.extra_time * planned_ns as f64) as u64,
            restless: Vec::new(),
        };
        let whole = rounds.all(round);
        let Rounds { restless, bystanders, .. } = rounds;
        Course { lengths, whole, cut_short: self.interrupted(), restless, bystanders }
    }

    /// Proves the targets again, stops them if nothing follows, and keeps their records. What
    /// failed or is not idle is stopped in any case. Returns those that are still up.
    fn end_step(
        &mut self,
        members: Vec<Member>,
        course: &mut Course,
        is_last: bool,
        services: &mut Services,
    ) -> Result<Vec<Member>, LabError> {
        let is_restless = |id: &TargetId| course.restless.iter().any(|(other, _)| other == id);
        let together = members
            .iter()
            .filter(|member| !member.has_failed() && !is_restless(&member.spec.target));
        let group = Group {
            targets: members.len() as u32,
            rounds: course.lengths.rounds,
            calmest: calm::calmest_rounds(together.map(|member| member.slices.slices())),
        };
        let (mut stay, mut go) = (Vec::new(), Vec::new());
        for mut member in members {
            let id = member.spec.target.clone();
            if !is_restless(&id) {
                self.settings.observer.event(&Event::Stage("proving again"));
                let (cut_short, bystanders) = (course.cut_short, &mut course.bystanders);
                member.settle(&group, cut_short, bystanders, &mut self.shared(services));
            }
            if let Some(memory_bytes) = member.memory_bytes() {
                self.room.note(&id, memory_bytes);
            }
            // Of several rates, those after one that it did not keep up with are left out.
            let leaves = ladder::leaves(&member.record).filter(|_| !is_restless(&id));
            if let Some(why) = leaves.as_ref().filter(|_| !is_last && !member.has_failed()) {
                self.settings.observer.event(&Event::Note(why));
            }
            let is_over = is_last
                || member.has_failed()
                || leaves.is_some()
                || is_restless(&id)
                || !self.takes_part(&id);
            if is_over { go.push(member) } else { stay.push(member) }
        }
        let keeps = !course.cut_short || course.whole >= FEWEST_ROUNDS;
        for member in &stay {
            let mut record = member.record.clone();
            self.recording.judge(&mut record, member.running.doubts());
            if keeps && record.load.is_some() {
                self.recording.keep(record)?;
            }
        }
        for (member, at_the_end) in stop_all(go) {
            let id = member.spec.target.clone();
            let failure = member.record.failure.as_ref();
            if failure.is_some_and(|failure| failure.stage == Stage::Proof) {
                self.given_up.insert(id.clone());
            }
            let has_something = member.record.load.is_some() || failure.is_some();
            if keeps && has_something && !is_restless(&id) {
                let mut record = member.record;
                self.recording.judge(&mut record, at_the_end);
                self.recording.keep(record)?;
            }
        }
        Ok(stay)
    }
}

/// Stops these targets at the same time. Returns what was not clean about it, in words.
fn stop_all(members: Vec<Member>) -> Vec<(Stopped, Vec<Caveat>)> {
    std::thread::scope(|scope| {
        let stopping: Vec<_> = members
            .into_iter()
            .map(|member| {
                let Member { spec, record, running, .. } = member;
                (Stopped { spec, record }, scope.spawn(move || running.stop()))
            })
            .collect();
        stopping
            .into_iter()
            .map(|(stopped, thread)| (stopped, thread.join().unwrap_or_default()))
            .collect()
    })
}

/// A member that is not up any more.
struct Stopped {
    spec: pippin_model::trial::TrialSpec,
    record: pippin_model::trial::TrialRecord,
}

/// The rounds of a group at one step.
struct Rounds<'a, 'e> {
    execution: &'a Execution<'e>,
    members: &'a mut [Member],
    services: &'a mut Services,
    clocks: TreeClocks,
    bystanders: Bystanders,
    lengths: Lengths,
    stretch: Stretch,
    /// The number of the first round.
    first: u32,
    /// Time left to replace disturbed slices.
    extra_ns: u64,
    restless: Vec<(TargetId, String)>,
}

impl Rounds<'_, '_> {
    /// Makes the planned rounds, then more for targets that lack calm slices, while there is time.
    /// Returns how many of the planned ones were made.
    fn all(&mut self, round: &mut u32) -> u32 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed());
        let mut whole = 0;
        // The others have had the time in which it was warmed up.
        if let Some(warmed_up_last) = self.members.len().checked_sub(1) {
            self.let_rest(warmed_up_last);
        }
        while whole < self.lengths.rounds {
            let order = self.in_order(|_| true, &mut rng);
            let disturbed = self.round(*round, &order);
            let Some(disturbed) = disturbed else {
                self.forget(*round);
                return whole;
            };
            self.replace(*round, &disturbed);
            *round += 1;
            whole += 1;
            if self.execution.interrupted() {
                return whole;
            }
            if self.watch_the_idle() {
                self.begin_anew();
                whole = 0;
            }
        }
        let wanted = self.lengths.rounds;
        loop {
            let lacking = self.in_order(|member| member.slices.calm() < wanted, &mut rng);
            if lacking.is_empty() || self.extra_ns < self.cost(lacking.len()) {
                return whole;
            }
            self.extra_ns -= self.cost(lacking.len());
            let made = self.round(*round, &lacking);
            *round += 1;
            if made.is_none() || self.execution.interrupted() {
                return whole;
            }
        }
    }

    /// The seed of the order: one for each run, repetition and step.
    fn seed(&self) -> u64 {
        let spec = self.members.first().map(|member| &member.spec);
        spec.map_or(0, |spec| {
            let connections = spec.profile.at(spec.step).connections.count;
            spec.seed.rotate_left(17) ^ u64::from(connections) ^ (u64::from(self.first) << 32)
        })
    }

    const fn cost(&self, slices: usize) -> u64 {
        self.lengths.whole_ns() * slices as u64
    }

    /// Those that take part, in random order.
    fn in_order(
        &self,
        is_wanted: impl Fn(&Member) -> bool,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Vec<usize> {
        let members: Vec<usize> = (0..self.members.len())
            .filter(|i| self.takes_part(*i) && is_wanted(&self.members[*i]))
            .collect();
        order::interleaved(&members, 1, rng).into_iter().map(|(_, member)| member).collect()
    }

    fn takes_part(&self, index: usize) -> bool {
        let member = &self.members[index];
        let target = &member.spec.target;
        !member.has_failed()
            && self.execution.takes_part(target)
            && !self.restless.iter().any(|(other, _)| other == target)
    }

    /// One slice of each of these. Returns which of them were disturbed; `None` if the user stopped
    /// it.
    fn round(&mut self, round: u32, order: &[usize]) -> Option<Vec<usize>> {
        let mut disturbed = Vec::new();
        for &index in order {
            let calm = self.slice(round, index);
            if self.execution.interrupted() {
                return None;
            }
            if calm == Some(false) {
                disturbed.push(index);
            }
        }
        Some(disturbed)
    }

    /// Makes each of these slices once more while there is time.
    fn replace(&mut self, round: u32, disturbed: &[usize]) {
        for &index in disturbed {
            if self.extra_ns < self.cost(1) || self.execution.interrupted() {
                return;
            }
            self.extra_ns -= self.cost(1);
            self.slice(round, index);
        }
    }

    fn slice(&mut self, round: u32, index: usize) -> Option<bool> {
        let trees = self.trees();
        let before = self.used(&trees);
        let others_before = helping::look(&mut self.bystanders, &self.members[index].running);
        let began = pippin_probe::monotonic_ns();
        let (shown, of) = (round - self.first + 1, self.lengths.rounds);
        let company_cores = self.company_of(index);
        let member = &mut self.members[index];
        let answers_before = member.answers;
        self.execution.settings.observer.event(&Event::Slice(&member.spec, shown, of));
        let shared = &mut self.execution.shared(self.services);
        let calm = member.slice(round, &self.lengths, company_cores, &mut self.stretch, shared);
        let answers = member.answers - answers_before;
        let others_after = helping::look(&mut self.bystanders, &self.members[index].running);
        for (other, member) in self.members.iter_mut().enumerate() {
            let answers = (other == index).then_some(answers);
            member.helping.add(answers, &others_before, &others_after);
        }
        let after = self.used(&trees);
        let took_ns = pippin_probe::monotonic_ns() - began;
        for (other, (from, to)) in before.into_iter().zip(after).enumerate() {
            if let (Some(from), Some(to)) = (from, to)
                && other != index
            {
                self.members[other].idle.add(to.since(from), took_ns);
            }
        }
        self.let_rest(index);
        calm
    }

    /// What each of these trees has used so far, and its compiler; `None` if that is unknown.
    fn used(&mut self, trees: &[Vec<RoleRoot>]) -> Vec<Option<Used>> {
        let cpu = self.clocks.look(trees);
        let compilers = self.clocks.compilers();
        let both = cpu.into_iter().zip(compilers);
        both.map(|(cpu_ns, compiler)| {
            let compiler_ns = compiler.map_or(0, |compiler| compiler.cpu_ns);
            Some(Used { cpu_ns: cpu_ns?, compiler_ns })
        })
        .collect()
    }

    fn trees(&self) -> Vec<Vec<RoleRoot>> {
        let tree = |member: &Member| [member.running.roots(), &member.running.services()].concat();
        self.members.iter().map(tree).collect()
    }

    /// Waits until a target rests that has just been loaded, before it is another one's turn.
    fn let_rest(&mut self, index: usize) {
        if self.members.len() < 2 {
            return;
        }
        // All trees, because the clocks forget those that are not asked for.
        let trees = self.trees();
        let clocks = &mut self.clocks;
        resting::wait(|| clocks.look(&trees).get(index).copied().flatten(), std::thread::sleep);
    }

    /// What targets may use while others are measured.
    fn idle_limits(&self) -> Limits {
        let are_sides = self.execution.settings.needs_all && self.members.len() == 2;
        if are_sides { Limits::COMPARED } else { Limits::RANKED }
    }

    /// What the other targets that are up and idle use, in processors.
    fn company_of(&self, index: usize) -> f64 {
        let others = (0..self.members.len()).filter(|i| *i != index && self.takes_part(*i));
        let limits = self.idle_limits();
        others.map(|other| self.members[other].idle.shared_cores(limits)).sum()
    }

    /// Finds targets that are not idle while others are measured. Those whose compiler makes the
    /// noise are warmed on, and `true` is returned: what was measured beside them is disturbed, and
    /// they were not warm. The others take no further part in the rounds.
    fn watch_the_idle(&mut self) -> bool {
        let part: Vec<usize> = (0..self.members.len()).filter(|at| self.takes_part(*at)).collect();
        let watched = part.into_iter().map(|at| (at, self.members[at].idle)).collect();
        let members = &self.members;
        let mut warms_on = Vec::new();
        for (at, fate) in idle::judge(watched, self.idle_limits(), |at| members[*at].may_warm_on())
        {
            let target = self.members[at].spec.target.clone();
            match fate {
                Restless::Leaves(reason) => self.restless.push((target, reason)),
                Restless::WarmsOn(reason) => {
                    let note = format!("{target}: {reason}");
                    self.execution.settings.observer.event(&Event::Note(&note));
                    warms_on.push(at);
                }
            }
        }
        for at in &warms_on {
            self.warm_on(*at);
        }
        !warms_on.is_empty()
    }

    /// Warms a target up for longer. What the others did meanwhile is not judged.
    fn warm_on(&mut self, index: usize) {
        let member = &mut self.members[index];
        self.execution.settings.observer.event(&Event::Stage("warming up"));
        member.warm_on(&mut self.execution.shared(self.services));
        self.let_rest(index);
    }

    /// Forgets all rounds of this step so far.
    fn begin_anew(&mut self) {
        self.forget(self.first);
        self.members.iter_mut().for_each(|member| member.idle = Idle::default());
    }

    /// Removes rounds that not all targets have.
    fn forget(&mut self, round: u32) {
        self.members.iter_mut().for_each(|member| member.slices.forget_from(round));
    }
}
