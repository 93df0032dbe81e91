//! The table of a comparison, and the conclusions: which gates failed, which compared are INVALID.
use pippin_model::figure::Figure;
use pippin_model::target::TargetId;
use pippin_model::text::units::format_count;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::Verdict;
use pippin_model::verdict::gate::Condition;
use pippin_report::gates::summary::Changes;
use pippin_report::terminal::{Style, wrap};
use pippin_report::view::scan::ScanView;
use pippin_report::words;
use pippin_stats::compare::unfinished::Unfinished;
use pippin_stats::compare::{Change, Comparison, Difference, Origin, TargetChange};
use pippin_stats::gate::{self, Base, Bases, Group, Outcome, Planned, judge};
use pippin_stats::interval::anytime::Levels;
use pippin_stats::planning::Progress;
use pippin_stats::summary::trust::Trust;
use std::collections::BTreeMap;

use super::measured::Decision;
use super::sentence;
use crate::commands::gates::{GateReport, tell};
use crate::exit::{self, CliError};
use crate::output::{self, print_text};

/// The two sides of a comparison, and what was found.
pub struct Compared {
    /// The first, in words.
    pub a: String,
    /// The second, in words.
    pub b: String,
    /// The trials of the first.
    pub a_trials: Vec<TrialRecord>,
    /// The trials of the second.
    pub b_trials: Vec<TrialRecord>,
    /// What A should have of each target.
    pub a_planned: Planned,
    /// What B should have of each target.
    pub b_planned: Planned,
    /// Targets of A that B was to measure and has no result of.
    pub lost: Vec<TargetId>,
    /// Why B has no result of a target, where that is known.
    pub missing: BTreeMap<TargetId, String>,
    /// The sides whose run was interrupted.
    pub unfinished: Vec<Unfinished>,
    /// The comparison.
    pub comparison: Comparison,
    /// Whether both sides are of one run.
    pub origin: Origin,
    /// Whether the run can be trusted; of two runs, first A's and then B's.
    pub trust: Vec<Trust>,
    /// The run was shown in full before, with its trust first and last.
    pub is_shown: bool,
    /// Other differences between the sides.
    pub differences: Vec<Difference>,
    /// The values of a parameter, if the sides are its values.
    pub scan: Option<ScanView>,
    /// How well the changes are known, if the run had a goal.
    pub goal: Option<Progress>,
    /// More entries for the JSON form, by key.
    pub more: Vec<(&'static str, serde_json::Value)>,
}

/// Writes the comparison and returns the exit code. An INVALID result passes no gate, and what A has
/// and B lost is one.
pub fn conclude(decision: &Decision<'_>, compared: &Compared) -> Result<u8, CliError> {
    let gates = &decision.gates;
    let bases = Judged { compared, levels: decision.levels };
    let mut outcomes = judge(gates, compared.found(), compared.b_planned, &bases);
    for target in &compared.comparison.only_a {
        let known = compared.missing.get(target);
        let why = known.map_or("B has no result of it", String::as_str);
        let why: Vec<&str> = why.split_whitespace().collect();
        outcomes.extend(gate::unmeasured(gates, target, &why.join(" ")));
    }
    let width = Style::of_stdout().width;
    decision.json.show(|| print_text(&text(compared, width)), || json(compared, &outcomes))?;
    let details = || format!("```text\n{}```\n", text(compared, width));
    let report = GateReport {
        title: format!("{} against {}", compared.b, compared.a),
        trials: &compared.b_trials,
        changes: changes(compared),
        details: &details,
        undecided: decision.undecided,
    };
    let of_gates = tell(decision.files, &outcomes, !decision.json.is_stdout(), &report)?;
    let is_invalid = tell_invalid(compared) && !decision.force;
    Ok(exit::worst(of_gates, if is_invalid { exit::INVALID } else { exit::OK }))
}

/// The sentences and the table of changes, for a summary.
fn changes(compared: &Compared) -> Changes {
    let targets = &compared.told();
    let rows = targets.iter().flat_map(|target| {
        target.changes.iter().map(move |change| {
            let [a, b] = words::in_one_unit(change.figure, [change.a, change.b]);
            let name = if targets.len() == 1 { String::new() } else { format!("{} ", target.b) };
            let (relative, interval) = relative(change);
            let judgement = target.judgement(change).to_string();
            [format!("{name}{}", change.figure), a, b, relative, interval, judgement]
        })
    });
    Changes { sentences: sentences(compared), rows: rows.collect() }
}

/// The change and its interval, in percent.
fn relative(change: &Change) -> (String, String) {
    let unknown = || words::UNKNOWN.to_string();
    let by = change.relative().map_or_else(unknown, |by| format!("{:+.2} %", by * 100.0));
    let interval = change.relative_interval().map_or_else(unknown, |(low, high)| {
        format!("{:+.2} % to {:+.2} %", low * 100.0, high * 100.0)
    });
    (by, interval)
}

/// Most targets that have a sentence each.
const MOST_SENTENCES: usize = 5;

/// What changed, in a sentence for each target.
fn sentences(compared: &Compared) -> Vec<String> {
    let targets = compared.told();
    let one = |target: &TargetChange| {
        if let Some(scan) = &compared.scan {
            let side = |value: &str| format!("{}={value}", scan.parameter);
            return sentence::write(target, &side(&scan.base), &scan.side(&target.b));
        }
        let is_one = targets.len() == 1 && target.a != target.b;
        let short = |side: &str| side.split(" (").next().unwrap_or(side).to_string();
        let (a, b) = if is_one && of_revision(&target.a) == of_revision(&target.b) {
            (short(&compared.a), short(&compared.b))
        } else if target.a == target.b {
            (format!("{} in A", target.a), format!("{} in B", target.b))
        } else {
            (target.a.to_string(), target.b.to_string())
        };
        sentence::write(target, &a, &b)
    };
    let knee = compared.scan.iter().map(ScanView::words).filter(|words| !words.is_empty());
    let changes = targets.iter().take(MOST_SENTENCES).map(|target| one(target));
    let mut said: Vec<String> = knee.chain(changes).collect();
    if targets.len() > MOST_SENTENCES {
        said.push(format!("{} more are in the table.", targets.len() - MOST_SENTENCES));
    }
    said
}

/// The target without the name of its revision: `own/shop` of `own/shop@main`.
fn of_revision(target: &TargetId) -> (&str, &str) {
    (&target.language, target.plain_name())
}

/// A comparison whose gates are judged at these levels.
struct Judged<'a> {
    compared: &'a Compared,
    levels: Levels,
}

