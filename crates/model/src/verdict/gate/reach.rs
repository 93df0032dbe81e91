//! Limits that a figure can never miss, or never pass. Such a gate would say nothing about a server.
use super::{Figure, Limit, Operator, Unit};

/// Refuses a condition that is always true or never true, whatever is measured.
///
/// # Errors
/// Which values the figure can have.
pub(super) fn check(figure: Figure, operator: Operator, limit: Limit) -> Result<(), String> {
    let (limit, reach) = match limit {
        // A time of 0 cannot be measured.
        Limit::Value(limit) if matches!(figure.unit(), Unit::Time) => (
            limit,
            Reach { least: f64::MIN_POSITIVE, most: f64::INFINITY, of: "a time is above 0" },
        ),
        Limit::Value(limit) => {
            (limit, Reach { least: 0.0, most: f64::INFINITY, of: "the figure is never below 0" })
        }
        Limit::Share(limit) => {
            let of = "without `vs`, a percentage of this figure is a share of the requests, from 0 to 100 %; for a change write `vs` and a base";
            (limit, Reach { least: 0.0, most: 1.0, of })
        }
        Limit::Change(limit) => {
            let of = "nothing can change by less than -100 %";
            (limit, Reach { least: -1.0, most: f64::INFINITY, of })
        }
    };
    let always = match operator {
        Operator::Less => limit > reach.most,
        Operator::AtMost => limit >= reach.most,
        Operator::More => limit < reach.least,
        Operator::AtLeast => limit <= reach.least,
    };
    let never = match operator {
        Operator::Less => limit <= reach.least,
        Operator::AtMost => limit < reach.least,
        Operator::More => limit >= reach.most,
        Operator::AtLeast => limit > reach.most,
    };
    match (always, never) {
        (true, _) => Err(format!("it is always true: {}", reach.of)),
        (_, true) => Err(format!("it is never true: {}", reach.of)),
        _ => Ok(()),
    }
}

/// The values that a figure can have, ends included.
struct Reach {
    least: f64,
    most: f64,
    /// In words.
    of: &'static str,
}

#[cfg(test)]
mod tests {
    use crate::verdict::gate::Condition;

    #[test]
    fn limits_that_decide_nothing_are_refused() {
        for (text, problem) in [
            ("p99 < 0ms", "never true: a time is above 0"),
            ("p99 > 0ms", "always true: a time"),
            ("cpu <= 0us", "never true: a time"),
            ("errors < -5%", "never true: without `vs`, a percentage of this figure is a share"),
            ("errors > 100%", "never true: without `vs`"),
            ("status.2xx <= 100%", "always true: without `vs`"),
            ("good < -10%", "never true: without `vs`"),
            ("errors >= 0", "always true: the figure is never below 0"),
            ("errors < 0", "never true"),
            ("goodput >= 0/s", "always true"),
            ("goodput < -150%", "never true: nothing can change by less than -100 %"),
            ("goodput < -150% vs main", "never true: nothing can change"),
            ("errors > -101% vs a", "always true"),
        ] {
            let error = text.parse::<Condition>().unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
        for text in [
            "errors <= 0",
            "errors > 0",
            "errors <= 0%",
            "errors < -50% vs main",
            "good >= 100%",
            "goodput > -100% vs a",
            "p99 < 1ns",
            "memory > 0B",
        ] {
            assert!(text.parse::<Condition>().is_ok(), "{text}");
        }
    }
}
