//! That a device's request waits as it should.
use pippin_model::load::{BodyCheck, LoadSpec, StopRule};
use pippin_model::result::LoadResult;
use pippin_model::result::histogram::Histogram;
use pippin_model::text::units::{Spread, format_ns};

use super::{Subject, Verdict};
use crate::load;

/// How often to try before the target is blamed: a busy machine makes waits longer too.
pub(super) const LOOKS: u32 = 4;

/// How often to try where answers only come late, and are not alike. On a machine that installs
/// something beside it, a fresh JVM answered each of 400 requests at least 3 ms late.
const LOOKS_WHILE_LATE: u32 = 20;

/// What is wrong with the waits that were seen.
#[derive(Debug, PartialEq)]
enum Fault {
    /// They are alike. No machine makes waits more alike than they are drawn.
    Alike(String),
    /// They are long. The target or a busy machine may be the cause.
    Late(String),
}

impl Fault {
    /// After how many looks the target is blamed for it.
    fn looks(&self) -> u32 {
        match self {
            Self::Alike(_) => LOOKS,
            Self::Late(_) => LOOKS_WHILE_LATE,
        }
    }

    fn into_words(self) -> String {
        let (Self::Alike(words) | Self::Late(words)) = self;
        words
    }
}

/// No answer comes before the least wait; they are not all alike; and the middle of the waits lies
/// where the mean of the distribution is.
///
/// # Errors
/// What was seen instead.
pub fn distribution(subject: &mut Subject<'_>, wait: Spread, samples: u32) -> Verdict {
    // Ten at a time keep the proof short and the machine idle, so that the waits and not the
    // scheduler are seen.
    judge(|| Ok(ask_many(subject, 10, samples)?.measured.spans.service_time), wait)
}

/// Looks at service times until they pass, or until the target is to blame.
fn judge(mut look: impl FnMut() -> Result<Histogram, String>, wait: Spread) -> Verdict {
    let mut seen = Histogram::new();
    for looks in 1.. {
        let spans = look()?;
        none_too_early(&spans, wait)?;
        seen.merge(&spans);
        // All waits together show whether they are drawn, so trying again does not help. Lateness
        // is judged by the calmest try.
        match spread(&seen, wait).and_then(|()| not_too_late(&spans, wait)) {
            Ok(()) => break,
            Err(fault) if looks >= fault.looks() => return Err(fault.into_words()),
            Err(_) => {}
        }
    }
    Ok(())
}

/// The shortest time that an answer after this wait can take, from the first byte sent. HDR's
/// precision and timers that round down to milliseconds are allowed for, but no more than half of
/// the wait.
#[must_use]
pub fn least_ns(wait: Spread) -> u64 {
    let least = wait.min_ns();
    least - least / 1000 - (least / 2).min(TIMER_NS)
}

/// How much a timer with a resolution of milliseconds may be off.
const TIMER_NS: u64 = 1_500_000;

/// No machine makes a wait shorter.
fn none_too_early(spans: &Histogram, wait: Spread) -> Verdict {
    let first = spans.quantile_ns(0.0).unwrap_or(0);
    if first < least_ns(wait) {
        return Err(format!(
            "an answer came after {}, before the least wait of {}",
            format_ns(first),
            format_ns(wait.min_ns())
        ));
    }
    Ok(())
}

/// How many standard deviations more short waits than there should be are no chance.
const CHANCE: f64 = 5.0;

/// At so many places of the range, waits under load are compared with their distribution.
const PLACES: u64 = 100;

/// Waits are counted in windows of this part of the range.
const WINDOW: u64 = 4;

