//! Whether a gate is lost during the load: it cannot be passed any more, whatever comes. Judged
//! from the finished windows of the measured part.
//!
//! | figure | lost as soon as |
//! |---|---|
//! | `errors` as a count | there are too many already |
//! | `errors` as a share | there would be too many even if nothing else went wrong |
//! | a quantile or the maximum of the response time | too many answers were later than the limit, even if no other is |
//! | `goodput`, `throughput` | there would be too few answers even if all requests that are still due were answered |
//!
//! How many requests may still come is known of a number of requests and of an open loop. A closed
//! loop can always become faster, so only counts, and the maximum, are lost in it.
//!
//! All other figures, and changes against a base, are judged only at the end.
use pippin_model::figure::{Figure, Point, Span};
use pippin_model::plan::profile::{Arrivals, Profile};
use pippin_model::result::Window;
use pippin_model::result::bins::ResponseBins;
use pippin_model::text::units::{counted, format_count, format_whole};
use pippin_model::verdict::gate::{Gate, Limit};

/// This many windows in a row with more errors than right answers end a load even without a gate.
const WINDOWS_OF_ERRORS: usize = 3;
/// Shorter windows say little. The last one of a load may be shorter.
const SHORTEST_NS: u64 = 500_000_000;
/// How many standard deviations Poisson arrivals may be above their mean.
const DEVIATIONS: f64 = 6.0;

/// Why a load need not go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// The gate that no further answer can save; `None` if there are only too many errors.
    pub gate: Option<Gate>,
    /// In words, with the gate.
    pub why: String,
}

/// A load so far.
#[derive(Debug, Clone)]
pub struct Course {
    profile: Profile,
    completed: u64,
    good: u64,
    errors: u64,
    response: ResponseBins,
    longest_ns: u64,
    bad_windows: usize,
}

