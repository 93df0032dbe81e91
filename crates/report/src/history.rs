//! The history of a target: one figure for each run, and where it changed.
//!
//! | module | what it draws |
//! |---|---|
//! | `chart` | figures over dates with marks at the changes |
//! | `json` | runs and changes for programs |
//! | `lives` | how the target started, warmed up and ended in its runs, as columns |
//! | `page` | charts, changes in words, the table of runs |
mod chart;
mod json;
mod lives;
mod page;

pub use json::json;
pub(crate) use lives::{ABOUT_LIVES, Column};
pub(crate) use page::commit;
pub use page::{page, plans, support};

use pippin_model::run::digest::{MoreFigures, TargetDigest};
use pippin_model::run::life::TargetLife;
use pippin_model::run::{HistoryPoint, RunHeader};
use pippin_model::target::TargetId;
use pippin_model::target::commit::Commit;
use pippin_model::verdict::Verdict;
use pippin_stats::series::changepoint::{ChangePoint, FEWEST_PER_SIDE, change_points};
use pippin_stats::series::quantile::median;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::collections::BTreeMap;

use crate::words;

/// A plan's comparable runs of one target: the same resolved load on the same kind of host. A
/// changed plan or another host begins another history.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The plan.
    pub plan: String,
    /// Whether these are runs of its quick form.
    pub quick: bool,
    /// Its number among the histories of this plan, from 1, the oldest first; `None` if there is
    /// only one.
    pub part: Option<usize>,
    /// Oldest first.
    pub runs: Vec<Run>,
    /// How many runs of the whole history are older than these, which may be a
    /// [page](Self::page) of it.
    pub older: usize,
    /// How many runs the whole history has.
    pub all: usize,
}

/// The most runs on a page of a history. Charts have as many dots, and changes are looked for among
/// these runs, so that a page takes no longer when a history has grown for years.
pub const PER_PAGE: usize = 60;
/// How much older the next page is. Pages overlap, so that each change is far from the edge of one.
const PAGE_STEP: usize = PER_PAGE / 2;

/// The figures of one run: those of its report, or the medians of its trials where no digest of the
/// report is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// The run's name.
    pub id: String,
    /// Nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Right answers per second.
    pub goodput_per_s: f64,
    /// 99th percentile of the response time, nanoseconds.
    pub p99_ns: Option<f64>,
    /// The intervals of goodput and p99, what the target used, and how it warmed up, as in the run's
    /// report.
    #[serde(flatten)]
    pub more: MoreFigures,
    /// Its life in this run; `None` if that was not measured.
    pub life: Option<TargetLife>,
    /// Trials with a result.
    pub trials: usize,
    /// Whether any trial is INVALID. Such a run is shown, but not used in the search for changes.
    pub invalid: bool,
    /// The commit that the target's files were of.
    pub commit: Option<Commit>,
}

/// A figure that is followed over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Right answers per second.
    Goodput,
    /// 99th percentile of the response time.
    P99,
    /// Processor time of a request.
    Cpu,
    /// Memory of the process tree.
    Memory,
}

/// A change of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which figure.
    pub figure: Figure,
    /// The first run after it.
    pub run: String,
    /// When the last run before it and the first run after it began, nanoseconds since 1970.
    pub between_unix_ns: (u64, u64),
    /// The commits of these two runs, where both are known and differ.
    pub commits: Option<(Commit, Commit)>,
    /// Medians before and after, and how likely chance alone makes such a change.
    pub point: ChangePoint,
}

impl Figure {
    /// All figures that are followed.
    pub const ALL: [Self; 4] = [Self::Goodput, Self::P99, Self::Cpu, Self::Memory];

    const fn read(self, run: &Run) -> Option<f64> {
        match self {
            Self::Goodput => Some(run.goodput_per_s),
            Self::P99 => run.p99_ns,
            Self::Cpu => run.more.cpu_ns,
            Self::Memory => run.more.memory_bytes,
        }
    }

