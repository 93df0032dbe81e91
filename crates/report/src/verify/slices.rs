//! The slices of a trial beside their sum, and beside what the host did meanwhile.
//!
//! Histograms are kept as sums, not for each slice. So a quantile of the trial must lie where those of
//! its slices allow it: not below all of them, and not above all of them.
use pippin_model::host::usage::Role;
use pippin_model::result::{Answered, LoadResult, Measured};
use pippin_model::run::RunRecord;
use pippin_model::trial::TrialRecord;
use pippin_model::trial::slice::{Slice, SliceFigures, SliceQuantiles};
use pippin_stats::rank::due;
use pippin_stats::rounds::calm;

use super::{Findings, trials};

/// Checks the slices of one trial.
pub(super) fn check(place: &str, trial: &TrialRecord, found: &mut Findings) {
    for (number, slice) in trial.slices.iter().enumerate() {
        alone(&format!("{place}.slices[{number}]"), slice, found);
    }
    chosen(place, trial, found);
    let used: Vec<&Slice> = trial.slices.iter().filter(|slice| slice.used).collect();
    if let Some(load) = &trial.load
        && !trial.slices.is_empty()
    {
        add_up(place, load, &used, found);
        times(place, &load.measured, &used, found);
        used_time(place, trial, &used, found);
    }
}

/// A slice by itself.
fn alone(place: &str, slice: &Slice, found: &mut Findings) {
    let SliceFigures { answered, right, goodput_per_s, response, service, .. } = &slice.figures;
    found.holds(right <= answered, format!("{place}.figures.right"), right, "at most `answered`");
    let own = Measured {
        duration_ns: slice.measured_ns,
        answered: Answered { completed: *answered, good: *right },
        ..Measured::default()
    };
    let goodput = own.goodput_per_s().unwrap_or(0.0);
    let is_near = (goodput - goodput_per_s).abs() <= 1e-9 * goodput.abs();
    found.holds(is_near, format!("{place}.figures.goodput_per_s"), goodput_per_s, goodput);
    for (name, times) in [("response", response), ("service", service)] {
        in_order(&format!("{place}.figures.{name}"), times, found);
    }
    for (name, share) in [
        ("steal", slice.host.steal),
        ("others", slice.host.others),
        ("kernel_network", slice.host.kernel_network),
        ("waiting", slice.host.waiting),
    ] {
        let is_share = share.is_none_or(|share| share >= 0.0);
        let stands = share.unwrap_or_default();
        found.holds(is_share, format!("{place}.host.{name}"), stands, "a share is not below 0");
    }
    found.equal(format!("{place}.calm"), slice.calm, calm::is_calm(&slice.host));
}

/// Quantiles rise.
fn in_order(place: &str, times: &SliceQuantiles, found: &mut Findings) {
    let SliceQuantiles { p50_ns, p90_ns, p99_ns, max_ns } = *times;
    let known: Vec<u64> = [p50_ns, p90_ns, p99_ns, max_ns].into_iter().flatten().collect();
    let words = || known.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    found.holds(known.is_sorted(), place, words(), "p50, p90, p99 and max rise");
}

/// Which slices are used follows from which were calm ([`calm::choose`]).
fn chosen(place: &str, trial: &TrialRecord, found: &mut Findings) {
    let enough = calm::enough(trial.company.as_ref().map_or(0, |company| company.rounds)) as usize;
    let count =
        |is_so: fn(&Slice) -> bool| trial.slices.iter().filter(|slice| is_so(slice)).count();
    let left_out = count(|slice| slice.calm && !slice.used);
    found.equal(format!("{place}.slices: calm ones that are not used"), left_out, 0);
    let most = count(|slice| slice.calm).max(enough);
    let used = count(|slice| slice.used);
    found.holds(
        used <= most,
        format!("{place}.slices: used ones"),
        used,
        format!("at most {most}: the calm ones, or half of the planned rounds"),
    );
}

/// The sum of the used slices is the trial.
fn add_up(place: &str, load: &LoadResult, used: &[&Slice], found: &mut Findings) {
    let measured = &load.measured;
    let sum = |of: fn(&Slice) -> u64| used.iter().map(|slice| of(slice)).sum::<u64>();
    for (name, stands, follows) in [
        ("duration_ns", measured.duration_ns, sum(|slice| slice.measured_ns)),
        ("requests.scheduled", measured.requests.scheduled, sum(|slice| slice.figures.requests)),
        ("answered.completed", measured.answered.completed, sum(|slice| slice.figures.answered)),
        ("answered.good", measured.answered.good, sum(|slice| slice.figures.right)),
        ("errors", measured.errors_total(), sum(|slice| slice.figures.errors)),
    ] {
        let place = format!("{place}.load.measured.{name}, the sum of the used slices");
        found.equal(place, stands, follows);
    }
}

