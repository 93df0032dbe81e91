//! NOTE, SUSPECT: the target stands still: for a while nobody is answered, although users wait.
use pippin_model::load::WarmUp;
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};
use crate::series::quantile::median;
use crate::series::silence::{Silence, silences};

/// A stall takes at least this many times as long as the median answer, with the thought after it.
const TIMES_MEDIAN: f64 = 5.0;
/// Shorter stalls come from the scheduler.
const SHORTEST_NS: f64 = 20e6;
/// So many answers would have come meanwhile, had the target gone on as in the rest of the time.
const ANSWERS: f64 = 20.0;
/// Fewest stalls, seen from their begin to their end, that can be periodic.
const FEWEST: usize = 5;
/// How far the length of a stall may differ from the typical one to count as the same.
const ALIKE: f64 = 0.25;
/// The part of the stalls that must be alike. Of one that an end of its slice cuts, only a part is
/// seen: it must not be longer.
const MOST_ALIKE: f64 = 0.75;
/// A stall of this length is named although it does not return.
const FREEZE_NS: u64 = 500_000_000;
/// Answers that took at least this part of a stall were caught by it.
const CAUGHT: f64 = 0.5;
/// Nothing that a stall catches takes much longer than the stall: at most this many times, except for
/// this part of what is caught.
const LONGER: f64 = 1.5;
const FEW_LONGER: f64 = 0.1;
/// How many times as many answers as a stall can catch may be as long: the rest took long without
/// it. In a closed loop, at least this part of its users are caught.
const MOST_CAUGHT: f64 = 2.0;
const LEAST_CAUGHT: f64 = 0.5;

/// What is known of the stalls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// How often one was seen.
    pub count: u64,
    /// The average time from one to the next, in nanoseconds; `None` if they do not return alike.
    pub period_ns: Option<u64>,
    /// How long one lasts, nanoseconds; the longest, if they do not return alike.
    pub length_ns: u64,
    /// When the longest began, nanoseconds after the begin of the measured part.
    pub from_ns: u64,
}

impl Stalls {
    /// In words, without a full stop.
    #[must_use]
    pub fn words(&self) -> String {
        let length = format_ns(self.length_ns);
        match (self.period_ns, self.count) {
            (Some(period_ns), count) => format!(
                "It stands still for about {length} every {}: {} of the same length",
                format_ns(period_ns),
                counted(count, "stall")
            ),
            (None, 1) => format!(
                "It stood still once, for {length}, {} after the begin: nobody was answered",
                format_ns(self.from_ns)
            ),
            (None, count) => {
                format!("It stood still {count} times, for up to {length}: nobody was answered")
            }
        }
    }
}

/// Whether stalls of the same length return, or a single one is long.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let stalls = find(evidence)?;
    let (severity, advice) = match stalls.period_ns {
        Some(_) => (
            Severity::Note,
            "look for garbage collections, flushes or timers of that period, and for a CPU quota of its container (cpu.max)",
        ),
        None => (
            Severity::Suspect,
            "measure longer: if it returns, look for garbage collections, flushes, checkpoints and timeouts at that time",
        ),
    };
    Some(caveat("stalls", severity, stalls.words(), advice))
}

