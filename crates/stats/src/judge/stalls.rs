//! NOTE, SUSPECT: the target stands still: for a while nobody is answered, although users wait.
use pippin_model::load::WarmUp;
use pippin_model::text::units::{counted, format_ns};
use pippin_model::trial::TrialRecord;
use pippin_model::trial::slice::Slice;
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::throttled;
use crate::judge::evidence::{Evidence, caveat};
use crate::series::quantile::median;
use crate::series::silence::{Silence, silences};

/// A stall takes at least this many times as long as the median answer, with the thought after it.
const TIMES_MEDIAN: f64 = 5.0;
/// Shorter stalls come from the scheduler.
const SHORTEST_NS: f64 = 20e6;
/// So many answers would have come meanwhile, had the target gone on as in the rest of the time.
const ANSWERS: f64 = 20.0;
/// Fewest stalls that can be periodic, and how many of them must be seen from their begin to their end.
const FEWEST: usize = 5;
const FEWEST_WHOLE: usize = 3;
/// How far the length of a stall may differ from the typical one to count as the same.
const ALIKE: f64 = 0.25;
/// The part of the stalls that must be alike. Of one that an end of its slice cuts, only a part is
/// seen: it must not be longer.
const MOST_ALIKE: f64 = 0.75;
/// The part of a slice that the typical cut stall covers, at least.
const LONG_PART: f64 = 0.25;
/// The part of the cut stalls that begins of slices cut, and that ends of slices cut, at least. By chance
/// it is a half each.
const AT_EITHER_END: f64 = 0.2;
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
/// Where the target stands still most of the time: the part of the users whom a stall catches, at least.
const NEARLY_ALL_CAUGHT: f64 = 0.75;
/// ... how many times as long as a stall the median of what it catches takes, at most: slow answers that
/// began one after the other take longer than the time without answers.
const AS_LONG: f64 = 1.1;
/// ... and the fewest users: a few may all have slow answers at one time by chance.
const FEWEST_USERS: f64 = 8.0;

/// What is known of the stalls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// How often one was seen.
    pub count: u64,
    /// How they return.
    pub returns: Returns,
    /// How long one lasts, nanoseconds; the longest, if they do not return alike, or as much as a slice
    /// shows of it.
    pub length_ns: u64,
    /// When the longest began, nanoseconds after the begin of the measured part.
    pub from_ns: u64,
}

/// How stalls return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// With this time from one to the next on average, nanoseconds, and one length.
    Every(u64),
    /// Again and again. The ends of slices cut so many of them that nobody knows how long one lasts.
    Cut {
        /// How many.
        cut: u64,
        /// How long a slice lasts, nanoseconds.
        slice_ns: u64,
    },
    /// Not alike.
    Never,
}

impl Stalls {
    /// In words, without a full stop.
    #[must_use]
    pub fn words(&self) -> String {
        let length = format_ns(self.length_ns);
        match (self.returns, self.count) {
            (Returns::Every(period_ns), count) => format!(
                "It stands still for about {length} every {}: {} of the same length",
                format_ns(period_ns),
                counted(count, "stall")
            ),
            (Returns::Cut { cut, slice_ns }, count) => format!(
                "It stands still again and again, at least once for {length} or longer: {}, of which the ends of slices cut {cut}; a slice lasts {}",
                counted(count, "stall"),
                format_ns(slice_ns)
            ),
            (Returns::Never, 1) => format!(
                "It stood still once, for {length}, {} after the begin: nobody was answered",
                format_ns(self.from_ns)
            ),
            (Returns::Never, count) => {
                format!("It stood still {count} times, for up to {length}: nobody was answered")
            }
        }
    }
}

/// Whether stalls of the same length return, or a single one is long.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let stalls = find(evidence)?;
    let (severity, advice) = match stalls.returns {
        Returns::Every(_) => (
            Severity::Note,
            "look for garbage collections, flushes or timers of that period, and for a CPU quota of its container (cpu.max)"
                .to_owned(),
        ),
        Returns::Cut { slice_ns, .. } => (
            Severity::Note,
            format!(
                "to see how long it stands still and how often, measure for longer in slices of at least {} (`slice` in the plan); look for garbage collections, flushes and timers, and for a CPU quota of its container (cpu.max)",
                format_ns((10 * stalls.length_ns).max(2 * slice_ns))
            ),
        ),
        Returns::Never => (
            Severity::Suspect,
            "measure longer: if it returns, look for garbage collections, flushes, checkpoints and timeouts at that time"
                .to_owned(),
        ),
    };
    Some(caveat("stalls", severity, stalls.words(), advice))
}

