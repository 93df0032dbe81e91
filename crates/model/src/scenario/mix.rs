//! Several scenarios in one load: which of them each walk goes through (docs/scenarios.md).
//!
//! The steps of all of them stand one after the other in one [`Scenario`], and so do the sources of
//! their values. A [`Way`] says which are whose. One scenario alone has no ways.
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::data::{Variable, Walk};
use super::{Scenario, Step, file};
use crate::load::Request;
use crate::text::file::FileError;

/// The part of a load that a scenario has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Of all walks, by its part of all weights: each walk draws its scenario from the seed.
    Weight(u32),
    /// So many users, who walk through no other one.
    Users(u32),
}

impl Share {
    /// The highest weight.
    pub const MOST_WEIGHT: u32 = 1_000_000;
    /// The most users.
    pub const MOST_USERS: u32 = 1 << 24;

    /// The number alone.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Weight(number) | Self::Users(number) => number,
        }
    }
}

/// A scenario of a mix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// Its name in tables.
    pub name: String,
    /// Its part of the load.
    pub share: Share,
    /// Whether its users keep cookies.
    pub cookies: bool,
    /// How many of the sources of values are its own.
    pub variables: u32,
    /// How many of the steps are its own.
    pub steps: u32,
}

/// One scenario of a load: the only one, or one of a mix.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// Its name in a mix; `None` alone.
    pub name: Option<&'a str>,
    /// Whether its users keep cookies.
    pub cookies: bool,
    /// The values that a user has before its first step.
    pub variables: &'a [Variable],
    /// Its steps.
    pub steps: &'a [Step],
    /// The place of its first step among the steps of all.
    pub first: usize,
}

impl Part<'_> {
    /// The names of all values, each once: those a user has from the beginning, then those it
    /// captures.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.variables.iter().flat_map(Variable::names).collect();
        for capture in self.steps.iter().flat_map(|step| &step.captures) {
            if !names.contains(&capture.name) {
                names.push(capture.name.clone());
            }
        }
        names
    }

    /// The values that a walk begins with, by name.
    #[must_use]
    pub fn drawn(&self, walk: Walk, seed: u64) -> BTreeMap<String, String> {
        let mut draw = walk.draw(seed);
        let values = |variable: &Variable| {
            let mut places = vec![String::new(); variable.width()];
            variable.fill(walk, &mut draw, &mut places);
            variable.names().into_iter().zip(places).collect::<Vec<_>>()
        };
        self.variables.iter().flat_map(values).collect()
    }

    /// This scenario without the others.
    #[must_use]
    pub fn alone(&self) -> Scenario {
        Scenario {
            cookies: self.cookies,
            variables: self.variables.to_vec(),
            steps: self.steps.to_vec(),
            mix: Vec::new(),
        }
    }
}

impl Scenario {
    /// Scenarios with their names and shares in one.
    #[must_use]
    pub fn mixed(scenarios: Vec<(String, Share, Self)>) -> Self {
        let mut all = Self::default();
        for (name, share, one) in scenarios {
            all.mix.push(Way {
                name,
                share,
                cookies: one.cookies,
                variables: one.variables.len() as u32,
                steps: one.steps.len() as u32,
            });
            all.cookies |= one.cookies;
            all.variables.extend(one.variables);
            all.steps.extend(one.steps);
        }
        all
    }

