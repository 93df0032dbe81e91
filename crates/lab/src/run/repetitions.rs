//! How many repetitions are made, and in which order their targets are measured.
use pippin_model::plan::Plan;
use pippin_model::run::RunHeader;
use pippin_model::target::TargetId;
use pippin_model::text::units::format_length;
use pippin_stats::gate::comparing::has_time;
use pippin_stats::planning::Progress;
use pippin_stats::planning::words::length;
use pippin_stats::rank::sequential::{self, FEWEST_REPETITIONS};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

use super::IsOpen;
use super::execution::Execution;
use super::observer::Event;
use super::steps::Steps;

/// How many repetitions there are at least: with a precision, measuring ends early once it is
/// reached. With a goal, the plan has the least number.
pub(super) fn least(plan: &Plan) -> u32 {
    match plan.precision {
        Some(_) => plan.repetitions.min(FEWEST_REPETITIONS),
        None => plan.repetitions,
    }
}

/// The order in which the targets of a run are measured, `(repetition, target)`: those that are
/// available, interleaved by the run's seed.
#[must_use]
pub fn order(header: &RunHeader) -> Vec<(u32, TargetId)> {
    order_of(header, header.plan.repetitions)
}

/// The order of so many repetitions. It begins as that of fewer.
pub(super) fn order_of(header: &RunHeader, repetitions: u32) -> Vec<(u32, TargetId)> {
    let is_available =
        |id: &TargetId| header.targets.get(id).is_some_and(|info| info.unavailable.is_none());
    let available: Vec<TargetId> =
        header.plan.targets.iter().filter(|id| is_available(id)).cloned().collect();
    pippin_stats::rounds::order::interleaved(
        &available,
        repetitions,
        &mut Xoshiro256PlusPlus::seed_from_u64(header.seed),
    )
}

impl Execution<'_> {
    /// Whether a repetition is needed after so many: by the plan, unless its precision is reached;
    /// beyond it, by its goal, and by gates that are not decided.
    pub(super) fn needs(&mut self, made: u32) -> bool {
        let planned = self.header().plan.repetitions;
        if self.is_lost() {
            return false;
        }
        if made < planned && !(made > 0 && self.is_precise_enough(made)) {
            if made == 1 {
                self.tell_least_time(planned);
            }
            return true;
        }
        if made == planned {
            let progress = Progress::from_trials(self.header(), self.recording.trials(), made);
            self.choice = progress.and_then(|progress| progress.choice);
        }
        if self.interrupted() || made == 0 || !self.has_time(made) {
            return false;
        }
        let Some(why) = self.is_open(made) else { return false };
        why.iter().for_each(|said| self.settings.observer.event(&Event::Note(said)));
        let steps = Steps::number(&self.header().plan.profile);
        self.in_all = self.number + order_of(self.header(), 1).len() * steps;
        true
    }

    /// Says after the first repetition if the least number of a goal takes longer than its time.
    fn tell_least_time(&self, least: u32) {
        let Some(goal) = &self.header().plan.goal else { return };
        let one = self.began.elapsed();
        if one.saturating_mul(least) <= Duration::from_nanos(goal.longest_ns()) {
            return;
        }
        let said = format!(
            "{least} repetitions take about {}, longer than {}: they are made in any case, because fewer starts say nothing",
            length(one.as_nanos() as f64 * f64::from(least)),
            format_length(goal.longest_ns())
        );
        self.settings.observer.event(&Event::Note(&said));
    }

    /// Whether the goal of the plan leaves time for another repetition. Without a goal there is.
    fn has_time(&self, made: u32) -> bool {
        self.header().plan.goal.as_ref().is_none_or(|goal| {
            let (spent, longest) = (self.began.elapsed(), Duration::from_nanos(goal.longest_ns()));
            let fits = self.choice.is_none_or(|choice| spent + choice.each() <= longest);
            fits && has_time(spent, made, longest)
        })
    }

    /// Why another repetition is made beyond the planned ones; `None` if none is. Nothing is said
    /// where it was said before.
    fn is_open(&self, made: u32) -> Option<Option<String>> {
        let (header, trials) = (self.header(), self.recording.trials());
        let holds = |ask: Option<IsOpen<'_>>| ask.is_some_and(|ask| ask(header, trials, made));
        let progress = Progress::from_trials(header, trials, made).filter(Progress::is_open);
        if let Some(progress) = progress.filter(|_| !holds(self.settings.is_decided)) {
            let times = made / header.plan.repetitions.max(1);
            let is_said = made.is_multiple_of(header.plan.repetitions) && times.is_power_of_two();
            return Some(is_said.then(|| progress.expectation()));
        }
        holds(self.settings.is_open)
            .then(|| Some(format!("gates are not decided after {made} repetitions: one more")))
    }

    /// Whether the plan's precision is reached before the last repetition.
    fn is_precise_enough(&self, repetitions: u32) -> bool {
        let header = self.header();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(header.seed);
        header.plan.precision.is_some_and(|precision| {
            sequential::is_precise_enough(self.recording.trials(), repetitions, precision, &mut rng)
        })
    }
}