impl Course {
    /// A load that begins. It has no steps.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            completed: 0,
            good: 0,
            errors: 0,
            response: ResponseBins::default(),
            longest_ns: 0,
            bad_windows: 0,
        }
    }

    /// Takes another window. Those of warm-up and ramps count for no figure.
    pub fn see(&mut self, window: &Window) {
        let length_ns = self.profile.headline_ns().unwrap_or(u64::MAX);
        if !u64::try_from(window.from_ns).is_ok_and(|from_ns| from_ns < length_ns) {
            return;
        }
        self.completed += window.completed;
        self.good += window.good;
        self.errors += window.errors;
        self.response.merge(&window.response_bins);
        self.longest_ns = self.longest_ns.max(window.response_max_ns.unwrap_or(0));
        if window.duration_ns >= SHORTEST_NS {
            let is_bad = window.errors > window.good;
            self.bad_windows = if is_bad { self.bad_windows + 1 } else { 0 };
        }
    }

    /// Why the load can end now, in words; `None` if it must go on.
    #[must_use]
    pub fn lost(&self, gates: &[Gate]) -> Option<Lost> {
        let of_gate = |gate: &Gate| {
            let why = format!("{gate}: {}", self.seen(gate)?);
            Some(Lost { gate: Some(gate.clone()), why })
        };
        gates.iter().find_map(of_gate).or_else(|| {
            (self.bad_windows >= WINDOWS_OF_ERRORS).then(|| Lost {
                gate: None,
                why: format!(
                    "{WINDOWS_OF_ERRORS} seconds in a row had more errors than right answers"
                ),
            })
        })
    }

    /// The reason why this gate cannot be passed any more.
    fn seen(&self, gate: &Gate) -> Option<String> {
        let condition = &gate.condition;
        match (condition.figure, condition.limit) {
            (Figure::Errors, Limit::Value(limit)) if gate.lower_passes() => {
                let errors = self.errors as f64;
                is_past(gate, errors, limit)
                    .then(|| format!("{} already", counted(self.errors, "error")))
            }
            (Figure::Errors, Limit::Share(limit)) if gate.lower_passes() => {
                let (errors, total) = (self.errors as f64, self.total()?);
                // Connections that cannot be opened are additional errors besides the requests.
                is_past(gate, errors / (total + errors).max(1.0), limit).then(|| {
                    let errors = counted(self.errors, "error");
                    format!("{errors} already, of {} requests at the most", whole(total))
                })
            }
            (Figure::Span(Span::ResponseTime, point), Limit::Value(limit_ns))
                if gate.lower_passes() =>
            {
                self.too_late(gate, point, limit_ns)
            }
            (Figure::Goodput, Limit::Value(limit)) => self.too_few(gate, self.good, limit),
            (Figure::Throughput, Limit::Value(limit)) => self.too_few(gate, self.completed, limit),
            _ => None,
        }
    }

    fn too_late(&self, gate: &Gate, point: Point, limit_ns: f64) -> Option<String> {
        match point {
            Point::Max => is_past(gate, self.longest_ns as f64, limit_ns)
                .then(|| "one answer was already later".into()),
            Point::Quantile(q) => {
                let late: u64 = self
                    .response
                    .iter()
                    .filter(|(bin, _)| ResponseBins::ends_ns(*bin).0 > limit_ns)
                    .map(|(_, count)| count)
                    .sum();
                let total = self.total()?;
                // One more than the share allows, for the rounding of ranks.
                (late as f64 > (1.0 - q) * total + 1.0).then(|| {
                    let late = counted(late, "answer");
                    format!("{late} were later already, of {} requests at the most", whole(total))
                })
            }
            Point::Min | Point::Mean => None,
        }
    }

    fn too_few(&self, gate: &Gate, so_far: u64, limit_per_s: f64) -> Option<String> {
        if gate.lower_passes() {
            return None;
        }
        // Without a planned length, the final rate is unknown.
        let length_s = self.profile.headline_ns()? as f64 / 1e9;
        let still = (self.total()? - self.completed as f64).max(0.0);
        let at_most = (so_far as f64 + still) / length_s;
        (!gate.keeps(at_most, limit_per_s))
            .then(|| format!("{} requests/s at the most can be reached", format_count(at_most)))
    }

    /// The maximum number of requests in the whole measured part: those counted or due; `None` in a
    /// closed loop.
    fn total(&self) -> Option<f64> {
        if let Some(count) = self.profile.stop.requests {
            return Some(count as f64);
        }
        let length_ns = self.profile.headline_ns()?;
        let arrivals = self.profile.schedule.arrivals()?;
        let due = self.profile.offered_per_s(0, length_ns)? * length_ns as f64 / 1e9;
        // Each walk that arrives brings several requests.
        let each = self.profile.walk_steps.unwrap_or(1.0);
        let chance = match arrivals {
            Arrivals::Constant | Arrivals::Jittered => 1.0,
            Arrivals::Poisson => DEVIATIONS * (due / each).sqrt(),
        };
        Some(due + chance * each)
    }
}

/// Whether a figure that only grows cannot pass any more.
fn is_past(gate: &Gate, value: f64, limit: f64) -> bool {
    !gate.keeps(value, limit)
}