    /// The scenarios of this load: all of a mix, or the only one.
    #[must_use]
    pub fn parts(&self) -> Vec<Part<'_>> {
        let Self { cookies, variables, steps, mix } = self;
        if mix.is_empty() {
            return vec![Part { name: None, cookies: *cookies, variables, steps, first: 0 }];
        }
        let (mut variables, mut steps) = (variables.as_slice(), steps.as_slice());
        let mut first = 0;
        let mut parts = Vec::new();
        for Way { name, cookies, variables: width, steps: length, .. } in mix {
            let (own_variables, own_steps);
            (own_variables, variables) = cut(variables, *width);
            (own_steps, steps) = cut(steps, *length);
            parts.push(Part {
                name: Some(name),
                cookies: *cookies,
                variables: own_variables,
                steps: own_steps,
                first,
            });
            first += own_steps.len();
        }
        parts
    }

    /// Whether the ways of a mix are in keeping with its steps and values: each has a step and a
    /// share, and together they have all of them.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let sum = |of: fn(&Way) -> u32| self.mix.iter().map(|way| u64::from(of(way))).sum::<u64>();
        self.mix.is_empty()
            || (self.mix.iter().all(|way| way.steps > 0 && way.share.number() > 0)
                && sum(|way| way.steps) == self.steps.len() as u64
                && sum(|way| way.variables) == self.variables.len() as u64
                && (self.users().is_some()
                    || self.mix.iter().all(|way| matches!(way.share, Share::Weight(_)))))
    }

    /// How many users the scenarios have together, if each has a number of its own.
    #[must_use]
    pub fn users(&self) -> Option<u64> {
        let users = self.mix.iter().map(|way| match way.share {
            Share::Users(users) => Some(u64::from(users)),
            Share::Weight(_) => None,
        });
        if self.mix.is_empty() { None } else { users.sum() }
    }

    /// How many steps a walk has; in a mix on average, by the shares. A walk that ends early has
    /// fewer.
    #[must_use]
    pub fn mean_steps(&self) -> f64 {
        if self.mix.is_empty() {
            return self.steps.len() as f64;
        }
        let shares: f64 = self.mix.iter().map(|way| f64::from(way.share.number())).sum();
        let steps = self.mix.iter().map(|way| f64::from(way.share.number()) * f64::from(way.steps));
        steps.sum::<f64>() / shares
    }

    /// The name of a step in lists that hold those of several scenarios: `browse: home`.
    #[must_use]
    pub fn titles(&self) -> Vec<String> {
        let of_part = |part: Part<'_>| -> Vec<String> {
            part.steps.iter().map(|step| title(part.name, &step.name)).collect()
        };
        self.parts().into_iter().flat_map(of_part).collect()
    }
}

/// A step with the name of its scenario, if that is one of several: `browse: home`.
#[must_use]
pub fn title(scenario: Option<&str>, step: &str) -> String {
    scenario.map_or_else(|| step.to_string(), |scenario| format!("{scenario}: {step}"))
}

/// The first so many, or all if there are fewer; and the rest.
fn cut<T>(all: &[T], count: u32) -> (&[T], &[T]) {
    all.split_at(all.len().min(count as usize))
}

/// Which scenario each walk of a load goes through. It follows from the seed, the number of the user
/// and that of its walk, so it is the same with any number of threads and generators.
#[derive(Debug, Clone, Default)]
pub enum Chooser {
    /// There is only one.
    #[default]
    One,
    /// The weights, each with those before it.
    Weights(Vec<u64>),
    /// The scenario of each user: any number of the first ones is divided as nearly as all are.
    Users(Vec<u32>),
}

/// What tells the draw of a scenario from that of its values.
const OF_WAYS: u64 = 0x6D69_7865_645F_7761;

impl Chooser {
    /// Of the scenarios of a load.
    #[must_use]
    pub fn from_scenario(scenario: &Scenario) -> Self {
        let shares = || scenario.mix.iter().map(|way| way.share.number());
        if scenario.mix.is_empty() {
            return Self::One;
        }
        if scenario.users().is_none() {
            let mut sum = 0;
            let up_to = |weight: u32| {
                sum += u64::from(weight);
                sum
            };
            return Self::Weights(shares().map(up_to).collect());
        }
        // Each takes its turns as evenly as it can (a user in the middle of each of its stretches).
        let turn = |(way, users): (u32, u32)| {
            (0..users).map(move |nth| ((f64::from(nth) + 0.5) / f64::from(users), way))
        };
        let mut turns: Vec<(f64, u32)> = (0..).zip(shares()).flat_map(turn).collect();
        turns.sort_by(|one, other| one.0.total_cmp(&other.0));
        Self::Users(turns.into_iter().map(|(_, way)| way).collect())
    }

    /// The place of the scenario that a walk goes through.
    #[must_use]
    pub fn way(&self, walk: Walk, seed: u64) -> u32 {
        match self {
            Self::One => 0,
            Self::Weights(up_to) => {
                let all = up_to.last().copied().unwrap_or(1).max(1);
                let drawn = walk.draw(seed ^ OF_WAYS).below(all);
                up_to.partition_point(|sum| *sum <= drawn) as u32
            }
            Self::Users(ways) => ways[(walk.user % ways.len().max(1) as u64) as usize],
        }
    }
}

/// A scenario as people name it: `browse.toml`, `browse.toml:70`, `browse.toml:users=14`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its file.
    pub file: PathBuf,
    /// Its part of the load; `None` if nothing was said.
    pub share: Option<Share>,
}

