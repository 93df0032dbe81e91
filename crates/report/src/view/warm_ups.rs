//! How targets warm up, in words.
use pippin_stats::series::course::{CourseClass, CourseOf};
use pippin_stats::summary::warm_ups::WarmUps;

use crate::words;

/// A sentence about a target's starts; `None` if they are flat: `It warms up in 14.0 s (12.0 s to
/// 19.0 s), from 31.0 µs to 9.80 µs of CPU time per request (4 of 5 starts).`
#[must_use]
pub fn sentence(found: &WarmUps) -> Option<String> {
    let starts = found.starts;
    let Some(class) = found.class else {
        return Some(format!("Its {starts} starts warm up in different ways."));
    };
    let count = found.classes.get(&class).copied().unwrap_or(0);
    let counted = if starts > 1 { format!(" ({count} of {starts} starts)") } else { String::new() };
    let what = match class {
        CourseClass::Flat => return None,
        CourseClass::NoSteadyState => {
            return Some(format!("It reached no steady state while it was warmed up{counted}."));
        }
        CourseClass::WarmsUp => "It warms up",
        CourseClass::SlowsDown => "It slows down at its start",
    };
    let [middle, least, most] = found.steady_after_ns?;
    let range = if least == most {
        String::new()
    } else {
        format!(" ({} to {})", words::ns(Some(least)), words::ns(Some(most)))
    };
    let of = match found.of {
        CourseOf::CpuNs => "of CPU time per request",
        CourseOf::GapNs => "from answer to answer",
    };
    Some(format!(
        "{what} in {}{range}, from {} to {} {of}{counted}.",
        words::ns(Some(middle)),
        words::ns_f(found.first),
        words::ns_f(found.steady),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const S: u64 = 1_000_000_000;

    fn warm_ups(class: CourseClass, count: u32) -> WarmUps {
        WarmUps {
            starts: 5,
            classes: BTreeMap::from([(class, count)]),
            class: Some(class),
            of: CourseOf::CpuNs,
            first: Some(31e3),
            steady: Some(9.8e3),
            steady_after_ns: Some([14 * S, 12 * S, 19 * S]),
        }
    }

    #[test]
    fn a_start_is_a_sentence_with_its_levels() {
        assert_eq!(
            sentence(&warm_ups(CourseClass::WarmsUp, 4)).unwrap(),
            "It warms up in 14.0 s (12.0 s to 19.0 s), from 31.0 µs to 9.80 µs of CPU time per request (4 of 5 starts)."
        );
        let slower = sentence(&warm_ups(CourseClass::SlowsDown, 5)).unwrap();
        assert!(slower.starts_with("It slows down at its start in 14.0 s"), "{slower}");
        assert_eq!(sentence(&warm_ups(CourseClass::Flat, 5)), None);
        let never = WarmUps { steady_after_ns: None, ..warm_ups(CourseClass::NoSteadyState, 5) };
        assert!(sentence(&never).unwrap().contains("no steady state"));
        let mixed = WarmUps { class: None, ..warm_ups(CourseClass::WarmsUp, 3) };
        assert_eq!(sentence(&mixed).unwrap(), "Its 5 starts warm up in different ways.");
    }
}