    /// The ends of its 95 % interval in this run.
    const fn within(self, run: &Run) -> Option<(f64, f64)> {
        match self {
            Self::Goodput => run.more.goodput_within,
            Self::P99 => run.more.p99_within,
            Self::Cpu => run.more.cpu_within,
            Self::Memory => None,
        }
    }

    fn words(self, value: f64) -> String {
        match self {
            Self::Goodput => format!("{} requests/s", words::count(Some(value))),
            Self::P99 | Self::Cpu => words::ns_f(Some(value)),
            Self::Memory => words::bytes(Some(value as u64)),
        }
    }
}

/// What the register said of a target, on the day of its newest run: parts out of support, and
/// versions older than a year.
#[must_use]
pub fn support_notes(newest: &RunHeader, target: &str) -> Vec<String> {
    let info = target.parse().ok().and_then(|id: TargetId| newest.targets.get(&id));
    info.map_or_else(Vec::new, |info| info.registered.notes(&words::date(newest.started_unix_ns)))
}

/// The histories of a target, by plan; points come oldest first.
#[must_use]
pub fn from_points(points: &[HistoryPoint]) -> Vec<History> {
    let mut plans: BTreeMap<(&str, bool), Parts<'_>> = BTreeMap::new();
    for point in points {
        let parts = plans.entry((point.plan.as_str(), point.quick)).or_default();
        let known = parts.iter().rposition(|(key, _)| *key == point.comparable);
        let place = known.unwrap_or(parts.len());
        if known.is_none() {
            parts.push((&point.comparable, Vec::new()));
        }
        add(&mut parts[place].1, point);
    }
    let histories = plans.into_iter().flat_map(|((plan, quick), parts)| {
        let is_split = parts.len() > 1;
        parts.into_iter().enumerate().map(move |(place, (_, runs))| {
            let runs: Vec<Run> = runs.iter().filter_map(Trials::summed_up).collect();
            let part = is_split.then_some(place + 1);
            History { plan: plan.into(), quick, part, older: 0, all: runs.len(), runs }
        })
    });
    histories.collect()
}

/// The runs of a plan by the key of load and host, in the order in which each first occurs.
type Parts<'a> = Vec<(&'a str, Vec<Trials<'a>>)>;

/// The trials of one run that have a result.
struct Trials<'a> {
    first: &'a HistoryPoint,
    goodputs: Vec<f64>,
    p99s: Vec<f64>,
    invalid: bool,
}

/// Adds a trial to the runs of its history.
fn add<'a>(runs: &mut Vec<Trials<'a>>, point: &'a HistoryPoint) {
    let Some(goodput) = point.goodput_per_s else { return };
    if runs.last().is_none_or(|run| run.first.run != point.run) {
        let (goodputs, p99s) = (Vec::new(), Vec::new());
        runs.push(Trials { first: point, goodputs, p99s, invalid: false });
    }
    if let Some(run) = runs.last_mut() {
        run.invalid |= point.verdict == "INVALID";
        run.goodputs.push(goodput);
        run.p99s.extend(point.p99_ns.map(|ns| ns as f64));
    }
}

impl Trials<'_> {
    fn summed_up(&self) -> Option<Run> {
        Some(Run {
            id: self.first.run.clone(),
            started_unix_ns: self.first.started_unix_ns,
            goodput_per_s: median(&self.goodputs)?,
            p99_ns: median(&self.p99s),
            more: MoreFigures::default(),
            life: None,
            trials: self.goodputs.len(),
            invalid: self.invalid,
            commit: self.first.commit.clone(),
        })
    }
}