impl Named {
    /// Reads it.
    ///
    /// # Errors
    /// If what is behind the file is no share; the message says what is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let alone = || Self { file: text.into(), share: None };
        let Some((file, share)) = text.rsplit_once(':').filter(|(file, _)| !file.is_empty()) else {
            return Ok(alone());
        };
        let (number, is_users) = match share.strip_prefix("users=") {
            Some(number) => (number, true),
            None => (share, false),
        };
        // A colon may be part of the path.
        if !is_users && !number.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Ok(alone());
        }
        let most = if is_users { Share::MOST_USERS } else { Share::MOST_WEIGHT };
        let number = number.parse().ok().filter(|number| (1..=most).contains(number));
        let Some(number) = number else {
            return Err(format!(
                "`{share}` is no share of the load; write a weight, as {file}:70 (1 to 1000000), or a number of users, as {file}:users=14"
            ));
        };
        let share = if is_users { Share::Users(number) } else { Share::Weight(number) };
        Ok(Self { file: file.into(), share: Some(share) })
    }

    /// As it is written, with this name for its file.
    #[must_use]
    pub fn text(&self, file: &str) -> String {
        match self.share {
            None => file.to_string(),
            Some(Share::Weight(weight)) => format!("{file}:{weight}"),
            Some(Share::Users(users)) => format!("{file}:users={users}"),
        }
    }

    /// Its name in tables: that of its file, without the ending.
    fn name(&self) -> String {
        self.file.file_stem().unwrap_or(self.file.as_os_str()).to_string_lossy().into_owned()
    }
}

/// The shares of scenarios that are mixed; without any said, all have the same.
///
/// # Errors
/// If they do not go together.
fn shares(named: &[Named]) -> Result<Vec<Share>, String> {
    let given: Vec<Share> = named.iter().filter_map(|one| one.share).collect();
    let users = given.iter().filter(|share| matches!(share, Share::Users(_))).count();
    match (named.len(), given.len()) {
        (_, 0) => Ok(vec![Share::Weight(1); named.len()]),
        (1, _) => Err("one scenario alone has the whole load: leave its share out".into()),
        (all, said) if all != said => {
            Err("some scenarios have a share and some have none: give one to each, or to none"
                .into())
        }
        _ if users != 0 && users != given.len() => Err(
            "some scenarios have a weight and some a number of users: give the same kind to each"
                .into(),
        ),
        _ => Ok(given),
    }
}

/// The names of scenarios that are mixed: those of their files, with the folder where two are alike.
fn names(named: &[Named]) -> Result<Vec<String>, String> {
    let short: Vec<String> = named.iter().map(Named::name).collect();
    let is_double = |name: &String| short.iter().filter(|other| *other == name).count() > 1;
    let whole = |(one, short): (&Named, &String)| {
        if is_double(short) { one.file.display().to_string() } else { short.clone() }
    };
    let names: Vec<String> = named.iter().zip(&short).map(whole).collect();
    match names.iter().collect::<BTreeSet<_>>().len() == names.len() {
        true => Ok(names),
        false => Err("a scenario is named twice: name it once, with the sum of its shares".into()),
    }
}

/// Why scenarios cannot be mixed.
#[derive(Debug)]
pub enum MixError {
    /// What is wrong with all of them together.
    Together(String),
    /// What is wrong with the file in this place.
    File(usize, FileError),
}

impl std::fmt::Display for MixError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Together(why) => f.write_str(why),
            Self::File(_, error) => error.fmt(f),
        }
    }
}