/// The base of a target: the same target in A, or the one it is compared with.
impl Bases for Judged<'_> {
    fn base_for(
        &self,
        _: &Condition,
        target: &TargetId,
        step: Option<Step>,
    ) -> Result<Option<Base<'_>>, String> {
        let compared = self.compared;
        let pair = compared.comparison.targets.iter().find(|change| change.b == *target);
        let pair = pair.ok_or_else(|| format!("A has no result of {target}"))?;
        let group = Group::of_target(compared.a_trials.iter(), (&pair.a, step), compared.a_planned);
        let name = if compared.origin == Origin::OneRun && pair.a != pair.b {
            pair.a.to_string()
        } else {
            format!("A ({})", compared.a)
        };
        Ok(Some(Base { group, name, origin: compared.origin }))
    }

    fn levels(&self) -> Levels {
        self.levels
    }
}

impl Compared {
    /// B's trials of targets of which it has a result. Of the others, each gate has failed.
    fn found(&self) -> impl Iterator<Item = &TrialRecord> + Clone {
        let missing = &self.comparison.only_a;
        self.b_trials.iter().filter(|trial| !missing.contains(&trial.spec.target))
    }

    /// The targets of which sentences and tables speak: of a scan the best value only, because its
    /// own table has all.
    fn told(&self) -> Vec<&TargetChange> {
        let best = self.scan.as_ref().map(ScanView::best_target);
        let targets = self.comparison.targets.iter();
        targets.filter(|target| best.is_none_or(|best| best == Some(&target.b))).collect()
    }
}

