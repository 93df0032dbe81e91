//! Rows of the table before many connections at once, with the counts that hold whatever happens
//! when.
use libtest_mimic::Trial;
use pippin_model::load::{Arrivals, Connections, LoadSpec, Schedule, Stage, StopRule};
use pippin_model::result::{ErrorKind, LoadResult, Measured};
use pippin_testing::hostile::{Counted, Speaks};

use crate::support::{MS, run};
use crate::{Case, is_surplus, trial};

const CONNECTIONS: u32 = 16;
const LENGTH_NS: u64 = 400 * MS;
const RATE_PER_S: f64 = 500.0;

type Crowd = fn(LoadSpec) -> LoadSpec;
const CROWDS: [(&str, Crowd); 3] =
    [("many users", many_users), (ROWS, rows_of_requests), ("a rate", a_rate)];
const ROWS: &str = "rows of requests";
/// Requests of a row.
const ROW: u32 = 4;

pub fn trials(case: Case) -> Vec<Trial> {
    let applies = |name| name != ROWS || case.behaviour.speaks == Speaks::Http1;
    CROWDS
        .into_iter()
        .filter(|(name, _)| applies(*name))
        .map(|(name, crowd)| {
            trial(format!("{name}::{}", case.name()), move || {
                let server = case.serve();
                let result = run(&crowd(case.load(&server)));
                check(case.behaviour.counted, name == ROWS, &result);
            })
        })
        .collect()
}

fn many_users(spec: LoadSpec) -> LoadSpec {
    let connections = Connections { count: CONNECTIONS, ..spec.connections };
    LoadSpec {
        connections,
        stop: StopRule { duration_ns: Some(LENGTH_NS), requests: None },
        ..spec
    }
}

fn rows_of_requests(spec: LoadSpec) -> LoadSpec {
    let spec = many_users(spec);
    LoadSpec { connections: Connections { pipeline: ROW, ..spec.connections }, ..spec }
}

fn a_rate(spec: LoadSpec) -> LoadSpec {
    let stage = Stage { duration_ns: LENGTH_NS, from_per_s: RATE_PER_S, to_per_s: RATE_PER_S };
    let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage] };
    LoadSpec { schedule, ..many_users(spec) }
}

/// `run` has checked that all requests are accounted for. Within a row, surplus bytes behind an
/// answer leave that one right and are read as the next: each row that came to its end has a wrong
/// answer.
fn check(counted: Counted, in_rows: bool, result: &LoadResult) {
    let Measured { requests, errors, .. } = &result.measured;
    let wrong = errors.get(&ErrorKind::Malformed).copied().unwrap_or(0);
    let most = match counted {
        Counted::Good => requests.sent,
        _ if in_rows && is_surplus(counted) => {
            u64::from(ROW - 1) * (wrong + u64::from(CONNECTIONS))
        }
        _ => 0,
    };
    assert!(requests.good <= most, "{requests:?} {errors:?}");
}