fn whole(count: f64) -> String {
    format_whole(count.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::StopRule;
    use pippin_model::result::histogram::Histogram;
    use pippin_model::schedule::stages;

    const S: u64 = 1_000_000_000;

    /// A second of right answers of 1 ms, errors, and answers of 100 ms.
    fn second(nth: i64, good: u64, errors: u64, late: u64) -> Window {
        let mut response = Histogram::new();
        (0..good).for_each(|_| response.record(1_000_000));
        (0..late).for_each(|_| response.record(100_000_000));
        let mut window = Window {
            from_ns: nth * S as i64,
            duration_ns: S,
            completed: good + late,
            good: good + late,
            errors,
            ..Window::default()
        };
        window.read(&response, &Histogram::new());
        window
    }

    fn lost(profile: &Profile, gate: &str, windows: &[Window]) -> Option<String> {
        let mut course = Course::new(profile.clone());
        windows.iter().for_each(|window| course.see(window));
        let must_hold = gate.strip_prefix("require ");
        let gate = must_hold.map_or_else(|| Gate::fail_if(gate), Gate::require);
        course.lost(&[gate.unwrap()]).map(|lost| lost.why)
    }

    fn open() -> Profile {
        Profile::open(100.0, Arrivals::Constant, 8, 0, 10 * S)
    }

    #[test]
    fn errors_are_lost_at_the_one_too_many() {
        let (open, one) = (open(), |errors| [second(0, 90, errors, 0)]);
        assert_eq!(lost(&open, "errors > 5", &one(5)), None);
        assert_eq!(
            lost(&open, "errors > 5", &one(6)),
            Some("fail if errors > 5: 6 errors already".into())
        );
        assert_eq!(lost(&open, "require errors < 5", &one(4)), None);
        assert!(lost(&open, "require errors < 5", &one(5)).is_some());
        // Of 1,000 that are due, 1 % are 10. With 11 errors of 1,012, all others may be right.
        assert_eq!(lost(&open, "errors > 1%", &one(10)), None);
        assert_eq!(
            lost(&open, "errors > 1%", &one(11)),
            Some("fail if errors > 1%: 11 errors already, of 1,001 requests at the most".into())
        );
        assert_eq!(lost(&open, "errors < 5", &one(9)), None, "more may come");
    }

    #[test]
    fn a_quantile_is_lost_when_too_many_are_late_and_not_before() {
        let (open, one) = (open(), |late| [second(0, 80, 0, late)]);
        assert_eq!(lost(&open, "p99 > 50ms", &one(10)), None);
        assert!(
            lost(&open, "p99 > 50ms", &one(12)).unwrap().contains("12 answers were later already")
        );
        assert_eq!(lost(&open, "p99 > 100ms", &one(12)), None, "its bin begins below");
        assert!(lost(&open, "max > 99ms", &one(1)).is_some());
        assert_eq!(lost(&open, "max > 2s", &one(1)), None);
        assert_eq!(lost(&open, "service_time.p99 > 1ms", &one(50)), None, "judged at the end");
        // A closed loop can always become faster, also after a second without answers.
        let closed = Profile::closed(4, StopRule::after(10 * S));
        let half = [second(0, 1, 0, 99), second(1, 50, 0, 50)];
        assert_eq!(lost(&closed, "p90 > 50ms", &half), None);
        assert_eq!(lost(&closed, "goodput < 10/s", &[second(0, 0, 0, 0)]), None);
        assert_eq!(lost(&closed, "goodput < 10/s", &[]), None);
        assert!(lost(&closed, "max > 99ms", &half).is_some());
        assert!(lost(&closed, "errors > 5", &[second(0, 1, 6, 0)]).is_some());
    }

    #[test]
    fn a_rate_is_lost_when_what_is_still_due_cannot_make_it() {
        let slow = [second(0, 20, 0, 0), second(1, 20, 0, 0)];
        assert!(lost(&open(), "goodput < 99/s", &slow).is_none(), "what is late may still come");
        let failed: Vec<Window> = (0..9).map(|nth| second(nth, 20, 80, 0)).collect();
        assert!(lost(&open(), "throughput < 101/s", &failed).is_some());
        let falling =
            Profile::staged(stages::parse("0s:200,10s:0").unwrap(), Arrivals::Constant, 8);
        assert!(
            lost(&falling, "require goodput > 150/s", &slow).unwrap().contains("100 requests/s")
        );
        let counted =
            Profile { stop: StopRule::requests(100), ..Profile::closed(4, StopRule::default()) };
        assert_eq!(lost(&counted, "goodput < 1000000/s", &[]), None, "its length is not known");
    }

    #[test]
    fn without_a_gate_three_seconds_of_errors_are_enough() {
        let course = |seconds: &[(u64, u64)]| {
            let mut course = Course::new(open());
            for (nth, (good, errors)) in (0..).zip(seconds) {
                course.see(&second(nth, *good, *errors, 0));
            }
            course.lost(&[]).is_some()
        };
        assert!(!course(&[(50, 51), (50, 51)]));
        assert!(course(&[(50, 51), (50, 51), (0, 1)]));
        assert!(!course(&[(50, 51), (50, 51), (50, 50), (50, 51)]));
        assert!(!course(&[(0, 0), (0, 0), (0, 0)]), "silence is no error");
        let mut warm = Course::new(open());
        (-3..0).for_each(|nth| warm.see(&second(nth, 0, 9, 0)));
        assert_eq!(warm.lost(&[Gate::fail_if("errors > 0").unwrap()]), None);
    }
}
