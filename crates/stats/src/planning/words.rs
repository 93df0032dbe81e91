//! How well the figures of a run are known, in sentences.
use pippin_model::plan::goal::{FEWEST_REPETITIONS, Goal, MOST_REPETITIONS, percent};
use pippin_model::text::units::counted;

use crate::planning::{Expected, Progress, Row};

/// Targets that are named in a sentence. The rest are counted.
const MOST_NAMED: usize = 3;

impl Row {
    /// The target, or the change of its figure, with its step where there are several.
    fn name(&self) -> String {
        let what = match &self.change {
            Some(change) => {
                format!("the change of {} from {} to {}", change.figure, change.base, self.target)
            }
            None => self.target.to_string(),
        };
        self.at.map_or_else(|| what.clone(), |step| format!("{what} at {}", step.in_words()))
    }
}

impl Expected {
    /// In words: `about 9 repetitions, 6 min, for ±2 %; two targets that differ by 1.9 % are then told apart with
    /// 90 % power`.
    #[must_use]
    pub fn in_words(&self, goal: &Goal) -> String {
        let Self { choice, unknown } = self;
        let many = format!("about {} repetitions, {}", choice.repetitions, length(choice.ns));
        let asked = goal.within.map(|within| {
            let asked = plus_minus(percent(within).trim_end_matches(" %"), goal);
            if choice.reaches { format!(", for {asked}") } else { format!(", too few for {asked}") }
        });
        let power = choice.told_apart.map(|differ| format!("; {}", told(differ, goal)));
        let unknown = (!unknown.is_empty())
            .then(|| format!("; of {} that run does not show it", unknown.join(", ")));
        [Some(many), asked, power, unknown].into_iter().flatten().collect()
    }
}

/// `±2 %`; of a change, points.
fn plus_minus(number: &str, goal: &Goal) -> String {
    format!("±{number} {}", if goal.changes.is_empty() { "%" } else { "points" })
}

/// Says which difference can be seen.
fn told(differ: f64, goal: &Goal) -> String {
    let differ = percent_of(differ);
    match goal.changes.is_empty() {
        true => format!("two targets that differ by {differ} are then told apart with 90 % power"),
        false => format!("a change of {differ} is then seen with 90 % power"),
    }
}