/// The stalls of a load: times in which nobody was answered although users waited, and which delayed
/// about as many answers as wait at one time. Slow answers beside fast ones are none: others are
/// answered meanwhile. Where the time without answers is most of the load, stalls must have delayed
/// three of four users of a closed loop who are not in step. `None` where the generator itself stood still,
/// for a single user, whose slow answer would look the same, where the quota of a control group explains
/// short stalls, and for rates and users that change.
#[must_use]
pub fn find(evidence: &Evidence) -> Option<Stalls> {
    if evidence.profile().changes() || evidence.goes_beyond() || evidence.drops_connections() {
        return None;
    }
    // Pipelined requests of one connection wait for each other.
    if evidence.is_closed_loop() && evidence.senders()? * f64::from(evidence.streams()) < 2.0 {
        return None;
    }
    let all = silences(evidence.record);
    let silent_ns = all.iter().map(|silence| silence.length_ns).sum();
    let is_mostly_silent = 2 * silent_ns > evidence.measured()?.duration_ns;
    let shortest_ns = shortest(evidence, silent_ns)?;
    // Without a warm-up, a load begins with a silence.
    let is_cold = evidence.profile().warm_up == WarmUp::None;
    let is_long = |silence: &Silence| {
        silence.length_ns as f64 >= shortest_ns && !(is_cold && silence.from_ns == 0)
    };
    let stalled: Vec<Silence> = all.into_iter().filter(is_long).collect();
    let lengths = |of: &[Silence]| of.iter().map(|it| it.length_ns as f64).collect::<Vec<f64>>();
    let whole: Vec<Silence> = stalled.iter().filter(|stall| !stall.is_cut()).copied().collect();
    let all = lengths(&stalled);
    let typical_ns =
        median(&lengths(&whole)).unwrap_or_else(|| all.iter().copied().fold(0.0, f64::max));
    let seen = if whole.is_empty() { &all } else { &lengths(&whole) };
    if !are_caught_by(evidence, &stalled, median(seen)?, is_mostly_silent)?
        || has_stood_still(evidence, seen, stalled.len())?
    {
        return None;
    }
    let is_alike = |stall: &&Silence| {
        let times = stall.length_ns as f64 / typical_ns;
        times <= 1.0 + ALIKE && (stall.is_cut() || times >= 1.0 - ALIKE)
    };
    let alike = stalled.iter().filter(is_alike).count();
    // How often it stands still is known only if slightly shorter stalls would have been seen too.
    let are_alike = stalled.len() >= FEWEST
        && alike as f64 >= MOST_ALIKE * stalled.len() as f64
        && shortest_ns <= (1.0 - ALIKE) * typical_ns
        && !waits_for_its_quota(evidence);
    let stood = in_a_row(evidence.record, &stalled);
    let longest = stood.iter().max_by_key(|stall| stall.length_ns)?;
    let (longest_ns, from_ns) = (longest.length_ns, longest.from_ns);
    // What a slice cuts is a part of a stall.
    let count = (all.iter().sum::<f64>() / typical_ns).round() as u64;
    if are_alike && whole.len() >= FEWEST_WHOLE && count >= FEWEST as u64 {
        if takes_longer(evidence, typical_ns, typical_ns)? {
            return None;
        }
        let period_ns = evidence.load()?.measured.duration_ns / count;
        let length_ns = typical_ns as u64;
        return Some(Stalls { count, returns: Returns::Every(period_ns), length_ns, from_ns });
    }
    if are_alike && let Some(returns) = cut_by_slices(evidence, &stood) {
        return Some(Stalls { count: stood.len() as u64, returns, length_ns: longest_ns, from_ns });
    }
    if takes_longer(evidence, median(seen)?, longest_ns as f64)? {
        return None;
    }
    let frozen = stood.iter().filter(|stall| stall.length_ns >= FREEZE_NS).count() as u64;
    let returns = Returns::Never;
    (frozen > 0).then_some(Stalls { count: frozen, returns, length_ns: longest_ns, from_ns })
}

