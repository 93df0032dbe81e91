//! All lanes of all slices together are the whole load: tested on the iterators that the workers
//! use.
use pippin_model::load::{Arrivals, Connections, Part, Request, Schedule, StopRule};
use pippin_model::text::units::Spread;
use proptest::prelude::*;

use super::*;

fn load(schedule: Schedule, connections: u32, requests: Option<u64>, templates: usize) -> LoadSpec {
    LoadSpec {
        requests: vec![Request::get("/", "x"); templates].into(),
        schedule,
        connections: Connections::kept(connections),
        stop: StopRule { duration_ns: None, requests },
        seed: 5,
        ..LoadSpec::default()
    }
}

/// The lanes of a load that is cut into equal slices.
fn lanes(spec: &LoadSpec, of: u32) -> Vec<(LoadSpec, Lane)> {
    lanes_of(spec, &vec![(1, spec.threads); of as usize])
}

/// The lanes of a load that is cut into slices of these widths and numbers of threads.
fn lanes_of(spec: &LoadSpec, slices: &[(u32, u32)]) -> Vec<(LoadSpec, Lane)> {
    let of = slices.iter().map(|(width, _)| width).sum();
    let mut nth = 0;
    let mut lanes = Vec::new();
    for &(width, threads) in slices {
        let slice = LoadSpec { threads, slice: Part { nth, width, of }, ..spec.clone() };
        lanes.extend((0..threads).map(|thread| (slice.clone(), Lane::new(&slice, thread))));
        nth += width;
    }
    lanes
}

/// Everything that an open loop's lane sends: when, and which template.
fn arrivals((spec, lane): &(LoadSpec, Lane)) -> Vec<(u64, u32)> {
    let Users::Open(mut open) = Users::new(spec, lane) else { unreachable!() };
    open.start = 0;
    std::iter::from_fn(|| Some((open.next_due()?, open.take()))).collect()
}

fn all_arrivals(lanes: &[(LoadSpec, Lane)]) -> Vec<(u64, u32)> {
    let mut all: Vec<_> = lanes.iter().flat_map(arrivals).collect();
    all.sort_unstable();
    all
}

/// Up to 8 agents: the width of each one's slice, and its threads.
fn slices() -> impl Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((1_u32..20, 1_u32..5), 1..9)
}

/// When the devices of a lane are born.
fn births((spec, lane): &(LoadSpec, Lane)) -> Vec<u64> {
    let Users::Devices(mut devices) = Users::new(spec, lane) else { unreachable!() };
    devices.start = 0;
    let born: Vec<u64> = std::iter::from_fn(|| {
        let due = devices.next_birth()?;
        devices.born += 1;
        Some(due)
    })
    .collect();
    assert_eq!(born.len(), lane.users(spec) as usize, "each device has a slot");
    born
}

proptest! {
    #[test]
    fn slices_of_an_open_loop_are_the_whole_schedule(
        slices in slices(), rate in 1.0..3_000.0, end in 0.0..3_000.0, templates in 1_usize..6,
    ) {
        let stage = Stage { duration_ns: 700_000_000, from_per_s: rate, to_per_s: end };
        let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage, stage] };
        let spec = load(schedule, 100, None, templates);
        let sliced = all_arrivals(&lanes_of(&spec, &slices));
        prop_assert_eq!(sliced, all_arrivals(&lanes(&spec, 1)));
    }

    /// Stages that climb, fall, stay, jump and rest.
    #[test]
    fn slices_of_stages_are_the_whole_schedule(
        slices in slices(),
        stages in proptest::collection::vec((1_u64..400, 0.0..2_000.0, 0.0..2_000.0), 1..6),
        templates in 1_usize..4,
    ) {
        let stages: Vec<Stage> = stages
            .into_iter()
            .map(|(ms, from_per_s, to_per_s)| Stage {
                duration_ns: ms * 1_000_000,
                from_per_s: if from_per_s < 500.0 { 0.0 } else { from_per_s },
                to_per_s: if to_per_s < 500.0 { 0.0 } else { to_per_s },
            })
            .collect();
        let due: f64 = stages
            .iter()
            .map(|it| (it.from_per_s + it.to_per_s) / 2.0 * it.duration_ns as f64 / 1e9)
            .sum();
        let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages };
        let spec = load(schedule, 100, None, templates);
        let whole = all_arrivals(&lanes(&spec, 1));
        prop_assert!((whole.len() as f64 - due).abs() <= 1.001, "{} for {due}", whole.len());
        prop_assert_eq!(all_arrivals(&lanes_of(&spec, &slices)), whole);
    }

    #[test]
    fn slices_of_poisson_arrivals_have_the_whole_rate(slices in slices(), seed in 0_u64..1_000) {
        let stage = Stage { duration_ns: 1_000_000_000, from_per_s: 4e4, to_per_s: 4e4 };
        let schedule = Schedule::Open { arrivals: Arrivals::Poisson, stages: vec![stage] };
        let spec = LoadSpec { seed, ..load(schedule, 100, None, 1) };
        let lanes = lanes_of(&spec, &slices);
        let seen = all_arrivals(&lanes).len() as f64;
        // Six standard deviations.
        prop_assert!((seen - 4e4).abs() < 6.0 * 200.0, "{}", seen);
        let mut streams: Vec<u32> = lanes.iter().map(|(_, lane)| lane.stream()).collect();
        streams.sort_unstable();
        streams.dedup();
        prop_assert_eq!(streams.len(), lanes.len(), "each lane draws numbers of its own");
    }

    #[test]
    fn slices_of_devices_are_all_devices(
        slices in slices(), devices in 40_u32..400, ramp_up_ns in 0..5_000_000_000_u64,
    ) {
        let think = Spread { mean_ns: 1, jitter: 0.0 };
        let schedule = Schedule::Devices {
            devices, requests_per_device: 3, think, ramp_up_ns, sustain_ns: 1, ramp_down_ns: 1,
        };
        let spec = load(schedule, 1, None, 1);
        let mut born: Vec<u64> = lanes_of(&spec, &slices).iter().flat_map(births).collect();
        born.sort_unstable();
        prop_assert_eq!(born, births(&lanes(&spec, 1)[0]));
    }

    #[test]
    fn slices_have_every_connection_and_every_request_once(
        slices in slices(), connections in 64_u32..3_000, requests in 1_u64..1_000_000,
    ) {
        let schedule = Schedule::Closed { think: None };
        let spec = load(schedule, connections, Some(requests), 1);
        let lanes = lanes_of(&spec, &slices);
        let mut next = 0;
        for (spec, lane) in &lanes {
            prop_assert_eq!(lane.before(u64::from(connections)), next);
            next += u64::from(lane.users(spec));
        }
        prop_assert_eq!(next, u64::from(connections));
        prop_assert_eq!(lanes.iter().map(|(spec, lane)| lane.quota(spec)).sum::<u64>(), requests);
    }
}

#[test]
fn constant_arrivals_take_the_templates_in_turn_on_any_number_of_lanes() {
    let stage = Stage { duration_ns: 1_000_000_000, from_per_s: 100.0, to_per_s: 100.0 };
    let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage] };
    let spec = LoadSpec { threads: 3, ..load(schedule, 10, None, 7) };
    for of in [1, 2, 5] {
        let templates: Vec<u32> =
            all_arrivals(&lanes(&spec, of)).into_iter().map(|(_, t)| t).collect();
        let expected: Vec<u32> = (0..100).map(|n| n % 7).collect();
        assert_eq!(templates, expected);
    }
}