/// Waits that are drawn under load are as long as they should be, over their whole range: at no
/// place have more of them ended than the distribution has there (the one-sided test of Kolmogorov
/// and Smirnov, with an error of its own at each place). And they are not alike: no window holds
/// more of them than the distribution has in so wide a window. What makes answers late hides
/// neither from an honest target: an even distribution stays at least as flat whatever is added to
/// it. Answers before the least wait are not judged here: each is of another kind, which need not
/// wait, or is counted as too early.
///
/// # Errors
/// Where too many had ended or lay together, or that no wait was seen.
pub(super) fn long_enough(spans: &Histogram, wait: Spread) -> Verdict {
    let waits = Waits { spans, wait, others: ended(spans, least_ns(wait) - 1) };
    if rounded(wait, wait.max_ns()) >= waits.range_ns() {
        // Both are coarser than the jitter. The least wait is all that can be judged.
        return Ok(());
    }
    if waits.count() == 0 {
        return Err("no wait was seen under the load".into());
    }
    waits.ended_in_time()?;
    waits.lie_apart()
}

/// HDR's precision and a timer that rounds down make waits look so much shorter.
fn rounded(wait: Spread, ns: u64) -> u64 {
    ns / 1000 + TIMER_NS.min(wait.mean_ns / 2)
}

/// How many of the spans are at or below a time.
fn ended(spans: &Histogram, at_ns: u64) -> u64 {
    let part = spans.fraction_at_or_below(at_ns).unwrap_or(0.0);
    (part * spans.count() as f64).round() as u64
}

/// Service times of a device, and the wait that was asked for.
struct Waits<'a> {
    spans: &'a Histogram,
    wait: Spread,
    /// Answers before the least wait.
    others: u64,
}

impl Waits<'_> {
    fn count(&self) -> u64 {
        self.spans.count() - self.others
    }

    fn range_ns(&self) -> u64 {
        self.wait.max_ns() - self.wait.min_ns()
    }

    /// The part of the waits that had ended by this time.
    fn ended(&self, at_ns: u64) -> f64 {
        let ended = ended(self.spans, at_ns).saturating_sub(self.others);
        ended as f64 / self.count() as f64
    }

    /// How much of an even distribution lies in a stretch of this width at most.
    fn share(&self, width_ns: u64) -> f64 {
        (width_ns as f64 / self.range_ns() as f64).min(1.0)
    }

    /// Whether a part of the waits may be by chance where at most `most` of them should be.
    fn is_chance(&self, part: f64, most: f64) -> bool {
        part - most <= CHANCE * (most * (1.0 - most) / self.count() as f64).sqrt()
    }

    fn ended_in_time(&self) -> Verdict {
        let min = self.wait.min_ns();
        for at_ns in (1..PLACES).map(|place| min + self.range_ns() * place / PLACES) {
            let most = self.share(at_ns + rounded(self.wait, at_ns) - min);
            let part = self.ended(at_ns);
            if !self.is_chance(part, most) {
                return Err(format!(
                    "{:.0} % of the answers came within {}, which at most {:.0} % should: the waits are shorter than those that are asked for",
                    part * 100.0,
                    format_ns(at_ns),
                    most * 100.0
                ));
            }
        }
        Ok(())
    }

    /// The windows begin within the range, and within as long after it: a busy machine makes
    /// waits late that are alike.
    fn lie_apart(&self) -> Verdict {
        let width = self.range_ns() / WINDOW;
        let most = self.share(width + rounded(self.wait, self.wait.max_ns()));
        let begins = (0..2 * PLACES).map(|place| self.range_ns() * place / PLACES);
        for from_ns in begins.map(|begin| self.wait.min_ns() + begin) {
            let part = self.ended(from_ns + width) - self.ended(from_ns);
            if !self.is_chance(part, most) {
                return Err(format!(
                    "{:.0} % of the answers came between {} and {}, where at most {:.0} % should: the waits are not drawn anew for each request",
                    part * 100.0,
                    format_ns(from_ns),
                    format_ns(from_ns + width),
                    most * 100.0
                ));
            }
        }
        Ok(())
    }
}

fn not_too_late(spans: &Histogram, wait: Spread) -> Result<(), Fault> {
    let median = spans.quantile_ns(0.5).unwrap_or(0);
    if median > wait.mean_ns + wait.mean_ns / 5 + TIMER_NS {
        return Err(Fault::Late(format!(
            "the median answer came after {} instead of about {}",
            format_ns(median),
            format_ns(wait.mean_ns)
        )));
    }
    Ok(())
}