fn json(compared: &Compared, gates: &[Outcome]) -> serde_json::Result<String> {
    let mut value = serde_json::json!({"comparison": compared.comparison, "differences": compared.differences, "unfinished": compared.unfinished, "gates": gates, "trust": {"a": compared.trust.first(), "b": compared.trust.last()}});
    if let Some(goal) = &compared.goal {
        value["goal"] = serde_json::to_value(goal)?;
    }
    if let Some(scan) = &compared.scan {
        value["scan"] = serde_json::to_value(scan)?;
    }
    for (key, more) in &compared.more {
        value[*key] = more.clone();
    }
    serde_json::to_string_pretty(&value)
}

/// Whether a side is INVALID, or B lost a target. Prints each on standard error.
fn tell_invalid(compared: &Compared) -> bool {
    let mut invalid = false;
    for target in &compared.comparison.targets {
        for (name, verdict) in [(&target.a, target.a_verdict), (&target.b, target.b_verdict)] {
            if verdict == Verdict::Invalid {
                invalid = true;
                output::say(format_args!(
                    "{name}: INVALID, so its figures cannot be trusted; `pippin report RUN` says why, --force compares anyway"
                ));
            }
        }
    }
    for target in &compared.lost {
        invalid = true;
        output::say(format_args!(
            "{target}: A has a result and B has none, though B was to measure it"
        ));
    }
    invalid
}

fn text(compared: &Compared, width_of_terminal: usize) -> String {
    let (comparison, differing) = (&compared.comparison, &compared.differences);
    let names: Vec<String> = comparison.targets.iter().map(name).collect();
    let width =
        names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("target".len());
    let said: String = sentences(compared)
        .iter()
        .flat_map(|one| wrap(one, width_of_terminal))
        .map(|line| line + "\n")
        .collect();
    if compared.scan.is_some() && compared.is_shown {
        return said;
    }
    let mut out = format!("{said}\n");
    if !compared.is_shown {
        out.push_str(&trust(compared, width_of_terminal));
        out.push('\n');
    }
    out.push_str(&format!("A {}\nB {}\n", compared.a, compared.b));
    for run in &compared.unfinished {
        out.push_str(&format!("{}\n", run.words()));
    }
    let rounds = WithinRounds::from_comparison(comparison);
    out.push_str(&format!(
        "\n{:<width$} {:<8} {:>12} {:>12} {:>9}  95 % interval of the change{}\n",
        "target",
        "",
        "A",
        "B",
        "change",
        match rounds {
            WithinRounds::All => " (levels and changes within the rounds of the run)",
            WithinRounds::Some => " (within the rounds of the run, but where a row says otherwise)",
            WithinRounds::Not => "",
        }
    ));
    for (target, name) in comparison.targets.iter().zip(&names) {
        for (index, change) in target.changes.iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            out.push_str(&row(name, width, target, change, rounds));
        }
        if let Some(answers) = &target.answers {
            out.push_str(&format!(
                "{:<width$} {:<8} A {}, B {}: other work, so neither is better\n",
                "", "answers", answers.a, answers.b
            ));
        }
        if let Some(compiling) = &target.compiling {
            for (side, words) in [("A", &compiling.a), ("B", &compiling.b)] {
                if let Some(words) = words {
                    out.push_str(&format!("{:<width$} compiled {side}: {words}\n", ""));
                }
            }
        }
        if (target.a_verdict, target.b_verdict) != (Verdict::Valid, Verdict::Valid) {
            out.push_str(&format!(
                "{:<width$} {:<8} {:>12} {:>12}\n",
                "",
                "verdict",
                target.a_verdict.to_string(),
                target.b_verdict.to_string()
            ));
        }
    }
    for (side, only) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if !only.is_empty() {
            let names: Vec<String> = only.iter().map(ToString::to_string).collect();
            out.push_str(&format!("only in {side}: {}\n", names.join(", ")));
        }
    }
    if !differing.is_empty() {
        out.push_str("\nWhat differs besides:\n");
    }
    for difference in differing {
        out.push_str(&format!("  {}: {} -> {}\n", difference.what, difference.a, difference.b));
    }
    if let Some(goal) = compared.goal.as_ref().filter(|_| !compared.is_shown) {
        let lines = wrap(&goal.outcome(), width_of_terminal);
        out.push_str(&format!("\n{}\n", lines.join("\n")));
    }
    out.push('\n');
    out.push_str(&said);
    out
}

