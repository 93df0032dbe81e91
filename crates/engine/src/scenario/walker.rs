//! One user: where its walk through the steps begins, and what it has with it.
use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;
use pippin_model::scenario::data::{Variable, Walk};
use pippin_model::scenario::mix::Chooser;
use pippin_model::workload::draw::Draw;

use super::cookies::Jar;
use super::redirection::{Following, Hop};
use super::script::{self, Script};
use super::{Fault, WholeAnswer};
use crate::pace::Fate;
use crate::pace::walks::Walks;

/// A user. A walk begins at the first step with only the values of the data. It ends after the last
/// step or at the first error.
#[derive(Debug)]
pub(crate) struct Walker {
    /// The value in each place.
    pub values: Vec<String>,
    pub cookies: Jar,
    /// The target of the last request of its walk; empty before the first.
    pub path: String,
    /// The target of the last request of its walk with a good answer, to which references relate. A
    /// request that is sent again has the same.
    pub base: String,
    /// The request that follows a redirection, in place of the step's own.
    pub hop: Option<Hop>,
    /// What the requests of the present step have taken so far that were redirected.
    redirected: Taken,
    walk: Walk,
    draw: Draw,
}

/// The times of requests, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub service_ns: u64,
    pub response_ns: u64,
}

/// What is a scenario's own.
#[derive(Debug)]
struct Own {
    variables: Vec<Variable>,
    keeps_cookies: bool,
}

/// The users of a worker; none where nothing varies.
#[derive(Debug, Default)]
pub(crate) struct Walkers {
    all: Vec<Walker>,
    scripts: Vec<Script>,
    walks: Walks,
    /// Which scenario each walk goes through, and what is known of each.
    chooser: Chooser,
    ways: Vec<Own>,
    /// `None` if redirections are answers like any other.
    following: Option<Following>,
    seed: u64,
}

impl Walkers {
    /// `first`: the number of the first of these users in the whole load, which has `all` of them.
    ///
    /// # Errors
    /// What is wrong with the scenario, which was checked before.
    pub fn new(spec: &LoadSpec, first: u64, count: u32, all: u32) -> Result<Self, String> {
        let Some(scenario) = &spec.scenario else { return Ok(Self::default()) };
        let parts = scenario.parts();
        // The values of each scenario begin at the first place: a walk has no others.
        let places = parts.iter().map(|part| part.names().len()).max().unwrap_or(0);
        // Users of an open loop begin when they arrive.
        let arrive = spec.schedule.arrivals().is_some();
        let walker = |user| {
            let walk = Walk { user, users: u64::from(all), nth: 0 };
            Walker {
                values: vec![String::new(); places],
                cookies: Jar::default(),
                path: String::new(),
                base: String::new(),
                hop: None,
                redirected: Taken::default(),
                walk,
                draw: walk.draw(spec.seed),
            }
        };
        let mut walkers = Self {
            all: (first..first + u64::from(count)).map(walker).collect(),
            scripts: script::all(scenario).map_err(|(_, why)| why)?,
            walks: Walks::new(
                scenario.steps.iter().map(|step| step.think).collect(),
                parts.iter().map(|part| part.steps.len() as u32),
                count,
                arrive,
            ),
            chooser: Chooser::from_scenario(scenario),
            ways: parts
                .iter()
                .map(|part| Own { variables: part.variables.to_vec(), keeps_cookies: part.cookies })
                .collect(),
            following: Following::from_spec(spec),
            seed: spec.seed,
        };
        if !arrive {
            (0..count).for_each(|slot| _ = walkers.fill(slot));
        }
        Ok(walkers)
    }

    /// The user of a slot, who is about to take a step.
    pub fn at_step(&mut self, slot: u32) -> &mut Walker {
        if !self.walks.is_under_way(slot) {
            self.all[slot as usize].walk.nth += 1;
            self.fill(slot);
        }
        &mut self.all[slot as usize]
    }

    /// A user arrives in a slot that was free: it is the one with this number in the whole load,
    /// and walks once. So the n-th arrival has the n-th row, whatever slot it gets.
    /// Returns its first step.
    pub fn begin(&mut self, slot: u32, arrival: u64) -> u32 {
        self.all[slot as usize].walk = Walk { user: arrival, users: 1, nth: 0 };
        self.fill(slot)
    }