/// Waits that are drawn are not all alike: the lower half is as wide as the jitter, less what lies
/// below the 5th percentile, and some lie in the lowest quarter of the range. A busy machine makes
/// waits longer, never shorter, so that both are looked for below.
fn spread(spans: &Histogram, wait: Spread) -> Result<(), Fault> {
    let q = |q: f64| spans.quantile_ns(q).unwrap_or(0);
    let range = wait.max_ns() - wait.min_ns();
    if range == 0 {
        return Ok(());
    }
    let (width, wanted) = (q(0.5).saturating_sub(q(0.05)), range * 45 / 100);
    if width < wanted / 2 {
        return Err(Fault::Alike(format!(
            "the lower half of the waits spans {} instead of about {}: they are not drawn anew for each request",
            format_ns(width),
            format_ns(wanted)
        )));
    }
    if q(0.0) > wait.min_ns() + range / 4 + 500_000 {
        return Err(Fault::Late(format!(
            "no answer came before {}, though waits from {} on are asked for: they are not drawn anew for each request",
            format_ns(q(0.0)),
            format_ns(wait.min_ns())
        )));
    }
    Ok(())
}

fn ask_many(subject: &Subject<'_>, connections: u32, requests: u32) -> Result<LoadResult, String> {
    let result = ask(
        subject,
        connections,
        StopRule { duration_ns: None, requests: Some(u64::from(requests)) },
    )?;
    let good = result.measured.requests.good;
    if good != u64::from(requests) {
        return Err(format!(
            "of {requests} requests on {connections} connections {good} were answered rightly: {}",
            load::errors_in_words(&result)
        ));
    }
    Ok(result)
}

