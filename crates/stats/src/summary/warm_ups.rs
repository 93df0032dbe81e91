//! How a target warms up: the courses of its starts together.
use pippin_model::trial::TrialRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::judge::{Context, Evidence, host};
use crate::series::course::{Course, CourseClass, CourseOf, course};
use crate::series::quantile::median;

/// Of the starts, this part must be in one class, so that it is the target's.
const MAJORITY: f64 = 2.0 / 3.0;

/// How a target warms up, over its starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarmUps {
    /// Starts that show a course.
    pub starts: u32,
    /// How many of them are in each class.
    pub classes: BTreeMap<CourseClass, u32>,
    /// The class of at least two thirds of them; `None` if there is none.
    pub class: Option<CourseClass>,
    /// What the levels are of.
    pub of: CourseOf,
    /// Of the starts in that class, the first and the steady level, medians; the steady one is
    /// `None` where there is no steady state.
    pub first: Option<f64>,
    /// See `first`.
    pub steady: Option<f64>,
    /// When the steady level began, in nanoseconds after the first answer: the median, the least and
    /// the most over the starts in that class.
    pub steady_after_ns: Option<[u64; 3]>,
}

impl WarmUps {
    /// Those of these trials, each of which began with a start of its target; `None` if none of them
    /// shows its start, or the host disturbed them: what other programs do looks like a start too. Of a
    /// server that ran before, and of steps that follow each other, nothing is said.
    #[must_use]
    pub fn of_trials(trials: &[&TrialRecord]) -> Option<Self> {
        if host::is_disturbed(trials) {
            return None;
        }
        let of_start = |record: &&TrialRecord| {
            let begins = record.start_up_ns.is_some() && record.spec.step.is_none();
            let evidence = Evidence { record, context: &Context::default() };
            let windows = &record.load.as_ref().filter(|_| begins)?.warm_up.windows;
            course(windows, !evidence.is_saturating())
        };
        let courses: Vec<Course> = trials.iter().filter_map(of_start).collect();
        Self::of_courses(&courses)
    }

    fn of_courses(courses: &[Course]) -> Option<Self> {
        // Levels of two kinds cannot be put together.
        let of = courses.first()?.of;
        let courses: Vec<&Course> = courses.iter().filter(|course| course.of == of).collect();
        let mut classes = BTreeMap::new();
        for course in &courses {
            *classes.entry(course.class).or_insert(0) += 1;
        }
        let enough = MAJORITY * courses.len() as f64;
        let class = classes.iter().find(|(_, count)| f64::from(**count) >= enough);
        let class = class.map(|(class, _)| *class);
        let alike: Vec<&Course> =
            courses.iter().copied().filter(|course| Some(course.class) == class).collect();
        let middle = |values: Vec<f64>| median(&values);
        let steady: Vec<(f64, u64)> = alike.iter().filter_map(|course| course.steady).collect();
        let after: Vec<u64> = steady.iter().map(|(_, after_ns)| *after_ns).collect();
        Some(Self {
            starts: courses.len() as u32,
            classes,
            class,
            of,
            first: middle(alike.iter().map(|course| course.first).collect()),
            steady: middle(steady.iter().map(|(level, _)| *level).collect()),
            steady_after_ns: middle(after.iter().map(|ns| *ns as f64).collect())
                .zip(after.iter().min().zip(after.iter().max()))
                .map(|(middle, (least, most))| [middle as u64, *least, *most]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::WarmUpWindow;

    const S: u64 = 1_000_000_000;

    fn warms_up(after_s: u64, first: f64, steady: f64) -> Course {
        Course {
            class: CourseClass::WarmsUp,
            of: CourseOf::CpuNs,
            first,
            steady: Some((steady, after_s * S)),
        }
    }

    #[test]
    fn most_starts_decide_and_the_others_are_counted() {
        let odd =
            Course { class: CourseClass::NoSteadyState, steady: None, ..warms_up(0, 9e3, 0.0) };
        let courses =
            [warms_up(14, 31e3, 9.8e3), warms_up(12, 30e3, 9.7e3), odd, warms_up(19, 33e3, 9.9e3)];
        let found = WarmUps::of_courses(&courses).unwrap();
        assert_eq!((found.starts, found.class), (4, Some(CourseClass::WarmsUp)));
        assert_eq!((found.first, found.steady), (Some(31e3), Some(9.8e3)));
        assert_eq!(found.steady_after_ns, Some([14 * S, 12 * S, 19 * S]));
        let two = WarmUps::of_courses(&courses[1..3]).unwrap();
        assert_eq!((two.class, two.steady_after_ns), (None, None));
    }

    #[test]
    fn what_shows_no_start_and_a_disturbed_host_say_nothing() {
        let plain = ExampleTrial::hello().build();
        assert_eq!(WarmUps::of_trials(&[&plain]), None);
        let mut warmed = plain;
        let window = |at: u32| WarmUpWindow {
            answers_per_s: if at < 20 { 1_000.0 } else { 3_000.0 },
            cores: Some(1.0),
            compiler: None,
        };
        warmed.load.as_mut().unwrap().warm_up.windows = (0..60).map(window).collect();
        let ran_before = TrialRecord { start_up_ns: None, ..warmed.clone() };
        assert_eq!(WarmUps::of_trials(&[&ran_before]), None);
        warmed.start_up_ns = Some(1);
        let found = WarmUps::of_trials(&[&warmed]).unwrap();
        assert_eq!(found.class, Some(CourseClass::WarmsUp));
        assert_eq!(found.steady_after_ns, Some([4 * S; 3]));
        warmed.usage.as_mut().unwrap().other_cores = Some(1.0);
        assert_eq!(WarmUps::of_trials(&[&warmed]), None);
    }
}