    /// The first step of the user of a slot: of its walk, if one has begun, or of the next one.
    pub fn first_step(&self, slot: u32) -> u32 {
        if self.walks.is_under_way(slot) {
            return self.walks.first_step(self.walks.way(slot));
        }
        let Walk { nth, .. } = self.all[slot as usize].walk;
        let next = Walk { nth: nth + 1, ..self.all[slot as usize].walk };
        self.walks.first_step(self.chooser.way(next, self.seed))
    }

    /// Whether the walk of the user of a slot begins with this step.
    pub fn is_first(&self, slot: u32, step: u32) -> bool {
        self.walks.is_first(slot, step)
    }

    /// Whether the user has steps left in its walk.
    pub fn is_walking(&self, slot: u32) -> bool {
        self.walks.is_under_way(slot)
    }

    /// A walk begins: with new values, and with nothing of the walk before. Returns its first step.
    fn fill(&mut self, slot: u32) -> u32 {
        let walker = &mut self.all[slot as usize];
        let way = self.chooser.way(walker.walk, self.seed);
        let first_step = self.walks.begin(slot, way);
        walker.draw = walker.walk.draw(self.seed);
        walker.cookies.clear();
        walker.path.clear();
        walker.base.clear();
        walker.end_chain();
        let mut from = 0;
        for variable in &self.ways[way as usize].variables {
            let to = from + variable.width();
            variable.fill(walker.walk, &mut walker.draw, &mut walker.values[from..to]);
            from = to;
        }
        walker.values[from..].iter_mut().for_each(String::clear);
        first_step
    }

    /// Takes in the answer to a step.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn take_in(
        &mut self,
        slot: u32,
        step: u32,
        kept: &WholeAnswer,
        body_bytes: u64,
    ) -> Result<(), &Fault> {
        self.take_cookies(slot, kept);
        let walker = &mut self.all[slot as usize];
        self.scripts[step as usize].judge(kept, body_bytes, &mut walker.values)
    }

    fn take_cookies(&mut self, slot: u32, kept: &WholeAnswer) {
        let walker = &mut self.all[slot as usize];
        if self.ways[self.walks.way(slot) as usize].keeps_cookies {
            let answer = pippin_model::scenario::find::Answer::new(&kept.head, &[]);
            for line in answer.headers("set-cookie") {
                walker.cookies.take(line, &walker.path);
            }
        }
    }

    /// Takes in an answer that sends the user of a slot elsewhere; `None` if it is an answer like any
    /// other. The next request of the user follows it, and belongs to the same step.
    ///
    /// # Errors
    /// Why it cannot be followed.
    pub fn redirected(
        &mut self,
        slot: u32,
        step: u32,
        status: u16,
        kept: &WholeAnswer,
    ) -> Option<Result<(), Fault>> {
        let following = self.following.as_ref()?;
        let walker = &self.all[slot as usize];
        let before = (walker.hop.as_ref(), walker.path.as_str());
        let hop = following.after(step, before, status, kept)?;
        Some(match hop {
            Err(what) => Err(Fault { kind: ErrorKind::Redirect, what }),
            Ok(hop) => {
                self.take_cookies(slot, kept);
                self.all[slot as usize].hop = Some(hop);
                Ok(())
            }
        })
    }

    /// A redirected request of the user of a slot has taken so long.
    pub fn lengthen_chain(&mut self, slot: u32, taken: Taken) {
        let chain = &mut self.all[slot as usize].redirected;
        chain.service_ns += taken.service_ns;
        chain.response_ns += taken.response_ns;
    }

    /// What the requests of the present step have taken so far that were redirected.
    pub fn chain(&self, slot: u32) -> Taken {
        self.all[slot as usize].redirected
    }

    /// Whether the next request of the user of a slot follows a redirection.
    pub fn is_redirected(&self, slot: u32) -> bool {
        self.all[slot as usize].hop.is_some()
    }

    /// A step is over, successful or not. Returns the next step: of this walk, or the first of the
    /// next one.
    pub fn after(&mut self, slot: u32, step: u32, is_good: bool) -> u32 {
        let walker = &mut self.all[slot as usize];
        walker.base.clone_from(&walker.path);
        walker.end_chain();
        self.walks.after(slot, step, is_good).unwrap_or_else(|| self.first_step(slot))
    }

    /// The user of a slot is replaced by another one. Returns its first step.
    pub fn replace(&mut self, slot: u32) -> u32 {
        // A user who has not begun need not be replaced.
        if !self.all[slot as usize].path.is_empty() {
            self.walks.end(slot);
        }
        self.first_step(slot)
    }

    /// What its last step leaves the user with. Call it once after each step.
    pub fn fate(&mut self, slot: u32) -> Fate {
        let draw = &mut self.all[slot as usize].draw;
        self.walks.fate(slot, || draw.bits())
    }

    /// How long the user waits before its first step, in nanoseconds; `None` if no step thinks.
    pub fn first_wait_ns(&mut self, slot: u32) -> Option<u64> {
        let draw = &mut self.all[slot as usize].draw;
        self.walks.first_wait_ns(slot, || draw.bits())
    }
}