fn ask(subject: &Subject<'_>, connections: u32, stop: StopRule) -> Result<LoadResult, String> {
    let base = LoadSpec { threads: 1, ..subject.way.base(Vec::new(), 1) };
    let templates =
        load::requests(subject.workload, subject.samples, &BodyCheck::Any, subject.way.address());
    load::run_closed(base, templates, subject.connections(connections), stop, None)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: &str = "100ms +-5%";

    /// Looks at a hundred waits each. `wait_us` gives each from the number of the look and its own.
    /// Returns how many looks were needed, too.
    fn looked_at(wait_us: impl Fn(u32, u64) -> u64) -> (u32, Verdict) {
        let mut looks = 0;
        let look = || {
            looks += 1;
            let mut spans = Histogram::new();
            (0..100).for_each(|i| spans.record(wait_us(looks, i) * 1_000));
            Ok(spans)
        };
        let verdict = judge(look, Spread::parse(WAIT).unwrap());
        (looks, verdict)
    }

    fn judged(wait_us: impl Fn(u64) -> u64) -> Verdict {
        looked_at(|_, i| wait_us(i)).1
    }

    #[test]
    fn drawn_waits_pass_also_on_a_busy_machine() {
        assert_eq!(judged(|i| 95_000 + i * 100), Ok(()));
        assert_eq!(judged(|i| 95_000 + i * 100 + i % 10 * 4_000), Ok(()));
        // Until the tenth look, each of them is late.
        let late = |look: u32, i: u64| 95_000 + i * 100 + if look < 10 { 4_000 } else { 0 };
        assert_eq!(looked_at(late), (10, Ok(())));
        let very_late = |look: u32, i: u64| 95_000 + i * 100 + if look < 10 { 40_000 } else { 0 };
        assert_eq!(looked_at(very_late), (10, Ok(())));
    }

    #[test]
    fn waits_that_are_alike_need_no_more_looks_than_a_busy_machine_allows() {
        assert_eq!(looked_at(|_, i| 100_000 + i % 3 * 100).0, LOOKS);
        assert_eq!(looked_at(|_, i| 100_000 + i % 10 * 4_000).0, LOOKS_WHILE_LATE);
        assert_eq!(looked_at(|_, _| 80_000).0, 1, "no machine makes a wait shorter");
    }

    #[test]
    fn a_wait_of_a_millisecond_has_a_least_time_too() {
        let least = |wait| least_ns(Spread::parse(wait).unwrap());
        assert_eq!(least("100ms +-5%"), 95_000_000 - 95_000 - 1_500_000);
        assert_eq!(least("1ms"), 499_000);
        assert_eq!(least("2us"), 998);
        let mut spans = Histogram::new();
        (0..100).for_each(|_| spans.record(1_050_000));
        let wait = Spread::parse("1ms").unwrap();
        assert_eq!(none_too_early(&spans, wait), Ok(()));
        assert_eq!(spread(&spans, wait), Ok(()));
        spans.record(400_000);
        assert!(none_too_early(&spans, wait).unwrap_err().contains("an answer came after"));
    }

    #[test]
    fn waits_that_are_short_under_load_do_not_pass() {
        let judged = |count: u64, wait_us: &dyn Fn(u64) -> u64| {
            let mut spans = Histogram::new();
            (0..count).for_each(|i| spans.record(wait_us(i) * 1_000));
            long_enough(&spans, Spread::parse("100ms +-5%").unwrap())
        };
        let drawn = |i: u64| 95_000 + i * 7_919 % 10_000;
        assert_eq!(judged(2_000, &drawn), Ok(()));
        assert_eq!(judged(2_000, &|i| drawn(i) - 1_000), Ok(()), "timers of milliseconds round");
        assert_eq!(judged(2_000, &|i| drawn(i) + i % 50 * 1_000), Ok(()), "a busy machine");
        assert_eq!(judged(3, &|_| 95_100), Ok(()), "three may be chance");
        assert!(judged(0, &drawn).is_err(), "unknown does not pass");
        let said = judged(2_000, &|i| 95_000 + i % 2_000).unwrap_err();
        assert!(said.contains("shorter than those that are asked for"), "{said}");
        assert!(judged(2_000, &|i| if i % 4 > 0 { 95_200 } else { drawn(i) }).is_err());
        // The mean is right, and the tail, by which devices are ranked, is cut off.
        assert!(judged(2_000, &|i| drawn(i).min(101_000)).is_err());
        // A cap tells itself by what came too soon, and on a machine that is late by what came at once.
        for (late, word) in
            [(0, "shorter than those that are asked for"), (9_000, "not drawn anew")]
        {
            let said = judged(2_000, &|i| drawn(i).min(98_600) + late).unwrap_err();
            assert!(said.contains(word), "{said}");
        }
        // Alike, and late: each as late as a busy machine makes it.
        for late in [0, 1_000, 3_000, 9_000] {
            let said = judged(640, &|i| 100_000 + late + i % 10 * 150).unwrap_err();
            assert!(late < 3_000 || said.contains("not drawn anew"), "{said}");
        }
        // Every tenth is of another kind, which need not wait.
        let others = |wait_us: &dyn Fn(u64) -> u64| {
            judged(640, &|i| if i % 10 == 0 { 300 } else { wait_us(i) })
        };
        assert_eq!(others(&drawn), Ok(()));
        assert!(others(&|_| 100_700).is_err());
    }

    #[test]
    fn a_jitter_finer_than_the_histogram_is_not_judged() {
        let mut spans = Histogram::new();
        (0..2_000).for_each(|_| spans.record(100_000_000));
        // One of another kind, which need not wait.
        spans.record(200_000);
        for wait in ["100ms +-0.05%", "100ms +-0.1%"] {
            assert_eq!(long_enough(&spans, Spread::parse(wait).unwrap()), Ok(()), "{wait}");
        }
    }

    #[test]
    fn waits_that_are_all_alike_do_not_pass() {
        for wait in [95_000, 100_000, 105_000] {
            assert!(judged(|i| wait + i % 3 * 100).is_err(), "{wait}");
        }
        let verdict = judged(|i| 100_000 + i % 10 * 4_000).unwrap_err();
        assert!(verdict.contains("no answer came before 99.9 ms"), "{verdict}");
    }
}