impl Progress {
    /// What is to be known.
    const fn noun(&self) -> &'static str {
        if self.goal.changes.is_empty() { "figure" } else { "change" }
    }

    /// `±2 %`; of a change, points.
    fn asked(&self, within: f64) -> String {
        plus_minus(percent(within).trim_end_matches(" %"), &self.goal)
    }

    /// `±4.1 %`; of a change, points.
    fn known(&self, reach: f64) -> String {
        plus_minus(percent_of(reach).trim_end_matches(" %"), &self.goal)
    }

    /// What a run expects that goes on: `after 5 repetitions the figures are known to ±4.1 % or
    /// better; about 6 more, 4 min, for ±2 %; ...`.
    #[must_use]
    pub fn expectation(&self) -> String {
        let so_far = format!("after {}", counted(self.repetitions.into(), "repetition"));
        let Some(widest) = self.widest() else {
            return format!("{so_far}, no {} has an interval yet", self.noun());
        };
        let known = format!(
            "{so_far}, the {}s are known to {} or better",
            self.noun(),
            self.known(widest.reach.unwrap_or_default())
        );
        let Some(within) = self.goal.within else { return known };
        let differ = widest.starts_differ.map(|differ| {
            format!("{} varies most between starts (±{} each)", widest.name(), percent_of(differ))
        });
        let parts = [Some(known), Some(self.needs(widest, within)), differ, self.then_told_apart()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// What is told apart after the further repetitions.
    fn then_told_apart(&self) -> Option<String> {
        Some(told(self.choice.filter(|_| self.is_first())?.told_apart?, &self.goal))
    }

    /// What the widest row needs: `about 6 more, 4 min, for ±2 %`.
    fn needs(&self, widest: &Row, within: f64) -> String {
        let longer = self.choice.filter(|choice| choice.times > 1.0 && self.is_first());
        if let Some(choice) = longer.filter(|choice| choice.reaches) {
            let (many, times) = (choice.repetitions, choice.times);
            return format!(
                "about {many} more with {times} times as many rounds, {}, for {}, because much of the scatter is within a start",
                length(choice.ns),
                self.asked(within)
            );
        }
        let Some(forecast) = widest.forecast else {
            return format!("{} is out of reach", self.asked(within));
        };
        let time = forecast.ns.map_or(String::new(), |ns| format!(", {},", length(ns)));
        let too_many = match self.repetitions + forecast.repetitions > MOST_REPETITIONS {
            true => format!(" (at most {MOST_REPETITIONS} are made)"),
            false => String::new(),
        };
        let rounds = longer.map_or(String::new(), |choice| {
            format!("; further starts have {} times as many rounds", choice.times)
        });
        format!(
            "about {} more{time} for {}{too_many}{rounds}",
            forecast.repetitions,
            self.asked(within)
        )
    }

    /// What came of the goal and of what was expected, for the result.
    #[must_use]
    pub fn outcome(&self) -> String {
        [Some(self.reached_in_words()), self.took(), self.power()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// How many repetitions it took, and how many were expected at the first look. Nothing if they were
    /// not expected to be enough.
    fn took(&self) -> Option<String> {
        let expected = self.choice.filter(|choice| choice.reaches && !self.is_first())?;
        let rounds = match expected.times > 1.0 {
            true => format!(", with {} times as many rounds in each", expected.times),
            false => String::new(),
        };
        let made = self.repetitions - FEWEST_REPETITIONS;
        Some(format!(
            "After {FEWEST_REPETITIONS} repetitions about {} more were expected{rounds}; {made} were made.",
            expected.repetitions
        ))
    }

    /// Which differences are told apart now, and which were expected to be.
    fn power(&self) -> Option<String> {
        let now = percent_of(self.told_apart?);
        let expected =
            self.choice.filter(|_| !self.is_first()).and_then(|choice| choice.told_apart);
        let expected = expected.map_or(String::new(), |expected| {
            format!(" ({} expected after {FEWEST_REPETITIONS} repetitions)", percent_of(expected))
        });
        Some(match self.goal.changes.is_empty() {
            true => {
                format!(
                    "Two targets that differ by {now} are told apart with 90 % power{expected}."
                )
            }
            false => format!("A change of {now} is seen with 90 % power{expected}."),
        })
    }

    /// What came of the goal.
    fn reached_in_words(&self) -> String {
        let made = counted(self.repetitions.into(), "repetition");
        let stuck: Vec<&Row> = self.rows.iter().filter(|row| row.stuck.is_some()).collect();
        let left_behind = left_behind(&stuck);
        let Some(widest) = self.widest() else {
            return [
                Some(format!("No {} has an interval after {made}.", self.noun())),
                left_behind,
            ]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ");
        };
        let (noun, worst) = (self.noun(), self.known(widest.reach.unwrap_or_default()));
        let first = match (self.goal.within, self.reached) {
            (Some(within), Some(true)) => format!(
                "Every {noun} is known to {} or better after {made} ({worst} at worst).",
                self.asked(within)
            ),
            (Some(within), _) if widest.reach.is_some_and(|reach| reach <= within) => {
                format!(
                    "The other {noun}s are known to {} or better after {made}.",
                    self.asked(within)
                )
            }
            (Some(within), _) => format!(
                "{} was not reached in {made}: {}",
                self.asked(within),
                self.lacking(within)
            ),
            (None, _) => format!(
                "The {noun}s are known to {worst} or better after {made}; {} is known least.",
                widest.name()
            ),
        };
        left_behind.into_iter().chain([first]).collect::<Vec<_>>().join(" ")
    }

    /// The rows that are not known well enough, and what would help the widest.
    fn lacking(&self, within: f64) -> String {
        let mut open: Vec<&Row> = self.rows.iter().filter(|row| row.is_open(within)).collect();
        open.sort_by(|a, b| {
            let reach = |row: &Row| row.reach.unwrap_or(f64::INFINITY);
            reach(b).total_cmp(&reach(a))
        });
        let known = |row: &&Row| {
            let reach = row
                .reach
                .map_or_else(|| "not at all".into(), |it| format!("to {}", self.known(it)));
            format!("{} is known {reach}", row.name())
        };
        let named: Vec<String> = open.iter().take(MOST_NAMED).map(known).collect();
        let more = open.len().saturating_sub(MOST_NAMED);
        let rest =
            if more > 0 { format!(", {more} more rows less than asked") } else { String::new() };
        let help = open.first().map_or_else(String::new, |row| help(row));
        format!("{}{rest}.{help}", named.join(", "))
    }
}

/// What would help a row: more repetitions, or longer ones.
fn help(row: &Row) -> String {
    let Some(forecast) = row.forecast else {
        return " More than 10,000 further repetitions would be needed.".into();
    };
    let time = forecast.ns.map_or(String::new(), |ns| format!(", about {}", length(ns)));
    let further = counted(forecast.repetitions.into(), "further repetition");
    let more = if forecast.repetitions > MOST_REPETITIONS {
        format!(
            " About {further} would be needed, and a run makes at most {MOST_REPETITIONS}{time}"
        )
    } else {
        format!(" About {further} would do it{time}")
    };
    // That starts differ is shown only where the scatter within a start is clearly less.
    let differ = row.starts_differ.zip(row.within_a_start);
    match (forecast.longer, differ.filter(|(all, within)| 2.0 * within < *all)) {
        (Some(longer), _) => format!(
            "{more}; with loads {:.0} times as long, {:.0} % of that time, because most of the scatter is within a start.",
            longer.times,
            longer.of_the_time * 100.0
        ),
        (None, Some((all, within))) => format!(
            "{more}; longer loads are no help, because its starts differ by ±{}, of which the scatter within a start explains ±{}.",
            percent_of(all),
            percent_of(within)
        ),
        (None, None) => format!("{more}."),
    }
}

/// The rows that more repetitions do not help, by name.
fn left_behind(stuck: &[&Row]) -> Option<String> {
    let why = |row: &&Row| format!("{} ({})", row.name(), row.stuck.as_deref().unwrap_or_default());
    let named: Vec<String> = stuck.iter().take(MOST_NAMED).map(why).collect();
    let more = stuck.len().saturating_sub(MOST_NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!stuck.is_empty()).then(|| {
        format!("More repetitions cannot say how well these are known: {}{rest}.", named.join(", "))
    })
}

/// A measured fraction in percent, with one decimal below 10 % and two below 1 %.
fn percent_of(fraction: f64) -> String {
    let value = fraction * 100.0;
    match value {
        v if v < 0.995 => format!("{v:.2} %"),
        v if v < 9.95 => format!("{v:.1} %"),
        v => format!("{v:.0} %"),
    }
}

/// A time that is foretold: `40 s`, `4 min`, `2 h 10 min`.
#[must_use]
pub fn length(ns: f64) -> String {
    let seconds = (ns / 1e9).round() as u64;
    let minutes = (seconds + 30) / 60;
    match seconds {
        0..90 => format!("{seconds} s"),
        90..5_400 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}