/// Whether the run, or each of the two runs, can be trusted.
fn trust(compared: &Compared, width: usize) -> String {
    let said: Vec<String> = match compared.trust.as_slice() {
        [one] => vec![one.words()],
        several => ["A", "B"]
            .iter()
            .zip(several)
            .map(|(side, trust)| format!("{side}: {}", trust.words()))
            .collect(),
    };
    said.iter().flat_map(|text| wrap(text, width)).map(|line| line + "\n").collect()
}

/// The target on both sides, and the step.
fn name(target: &TargetChange) -> String {
    let step = match target.step {
        Some(Step::Connections { count } | Step::Devices { count }) => format!(" @{count}"),
        Some(Step::Rate { per_s }) => format!(" @{}/s", format_count(per_s)),
        None => String::new(),
    };
    if target.a == target.b {
        format!("{}{step}", target.b)
    } else {
        format!("{} -> {}{step}", target.a, target.b)
    }
}

/// Which changes of a comparison rest on rounds that both sides have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WithinRounds {
    /// All whose interval is known.
    All,
    /// Some of them.
    Some,
    /// None.
    Not,
}

impl WithinRounds {
    fn from_comparison(comparison: &Comparison) -> Self {
        let known = || {
            let changes = comparison.targets.iter().flat_map(|target| &target.changes);
            changes.filter(|change| change.ratio.is_some())
        };
        match known().filter(|change| change.is_paired).count() {
            0 => Self::Not,
            paired if paired == known().count() => Self::All,
            _ => Self::Some,
        }
    }
}

