//! Which requests of a load are counted together, for its table of paths.
use pippin_model::load::{LoadSpec, Request};
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{ErrorKind, StepMeasured};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use crate::record::counts::Counts;
use crate::record::tally::{Errors, by_kind};

/// So many paths are counted by themselves. Requests of others share one place.
const MOST_COUNTED: usize = 1_000;
/// So many of them are in the result, the worst first. The others are summed.
const MOST_SHOWN: usize = 20;
/// What those that are summed are called.
const OTHERS: &str = "other requests";

/// Binary digits of a response time in the table: it is right within 3 %.
const DIGITS: u32 = 5;

/// The paths of a load that are counted by themselves.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    names: Vec<String>,
    /// The path of each turn.
    of_turn: Vec<u32>,
}

/// A request by its method and its path, without the query.
pub(crate) fn name(request: &Request) -> String {
    let path = request.target.split('?').next().unwrap_or_default();
    format!("{} {path}", request.method)
}

impl Paths {
    /// `None` if the load does not ask for them, or has only one.
    pub fn from_spec(spec: &LoadSpec) -> Option<Self> {
        if !spec.by_request || spec.scenario.is_some() || spec.requests.len() < 2 {
            return None;
        }
        let named = |name: fn(&Request) -> String| -> Vec<String> {
            spec.requests.iter().map(name).collect()
        };
        let whole = |request: &Request| format!("{} {}", request.method, request.target);
        // Queries matter only where nothing else tells the requests apart.
        let differ = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() > 1;
        let of_requests = [named(name), named(whole)].into_iter().find(|names| differ(names))?;
        let mut names: Vec<String> = Vec::new();
        let mut places: HashMap<&str, u32> = HashMap::new();
        for name in &of_requests {
            if !places.contains_key(name.as_str()) {
                places.insert(name, names.len().min(MOST_COUNTED) as u32);
                if names.len() <= MOST_COUNTED {
                    let is_last = names.len() == MOST_COUNTED;
                    names.push(if is_last { OTHERS.into() } else { name.clone() });
                }
            }
        }
        let of_turn = spec.requests.turns().map(|nth| places[of_requests[nth].as_str()]).collect();
        Some(Self { names, of_turn })
    }

    /// The path of a request, by its turn.
    #[inline]
    pub fn place(&self, turn: u32) -> usize {
        self.of_turn[turn as usize] as usize
    }

    /// The table: the worst paths, each by itself, and the others together.
    pub fn into_measured(self, counted: Vec<PathTally>) -> Vec<StepMeasured> {
        let mut rows: Vec<StepMeasured> =
            self.names.iter().zip(counted).map(|(name, tally)| tally.into_measured(name)).collect();
        let errors = |row: &StepMeasured| row.errors.values().sum::<u64>();
        rows.sort_by_cached_key(|row| Reverse((errors(row), row.response_time.quantile_ns(0.99))));
        if rows.len() > MOST_SHOWN {
            let mut others = StepMeasured { name: OTHERS.into(), ..StepMeasured::default() };
            rows.drain(MOST_SHOWN - 1..).for_each(|row| others.merge(&row));
            rows.push(others);
        }
        rows
    }
}

/// What is counted of a path.
#[derive(Debug)]
pub(crate) struct PathTally {
    completed: u64,
    good: u64,
    failed: u64,
    errors: Errors,
    response_time: Counts<DIGITS>,
}

impl Default for PathTally {
    fn default() -> Self {
        Self {
            completed: 0,
            good: 0,
            failed: 0,
            errors: Errors::default(),
            response_time: Counts::new(),
        }
    }
}

impl PathTally {
    /// A complete answer.
    #[inline]
    pub fn answered(&mut self, response_ns: u64, error: Option<ErrorKind>) {
        self.completed += 1;
        self.good += u64::from(error.is_none());
        if let Some(kind) = error {
            self.errors[kind as usize] += 1;
        }
        self.response_time.add([response_ns].into_iter());
    }

    /// A failed request; one that timed out took so long at the least.
    pub fn failed(&mut self, kind: ErrorKind, response_ns: Option<u64>) {
        self.failed += 1;
        self.errors[kind as usize] += 1;
        self.response_time.add(response_ns.into_iter());
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.good += other.good;
        self.failed += other.failed;
        self.errors.merge(&other.errors);
        self.response_time.merge(&other.response_time);
    }

    fn into_measured(mut self, name: &str) -> StepMeasured {
        let mut response_time = Histogram::new();
        self.response_time.move_to(&mut response_time);
        StepMeasured {
            name: name.into(),
            completed: self.completed,
            good: self.good,
            failed: self.failed,
            errors: by_kind(self.errors),
            response_time,
            ..StepMeasured::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::Request;

    fn paths(targets: &[&str]) -> Option<Paths> {
        let requests: Vec<Request> =
            targets.iter().map(|target| Request::get(target, "a")).collect();
        Paths::from_spec(&LoadSpec {
            requests: requests.into(),
            by_request: true,
            ..LoadSpec::default()
        })
    }

    #[test]
    fn requests_are_counted_by_path_and_by_query_only_where_that_is_all_that_differs() {
        assert!(paths(&["/a"]).is_none() && paths(&["/a", "/a"]).is_none());
        let of_paths = paths(&["/a?x=1", "/b", "/a?x=2"]).unwrap();
        assert_eq!(of_paths.names, ["GET /a", "GET /b"]);
        assert_eq!([0, 1, 2].map(|turn| of_paths.place(turn)), [0, 1, 0]);
        assert_eq!(paths(&["/a?x=1", "/a?x=2"]).unwrap().names, ["GET /a?x=1", "GET /a?x=2"]);
    }

    #[test]
    fn the_worst_are_first_and_the_rest_is_summed() {
        let targets: Vec<String> = (0..1_500).map(|nth| format!("/{nth}")).collect();
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let of_paths = paths(&targets).unwrap();
        let mut counted: Vec<PathTally> = Vec::new();
        counted.resize_with(of_paths.names.len(), PathTally::default);
        for turn in 0..1_500 {
            let row = &mut counted[of_paths.place(turn)];
            row.answered(1_000_000, None);
            if turn == 7 {
                row.failed(ErrorKind::Timeout, Some(5_000_000));
            }
        }
        counted[of_paths.place(3)].answered(9_000_000, None);
        let rows = of_paths.into_measured(counted);
        assert_eq!(rows.len(), MOST_SHOWN);
        assert_eq!((rows[0].name.as_str(), rows[0].failed), ("GET /7", 1));
        assert_eq!(rows[1].name, "GET /3");
        let p99 = rows[1].response_time.quantile_ns(0.99).unwrap() as f64;
        assert!((p99 / 9e6 - 1.0).abs() < 0.04, "{p99}");
        assert_eq!(rows.last().unwrap().name, OTHERS);
        assert_eq!(rows.iter().map(|row| row.completed).sum::<u64>(), 1_501);
    }
}
