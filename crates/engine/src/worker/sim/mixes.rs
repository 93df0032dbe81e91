//! Several scenarios in one load: who goes through which, whoever counts.
use pippin_model::load::{LoadSpec, Part, Request, Scenario, Schedule};
use pippin_model::result::StepMeasured;
use pippin_model::scenario::data::Walk;
use pippin_model::scenario::file::Written;
use pippin_model::scenario::mix::{Chooser, Share};
use pippin_model::schedule::users;
use pippin_model::text::file::parse_toml;
use std::collections::BTreeMap;
use std::path::Path;

use super::framing::Framing;
use super::times::{assert_ms, counts, errors, open};
use super::world::Script;
use super::{MS, Played, closed, play_over};
use crate::protocol::http1::Varied;

/// The seed of these loads.
const SEED: u64 = 1;

/// One page, two, and three.
const STEPS: [u32; 3] = [1, 2, 3];

/// `browse`, `search` and `buy` with one, two and three steps, and these shares.
fn mix(shares: [Share; 3]) -> (Vec<Request>, Scenario) {
    let mut requests = Vec::new();
    let mut one = |((name, share), steps): ((&str, Share), u32)| {
        let text: String =
            (0..steps).map(|nth| format!("[[steps]]\nget = \"/{name}/{nth}\"\n")).collect();
        let written: Written = parse_toml(Path::new("walk.toml"), &text).unwrap();
        let (own, scenario) = written.resolve(Path::new("")).unwrap();
        requests.extend(own.into_iter().map(|own| Request { host: "sim".into(), ..own }));
        (name.to_string(), share, scenario)
    };
    let ways = ["browse", "search", "buy"].into_iter().zip(shares).zip(STEPS);
    let scenario = Scenario::mixed(ways.map(&mut one).collect());
    (requests, scenario)
}

/// Applies a load of them; each answer takes 10 ms. All requests are kept one by one.
fn play(spec: LoadSpec, shares: [Share; 3]) -> (Played, Scenario) {
    let (requests, scenario) = mix(shares);
    let spec = LoadSpec {
        requests: requests.into(),
        scenario: Some(scenario.clone()),
        samples: 100_000,
        seed: SEED,
        ..spec
    };
    (play_over::<Varied>(&spec, Script::after(10 * MS), Framing::Heads), scenario)
}

fn weights() -> [Share; 3] {
    [70, 25, 5].map(Share::Weight)
}

/// Right answers to each step of each scenario.
fn good(steps: &[StepMeasured]) -> Vec<u64> {
    steps.iter().map(|step| step.good).collect()
}

/// What `users` users come to who send `each` requests one after the other, worked out from the seed.
fn expected(scenario: &Scenario, seed: u64, users: u64, each: u32) -> Vec<u64> {
    let chooser = Chooser::from_scenario(scenario);
    let parts = scenario.parts();
    let mut counts = vec![0; scenario.steps.len()];
    for user in 0..users {
        let mut steps = (0..).flat_map(|nth| {
            let part = &parts[chooser.way(Walk { user, users, nth }, seed) as usize];
            part.first..part.first + part.steps.len()
        });
        (0..each).for_each(|_| counts[steps.next().unwrap()] += 1);
    }
    counts
}

/// Four users who send 200 requests each. The numbers are those of the seed: of another seed they are
/// others.
#[test]
fn walks_are_divided_by_weight_as_the_seed_says() {
    let (played, scenario) = play(closed(4, 2_005), weights());
    assert_eq!(errors(&played), []);
    assert_eq!(counts(&played), [804, 804, 800, 0, 4, 0]);
    let steps = &played.measured().steps;
    assert_eq!(good(steps), expected(&scenario, SEED, 4, 200));
    assert_ne!(good(steps), expected(&scenario, SEED + 1, 4, 200));
    let names: Vec<_> = steps.iter().map(|step| step.scenario.as_deref()).collect();
    let [browse, search, buy] = ["browse", "search", "buy"].map(Some);
    assert_eq!(names, [browse, search, search, buy, buy, buy]);
    // As another program draws them from this seed: of 587 walks, 70, 25 and 5 % are 411, 147 and 29.
    assert_eq!(good(steps), [402, 155, 153, 30, 30, 30]);
}

