//! One comparison of `pippin ci`, decided by its own code on starts that were drawn from recorded ones.
use pippin_model::example::ExampleTrial;
use pippin_model::result::{Spans, Window};
use pippin_model::target::TargetId;
use pippin_model::trial::slice::Slice;
use pippin_model::trial::{Company, TrialRecord};
use pippin_model::verdict::Verdict;
use pippin_model::verdict::gate::Gate;
use pippin_stats::gate::comparing::{Comparing, USUAL_GATES, has_time, is_open};
use pippin_stats::gate::{Doubt, Outcome, Standing};
use pippin_stats::interval::anytime::{FEWEST_STARTS, Levels};
use pippin_stats::rounds::calm;
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

use super::recorded::{Series, SideOfStart, Start};

/// The share of false alarms that `pippin ci` takes by default, and its longest time.
const FALSE_ALARMS: f64 = 0.003;
const LONGEST: Duration = Duration::from_secs(600);
/// Starts in a row that are drawn together, so that what lasts longer than one start stays.
const BLOCK: usize = 2;

/// How a comparison ended.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// The change that failed, if one did.
    pub failed: Option<Gate>,
    /// Whether every change passed.
    pub passed: bool,
    /// The changes that were open at the end, each with why.
    pub open: Vec<(String, Doubt)>,
    pub starts: u32,
    pub took: Duration,
}

/// What is simulated.
pub struct Comparisons<'a> {
    series: &'a [Series],
    /// How much more CPU time the second side needs for a request: 0.05 for 5 %.
    more: f64,
    /// A trial without figures, which is filled.
    template: TrialRecord,
    comparing: Comparing,
}

impl<'a> Comparisons<'a> {
    pub fn new(series: &'a [Series], more: f64) -> Self {
        let gates: Vec<Gate> =
            USUAL_GATES.iter().map(|gate| Gate::fail_if(gate).unwrap()).collect();
        let levels = Levels::of_comparison(FALSE_ALARMS, &gates, 1);
        let pairs = vec![(id("base"), id("now"))];
        Self { series, more, template: template(), comparing: Comparing { gates, levels, pairs } }
    }

    /// Makes starts until the code of `pippin ci` says that it is over.
    pub fn one(&self, random: &mut Xoshiro256PlusPlus) -> End {
        let series = &self.series[below(random, self.series.len())];
        let planned = FEWEST_STARTS as u32;
        let (mut trials, mut took, mut made) = (Vec::new(), Duration::ZERO, 0);
        let (mut at, mut is_swapped) = (0, false);
        loop {
            if (made as usize).is_multiple_of(BLOCK) {
                at = below(random, series.starts.len());
                is_swapped = random.next_u64() & 1 == 1;
            } else {
                at = (at + 1) % series.starts.len();
            }
            let start = &series.starts[at];
            trials.extend(self.trials(start, made, is_swapped));
            made += 1;
            took += Duration::from_millis(start.took_ms());
            let outcomes = || self.comparing.outcomes(&trials, made, planned);
            if made >= planned && !(has_time(took, made, LONGEST) && is_open(&outcomes())) {
                return end(&self.comparing.at_the_end(&trials, made, planned), made, took);
            }
        }
    }

    /// Both sides of a start, as the lab writes them.
    fn trials(&self, start: &Start, repetition: u32, is_swapped: bool) -> [TrialRecord; 2] {
        let [a, b] = &start.sides;
        let [base, now] = if is_swapped { [b, a] } else { [a, b] };
        let mut both = [(id("base"), base, 0.0), (id("now"), now, self.more)]
            .map(|(id, side, more)| self.trial(id, side, repetition, more));
        let calmest = calm::calmest_rounds(both.iter().map(|trial| trial.slices.iter().collect()));
        for trial in &mut both {
            let rounds = trial.slices.len() as u32;
            calm::choose(&mut trial.slices, rounds, &calmest);
            trial.company = Some(Company { rounds, ..Company::default() });
            let load = trial.load.as_mut().unwrap();
            load.windows = windows(&trial.slices);
        }
        both
    }

    fn trial(&self, id: TargetId, side: &SideOfStart, repetition: u32, more: f64) -> TrialRecord {
        let mut trial = self.template.clone();
        trial.spec.target = id;
        trial.spec.repetition = repetition;
        trial.verdict = if side.is_invalid { Verdict::Invalid } else { Verdict::Suspect };
        trial.load.as_mut().unwrap().warm_up.steady = side.steady;
        trial.slices = side.rounds.iter().map(|(_, slice)| slice.clone()).collect();
        for slice in &mut trial.slices {
            let cpu_ns = slice.figures.target_cpu_ns;
            slice.figures.target_cpu_ns = cpu_ns.map(|ns| (ns as f64 * (1.0 + more)) as u64);
        }
        trial
    }
}

/// Only slices, windows and the warm-up count here; histograms are slow to copy.
fn template() -> TrialRecord {
    let mut template = ExampleTrial::hello().build();
    template.load.as_mut().unwrap().measured.spans = Spans::default();
    template.samples.clear();
    template
}

/// The windows of the measured part: the used slices, one after the other.
fn windows(slices: &[Slice]) -> Vec<Window> {
    let mut at_ns = 0;
    let used = slices.iter().filter(|slice| slice.used);
    used.map(|slice| {
        let window = Window {
            from_ns: at_ns,
            duration_ns: slice.measured_ns,
            completed: slice.figures.answered,
            good: slice.figures.right,
            ..Window::default()
        };
        at_ns += slice.measured_ns as i64;
        window
    })
    .collect()
}

fn end(outcomes: &[Outcome], starts: u32, took: Duration) -> End {
    let failed = outcomes.iter().find(|outcome| outcome.standing == Standing::Failed);
    let passed = outcomes.iter().all(|outcome| outcome.standing == Standing::Passed);
    let open = |outcome: &Outcome| {
        let doubt = outcome.reason.as_ref()?.doubt;
        Some((outcome.gate.to_string(), doubt))
    };
    let open = outcomes.iter().filter_map(open).collect();
    End { failed: failed.map(|outcome| outcome.gate.clone()), passed, open, starts, took }
}

fn id(name: &str) -> TargetId {
    format!("own/{name}").parse().unwrap()
}

fn below(random: &mut Xoshiro256PlusPlus, n: usize) -> usize {
    ((random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * n as f64) as usize % n
}
