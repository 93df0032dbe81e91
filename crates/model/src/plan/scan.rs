//! A scan: one parameter of a server takes several values, and each value is a target of one run.
use serde::{Deserialize, Serialize};
use std::fmt;

use crate::target::TargetId;

/// The most values of a scan. Each is a server of its own, and all of them run at the same time.
pub const MOST_VALUES: usize = 12;
/// The parameter that is `WORKERS`.
pub const WORKERS: &str = "workers";
/// The longest part of a target's name that is made from a value.
const LONGEST_LABEL: usize = 40;

/// A parameter and the values that it is to take: `pool=5,10,20`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// Its name: `pool`.
    pub parameter: String,
    /// The values in the order in which they were written, the first of which is the base.
    pub values: Vec<String>,
}

/// The targets of a scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The name of the parameter: `pool`.
    pub parameter: String,
    /// Its values in the order in which they were written. The first is the base.
    pub points: Vec<ScanPoint>,
}

/// One value of a scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanPoint {
    /// The value as it was written: `20`.
    pub value: String,
    /// The target that has this value.
    pub target: TargetId,
}

impl Values {
    /// Reads `pool=5,10,20`.
    ///
    /// # Errors
    /// If it is not a name with two to [`MOST_VALUES`] different values. The message says what to
    /// write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (parameter, list) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` has no values; write pool=5,10,20"))?;
        let may_stand = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let begins = parameter.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins || !parameter.chars().all(may_stand) {
            return Err(format!(
                "`{parameter}` is not a name; use letters, digits, `-` and `_`, as in pool=5,10,20"
            ));
        }
        let values: Vec<String> = list.split(',').map(|value| value.trim().into()).collect();
        if values.iter().any(String::is_empty) {
            return Err(format!("`{text}` has an empty value; write {parameter}=5,10,20"));
        }
        if values.iter().any(|value| value.contains('\0')) {
            return Err("a value with a NUL character cannot be passed to a program".into());
        }
        if let Some(twice) = values.iter().enumerate().find(|(at, it)| values[..*at].contains(it)) {
            return Err(format!("the value {} is there twice; leave one of them out", twice.1));
        }
        match values.len() {
            1 => Err(format!(
                "there is only one value, {list}; write each value that is compared, as in {parameter}=1,2,4,8"
            )),
            count if count > MOST_VALUES => Err(format!(
                "{count} values are more than the {MOST_VALUES} that one run compares, because all servers run at the same time; leave some out, and scan again around the best one"
            )),
            _ => Ok(Self { parameter: parameter.into(), values }),
        }
    }

    /// Whether the parameter is `WORKERS`.
    #[must_use]
    pub fn is_workers(&self) -> bool {
        [WORKERS, "WORKERS"].contains(&self.parameter.as_str())
    }

    /// Whether the name is one of an environment variable: in capitals.
    #[must_use]
    pub fn is_variable(&self) -> bool {
        self.parameter.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    }

    /// The scan of a target, whose name each value ends: `own/shop@pool=5`. What cannot stand in a
    /// name becomes `-`, and equal names get a number.
    #[must_use]
    pub fn scan_of(&self, target: &TargetId) -> Scan {
        let mut points: Vec<ScanPoint> = Vec::new();
        for value in &self.values {
            let may_stand = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            let kept = |c: char| if may_stand(c) { c } else { '-' };
            let label: String = value.chars().take(LONGEST_LABEL).map(kept).collect();
            let named = TargetId {
                name: format!("{}@{}={label}", target.name, self.parameter),
                ..target.clone()
            };
            let target = named.untaken(|id| points.iter().any(|point| point.target == *id));
            points.push(ScanPoint { value: value.clone(), target });
        }
        Scan { parameter: self.parameter.clone(), points }
    }
}

impl ScanPoint {
    /// The value as a number; `None` if it is none.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        self.value.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.parameter, self.values.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_its_values_are_read() {
        let read = Values::parse("pool=20, 5,10").unwrap();
        assert_eq!((read.parameter.as_str(), read.to_string()), ("pool", "pool=20,5,10".into()));
        assert!(!read.is_variable() && !read.is_workers());
        assert!(Values::parse("POOL_SIZE=a=b,c").unwrap().is_variable());
        assert!(Values::parse("workers=1,2").unwrap().is_workers());
        assert!(Values::parse("WORKERS=1,2").unwrap().is_workers());
        let many = (1..=12).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(Values::parse(&format!("n={many}")).unwrap().values.len(), MOST_VALUES);
        for (text, message) in [
            ("pool", "has no values; write pool=5,10,20"),
            ("=1,2", "is not a name"),
            ("5=1,2", "is not a name"),
            ("a b=1,2", "is not a name"),
            ("pool=1,,2", "has an empty value"),
            ("pool=", "has an empty value"),
            ("pool=5", "only one value, 5"),
            ("pool=1..8", "write each value that is compared, as in pool=1,2,4,8"),
            ("pool=1,2,1", "the value 1 is there twice"),
            (&format!("n={many},13"), "13 values are more than the 12"),
        ] {
            let error = Values::parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn each_value_has_a_target_whose_name_can_be_read_again() {
        let target: TargetId = "own/shop".parse().unwrap();
        let scan = Values::parse("mode=a/b,a-b,1.5").unwrap().scan_of(&target);
        let names: Vec<String> = scan.points.iter().map(|it| it.target.to_string()).collect();
        assert_eq!(names, ["own/shop@mode=a-b", "own/shop@mode=a-b-2", "own/shop@mode=1.5"]);
        for point in &scan.points {
            assert_eq!(point.target.to_string().parse(), Ok(point.target.clone()));
        }
        assert_eq!(
            scan.points.iter().map(ScanPoint::number).collect::<Vec<_>>(),
            [None, None, Some(1.5)]
        );
    }
}
