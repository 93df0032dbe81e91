//! How a target started, warmed up and ended in its runs: the columns that page and terminal share.
use pippin_model::run::digest::WarmUpDigest;
use pippin_stats::series::course::CourseClass;

use super::Run;
use crate::view::life::{FIGURES, LifeFigure};
use crate::words;

/// How the columns are read.
pub const ABOUT_LIVES: &str = "Steady after: from the first answer of a start to its steady level, the median over the starts of the class that at least two thirds have. All others are of one start each, without an interval.";

/// A column of a table of runs.
#[derive(Clone, Copy)]
pub enum Column {
    /// From the first answer to the steady level.
    Steady,
    /// A figure of the target's life.
    Life(&'static LifeFigure),
}

impl Column {
    /// The columns of which at least one of these runs knows something.
    pub fn known(runs: &[&Run]) -> Vec<Self> {
        let figures = FIGURES.iter().filter(|figure| figure.is_short).map(Self::Life);
        let is_known = |column: &Self| runs.iter().any(|run| column.is_known(run));
        std::iter::once(Self::Steady).chain(figures).filter(is_known).collect()
    }

    fn is_known(self, run: &Run) -> bool {
        match self {
            Self::Steady => run.more.warm_up.is_some(),
            Self::Life(_) => self.value(run).is_some(),
        }
    }

    /// Its title.
    pub fn title(self) -> String {
        match self {
            Self::Steady => "Steady after".into(),
            Self::Life(figure) => figure.whole_title(),
        }
    }

    /// What it says of a run: nanoseconds, bytes or a number.
    pub fn value(self, run: &Run) -> Option<u64> {
        match self {
            Self::Steady => run.more.warm_up.as_ref()?.steady_after_ns,
            Self::Life(figure) => figure.value(run.life.as_ref()?),
        }
    }

    /// What it says of a run, in words.
    pub fn words(self, run: &Run) -> String {
        let found = match self {
            Self::Steady => run.more.warm_up.as_ref().map(steady),
            Self::Life(figure) => run.life.as_ref().map(|life| figure.words(life)),
        };
        found.unwrap_or_else(|| words::UNKNOWN.into())
    }
}

/// The time of a target that warms up; of others the class of their starts, too.
fn steady(found: &WarmUpDigest) -> String {
    let Some(class) = &found.class else { return "starts differ".into() };
    let name = class.replace('_', " ");
    match found.steady_after_ns {
        Some(ns) if class == CourseClass::WarmsUp.name() => words::ns(Some(ns)),
        Some(ns) if ns > 0 => format!("{} ({name})", words::ns(Some(ns))),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_stands_alone_only_where_the_target_warms_up() {
        let told = |class: Option<&str>, steady_after_ns| {
            steady(&WarmUpDigest { starts: 3, class: class.map(Into::into), steady_after_ns })
        };
        assert_eq!(told(Some("warms_up"), Some(4_000_000_000)), "4.00 s");
        assert_eq!(told(Some("slows_down"), Some(5_000_000_000)), "5.00 s (slows down)");
        assert_eq!(told(Some("flat"), Some(0)), "flat");
        assert_eq!(told(Some("no_steady_state"), None), "no steady state");
        assert_eq!(told(None, None), "starts differ");
    }

    #[test]
    fn titles_stand_for_themselves() {
        let titles: Vec<String> =
            FIGURES.iter().filter(|it| it.is_short).map(LifeFigure::whole_title).collect();
        let expected = [
            "Start",
            "After SIGKILL",
            "Memory idle",
            "Memory under load",
            "Memory after it",
            "Stopped: cut off",
            "Stopped: gone after",
        ];
        assert_eq!(titles, expected);
    }
}