/// Whether stalls return of which the ends of slices cut most. `None` where they are few, or short beside
/// a slice, so that most would be seen as a whole; and where only the begins of slices cut them, or only
/// the ends: what every slice begins with is its own. A freeze is told by itself.
fn cut_by_slices(evidence: &Evidence, stood: &[Silence]) -> Option<Returns> {
    if evidence.record.slices.is_empty() {
        return None;
    }
    let slice_ns = evidence.measured()?.duration_ns as f64 / evidence.stretches();
    let cut: Vec<&Silence> = stood.iter().filter(|stall| stall.is_cut()).collect();
    let parts: Vec<f64> = cut.iter().map(|stall| stall.length_ns as f64).collect();
    let begins = cut.iter().filter(|stall| stall.from_begin).count();
    let ends = cut.iter().filter(|stall| stall.to_end).count();
    (cut.len() >= FEWEST
        && median(&parts)? >= LONG_PART * slice_ns
        && begins.min(ends) as f64 >= AT_EITHER_END * cut.len() as f64
        && stood.iter().all(|stall| stall.length_ns < FREEZE_NS))
    .then_some(Returns::Cut { cut: cut.len() as u64, slice_ns: slice_ns as u64 })
}

/// Silences of rounds that follow each other are one where one of them fills its slice: the target stood
/// still whenever it was looked at, from the begin of the first to the end of the last by the clock.
/// Between them, one slice may be missing that the host disturbed.
fn in_a_row(record: &TrialRecord, stalled: &[Silence]) -> Vec<Silence> {
    let used = record.slices.iter().filter(|slice| slice.used);
    let slices: Vec<(u64, &Slice)> = used
        .scan(0, |next_ns, slice| {
            let from_ns = *next_ns;
            *next_ns += slice.measured_ns;
            Some((from_ns, slice))
        })
        .collect();
    let place = |stall: &Silence| {
        slices.partition_point(|(from_ns, _)| *from_ns <= stall.from_ns).checked_sub(1)
    };
    let unix_ns = |stall: &Silence| {
        let (from_ns, slice) = slices[place(stall)?];
        Some(slice.started_unix_ns + stall.from_ns - from_ns)
    };
    let goes_on = |last: &Silence, stall: &Silence| {
        let (before, now) = (place(last)?, place(stall)?);
        let fills = |it: &Silence| it.from_begin && it.to_end;
        Some(
            last.to_end
                && stall.from_begin
                && (fills(last) || fills(stall))
                && now == before + 1
                && slices[now].1.round <= slices[before].1.round + 2,
        )
    };
    // Each row with its last silence.
    let mut rows: Vec<(Silence, Silence)> = Vec::new();
    for stall in stalled {
        match rows.last_mut() {
            Some((row, last)) if goes_on(last, stall) == Some(true) => {
                let between_ns = unix_ns(stall).zip(unix_ns(row)).map(|(now, begin)| now - begin);
                row.length_ns = between_ns.unwrap_or(row.length_ns) + stall.length_ns;
                (row.to_end, *last) = (stall.to_end, *stall);
            }
            _ => rows.push((*stall, *stall)),
        }
    }
    rows.into_iter().map(|(row, _)| row).collect()
}

/// From which length on a silence is too long for chance, nanoseconds; `silent_ns` is how long all last together.
fn shortest(evidence: &Evidence, silent_ns: u64) -> Option<f64> {
    let measured = evidence.measured()?;
    let left_ns = measured.duration_ns.checked_sub(silent_ns)?;
    let per_ns = measured.answered.completed as f64 / left_ns.max(1) as f64;
    let median_ns = measured.spans.response_time.quantile_ns(0.5)? as f64;
    let least_ns = SHORTEST_NS.max(TIMES_MEDIAN * (median_ns + evidence.mean_think_ns()));
    Some(least_ns.max(ANSWERS / per_ns))
}

/// Whether users may be in step with each other, so that a slow request of each comes at one time: those who
/// have no think time begin together, and take the same steps or requests in turn.
fn are_in_step(evidence: &Evidence) -> bool {
    evidence.has_kinds_of_requests()
        || evidence.measured().is_some_and(|measured| measured.steps.len() > 1)
}

/// Whether the kernel says that the quota of the target's control group is what makes it stand still.
fn waits_for_its_quota(evidence: &Evidence) -> bool {
    throttled(evidence).is_some_and(|(throttled, all)| 2 * throttled > all)
}