/// The stalls of a load: times in which nobody was answered although users waited, and which delayed
/// about as many answers as wait at one time. Slow answers beside fast ones are none: others are
/// answered meanwhile, or the time without answers is most of the load. `None` where the generator
/// itself stood still, and for rates and users that change.
#[must_use]
pub fn find(evidence: &Evidence) -> Option<Stalls> {
    if evidence.profile().changes() || evidence.goes_beyond() || evidence.drops_connections() {
        return None;
    }
    let stalled = long_ones(evidence)?;
    let whole: Vec<f64> =
        stalled.iter().filter(|stall| !stall.is_cut).map(|stall| stall.length_ns as f64).collect();
    let lengths: Vec<f64> = stalled.iter().map(|stall| stall.length_ns as f64).collect();
    let seen = if whole.is_empty() { &lengths } else { &whole };
    let typical_ns = median(seen)?;
    if !are_caught_by(evidence, &stalled, typical_ns)?
        || has_stood_still(evidence, seen, stalled.len())?
    {
        return None;
    }
    let longest_ns = lengths.iter().copied().fold(0.0, f64::max);
    let is_alike = |stall: &&Silence| {
        let times = stall.length_ns as f64 / typical_ns;
        times <= 1.0 + ALIKE && (stall.is_cut || times >= 1.0 - ALIKE)
    };
    let alike = stalled.iter().filter(is_alike).count();
    let are_alike = whole.len() >= FEWEST && alike as f64 >= MOST_ALIKE * stalled.len() as f64;
    if takes_longer(evidence, typical_ns, if are_alike { typical_ns } else { longest_ns })? {
        return None;
    }
    if are_alike {
        // What a slice cuts is a part of a stall.
        let count = (lengths.iter().sum::<f64>() / typical_ns).round();
        let period_ns = evidence.load()?.measured.duration_ns as f64 / count.max(1.0);
        return Some(Stalls {
            count: count as u64,
            period_ns: Some(period_ns as u64),
            length_ns: typical_ns as u64,
            from_ns: stalled[0].from_ns,
        });
    }
    let frozen = stalled.iter().filter(|stall| stall.length_ns >= FREEZE_NS);
    let longest = frozen.clone().max_by_key(|stall| stall.length_ns)?;
    Some(Stalls {
        count: frozen.count() as u64,
        period_ns: None,
        length_ns: longest.length_ns,
        from_ns: longest.from_ns,
    })
}

/// Silences that are too long for chance. None if there is silence most of the time: bursts of
/// answers are then the rule.
fn long_ones(evidence: &Evidence) -> Option<Vec<Silence>> {
    let measured = evidence.measured()?;
    let all = silences(evidence.record);
    let silent_ns: u64 = all.iter().map(|silence| silence.length_ns).sum();
    let left_ns = measured.duration_ns.checked_sub(2 * silent_ns)? + silent_ns;
    let per_ns = measured.answered.completed as f64 / left_ns.max(1) as f64;
    let median_ns = measured.spans.response_time.quantile_ns(0.5)? as f64;
    let least_ns = SHORTEST_NS.max(TIMES_MEDIAN * (median_ns + evidence.mean_think_ns()));
    // Without a warm-up, a load begins with a silence.
    let is_cold = evidence.profile().warm_up == WarmUp::None;
    let is_long = |silence: &Silence| {
        silence.length_ns as f64 >= least_ns
            && silence.length_ns as f64 * per_ns >= ANSWERS
            && !(is_cold && silence.from_ns == 0)
    };
    Some(all.into_iter().filter(is_long).collect())
}

/// Whether about as many answers took so long as the stalls must have caught: all users of a closed
/// loop once each, or what was due meanwhile.
fn are_caught_by(evidence: &Evidence, stalled: &[Silence], typical_ns: f64) -> Option<bool> {
    let measured = evidence.measured()?;
    let times = &measured.spans.response_time;
    let quick = times.fraction_at_or_below((CAUGHT * typical_ns) as u64)?;
    let caught = (1.0 - quick) * times.count() as f64;
    if !evidence.is_saturating() {
        let total_ns: u64 = stalled.iter().map(|stall| stall.length_ns).sum();
        let due = measured.requests.scheduled as f64 / measured.duration_ns.max(1) as f64;
        return Some(caught <= MOST_CAUGHT * due * total_ns as f64);
    }
    let under_way = evidence.senders()? * f64::from(evidence.pipeline()) * stalled.len() as f64;
    // What a stall at the very end catches is never answered.
    let to_the_end = stalled.last().is_some_and(|last| last.to_ns() >= measured.duration_ns);
    Some(
        caught <= MOST_CAUGHT * under_way
            && (to_the_end || stalled.len() >= FEWEST || caught >= LEAST_CAUGHT * under_way),
    )
}