impl History {
    /// This history with the figures of the runs' reports, where a digest of the report is known, and
    /// with the target's lives. Both are by run.
    #[must_use]
    pub fn with(
        mut self,
        digests: &BTreeMap<String, TargetDigest>,
        lives: &BTreeMap<String, TargetLife>,
    ) -> Self {
        for run in &mut self.runs {
            run.life = lives.get(&run.id).cloned();
            let Some(digest) = digests.get(&run.id) else { continue };
            run.goodput_per_s = digest.goodput_per_s.unwrap_or(run.goodput_per_s);
            run.p99_ns = digest.p99_ns.or(run.p99_ns);
            run.more = digest.more.clone();
            run.invalid |= digest.verdict == Some(Verdict::Invalid);
        }
        self
    }

    /// The names of its runs.
    pub fn run_ids(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| run.id.as_str())
    }

    /// Its title: the plan, whether it is the quick form, and its number if there are several.
    #[must_use]
    pub fn title(&self) -> String {
        let quick = if self.quick { ", quick form" } else { "" };
        let part = self.part.map_or(String::new(), |part| format!(", load or host {part}"));
        format!("{}{quick}{part}", self.plan)
    }

    /// This history as a part of a name, different for each history of a page: `hello-quick-2`.
    fn slug(&self) -> String {
        let quick = if self.quick { "-quick" } else { "" };
        let part = self.part.map_or(String::new(), |part| format!("-{part}"));
        format!("{}{quick}{part}", self.plan)
    }

    /// The number of pages that show all its runs.
    #[must_use]
    pub const fn pages(&self) -> usize {
        1 + self.runs.len().saturating_sub(PER_PAGE).div_ceil(PAGE_STEP)
    }

    /// One of its pages: the newest runs are on page 1. `None` if it has no such page.
    #[must_use]
    pub fn page(&self, number: usize) -> Option<Self> {
        if !(1..=self.pages()).contains(&number) {
            return None;
        }
        let end = self.runs.len() - (number - 1) * PAGE_STEP;
        let older = end.saturating_sub(PER_PAGE);
        let runs = self.runs[older..end].to_vec();
        Some(Self { plan: self.plan.clone(), runs, older, ..*self })
    }

    /// The runs that are not INVALID and have this figure.
    fn believed(&self, figure: Figure) -> Vec<(&Run, f64)> {
        self.runs
            .iter()
            .filter(|run| !run.invalid)
            .filter_map(|run| Some((run, figure.read(run)?)))
            .collect()
    }

    /// Whether there are enough runs to look for changes.
    #[must_use]
    pub fn is_long_enough(&self) -> bool {
        self.believed(Figure::Goodput).len() >= 2 * FEWEST_PER_SIDE
    }

    /// Where this figure changed, oldest first.
    #[must_use]
    pub fn changes(&self, figure: Figure) -> Vec<Change> {
        let believed = self.believed(figure);
        let values: Vec<f64> = believed.iter().map(|(_, value)| *value).collect();
        // A fixed seed, so that the same history always shows the same changes.
        let points = change_points(&values, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        let change = |point: ChangePoint| {
            let (before, after) =
                (believed.get(point.index.checked_sub(1)?)?.0, believed.get(point.index)?.0);
            Some(Change {
                figure,
                run: after.id.clone(),
                between_unix_ns: (before.started_unix_ns, after.started_unix_ns),
                commits: between(before, after),
                point,
            })
        };
        points.into_iter().filter_map(change).collect()
    }
}

/// The commits of two runs; `None` if one is not known, or both are of the same files.
fn between(before: &Run, after: &Run) -> Option<(Commit, Commit)> {
    let found = (before.commit.clone()?, after.commit.clone()?);
    (found.0.short() != found.1.short()).then_some(found)
}

impl Change {
    /// The size of the change: `-10.0 %`.
    #[must_use]
    pub fn relative(&self) -> String {
        format!("{:+.1} %", (self.point.after / self.point.before - 1.0) * 100.0)
    }