/// Reads the files of scenarios, relative to `folder`. Returns their requests (with an empty host),
/// and one scenario: the only one, or a mix.
///
/// # Errors
/// If they cannot be used. The message names the place and the fix.
pub fn read(named: &[Named], folder: &Path) -> Result<(Vec<Request>, Scenario), MixError> {
    let shares = shares(named).map_err(MixError::Together)?;
    let names = names(named).map_err(MixError::Together)?;
    let mut requests = Vec::new();
    let mut all = Vec::new();
    for (nth, ((one, share), name)) in named.iter().zip(shares).zip(names).enumerate() {
        let (written, own, scenario) =
            file::read(&folder.join(&one.file)).map_err(|error| MixError::File(nth, error))?;
        if written.follow > 0 && named.len() > 1 {
            return Err(MixError::Together(format!(
                "`{name}` has `follow`. A load of several scenarios has one setting for all: leave it out there, and write --follow, or `follow` beside `scenarios`"
            )));
        }
        requests.extend(own);
        all.push((name, share, scenario));
    }
    let scenario = if all.len() == 1 { all.swap_remove(0).2 } else { Scenario::mixed(all) };
    Ok((requests, scenario))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(shares: &[Share]) -> Scenario {
        let step = Step { name: "s".into(), ..Step::default() };
        let one = |(nth, share): (usize, &Share)| {
            let steps = vec![step.clone(); nth + 1];
            let alone = Scenario { cookies: nth == 1, steps, ..Scenario::default() };
            (format!("w{nth}"), *share, alone)
        };
        Scenario::mixed(shares.iter().enumerate().map(one).collect())
    }

    #[test]
    fn each_part_has_its_own_steps_and_together_they_are_all() {
        let mix = mix(&[Share::Weight(70), Share::Weight(25), Share::Weight(5)]);
        assert!(mix.is_whole());
        let parts = mix.parts();
        let of = parts.iter().map(|part| (part.name, part.first, part.steps.len(), part.cookies));
        assert_eq!(
            of.collect::<Vec<_>>(),
            [(Some("w0"), 0, 1, false), (Some("w1"), 1, 2, true), (Some("w2"), 3, 3, false)]
        );
        assert_eq!(mix.titles()[3], "w2: s");
        assert!((mix.mean_steps() - (0.7 + 2.0 * 0.25 + 3.0 * 0.05)).abs() < 1e-12);
        let mut broken = mix.clone();
        broken.mix[1].steps = 9;
        assert!(!broken.is_whole());
        assert_eq!(broken.parts()[2].steps.len(), 0, "nothing is read beyond the end");
    }

    /// 70 : 25 : 5 of 20,000 walks, within four standard deviations, whoever walks.
    #[test]
    fn walks_are_drawn_by_weight() {
        let weights = [70, 25, 5];
        let chooser = Chooser::from_scenario(&mix(&weights.map(Share::Weight)));
        for users in [1, 20, 20_000] {
            let mut counts = [0_u32; 3];
            for n in 0..20_000 {
                let walk = Walk { user: n % users, users, nth: n / users };
                counts[chooser.way(walk, 1) as usize] += 1;
            }
            for (count, weight) in counts.into_iter().zip(weights) {
                let (mean, share) = (f64::from(weight) * 200.0, f64::from(weight) / 100.0);
                let most = 4.0 * (mean * (1.0 - share)).sqrt();
                assert!((f64::from(count) - mean).abs() < most, "{users}: {counts:?}");
            }
        }
    }

    /// Whoever comes first, the numbers are those that were asked for, and each beginning has them
    /// within one.
    #[test]
    fn users_are_divided_as_asked_and_so_are_the_first_of_them() {
        let asked = [14, 5, 1];
        let chooser = Chooser::from_scenario(&mix(&asked.map(Share::Users)));
        let mut counts = [0_u32; 3];
        for user in 0..20 {
            let way = |nth| chooser.way(Walk { user, users: 20, nth }, 1);
            assert_eq!(way(0), way(7), "a user stays with its scenario");
            counts[way(0) as usize] += 1;
            for (count, asked) in counts.into_iter().zip(asked) {
                let due = f64::from(asked) * (user + 1) as f64 / 20.0;
                assert!((f64::from(count) - due).abs() <= 1.0, "{user}: {counts:?}");
            }
        }
        assert_eq!(counts, asked);
    }

    #[test]
    fn a_scenario_is_named_with_its_share() {
        let of =
            |text: &str| Named::parse(text).map(|it| (it.file.display().to_string(), it.share));
        assert_eq!(of("a.toml"), Ok(("a.toml".into(), None)));
        assert_eq!(of("a.toml:70"), Ok(("a.toml".into(), Some(Share::Weight(70)))));
        assert_eq!(of("b:c/a.toml"), Ok(("b:c/a.toml".into(), None)));
        assert_eq!(of("a.toml:users=14"), Ok(("a.toml".into(), Some(Share::Users(14)))));
        for wrong in ["a:0", "a:7.5", "a:70%", "a:-1", "a:users=x", "a:users=0", "a:99999999"] {
            assert!(of(wrong).is_err_and(|why| why.contains("as a:70")), "{wrong}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let read = |all: &[&str]| {
            let named: Vec<Named> = all.iter().map(|one| Named::parse(one).unwrap()).collect();
            read(&named, Path::new("/nowhere")).map(drop).unwrap_err().to_string()
        };
        for (all, why) in [
            (&["a:7"][..], "has the whole load"),
            (&["a:7", "b"], "some have none"),
            (&["a:7", "b:users=3"], "the same kind"),
            (&["a", "a"], "named twice"),
            (&["a", "b"], "/nowhere/a"),
        ] {
            assert!(read(all).contains(why), "{all:?}: {}", read(all));
        }
    }
}
