//! How calm the host was during a run, in words.
use pippin_stats::rounds::calm::SliceCounts;

use crate::words;

/// One line: `71 of 96 slices calm; steal 3.2 %, other programs 0.4 %`.
#[must_use]
pub fn line(slices: &SliceCounts) -> String {
    let share = |name: &str, share: Option<f64>| {
        format!("{name} {}", share.map_or_else(|| words::UNKNOWN.into(), words::percent))
    };
    let mut line = format!(
        "{} of {} slices calm; {}, {}",
        slices.calm,
        slices.made,
        share("steal", slices.steal),
        share("other programs", slices.others)
    );
    if let Some(of_load) = slices.kernel_network.filter(|share| *share >= 0.001) {
        line.push_str(&format!(
            ", the kernel's network work for the load {}",
            words::percent(of_load)
        ));
    }
    if slices.used_disturbed > 0 {
        line.push_str(&format!(
            "; too few were calm: {} of the {} slices that the figures rest on were disturbed",
            slices.used_disturbed, slices.used
        ));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_run_is_told_in_one_line() {
        let calm = SliceCounts {
            made: 96,
            calm: 71,
            used: 71,
            used_disturbed: 0,
            disturbed_by: BTreeMap::from([("steal".into(), 25)]),
            steal: Some(0.032),
            others: None,
            kernel_network: None,
        };
        assert_eq!(line(&calm), "71 of 96 slices calm; steal 3.2 %, other programs –");
        let shown = SliceCounts { kernel_network: Some(0.03), ..calm.clone() };
        assert_eq!(
            line(&shown),
            "71 of 96 slices calm; steal 3.2 %, other programs –, the kernel's network work for the load 3.0 %"
        );
        let noisy = SliceCounts { calm: 3, used: 12, used_disturbed: 9, others: Some(0.0), ..calm };
        assert_eq!(
            line(&noisy),
            "3 of 96 slices calm; steal 3.2 %, other programs 0 %; too few were calm: 9 of the 12 slices that the figures rest on were disturbed"
        );
    }
}