    /// The change in a sentence.
    #[must_use]
    pub fn words(&self) -> String {
        let name = match self.figure {
            Figure::Goodput => "",
            Figure::P99 => "p99 ",
            Figure::Cpu => "CPU per request ",
            Figure::Memory => "memory ",
        };
        let (before, after) =
            (self.figure.words(self.point.before), self.figure.words(self.point.after));
        let commits = self.commits.as_ref().map_or(String::new(), |(from, to)| {
            format!(" Between them: commits {}...{}.", from.short(), to.short())
        });
        format!(
            "From run {} on: {name}{before} → {after} ({}, p = {:.3}).{commits}",
            self.run,
            self.relative(),
            self.point.p_value
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::run::digest::WarmUpDigest;

    const DAY_NS: u64 = 86_400_000_000_000;

    fn point(run: &str, plan: &str, verdict: &str, goodput: Option<f64>) -> HistoryPoint {
        HistoryPoint {
            run: run.into(),
            started_unix_ns: 0,
            plan: plan.into(),
            quick: false,
            comparable: "same".into(),
            verdict: verdict.into(),
            goodput_per_s: goodput,
            p99_ns: Some(5),
            commit: None,
        }
    }

    /// 1,000 requests/s for eight days, then 900.
    fn slowed_down() -> Vec<HistoryPoint> {
        let day = |i: u64| HistoryPoint {
            started_unix_ns: 1_795_293_300_000_000_000 + i * DAY_NS,
            ..point(
                &format!("run-{i}"),
                "hello",
                "VALID",
                Some(if i < 8 { 1_000.0 } else { 900.0 } + (i % 3) as f64),
            )
        };
        (0..16).map(day).collect()
    }

    #[test]
    fn a_run_is_the_median_of_its_trials_and_one_invalid_trial_marks_it() {
        let points = [
            point("1", "hello", "VALID", Some(10.0)),
            point("1", "hello", "VALID", Some(30.0)),
            point("1", "hello", "SUSPECT", Some(20.0)),
            point("2", "hello", "INVALID", Some(99.0)),
            point("3", "hello", "INVALID", None),
            point("4", "users", "VALID", Some(5.0)),
        ];
        let histories = from_points(&points);
        let told: Vec<_> = histories[0]
            .runs
            .iter()
            .map(|run| (run.id.as_str(), run.goodput_per_s, run.trials, run.invalid))
            .collect();
        assert_eq!(told, [("1", 20.0, 3, false), ("2", 99.0, 1, true)]);
        assert_eq!(histories[1].plan, "users");
    }

    #[test]
    fn a_run_has_the_figures_of_its_report_with_their_intervals() {
        let points: Vec<HistoryPoint> =
            (0..4).map(|i| point(&format!("run-{i}"), "hello", "VALID", Some(10.0))).collect();
        let digest = TargetDigest {
            target: "go/net-http".parse().unwrap(),
            verdict: Some(Verdict::Valid),
            ranks: Some((1, 1)),
            figure: Some(12.0),
            conformance: Vec::new(),
            goodput_per_s: Some(12.0),
            p99_ns: None,
            more: MoreFigures {
                goodput_within: Some((11.0, 13.0)),
                cpu_ns: Some(8_450.0),
                memory_bytes: Some((15 << 20) as f64),
                ..MoreFigures::default()
            },
        };
        let invalid = TargetDigest { verdict: Some(Verdict::Invalid), ..digest.clone() };
        let known = (1..4).map(|i| (format!("run-{i}"), digest.clone()));
        let mut known: BTreeMap<String, TargetDigest> = known.collect();
        known.insert("run-3".into(), invalid);
        let history = from_points(&points).remove(0).with(&known, &BTreeMap::new());
        let told: Vec<_> = history
            .runs
            .iter()
            .map(|run| (run.goodput_per_s, run.p99_ns, run.more.cpu_ns, run.invalid))
            .collect();
        let of_report = |invalid| (12.0, Some(5.0), Some(8_450.0), invalid);
        assert_eq!(
            told,
            [(10.0, Some(5.0), None, false), of_report(false), of_report(false), of_report(true)]
        );
        let page = plans(&[history], |run| maud::html! { (run) }).into_string();
        let within = format!("{} … {}", words::count(Some(11.0)), words::count(Some(13.0)));
        for part in [within.as_str(), "8.45 µs", "15.0 MiB", "id=\"chart-history-cpu-hello\""] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    /// Three runs: of the newest all is known, of the one before it that it warmed up.
    fn with_lives() -> History {
        let points: Vec<HistoryPoint> =
            (0..3).map(|i| point(&format!("run-{i}"), "hello", "VALID", Some(10.0))).collect();
        let target: TargetId = "rust/axum".parse().unwrap();
        let digest = |class: &str, steady_after_ns| TargetDigest {
            target: target.clone(),
            verdict: Some(Verdict::Valid),
            ranks: None,
            figure: None,
            conformance: Vec::new(),
            goodput_per_s: None,
            p99_ns: None,
            more: MoreFigures {
                warm_up: Some(WarmUpDigest {
                    starts: 3,
                    class: Some(class.into()),
                    steady_after_ns,
                }),
                ..MoreFigures::default()
            },
        };
        let digests = [
            ("run-1".to_string(), digest("no_steady_state", None)),
            ("run-2".to_string(), digest("warms_up", Some(4_000_000_000))),
        ];
        // Starts in 12 ms; 4 MiB idle, 9 MiB under load, 6 MiB after it.
        let life = pippin_model::example::run::rounds().lives.remove(0);
        from_points(&points).remove(0).with(&digests.into(), &[("run-2".to_string(), life)].into())
    }

    #[test]
    fn what_is_known_of_starts_memory_and_ends_is_on_the_page_and_in_text() {
        let history = with_lives();
        let page = plans(std::slice::from_ref(&history), |run| maud::html! { (run) });
        let page = page.into_string();
        let (_, table) = page.split_once("Starts, memory and ends").unwrap();
        let row = |run: &str| {
            let row = table.split("<tr").find(|row| row.contains(&format!(">{run}<")));
            row.unwrap().split("</tr>").next().unwrap().to_string()
        };
        for part in [
            "data-value=\"4000000000\">4.00 s<",
            "data-value=\"12000000\">12.0 ms<",
            "data-value=\"4194304\">4.00 MiB<",
            "data-value=\"9437184\">9.00 MiB<",
            "data-value=\"6291456\">6.00 MiB<",
        ] {
            assert!(row("run-2").contains(part), "{part}: {}", row("run-2"));
        }
        assert!(row("run-1").contains(">no steady state<"), "{}", row("run-1"));
        assert_eq!(row("run-1").matches(">–<").count(), 7, "{}", row("run-1"));
        assert_eq!(row("run-0").matches(">–<").count(), 8, "{}", row("run-0"));
        assert!(!row("run-0").contains("data-value"), "unknown is not 0: {}", row("run-0"));

        let runs: Vec<&Run> = history.runs.iter().rev().collect();
        let style = crate::terminal::Style::plain(200);
        let text = crate::terminal::history::lives(&runs, &style);
        let cells = |run: &str| {
            let line = text.lines().find(|line| line.trim().starts_with(run)).unwrap();
            line.trim().split("  ").map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>()
        };
        let known = ["12.0 ms", "11.0 ms", "4.00 MiB", "9.00 MiB", "6.00 MiB", "0", "8.00 ms"];
        assert_eq!(cells("run-2"), [&["run-2", "4.00 s"][..], &known[..]].concat());
        assert_eq!(cells("run-1"), [&["run-1", "no steady state"][..], &["–"; 7][..]].concat());
        assert_eq!(cells("run-0"), [&["run-0"][..], &["–"; 8][..]].concat());
    }

    #[test]
    fn no_table_of_starts_stands_where_nothing_is_known_of_them() {
        let history = from_points(&slowed_down()).remove(0);
        let runs: Vec<&Run> = history.runs.iter().collect();
        let style = crate::terminal::Style::plain(200);
        assert_eq!(crate::terminal::history::lives(&runs, &style), "");
        let page = plans(&[history], |run| maud::html! { (run) }).into_string();
        assert!(!page.contains("Starts, memory and ends"), "{page}");
    }

    #[test]
    fn json_has_all_runs_and_changes_and_null_for_what_is_unknown() {
        let read = |histories: &[History]| -> serde_json::Value {
            serde_json::from_str(&json("rust/axum", histories).unwrap()).unwrap()
        };
        let value = read(&[with_lives()]);
        let runs = &value["histories"][0]["runs"];
        assert_eq!(runs.as_array().unwrap().len(), 3);
        assert_eq!(runs[2]["warm_up"]["class"], "warms_up");
        assert_eq!(runs[2]["warm_up"]["steady_after_ns"], 4_000_000_000_u64);
        assert_eq!(runs[2]["life"]["start_ns"], 12_000_000);
        assert_eq!(runs[2]["life"]["memory"]["idle_bytes"], 4_194_304);
        assert_eq!(runs[1]["warm_up"]["steady_after_ns"], serde_json::Value::Null);
        assert_eq!(runs[1]["life"], serde_json::Value::Null);
        for key in ["warm_up", "life", "memory_bytes"] {
            assert_eq!(runs[0].get(key), Some(&serde_json::Value::Null), "{key}");
        }
        let changes = &read(&from_points(&slowed_down()))["histories"][0]["changes"];
        assert_eq!(changes.as_array().unwrap().len(), 1, "{changes}");
        assert_eq!(changes[0]["figure"], "goodput");
        assert_eq!(changes[0]["run"], "run-8");
        assert_eq!(changes[0]["before"], 1_001.0);
        assert_eq!(changes[0]["after"], 901.0);
    }

    #[test]
    fn quick_forms_are_a_history_of_their_own() {
        let quick = HistoryPoint { quick: true, ..point("2", "hello", "VALID", Some(5.0)) };
        let histories = from_points(&[point("1", "hello", "VALID", Some(10.0)), quick]);
        assert_eq!(
            histories.iter().map(History::title).collect::<Vec<_>>(),
            ["hello", "hello, quick form"]
        );
    }

    #[test]
    fn another_load_or_host_begins_a_history_of_its_own() {
        let mut points = slowed_down();
        for point in &mut points[8..] {
            point.comparable = "the plan was changed".into();
        }
        let histories = from_points(&points);
        let told: Vec<_> =
            histories.iter().map(|history| (history.title(), history.runs.len())).collect();
        assert_eq!(
            told,
            [("hello, load or host 1".to_string(), 8), ("hello, load or host 2".to_string(), 8)]
        );
        assert!(histories.iter().all(|history| history.changes(Figure::Goodput).is_empty()));
        let page = page("go/net-http", &from_points(&points), &[]);
        for chart in ["chart-history-p99-hello-1", "chart-history-p99-hello-2"] {
            assert_eq!(page.matches(&format!("id=\"{chart}\"")).count(), 1, "{chart}");
        }
    }

    #[test]
    fn a_step_is_found_named_and_marked_between_its_runs() {
        let history = from_points(&slowed_down()).remove(0);
        let changes = history.changes(Figure::Goodput);
        assert_eq!(changes.len(), 1);
        assert!(
            changes[0]
                .words()
                .starts_with("From run run-8 on: 1,001 requests/s → 901 requests/s (-10.0 %"),
            "{}",
            changes[0].words()
        );
        assert_eq!(changes[0].between_unix_ns.1 - changes[0].between_unix_ns.0, DAY_NS);
        assert_eq!(history.changes(Figure::P99), [], "the response times stayed as they were");
        let drawn = chart::chart(&history, Figure::Goodput, &changes).unwrap();
        for part in ["-10.0 %", "27 Nov", "date (UTC)", "stroke-dasharray"] {
            assert!(drawn.drawings.wide.contains(part), "{part}: {}", drawn.drawings.wide);
        }
        assert!(
            drawn.alternative.contains("over 16 runs from 2026-11-21 to 2026-12-06, with 1 change"),
            "{}",
            drawn.alternative
        );
    }

    #[test]
    fn pages_of_a_long_history_overlap_and_the_oldest_begins_with_the_first_run() {
        let points: Vec<HistoryPoint> = (0..230)
            .map(|i| point(&format!("run-{i}"), "hello", "VALID", Some(f64::from(i))))
            .collect();
        let history = from_points(&points).remove(0);
        let edges = |number| {
            let page = history.page(number)?;
            assert_eq!((page.all, page.plan.as_str()), (230, "hello"));
            Some((page.runs.first()?.id.clone(), page.runs.last()?.id.clone()))
        };
        let between = |first: &str, last: &str| Some((first.to_string(), last.to_string()));
        assert_eq!(history.pages(), 7);
        assert_eq!(edges(1), between("run-170", "run-229"));
        assert_eq!(edges(2), between("run-140", "run-199"));
        assert_eq!(edges(7), between("run-0", "run-49"));
        assert_eq!((edges(0), edges(8), edges(usize::MAX)), (None, None, None));
        let short = from_points(&slowed_down()).remove(0);
        assert_eq!((short.pages(), short.page(1)), (1, Some(short.clone())));
        let page = page("go/net-http", &from_points(&points), &[]);
        assert!(page.contains("The newest 60 of 230 runs") && !page.contains("run-169<"), "{page}");
    }

    #[test]
    fn the_page_has_charts_changes_and_runs() {
        let page = page("go/net-http", &from_points(&slowed_down()), &[]);
        for part in [
            "History of go/net-http",
            "From run run-8 on",
            "<svg",
            "run-15",
            "2026-12-06",
            "default-src 'none'",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn the_page_says_what_was_out_of_support_on_the_day_of_the_newest_run() {
        let mut newest = pippin_model::example::run::hello().header;
        let (id, info) = newest.targets.iter_mut().next().unwrap();
        let target = id.to_string();
        let support = |what: &str, until: &str| pippin_model::target::register::Support {
            what: what.into(),
            until: until.into(),
            source: "https://example.org".into(),
        };
        info.registered.support =
            vec![support("Go 1.16", "2022-03-15"), support("Go 2", "2999-12-31")];
        let notes = support_notes(&newest, &target);
        assert_eq!(notes, ["Go 1.16 is out of support since 2022-03-15"]);
        assert!(support_notes(&newest, "other/target").is_empty());
        let page = page(&target, &from_points(&slowed_down()), &notes);
        assert!(page.contains(&format!("<li>{target}: {}</li>", notes[0])), "{page}");
    }

    #[test]
    fn a_change_names_the_commits_between_which_it_happened() {
        let mut points = slowed_down();
        for (place, point) in points.iter_mut().enumerate() {
            let id = if place < 8 { "a" } else { "b" }.repeat(40);
            let repository = Some("https://example.org/shop".into());
            point.commit = Some(Commit { id, changed: false, repository });
        }
        let changes = from_points(&points)[0].changes(Figure::Goodput);
        let told = changes[0].words();
        assert!(told.ends_with("Between them: commits aaaaaaaaaa...bbbbbbbbbb."), "{told}");
        let page = plans(&from_points(&points), |run| maud::html! { (run) }).into_string();
        assert!(page.contains("href=\"https://example.org/shop/compare/aaa"), "{page}");
        assert!(
            page.contains(&format!("href=\"https://example.org/shop/commit/{}\"", "b".repeat(40)))
        );
        // Where nothing of it is known there is no empty column.
        let without =
            plans(&from_points(&slowed_down()), |run| maud::html! { (run) }).into_string();
        assert!(!without.contains("Commit") && !without.contains("commits"), "{without}");
    }
}