/// Whether many answers take longer than stalls of this length explain: these are slow themselves.
fn takes_longer(evidence: &Evidence, typical_ns: f64, length_ns: f64) -> Option<bool> {
    let times = &evidence.measured()?.spans.response_time;
    let above = |ns: f64| Some(1.0 - times.fraction_at_or_below(ns as u64)?);
    let beyond = LONGER * length_ns + TIMES_MEDIAN * times.quantile_ns(0.5)? as f64;
    Some(above(beyond)? > FEW_LONGER * above(CAUGHT * typical_ns)?)
}

/// Whether the generator itself may have stood still half as often, for half of the shortest of these
/// lengths. What a slice cuts has no length. One stop of the generator makes many requests late.
fn has_stood_still(evidence: &Evidence, lengths: &[f64], stalls: usize) -> Option<bool> {
    let shortest = lengths.iter().copied().reduce(f64::min)?;
    let lag = &evidence.measured()?.spans.own_lag;
    let prompt = lag.fraction_at_or_below((shortest / 2.0) as u64).unwrap_or(1.0);
    let late = (1.0 - prompt) * lag.count() as f64;
    let stops = (late.round() / late_by_a_stop(evidence, shortest)?).ceil();
    Some(stops >= (0.5 * stalls as f64).max(1.0))
}

