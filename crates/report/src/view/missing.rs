//! Targets without a result, grouped by cause.
use super::View;
use super::row::Row;

/// The cause that some targets share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The targets.
    pub targets: Vec<String>,
    /// What happened: `unavailable on this machine`, `failed at the stage "start"`.
    pub what: String,
    /// Why; empty if nothing failed.
    pub cause: String,
    /// The last lines of the first target's log.
    pub log_tail: Vec<String>,
    /// Whether they are not available on this machine, which is no fault of theirs.
    pub is_unavailable: bool,
}

/// Stands for the names of the targets in a cause that says them, so that such causes are the same.
const NAMES: &str = "{targets}";

/// Every target that has no result or failed in some of its trials, in the order of the table.
#[must_use]
pub fn from_view(view: &View) -> Vec<Missing> {
    let mut found: Vec<Missing> = Vec::new();
    for row in view.rows.iter().filter(|row| row.goodput_per_s.is_none() || row.failure.is_some()) {
        let one = missing(view, row);
        match found.iter_mut().find(|other| other.what == one.what && other.cause == one.cause) {
            Some(same) => same.targets.extend(one.targets),
            None => found.push(one),
        }
    }
    for one in &mut found {
        one.cause = one.cause.replace(NAMES, &one.targets.join(" "));
    }
    found
}

fn missing(view: &View, row: &Row) -> Missing {
    let what = match &row.failure {
        None => "not measured".into(),
        Some(_) if row.unavailable => "unavailable on this machine".into(),
        Some(failure) if row.goodput_per_s.is_some() => format!(
            "{} at the stage \"{}\"",
            row.failed_in_words(view.run.repetitions),
            failure.stage.name()
        ),
        Some(failure) => format!("failed at the stage \"{}\"", failure.stage.name()),
    };
    let failure = row.failure.as_ref();
    let target = row.target.to_string();
    Missing {
        what,
        cause: failure.map(|failure| failure.message.replace(&target, NAMES)).unwrap_or_default(),
        targets: vec![target],
        log_tail: failure.map(|failure| failure.log_tail.clone()).unwrap_or_default(),
        is_unavailable: row.unavailable,
    }
}

impl Missing {
    /// `a, b: unavailable on this machine: why`.
    #[must_use]
    pub fn line(&self) -> String {
        let cause = if self.cause.is_empty() { String::new() } else { format!(": {}", self.cause) };
        format!("{}: {}{cause}", self.targets.join(", "), self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run as example;

    /// Two targets that are unavailable for one cause.
    fn two() -> Vec<Row> {
        let view = View::of(&example::hello());
        let unavailable = view.rows.iter().find(|row| row.unavailable).unwrap().clone();
        let mut other = unavailable.clone();
        other.summary.target = "elixir/other".parse().unwrap();
        vec![unavailable, other]
    }

    #[test]
    fn a_cause_that_names_its_target_names_all_of_them() {
        let mut view = View::of(&example::hello());
        view.rows = two();
        for row in &mut view.rows {
            let command = format!("not installed; run `pippin targets install {}`", row.target);
            row.summary.failure.as_mut().unwrap().message = command;
        }
        let first = view.rows[0].target.to_string();
        let found = from_view(&view);
        assert_eq!(found.len(), 1, "{found:?}");
        let both = format!("run `pippin targets install {first} elixir/other`");
        assert!(found[0].cause.ends_with(&both), "{}", found[0].cause);
    }

    #[test]
    fn the_same_cause_is_said_once() {
        let mut view = View::of(&example::hello());
        view.rows = two();
        let found = from_view(&view);
        assert_eq!((found.len(), found[0].targets.len()), (1, 2));
        assert!(
            found[0].line().contains(", elixir/other: unavailable on this machine: "),
            "{:?}",
            found[0].line()
        );
    }
}
