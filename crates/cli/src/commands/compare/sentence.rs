//! What a comparison says in one sentence: "HEAD needs 4.1 % (3.0 to 5.2) more CPU time per request
//! than main; requests/s and p99 response time show no difference above 2 %."
use pippin_model::figure::Figure;
use pippin_model::verdict::Verdict;
use pippin_stats::compare::{Change, TargetChange};

const P99: &str = "p99 response time";
const INSTRUCTIONS: &str = "instructions per request";
/// The figures of a sentence, in its order: what each side does, and the figure as a noun.
const FIGURES: [(Figure, &str, &str); 4] = [
    (Figure::Instructions, "takes", INSTRUCTIONS),
    (Figure::Cpu, "needs", "CPU time per request"),
    (Figure::Goodput, "answers", "requests/s"),
    (Figure::P99, "has", P99),
];

/// The sentence about one target. `a` and `b` name the sides.
pub fn write(target: &TargetChange, a: &str, b: &str) -> String {
    for (side, verdict) in [(a, target.a_verdict), (b, target.b_verdict)] {
        if verdict == Verdict::Invalid {
            return format!("The result of {side} is INVALID, so nothing can be said of {b}.");
        }
    }
    if let Some(answers) = &target.answers {
        return format!(
            "{b} does other work than {a} (answers: {} and {}), so neither is better.",
            answers.b, answers.a
        );
    }
    if let Some(compiling) = target.still_compiled() {
        let who = match (&compiling.a, &compiling.b) {
            (Some(_), Some(_)) => format!("{a} and {b} still compiled"),
            (Some(_), None) => format!("{a} still compiled"),
            _ => format!("{b} still compiled"),
        };
        return format!(
            "{who} while measured, so times and rates say nothing of {b} when it is warm: warm up longer."
        );
    }
    if let Some(disturbed) = target.disturbed {
        let who = match (disturbed.a, disturbed.b) {
            (true, true) => format!("{a} or {b}"),
            (true, false) => a.to_string(),
            _ => b.to_string(),
        };
        return format!(
            "{a} and {b} are not comparable: no slice of {who} was calm. Stop other programs (`pippin doctor` shows them) and measure again, or measure both in one run."
        );
    }
    let change = |figure| target.changes.iter().find(|change: &&Change| change.figure == figure);
    let (mut sure, mut open, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    let mut widest = 0.0_f64;
    // Instructions are counted only where they were asked for.
    let asked = FIGURES
        .into_iter()
        .filter(|(figure, ..)| *figure != Figure::Instructions || change(*figure).is_some());
    for (figure, verb, noun) in asked {
        let known = change(figure).and_then(|it| Some((it.relative()?, it.relative_interval()?)));
        match known {
            None => unknown.push(noun),
            Some((by, (low, high))) if low > 0.0 || high < 0.0 => {
                sure.push(words(verb, noun, by, (low, high)));
            }
            Some((_, (low, high))) => {
                widest = widest.max(-low).max(high);
                open.push(noun);
            }
        }
    }
    let mut parts = Vec::new();
    if let Some((first, more)) = sure.split_first() {
        parts.push(format!("{b} {first} than {a}"));
        parts.extend(more.iter().map(|one| format!("it {one}")));
    }
    if !open.is_empty() {
        let (of, verb) = (listed(&open), if open.len() == 1 { "shows" } else { "show" });
        let between =
            if parts.is_empty() { format!(" between {a} and {b}") } else { String::new() };
        parts.push(format!("{of} {verb} no difference above {}{between}", bound(widest)));
    }
    if !unknown.is_empty() {
        parts.push(format!("the change of {} is unknown", listed(&unknown)));
    }
    let sentence = format!("{}.", parts.join("; "));
    if sure.is_empty() { pippin_report::words::capital(&sentence) } else { sentence }
}

/// `needs 4.1 % (3.0 to 5.2) more CPU time per request`.
fn words(verb: &str, noun: &str, by: f64, (low, high): (f64, f64)) -> String {
    let (low, high) = if by < 0.0 { (-high, -low) } else { (low, high) };
    let how = match (noun, by < 0.0) {
        (P99, true) => "lower",
        (P99, false) => "higher",
        (_, true) => {
            if ["requests/s", INSTRUCTIONS].contains(&noun) {
                "fewer"
            } else {
                "less"
            }
        }
        (_, false) => "more",
    };
    let (by, low, high) = (by.abs() * 100.0, low * 100.0, high * 100.0);
    let by = format!("{by:.1} % ({low:.1} to {high:.1}) {how}");
    if noun == P99 { format!("{verb} a {P99} that is {by}") } else { format!("{verb} {by} {noun}") }
}

/// The least whole percentage that is not below this; tenths below 1 %.
fn bound(fraction: f64) -> String {
    // What is computed as 0.40000000001 % is 0.4 %.
    let percent = fraction * 100.0 - 1e-9;
    if percent < 1.0 {
        format!("{:.1} %", (percent * 10.0).ceil().max(0.0) / 10.0)
    } else {
        format!("{:.0} %", percent.ceil())
    }
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_stats::compare::{Compiling, Disturbed};
    use pippin_stats::interval::Interval;
    use pippin_stats::interval::bootstrap::Basis;
    use pippin_stats::interval::ratio::Ratio;

    fn change(figure: Figure, low: f64, value: f64, high: f64) -> Change {
        let interval = Interval { low: 1.0 + low, high: 1.0 + high, basis: Basis::Trials };
        let ratio = Ratio { value: 1.0 + value, interval };
        Change {
            figure,
            a: Some(100.0),
            b: Some(100.0 * ratio.value),
            ratio: Some(ratio),
            is_paired: true,
        }
    }

    fn target(changes: Vec<Change>) -> TargetChange {
        TargetChange {
            a: "own/shop@main".parse().unwrap(),
            b: "own/shop@HEAD".parse().unwrap(),
            step: None,
            a_verdict: Verdict::Valid,
            b_verdict: Verdict::Valid,
            answers: None,
            compiling: None,
            disturbed: None,
            changes,
        }
    }

    #[test]
    fn what_is_sure_comes_first_and_the_rest_has_its_bound() {
        let more = change(Figure::Cpu, 0.030, 0.041, 0.052);
        let (rate, p99) = (
            change(Figure::Goodput, -0.015, 0.001, 0.018),
            change(Figure::P99, -0.0191, 0.0, 0.012),
        );
        assert_eq!(
            write(&target(vec![rate, p99, more]), "main", "HEAD"),
            "HEAD needs 4.1 % (3.0 to 5.2) more CPU time per request than main; requests/s and p99 response time show no difference above 2 %."
        );
        let counted = change(Figure::Instructions, 0.0098, 0.01, 0.0102);
        assert!(
            write(&target(vec![counted]), "main", "HEAD").starts_with(
                "HEAD takes 1.0 % (1.0 to 1.0) more instructions per request than main; the change of CPU"
            )
        );
        let nothing = change(Figure::Cpu, -0.004, 0.0, 0.0031);
        assert_eq!(
            write(&target(vec![nothing]), "main", "HEAD"),
            "CPU time per request shows no difference above 0.4 % between main and HEAD; the change of requests/s and p99 response time is unknown."
        );
        let all = vec![
            change(Figure::Cpu, -0.12, -0.10, -0.08),
            change(Figure::Goodput, -0.12, -0.10, -0.08),
            change(Figure::P99, 0.30, 0.40, 0.50),
        ];
        assert_eq!(
            write(&target(all), "main", "HEAD"),
            "HEAD needs 10.0 % (8.0 to 12.0) less CPU time per request than main; it answers 10.0 % (8.0 to 12.0) fewer requests/s; it has a p99 response time that is 40.0 % (30.0 to 50.0) higher."
        );
        let none = write(&target(vec![]), "main", "HEAD");
        assert!(
            none.starts_with(
                "The change of CPU time per request, requests/s and p99 response time"
            ),
            "{none}"
        );
    }

    #[test]
    fn of_a_side_that_still_compiled_no_change_is_said() {
        let more = || vec![change(Figure::Cpu, 0.030, 0.041, 0.052)];
        let compiling = |a: bool, b: bool, is_planned| {
            let words = |worked: bool| worked.then(|| "the JVM compiled".to_string());
            let compiling = Some(Compiling { a: words(a), b: words(b), is_planned });
            write(&TargetChange { compiling, ..target(more()) }, "main", "HEAD")
        };
        let nothing = "while measured, so times and rates say nothing of HEAD when it is warm: warm up longer.";
        assert_eq!(compiling(true, false, false), format!("main still compiled {nothing}"));
        assert_eq!(compiling(false, true, false), format!("HEAD still compiled {nothing}"));
        assert_eq!(compiling(true, true, false), format!("main and HEAD still compiled {nothing}"));
        assert!(compiling(true, true, true).starts_with("HEAD needs 4.1 %"), "it was asked for");
    }

    #[test]
    fn where_nothing_was_calm_nothing_is_compared() {
        let of_sides = |a, b| {
            let disturbed = Some(Disturbed { a, b });
            let changes = vec![change(Figure::Cpu, 0.030, 0.041, 0.052)];
            write(&TargetChange { disturbed, ..target(changes) }, "main", "HEAD")
        };
        let begins = |who: &str| {
            format!("main and HEAD are not comparable: no slice of {who} was calm. Stop ")
        };
        assert!(of_sides(true, false).starts_with(&begins("main")));
        assert!(of_sides(false, true).starts_with(&begins("HEAD")));
        assert!(of_sides(true, true).starts_with(&begins("main or HEAD")));
    }

    #[test]
    fn of_what_is_invalid_nothing_is_said() {
        let invalid = TargetChange { a_verdict: Verdict::Invalid, ..target(vec![]) };
        assert!(write(&invalid, "main", "HEAD").contains("The result of main is INVALID"));
    }
}