/// How many requests a stop of the generator of this length makes late by more than half of it, at least:
/// half of the users of a closed loop, or what is due in the first half of the stop.
fn late_by_a_stop(evidence: &Evidence, length_ns: f64) -> Option<f64> {
    let measured = evidence.measured()?;
    let late = if evidence.is_saturating() {
        LEAST_CAUGHT * evidence.senders()? * f64::from(evidence.pipeline())
    } else {
        let due = measured.requests.scheduled as f64 / measured.duration_ns.max(1) as f64;
        due * length_ns / 2.0
    };
    Some(late.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::slices::Rounds;
    use pippin_model::result::histogram::Histogram;
    use pippin_model::result::{self, Window};
    use pippin_model::trial::TrialRecord;

    const MS: u64 = 1_000_000;

    /// A load of 10 connections in 100 windows of 400 ms. `stalls` has the windows with a stall and
    /// its length in ms.
    fn with(stalls: &[(usize, u64)]) -> TrialRecord {
        let mut record = ExampleTrial::hello().connections(10).build();
        let load = record.load.as_mut().unwrap();
        load.measured.answered.completed = 100_000;
        let mut times = Histogram::new();
        times.record_n(2 * MS, 100_000);
        load.windows = (0..100)
            .map(|window| Window {
                from_ns: window * 400 * MS as i64,
                duration_ns: 400 * MS,
                ..Window::default()
            })
            .collect();
        for (window, ms) in stalls {
            let silence = result::Silence { from_ns: 100 * MS, length_ns: ms * MS };
            load.windows[*window].silences = vec![silence];
            times.record_n(ms * MS, 10);
        }
        load.measured.duration_ns = 40_000 * MS;
        load.measured.spans.response_time = times;
        record
    }

    #[test]
    fn stalls_that_return_more_seldom_than_slices_are_seen() {
        let each_second: Vec<(usize, u64)> = (0..40).map(|nth| (nth * 5 / 2, 100)).collect();
        let found = judged(judge, &with(&each_second)).unwrap().evidence;
        assert_eq!(
            found,
            "It stands still for about 100 ms every 1.00 s: 40 stalls of the same length"
        );
    }

    /// In slices of 400 ms, an end cuts three of eleven.
    #[test]
    fn stalls_that_slices_cut_are_stalls_of_the_same_length() {
        let mut record = with(&[]);
        Rounds { rounds: 100, ..Rounds::default() }.slice_up(&mut record);
        let load = record.load.as_mut().unwrap();
        for (nth, from_ms, length_ms) in
            [(2, 0, 44), (9, 140, 100), (17, 200, 100), (25, 0, 53), (33, 378, 22), (41, 90, 100)]
                .into_iter()
                .chain((0..5).map(|more| (50 + 8 * more, 150, 100)))
        {
            let silence = result::Silence { from_ns: from_ms * MS, length_ns: length_ms * MS };
            load.windows[nth].silences = vec![silence];
            load.measured.spans.response_time.record_n(length_ms * MS, 10);
        }
        let found = judged(judge, &record).unwrap().evidence;
        assert_eq!(
            found,
            "It stands still for about 100 ms every 4.44 s: 9 stalls of the same length"
        );
        // Seen whole, the same lengths are of different stalls.
        record.slices.clear();
        assert_eq!(judged(judge, &record), None);
    }

    #[test]
    fn what_comes_by_chance_and_differs_is_no_stall() {
        let four: Vec<(usize, u64)> = (0..4).map(|nth| (nth * 20, 100)).collect();
        assert_eq!(judged(judge, &with(&four)), None, "too few");
        let other: Vec<(usize, u64)> =
            (0..40).map(|nth| (nth * 2, 30 + 40 * (nth as u64 % 4))).collect();
        assert_eq!(judged(judge, &with(&other)), None, "of other lengths");
    }

    #[test]
    fn a_freeze_is_named_with_one_occurrence() {
        let found = judged(judge, &with(&[(4, 1_500)])).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(
            found.evidence.starts_with("It stood still once, for 1.50 s, 1.70 s after the begin"),
            "{}",
            found.evidence
        );
        // The generator stood still.
        let mut frozen = with(&[(4, 1_500)]);
        frozen.load.as_mut().unwrap().measured.spans.own_lag.record_n(1_400 * MS, 10);
        assert_eq!(judged(judge, &frozen), None);
    }

    /// As on a machine whose hypervisor took the processor once for 85 ms in 40 seconds.
    #[test]
    fn one_stop_of_the_generator_hides_no_stalls_and_as_many_do() {
        let each_second: Vec<(usize, u64)> = (0..40).map(|nth| (nth * 5 / 2, 100)).collect();
        let with_late = |requests: u64| {
            let mut record = with(&each_second);
            let lag = &mut record.load.as_mut().unwrap().measured.spans.own_lag;
            lag.record_n(85 * MS, requests);
            judged(judge, &record).is_some()
        };
        // Each stop makes all 10 users late, or half of them.
        let seen = [0, 10, 50, 95, 200, 400].map(with_late);
        assert_eq!(seen, [true, true, true, true, false, false]);
    }

    #[test]
    fn freezes_of_other_lengths_are_counted_and_short_silences_are_not() {
        let seen = |stalls: &[(usize, u64)]| judged(judge, &with(stalls)).unwrap().evidence;
        let twice = "It stood still 2 times, for up to 1.50 s: nobody was answered";
        assert_eq!(seen(&[(4, 600), (40, 1_500)]), twice);
        let once = seen(&[(4, 600), (40, 400)]);
        assert!(once.starts_with("It stood still once, for 600 ms"), "{once}");
    }

    #[test]
    fn slow_answers_beside_silences_are_no_stalls() {
        let each_second: Vec<(usize, u64)> = (0..40).map(|nth| (nth * 5 / 2, 100)).collect();
        let mut record = with(&each_second);
        // Many more were slow than were under way.
        record.load.as_mut().unwrap().measured.spans.response_time.record_n(100 * MS, 1_000);
        assert_eq!(judged(judge, &record), None);
        // It is silent most of the time.
        let always: Vec<(usize, u64)> = (0..100).map(|nth| (nth, 203)).collect();
        assert_eq!(judged(judge, &with(&always)), None);
    }
}