impl Walker {
    fn end_chain(&mut self) {
        self.hop = None;
        self.redirected = Taken::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::{Request, Scenario};
    use pippin_model::scenario::data::Values;
    use pippin_model::scenario::find::Source;
    use pippin_model::scenario::{Capture, Step};

    /// Users of two steps: `name` is theirs from the beginning, and `token` is captured.
    fn walkers() -> Walkers {
        let capture = Capture { name: "token".into(), from: Source::Header("X".into()) };
        let step = Step { name: "s".into(), captures: vec![capture], ..Step::default() };
        let name = Variable { name: "name".into(), values: Values::OneOf(vec!["ana".into()]) };
        let scenario = Scenario {
            variables: vec![name],
            steps: vec![step.clone(), step],
            ..Scenario::default()
        };
        let spec = LoadSpec {
            requests: vec![Request::get("/a", "h"), Request::get("/b", "h")].into(),
            scenario: Some(scenario),
            ..LoadSpec::default()
        };
        Walkers::new(&spec, 0, 1, 1).unwrap()
    }

    fn take_token(walkers: &mut Walkers) {
        let head = b"HTTP/1.1 200 OK\r\nX: t1\r\n\r\n".to_vec();
        walkers.take_in(0, 0, &WholeAnswer { head, body: Vec::new() }, 0).unwrap();
    }

    #[test]
    fn what_was_captured_is_kept_for_the_walk_and_not_for_the_next() {
        let mut walkers = walkers();
        assert_eq!(walkers.at_step(0).values, ["ana", ""]);
        take_token(&mut walkers);
        walkers.after(0, 0, true);
        assert_eq!(walkers.at_step(0).values, ["ana", "t1"]);
        walkers.after(0, 1, true);
        assert_eq!(walkers.at_step(0).values, ["ana", ""]);
    }

    /// The second scenario of a mix has another value by the same name, and no token.
    #[test]
    fn a_walk_has_the_values_of_its_own_scenario() {
        use pippin_model::scenario::mix::Share;
        let part = |text: &str, share| {
            let values = Values::OneOf(vec![text.into()]);
            let scenario = Scenario {
                variables: vec![Variable { name: "name".into(), values }],
                steps: vec![Step { name: "s".into(), ..Step::default() }],
                ..Scenario::default()
            };
            (text.to_string(), Share::Users(share), scenario)
        };
        let scenario = Scenario::mixed(vec![part("ana", 1), part("bo", 1)]);
        let spec = LoadSpec {
            requests: vec![Request::get("/a", "h"), Request::get("/b", "h")].into(),
            scenario: Some(scenario),
            ..LoadSpec::default()
        };
        let mut walkers = Walkers::new(&spec, 0, 2, 2).unwrap();
        assert_eq!([walkers.first_step(0), walkers.first_step(1)], [0, 1]);
        for nth in 0..3 {
            assert_eq!(walkers.at_step(0).values, ["ana"], "walk {nth}");
            assert_eq!(walkers.at_step(1).values, ["bo"], "walk {nth}");
            assert_eq!([walkers.after(0, 0, true), walkers.after(1, 1, nth == 1)], [0, 1]);
        }
    }

    #[test]
    fn who_arrives_has_nothing_of_who_was_there_before() {
        let mut walkers = walkers();
        walkers.begin(0, 7);
        take_token(&mut walkers);
        walkers.begin(0, 8);
        assert_eq!(walkers.at_step(0).values, ["ana", ""]);
    }
}