/// Quantiles and the highest value of the trial are possible beside those of the slices.
fn times(place: &str, measured: &Measured, used: &[&Slice], found: &mut Findings) {
    let place = format!("{place}.load.measured.spans.response_time");
    let longest = used.iter().filter_map(|slice| slice.figures.response.max_ns).max();
    let stands = due::longest_ns(measured);
    let words = |ns: Option<u64>| ns.map_or_else(|| "none".into(), |ns| format!("{ns} ns"));
    found.equal(format!("{place}, the longest"), words(stands), words(longest));
    type Quantile = fn(&SliceQuantiles) -> Option<u64>;
    let all: [(f64, &str, Quantile); 3] = [
        (0.5, "p50", |times| times.p50_ns),
        (0.9, "p90", |times| times.p90_ns),
        (0.99, "p99", |times| times.p99_ns),
    ];
    for (q, name, of) in all {
        let each: Option<Vec<u64>> = used.iter().map(|slice| of(&slice.figures.response)).collect();
        let (Some(each), Some(stands)) = (each, due::quantile_ns(measured, q)) else { continue };
        let (Some(least), Some(most)) = (each.iter().min(), each.iter().max()) else { continue };
        // A slice of n requests knows its quantile within one of them.
        let slack = (used.len() as f64 + 1.0) / measured.requests.scheduled.max(1) as f64;
        let [low, high] =
            [q - slack, q + slack].map(|q| due::quantile_ns(measured, q.clamp(0.0, 1.0)));
        let is_possible =
            high.is_none_or(|high| high >= *least) && low.is_none_or(|low| low <= *most);
        found.holds(
            is_possible,
            format!("{place}, {name}"),
            format!("{stands} ns"),
            format!("between {least} and {most} ns, the {name} of the used slices"),
        );
    }
}

/// The processor time of the trial is that of its used slices.
fn used_time(place: &str, trial: &TrialRecord, used: &[&Slice], found: &mut Findings) {
    let Some(usage) = &trial.usage else { return };
    type Time = fn(&SliceFigures) -> Option<u64>;
    let roles: [(Role, &str, Time); 2] = [
        (Role::Target, "target", |figures| figures.target_cpu_ns),
        (Role::Generator, "generator", |figures| figures.generator_cpu_ns),
    ];
    for (role, name, of) in roles {
        let sum: Option<u64> = used.iter().map(|slice| of(&slice.figures)).sum();
        let stands = usage.roles.get(&role).and_then(|used| used.cpu_ns);
        if let (Some(stands), Some(sum)) = (stands, sum) {
            let place = format!("{place}.usage.roles.{name}.cpu_ns, the sum of the used slices");
            found.equal(place, stands, sum);
        }
    }
}

/// One target is measured at a time: no slice of a run begins before the one before it has ended, and
/// all lie within the run.
pub(super) fn check_apart(record: &RunRecord, found: &mut Findings) {
    // Agents stamp with clocks of their own, and a clock that was set in between tells no order.
    let has_own_clock = |trial: &TrialRecord| {
        let steps = trial.load.as_ref().map_or(0, |load| load.generator.clock_steps);
        trial.agents.is_empty() && steps == 0 && record.header.probe.is_none()
    };
    let mut all: Vec<(u64, u64, String)> = trials(record)
        .filter(|(_, trial)| has_own_clock(trial))
        .flat_map(|(place, trial)| {
            trial.slices.iter().enumerate().map(move |(number, slice)| {
                (slice.started_unix_ns, slice.measured_ns, format!("{place}.slices[{number}]"))
            })
        })
        .collect();
    let (from, to) = (record.header.started_unix_ns, record.ended_unix_ns.unwrap_or(u64::MAX));
    for (started, length, place) in &all {
        let is_inside = *started >= from && started + length <= to;
        found.holds(
            is_inside,
            format!("{place}.started_unix_ns"),
            started,
            "a time within the run",
        );
    }
    for trial in record.trials.iter().zip(trials(record)).filter(|(_, (_, it))| has_own_clock(it)) {
        let (of, (place, _)) = trial;
        let is_sorted = of.slices.is_sorted_by_key(|slice| slice.started_unix_ns);
        found.holds(
            is_sorted,
            format!("{place}.slices"),
            "not in order of time",
            "in order of time",
        );
        let is_sorted = of.slices.is_sorted_by_key(|slice| slice.round);
        found.holds(
            is_sorted,
            format!("{place}.slices"),
            "not in order of rounds",
            "in order of rounds",
        );
    }
    all.sort();
    for pair in all.windows(2) {
        let [(started, length, place), (next, _, other)] = pair else { continue };
        found.holds(
            started + length <= *next,
            format!("{other}.started_unix_ns"),
            next,
            format!("not before {}, when {place} had ended", started + length),
        );
    }
}
