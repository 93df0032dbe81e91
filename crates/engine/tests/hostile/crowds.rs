//! Rows of the table before many connections at once, with the counts that hold whatever happens
//! when.
use libtest_mimic::Trial;
use pippin_model::load_result::LoadResult;
use pippin_model::load_spec::{Arrivals, Connections, LoadSpec, Schedule, Stage, StopRule};
use pippin_reference::hostile::{Counted, Speaks};

use crate::support::{MS, run};
use crate::{Case, trial};

const CONNECTIONS: u32 = 16;
const LENGTH_NS: u64 = 400 * MS;
const RATE_PER_S: f64 = 500.0;

type Crowd = fn(LoadSpec) -> LoadSpec;
const CROWDS: [(&str, Crowd); 3] =
    [("many users", many_users), ("rows of requests", rows_of_requests), ("a rate", a_rate)];

pub fn of(case: Case) -> Vec<Trial> {
    let applies = |name| name != "rows of requests" || case.behaviour.speaks == Speaks::Http1;
    CROWDS
        .into_iter()
        .filter(|(name, _)| applies(*name))
        .map(|(name, crowd)| {
            trial(format!("{name}::{}", case.name()), move || {
                let server = case.serve();
                check(case.behaviour.counted, &run(&crowd(case.load(&server))));
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
    LoadSpec { connections: Connections { pipeline: 4, ..spec.connections }, ..spec }
}

fn a_rate(spec: LoadSpec) -> LoadSpec {
    let stage = Stage { duration_ns: LENGTH_NS, from_per_s: RATE_PER_S, to_per_s: RATE_PER_S };
    let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage] };
    LoadSpec { schedule, ..many_users(spec) }
}

/// `run` has checked that all requests are accounted for.
fn check(counted: Counted, result: &LoadResult) {
    let good = result.measured.requests.good;
    let seen = format!("{:?} {:?}", result.measured.requests, result.measured.errors);
    assert!(good == 0 || counted == Counted::Good, "{seen}");
}
