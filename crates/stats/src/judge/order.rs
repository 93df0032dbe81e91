//! Which doubt stands first: the most serious, and of these the cause that a reader can act on.
//!
//! Other programs on the machine bend every other sign, so they come first; they can be stopped, and
//! other virtual machines cannot. What follows from too
//! little evidence comes last: a doubt that names a cause helps more.
use pippin_model::verdict::{Caveat, Severity};
use std::cmp::Reverse;

use crate::interval::unsure;
use crate::judge::{UNKNOWN, noisy_neighbour};

/// The place of a caveat among others of one result: sort by it.
#[must_use]
pub fn place(caveat: &Caveat) -> (Reverse<Severity>, u8) {
    place_by(caveat.severity, &caveat.id)
}

/// The place of a caveat with this severity and name.
#[must_use]
pub fn place_by(severity: Severity, id: &str) -> (Reverse<Severity>, u8) {
    let cause = match id {
        "other_programs" => 0,
        _ if noisy_neighbour::IDS.contains(&id) => 1,
        unsure::ID => 3,
        UNKNOWN => 4,
        _ => 2,
    };
    (Reverse(severity), cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_that_helps_stands_before_what_is_not_known() {
        let found = |severity, id: &str| Caveat {
            id: id.into(),
            severity,
            evidence: String::new(),
            advice: String::new(),
        };
        let mut all = [
            found(Severity::Note, "collections"),
            found(Severity::Suspect, UNKNOWN),
            found(Severity::Suspect, unsure::ID),
            found(Severity::Suspect, "bimodal"),
            found(Severity::Suspect, "steal"),
            found(Severity::Suspect, "other_programs"),
            found(Severity::Invalid, "wrong_answers"),
        ];
        all.sort_by_key(place);
        let ids: Vec<&str> = all.iter().map(|caveat| caveat.id.as_str()).collect();
        let ordered = [
            "wrong_answers",
            "other_programs",
            "steal",
            "bimodal",
            "unsure",
            "unknown",
            "collections",
        ];
        assert_eq!(ids, ordered);
    }
}