fn row(
    name: &str,
    width: usize,
    target: &TargetChange,
    change: &Change,
    rounds: WithinRounds,
) -> String {
    let [a, b] = words::in_one_unit(change.figure, [change.a, change.b]);
    let (relative, interval) = relative(change);
    let apart = match rounds {
        // Instructions are counted by themselves.
        WithinRounds::Some if !change.is_paired && change.figure != Figure::Instructions => {
            " (not within rounds)"
        }
        _ => "",
    };
    let judgement = match change.ratio {
        Some(_) => format!("  {}{apart}", target.judgement(change)),
        None => String::new(),
    };
    format!(
        "{name:<width$} {:<8} {a:>12} {b:>12} {relative:>9}  {interval}{judgement}\n",
        change.figure.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::gates::seeded;
    use pippin_model::example::slices::Rounds;
    use pippin_model::figure::Figure;
    use pippin_stats::compare::{Compiling, Side, compare};
    use pippin_stats::interval::Interval;
    use pippin_stats::interval::bootstrap::Basis;
    use pippin_stats::interval::ratio::Ratio;
    use proptest::prelude::*;

    fn example(b_verdict: Verdict) -> Compared {
        let ratio = Ratio {
            value: 0.9,
            interval: Interval { low: 0.88, high: 0.92, basis: Basis::Trials },
        };
        let goodput = Change {
            figure: Figure::Goodput,
            a: Some(10_000.0),
            b: Some(9_000.0),
            ratio: Some(ratio),
            is_paired: false,
        };
        let memory = Change {
            figure: Figure::Memory,
            a: None,
            b: Some(1_048_576.0),
            ratio: None,
            is_paired: false,
        };
        let target = TargetChange {
            a: "go/net-http@main".parse().unwrap(),
            b: "go/net-http@feature-x".parse().unwrap(),
            step: None,
            a_verdict: Verdict::Valid,
            b_verdict,
            answers: None,
            compiling: None,
            disturbed: None,
            changes: vec![goodput, memory],
        };
        Compared {
            a: "main (commit 0123456789)".into(),
            b: "feature/x (commit abcdef0123)".into(),
            a_trials: vec![],
            b_trials: vec![],
            a_planned: Planned::default(),
            b_planned: Planned::default(),
            lost: vec![],
            missing: BTreeMap::new(),
            unfinished: vec![],
            trust: vec![Trust { because: "it is SUSPECT".into(), ..Trust::default() }],
            comparison: Comparison { targets: vec![target], only_a: vec![], only_b: vec![] },
            origin: Origin::OneRun,
            is_shown: false,
            differences: vec![],
            scan: None,
            goal: None,
            more: vec![("run", "r".into())],
        }
    }

    #[test]
    fn the_table_is_as_wide_as_its_names_and_doubts_stand_in_it() {
        let said = "feature/x answers 10.0 % (8.0 to 12.0) fewer requests/s than main; the change of CPU time per request and p99 response time is unknown.";
        let expected = [
            said,
            "",
            "Can you trust it? No: it is SUSPECT.",
            "",
            "A main (commit 0123456789)",
            "B feature/x (commit abcdef0123)",
            "",
            "target                                              A            B   change  95 % interval of the change",
            "go/net-http@main -> go/net-http@feature-x goodput      10,000/s      9,000/s  -10.00 %  -12.00 % to -8.00 %  worse",
            "                                          memory              –     1.00 MiB         –  –",
            "                                          verdict         VALID      SUSPECT",
            "",
            said,
        ];
        let text = text(&example(Verdict::Suspect), 400);
        let found: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            found,
            expected.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        );
        let columns: Vec<Option<usize>> = text
            .lines()
            .skip(8)
            .take(3)
            .map(|line| ["goodput", "memory", "verdict"].iter().find_map(|word| line.find(word)))
            .collect();
        assert_eq!(columns, [Some(42); 3], "{text}");
    }

    /// Within rounds is said of the rows that are, and of no other.
    #[test]
    fn rows_that_are_not_within_rounds_say_so_beside_rows_that_are() {
        let mut compared = example(Verdict::Valid);
        let mut shown = |paired: [bool; 2]| {
            let changes = &mut compared.comparison.targets[0].changes;
            let ratio = changes[0].ratio;
            for (change, is_paired) in changes.iter_mut().zip(paired) {
                (change.is_paired, change.ratio) = (is_paired, ratio);
            }
            let text = text(&compared, 400);
            let count = |words: &str| text.matches(words).count();
            [count("within the rounds"), count("(not within rounds)")]
        };
        assert_eq!(shown([false, false]), [0, 0]);
        assert_eq!(shown([true, true]), [1, 0]);
        assert_eq!(shown([true, false]), [1, 1]);
        assert_eq!(shown([false, true]), [1, 1]);
    }

    #[test]
    fn a_side_that_compiled_stands_below_its_rows() {
        let mut compared = example(Verdict::Suspect);
        let words = "the JVM compiled for 24.0 % of a processor".to_string();
        let compiling = Compiling { a: None, b: Some(words), is_planned: false };
        compared.comparison.targets[0].compiling = Some(compiling);
        let text = text(&compared, 400);
        assert!(
            text.contains("compiled B: the JVM compiled for 24.0 % of a processor\n"),
            "{text}"
        );
        assert!(text.contains("a side still compiled") && !text.contains("worse"), "{text}");
    }

    #[test]
    fn the_trust_is_said_once_and_fits_the_terminal() {
        let because = "other programs used 58 % of this machine, and 0 of 224 slices were calm";
        let trust = Trust { because: because.into(), ..Trust::default() };
        let mut compared = Compared { trust: vec![trust], ..example(Verdict::Valid) };
        let shown = text(&compared, 60);
        // The sentence comes first.
        let behind = shown.lines().skip_while(|line| !line.is_empty()).skip(1);
        let of_trust: Vec<&str> = behind.take_while(|line| !line.is_empty()).collect();
        assert_eq!(of_trust.join(" "), compared.trust[0].words());
        assert!(of_trust.len() > 1 && of_trust.iter().all(|line| line.len() <= 60), "{shown}");
        assert_eq!(shown.matches("Can you trust it?").count(), 1, "{shown}");
        // The run was shown in full before.
        compared.is_shown = true;
        assert_eq!(text(&compared, 60).matches("Can you trust it?").count(), 0);
    }

    #[test]
    fn a_run_that_was_cut_short_is_named_above_the_table_and_in_json() {
        let mut compared = example(Verdict::Valid);
        assert_eq!(text(&compared, 400).lines().nth(6), Some(""));
        compared.unfinished.push(Unfinished {
            side: "B".into(),
            run: "r".into(),
            state: pippin_model::run::RunState::Interrupted,
            trials_with_result: 2,
        });
        assert_eq!(
            text(&compared, 400).lines().nth(6),
            Some("B (run r) was interrupted: its figures come from 2 trials")
        );
        let json: serde_json::Value = serde_json::from_str(&json(&compared, &[]).unwrap()).unwrap();
        assert_eq!(json["unfinished"][0]["state"], "interrupted");
        assert_eq!(json["unfinished"][0]["trials_with_result"], 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The law of columns: the printed levels give the printed change, and its interval holds
        /// it, within a run and between two.
        #[test]
        fn the_ratio_of_the_columns_is_the_change(
            seed in 1_u64..1_000,
            times in 0.2_f64..3.0,
            host in 0.0_f64..0.5,
            start in 0.0_f64..0.3,
            is_one in any::<bool>(),
        ) {
            let rounds = Rounds { host, start, slice: 0.02, seed, ..Rounds::default() };
            let a = rounds.trials("a/a", 10_000.0, 20.0);
            let b = rounds.trials("b/b", 10_000.0 * times, 20.0 / times);
            let origin = if is_one { Origin::OneRun } else { Origin::TwoRuns };
            let verdict = |_: &TargetId, _| Verdict::Valid;
            let side = |trials| Side { trials, verdict: &verdict };
            let comparison = compare(side(&a), side(&b), origin, &mut seeded());
            let compared = Compared { comparison, origin, ..example(Verdict::Valid) };
            for change in &compared.comparison.targets[0].changes {
                let Some(ratio) = change.ratio else { continue };
                let (level_a, level_b) = (change.a.unwrap(), change.b.unwrap());
                prop_assert!((level_b / level_a / ratio.value - 1.0).abs() < 1e-9, "{change:?}");
                prop_assert!(ratio.interval.covers(ratio.value), "{change:?}");
                // What people read, in text and in JSON.
                let read = |shown: String| -> f64 {
                    let digits: String =
                        shown.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
                    digits.parse().unwrap()
                };
                let [shown_a, shown_b] =
                    words::in_one_unit(change.figure, [Some(level_a), Some(level_b)]);
                let unit = |shown: &str| shown.split_once(' ').map(|(_, unit)| unit.to_string());
                prop_assert_eq!(unit(&shown_a), unit(&shown_b));
                {
                    let shown = read(shown_b) / read(shown_a) - 1.0;
                    let change = change.relative().unwrap();
                    prop_assert!((shown - change).abs() < 0.02 * (1.0 + change.abs()), "{shown} {change}");
                }
                let line = format!("{:+.2} %", change.relative().unwrap() * 100.0);
                prop_assert!(text(&compared, 80).contains(&line), "{line}");
            }
        }
    }

    #[test]
    fn only_what_is_invalid_ends_the_comparison() {
        assert!(tell_invalid(&example(Verdict::Invalid)));
        assert!(!tell_invalid(&example(Verdict::Suspect)));
        let lost = Compared { lost: vec!["a/a".parse().unwrap()], ..example(Verdict::Valid) };
        assert!(tell_invalid(&lost));
    }
}