/// Two generators with half of the users each come to what one comes to.
#[test]
fn parts_of_a_load_walk_as_the_whole() {
    let of = |slice| {
        let (played, _) = play(LoadSpec { slice, ..closed(4, 2_005) }, weights());
        good(&played.measured().steps)
    };
    let halves = [0, 1].map(|nth| of(Part { nth, width: 1, of: 2 }));
    let sum: Vec<u64> = halves[0].iter().zip(&halves[1]).map(|(one, other)| one + other).collect();
    assert_eq!(sum, of(Part::WHOLE));
}

/// 100 walks arrive each second for 10 s, and a walk takes 10 to 30 ms: each begins when it is due,
/// and the n-th is the one that the seed says, whatever connection it has.
#[test]
fn a_rate_of_walks_is_held_and_divided() {
    let (played, scenario) = play(open(10, 100.0, 10_000), weights());
    assert_eq!(errors(&played), []);
    let chooser = Chooser::from_scenario(&scenario);
    let way = |user| chooser.way(Walk { user, users: 1, nth: 0 }, SEED) as usize;
    let ways: Vec<usize> = (0..1_000).map(way).collect();
    let count = |way: usize| ways.iter().filter(|drawn| **drawn == way).count();
    assert_eq!([count(0), count(1), count(2)], [718, 237, 45], "as another program draws them");
    let names = ["browse: GET /browse/0", "search: GET /search/0", "buy: GET /buy/0"];
    let sample = played.sample.as_ref().unwrap();
    let of = |nth: u32| sample.names[nth as usize].as_str();
    let first = sample.requests.iter().map(|one| one.intended_unix_ns).min().unwrap();
    let arrived: BTreeMap<u64, &str> = sample
        .requests
        .iter()
        .filter(|one| names.contains(&of(one.request)))
        .map(|one| ((one.intended_unix_ns - first) / MS, of(one.request)))
        .collect();
    let due: BTreeMap<u64, &str> = (0..).zip(&ways).map(|(n, way)| (n * 10, names[*way])).collect();
    // The last ones are under way at the end, and not in the list.
    let answered = due.into_iter().take(arrived.len()).collect();
    assert_eq!(arrived, answered);
    assert!(arrived.len() >= 999, "{}", arrived.len());
    for steps in played.measured().walks() {
        assert_ms(&steps[0].response_time, vec![10; steps[0].good as usize]);
    }
    assert_eq!(counts(&played)[5], 0, "none is unsent");
}

/// The scenarios that each user has gone through.
fn by_user(played: &Played) -> BTreeMap<u32, Vec<String>> {
    let sample = played.sample.as_ref().unwrap();
    let mut all = BTreeMap::<u32, Vec<String>>::new();
    for one in sample.requests.iter() {
        let name = sample.names[one.request as usize].split(':').next().unwrap().to_string();
        let own = all.entry(one.user).or_default();
        if !own.contains(&name) {
            own.push(name);
        }
    }
    all
}

/// Seven users browse, two search and one buys, from the first request to the last.
#[test]
fn users_are_held_by_scenario() {
    let (played, _) = play(closed(10, 605), [7, 2, 1].map(Share::Users));
    assert_eq!(errors(&played), []);
    let by_user = by_user(&played);
    assert!(by_user.values().all(|names| names.len() == 1), "{by_user:?}");
    let users = |name: &str| by_user.values().filter(|names| names[0] == name).count();
    assert_eq!(["browse", "search", "buy"].map(users), [7, 2, 1]);
    // Each user has 60 answers.
    assert_eq!(good(&played.measured().steps), [420, 60, 60, 20, 20, 20]);
}

/// Of four users that come, one after the other, the first two are a whole mix of `users` too.
#[test]
fn users_that_come_and_go_are_divided_at_each_level() {
    let stages = users::parse("2@0s,2@300ms,4@0s,4@300ms,0@0s,0@100ms").unwrap();
    let schedule = Schedule::Users { think: None, stages: stages.clone() };
    let spec = LoadSpec { schedule, ..closed(4, users::length_ns(&stages) / MS) };
    let (played, _) = play(spec.clone(), [2, 1, 1].map(Share::Users));
    assert_eq!(errors(&played), []);
    let ways: Vec<String> = by_user(&played).into_values().map(|names| names.join("+")).collect();
    assert_eq!(ways, ["browse", "search", "buy", "browse"]);
    let (played, _) = play(spec, weights());
    assert_eq!(errors(&played), []);
    // Two for 600 ms, and two for 300 ms; who goes finishes its walk.
    let all: u64 = good(&played.measured().steps).iter().sum();
    assert!((180..=188).contains(&all), "{all}");
}