/// Whether about as many answers took so long as the stalls must have caught: all users of a closed
/// loop once each, or what was due meanwhile.
fn are_caught_by(
    evidence: &Evidence,
    stalled: &[Silence],
    typical_ns: f64,
    is_mostly_silent: bool,
) -> Option<bool> {
    let measured = evidence.measured()?;
    let times = &measured.spans.response_time;
    let quick = times.fraction_at_or_below((CAUGHT * typical_ns) as u64)?;
    let caught = (1.0 - quick) * times.count() as f64;
    if !evidence.is_saturating() {
        // Bursts of answers may be the rule.
        if is_mostly_silent {
            return Some(false);
        }
        let total_ns: u64 = stalled.iter().map(|stall| stall.length_ns).sum();
        let due = measured.requests.scheduled as f64 / measured.duration_ns.max(1) as f64;
        return Some(caught <= MOST_CAUGHT * due * total_ns as f64);
    }
    let users = evidence.users()?;
    // What a stall at the end of its slice or of the load catches is never answered.
    let ended = stalled.iter().filter(|stall| !stall.to_end).count() as f64;
    let of_caught_ns = times.quantile_ns(quick.midpoint(1.0))? as f64;
    if is_mostly_silent
        && (users < FEWEST_USERS
            || are_in_step(evidence)
            || caught < NEARLY_ALL_CAUGHT * users * ended
            || of_caught_ns > AS_LONG * typical_ns)
    {
        return Some(false);
    }
    Some(
        caught <= MOST_CAUGHT * users * stalled.len() as f64
            && (stalled.len() >= FEWEST || caught >= LEAST_CAUGHT * users * ended),
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
        LEAST_CAUGHT * evidence.users()?
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
        load.measured.duration_ns = 40_000 * MS;
        load.measured.spans.response_time = times;
        stand_still(&mut record, stalls.iter().map(|(window, ms)| (*window, 100, *ms)));
        record
    }

    /// A silence in each of these windows: its begin and its length in ms.
    fn silence(record: &mut TrialRecord, silences: impl IntoIterator<Item = (usize, u64, u64)>) {
        for (window, from_ms, length_ms) in silences {
            let silence = result::Silence { from_ns: from_ms * MS, length_ns: length_ms * MS };
            record.load.as_mut().unwrap().windows[window].silences = vec![silence];
        }
    }

    /// Silences that 10 answers each waited for.
    fn stand_still(
        record: &mut TrialRecord,
        silences: impl IntoIterator<Item = (usize, u64, u64), IntoIter: Clone>,
    ) {
        let silences = silences.into_iter();
        silence(record, silences.clone());
        let times = &mut record.load.as_mut().unwrap().measured.spans.response_time;
        silences.for_each(|(_, _, length_ms)| times.record_n(length_ms * MS, 10));
    }

    /// The load in 100 slices of 400 ms, which begin 1.6 s apart.
    fn in_slices() -> TrialRecord {
        let mut record = with(&[]);
        Rounds { rounds: 100, ..Rounds::default() }.slice_up(&mut record);
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

    #[test]
    fn how_often_it_stands_still_is_not_told_where_shorter_stalls_would_not_be_seen() {
        let each_second: Vec<(usize, u64)> = (0..40).map(|nth| (nth * 5 / 2, 100)).collect();
        let with_answers = |answers: u64| {
            let mut record = with(&each_second);
            record.load.as_mut().unwrap().measured.answered.completed = answers;
            judged(judge, &record)
        };
        // 20 answers come in 72 ms, 82 ms, 103 ms.
        assert!(with_answers(10_000).is_some());
        assert_eq!(with_answers(8_800), None);
        assert_eq!(with_answers(7_000), None);
    }

    /// In slices of 400 ms, an end cuts three of eleven.
    #[test]
    fn stalls_that_slices_cut_are_stalls_of_the_same_length() {
        let mut record = in_slices();
        let cut =
            [(2, 0, 44), (9, 140, 100), (17, 200, 100), (25, 0, 53), (33, 378, 22), (41, 90, 100)];
        let whole = (0..5).map(|more| (50 + 8 * more, 150, 100));
        stand_still(&mut record, cut.into_iter().chain(whole));
        let found = judged(judge, &record).unwrap().evidence;
        assert_eq!(
            found,
            "It stands still for about 100 ms every 4.44 s: 9 stalls of the same length"
        );
        // Seen whole, the same lengths are of different stalls.
        record.slices.clear();
        assert_eq!(judged(judge, &record), None);
    }

    /// A load in 50 slices of 100 ms with these silences: the slice, its begin and its length in ms.
    fn in_short_slices(silences: &[(usize, u64, u64)]) -> TrialRecord {
        let mut record = with(&[]);
        Rounds { rounds: 50, ..Rounds::default() }.slice_up(&mut record);
        record.slices.iter_mut().for_each(|slice| slice.measured_ns = 100 * MS);
        let load = record.load.as_mut().unwrap();
        load.windows.truncate(50);
        for (nth, window) in load.windows.iter_mut().enumerate() {
            (window.from_ns, window.duration_ns) = (100 * (nth as u64 * MS) as i64, 100 * MS);
        }
        load.measured.duration_ns = 5_000 * MS;
        stand_still(&mut record, silences.iter().copied());
        record
    }

    /// As a run had them.
    const CUT: [(usize, u64, u64); 6] =
        [(3, 0, 30), (8, 54, 46), (13, 23, 77), (21, 24, 76), (32, 0, 29), (43, 49, 51)];

    #[test]
    fn stalls_that_no_slice_holds_are_named_without_a_length() {
        let found = judged(judge, &in_short_slices(&CUT)).unwrap();
        assert_eq!(found.severity, Severity::Note);
        assert_eq!(
            found.evidence,
            "It stands still again and again, at least once for 77.0 ms or longer: 6 stalls, of which the ends of slices cut 6; a slice lasts 100 ms"
        );
        assert!(found.advice.contains("slices of at least 770 ms"), "{}", found.advice);
    }

    #[test]
    fn what_slices_cut_by_chance_or_always_at_one_end_is_no_stall() {
        let seen = |silences: &[(usize, u64, u64)]| judged(judge, &in_short_slices(silences));
        assert_eq!(seen(&CUT[..4]), None, "too few");
        assert_eq!(seen(&CUT.map(|(nth, ..)| (nth, 0, 40))), None, "what a slice begins with");
        assert_eq!(seen(&CUT.map(|(nth, ..)| (nth, 60, 40))), None, "what a slice ends with");
        let short = CUT.map(|(nth, from, _)| (nth, if from == 0 { 0 } else { 79 }, 21));
        assert_eq!(seen(&short), None, "most would be seen as a whole");
        let mut record = in_short_slices(&CUT);
        record.slices.clear();
        assert_eq!(judged(judge, &record), None, "in one stretch nothing is cut");
    }

    #[test]
    fn three_whole_stalls_and_pieces_of_less_than_two_are_too_few() {
        let mut record = in_slices();
        stand_still(
            &mut record,
            [(2, 0, 22), (9, 140, 100), (17, 200, 100), (41, 90, 100), (60, 378, 22)],
        );
        assert_eq!(judged(judge, &record), None);
    }

    /// These silences, which 10 answers waited for together.
    fn frozen(silences: &[(usize, u64, u64)]) -> TrialRecord {
        let mut record = in_slices();
        silence(&mut record, silences.iter().copied());
        let times = &mut record.load.as_mut().unwrap().measured.spans.response_time;
        times.record_n(350 * MS, 10);
        record
    }

    #[test]
    fn a_freeze_over_several_slices_is_one_by_the_clock() {
        let over_four = [(7, 200, 200), (8, 0, 400), (9, 0, 400), (10, 0, 300)];
        let found = judged(judge, &frozen(&over_four)).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let four = "It stood still once, for 4.90 s, 3.00 s after the begin: nobody was answered";
        assert_eq!(found.evidence, four);
        // The host disturbed a slice of them.
        let mut record = frozen(&[(7, 200, 200), (8, 0, 400), (9, 0, 300)]);
        record.slices[8].used = false;
        assert_eq!(record.slices.remove(8).round, 8);
        let found = judged(judge, &record).unwrap().evidence;
        assert!(found.starts_with("It stood still once, for 4.90 s"), "{found}");
        // Two in a row are missing: what is after them is by itself.
        record.slices.remove(8);
        let found = judged(judge, &record).unwrap().evidence;
        assert!(found.starts_with("It stood still once, for 1.90 s"), "{found}");
        // Neighbours of which none fills its slice may be two stalls.
        assert_eq!(judged(judge, &frozen(&[(7, 200, 200), (8, 0, 390)])), None);
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
        // It is silent most of the time, and does not make all wait.
        let always: Vec<(usize, u64)> = (0..100).map(|nth| (nth, 203)).collect();
        let mut record = with(&always);
        assert!(judged(judge, &record).is_some());
        let times = &mut record.load.as_mut().unwrap().measured.spans.response_time;
        *times = Histogram::new();
        times.record_n(2 * MS, 100_000);
        times.record_n(203 * MS, 700);
        assert_eq!(judged(judge, &record), None);
    }
}
