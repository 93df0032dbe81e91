//! The caveats and the verdict of each trial, judged anew from what is kept of it.
use pippin_model::request::secrets::Digests;
use pippin_model::run::RunRecord;
use pippin_model::verdict::Caveat;
use pippin_stats::judge::settled::{seen_at_the_stop, settle};

use super::{Findings, trials};

/// Compares them.
pub(super) fn check(record: &RunRecord, found: &mut Findings) {
    for (number, (place, trial)) in trials(record).enumerate() {
        let (caveats, verdict) =
            settle(trial, &record.header, &record.trials[..number], seen_at_the_stop(trial));
        found.equal(format!("{place}.verdict"), trial.verdict, verdict);
        for caveat in &caveats {
            let place = format!("{place}.caveats: {}", caveat.name());
            match trial.caveats.iter().find(|stated| stated.id == caveat.id) {
                None => found.say(place, "no such caveat", &caveat.evidence),
                Some(stated) => compare(&place, stated, caveat, found),
            }
        }
        for stated in &trial.caveats {
            let place = format!("{place}.caveats: {}", stated.name());
            let of_this = |all: &[Caveat]| all.iter().filter(|one| one.id == stated.id).count();
            match of_this(&caveats) {
                0 => found.say(place, &stated.evidence, "no such caveat"),
                count => found.equal(place, of_this(&trial.caveats), count),
            }
        }
    }
}

fn compare(place: &str, stated: &Caveat, follows: &Caveat, found: &mut Findings) {
    let severity = |caveat: &Caveat| format!("{:?}", caveat.severity).to_uppercase();
    found.equal(place, severity(stated), severity(follows));
    let [own, other] = [stated, follows].map(|caveat| without_values(&caveat.evidence));
    found.holds(own == other, place, &stated.evidence, &follows.evidence);
    found.equal(place, &stated.advice, &follows.advice);
}

/// Evidence without what a record does not keep: quoted parts of answers, for which digests stand, and
/// the place to which the first redirection led.
fn without_values(evidence: &str) -> String {
    let evidence = evidence.split(", the first to ").next().unwrap_or_default();
    let with_digests = Digests::new([0; 32]).message(evidence);
    let mut parts = with_digests.split("(not kept: ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        let rest = part.split_once(')').map_or("", |(_, rest)| rest);
        text + "…" + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_record_does_not_keep_is_not_compared() {
        let kept = Digests::new([7; 32]).message(r#"proof `answer`: got "Bye" for /a?key=s3cret"#);
        let seen = r#"proof `answer`: got "Bye" for /a?key=s3cret"#;
        assert_eq!(without_values(&kept), without_values(seen));
        assert_ne!(
            without_values(seen),
            without_values("proof `answer`: got \"Bye\" for /b?key=s")
        );
        assert_eq!(
            without_values("3 % are redirections (301: 5), the first to /x"),
            "3 % are redirections (301: 5)"
        );
    }
}
