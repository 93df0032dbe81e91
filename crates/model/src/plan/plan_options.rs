//! Changes to a plan from the command line, and their words in the report.
use crate::plan::goal::Goal;
use crate::plan::limits::Limits;
use crate::plan::profile::Profile;
use crate::schedule::Schedule;
use crate::target::TargetId;
use crate::text::units::{Spread, format_ns};

/// Changes to a plan from the command line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanOptions {
    /// Use the quick form.
    pub quick: bool,
    /// Whether the life of each target is measured, whatever the plan says.
    pub life: Option<bool>,
    /// Instructions per request are counted, whatever the plan says.
    pub instructions: bool,
    /// Use only these targets, or others.
    pub targets: Option<Vec<TargetId>>,
    /// Another number of repetitions.
    pub repetitions: Option<u32>,
    /// When the run has measured enough, in place of a number of repetitions.
    pub goal: Option<Goal>,
    /// `WORKERS` of every target.
    pub workers: Option<u32>,
    /// What each target may use at the most, in place of what the plan says.
    pub limits: Limits,
    /// Devices only: the number of devices times this factor, with all times kept.
    pub scale: Option<f64>,
    /// Devices only: lengths of ramp-up, sustained part and ramp-down, in nanoseconds.
    pub phases_ns: Option<[u64; 3]>,
    /// Devices only: another think time.
    pub think: Option<Spread>,
}

impl PlanOptions {
    /// Applies `--scale`, `--ramp` and `--think` to the profile. Each change is added to `changed`,
    /// in the words of the report.
    ///
    /// # Errors
    /// If one of them is given and the profile is not one of devices. The message names the option.
    pub(crate) fn apply(
        &self,
        profile: Profile,
        changed: &mut Vec<String>,
    ) -> Result<Profile, String> {
        let given = [
            ("--scale", self.scale.is_some()),
            ("--ramp", self.phases_ns.is_some()),
            ("--think", self.think.is_some()),
        ];
        let Some((option, _)) = given.iter().find(|(_, given)| *given) else { return Ok(profile) };
        let kind = profile.kind();
        let Schedule::Devices {
            mut devices,
            requests_per_device,
            mut think,
            ramp_up_ns,
            sustain_ns,
            ramp_down_ns,
        } = profile.schedule
        else {
            return Err(format!("{option} goes with device plans only; this one is `{kind}`"));
        };
        let mut phases_ns = [ramp_up_ns, sustain_ns, ramp_down_ns];
        if let Some(scale) = self.scale {
            let asked = (f64::from(devices) * scale).round().max(1.0) as u32;
            changed.push(format!("{asked} devices instead of {devices} (--scale)"));
            devices = asked;
        }
        if let Some(asked) = self.phases_ns {
            let words = |phases: [u64; 3]| phases.map(format_ns).join(" + ");
            changed.push(format!(
                "phases of {} instead of {} (--ramp)",
                words(asked),
                words(phases_ns)
            ));
            phases_ns = asked;
        }
        if let Some(asked) = self.think {
            changed.push(format!("think time {asked} instead of {think} (--think)"));
            think = asked;
        }
        let protocol = profile.protocol;
        Ok(Profile { protocol, ..Profile::devices(devices, requests_per_device, think, phases_ns) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn devices() -> Profile {
        let think = Spread { mean_ns: 900_000_000, jitter: 0.05 };
        Profile::devices(10_000, 100, think, [1_200 * SECOND; 3])
    }

    #[test]
    fn changes_of_devices_take_effect_and_are_told() {
        let think = Spread::exactly(10 * SECOND);
        let options = PlanOptions {
            scale: Some(0.1),
            phases_ns: Some([SECOND, 2 * SECOND, 3 * SECOND]),
            think: Some(think),
            ..PlanOptions::default()
        };
        let mut changed = Vec::new();
        assert_eq!(
            options.apply(devices(), &mut changed),
            Ok(Profile::devices(1_000, 100, think, [SECOND, 2 * SECOND, 3 * SECOND]))
        );
        assert_eq!(changed.len(), 3);
        assert_eq!(changed[0], "1000 devices instead of 10000 (--scale)");
        assert!(
            changed[2].contains("instead of 900 ms ±5 %")
                || changed[2].contains("instead of 900 ms"),
            "{}",
            changed[2]
        );
    }

    #[test]
    fn a_plan_as_written_has_no_changes() {
        let mut changed = Vec::new();
        assert_eq!(PlanOptions::default().apply(devices(), &mut changed).unwrap(), devices());
        assert!(changed.is_empty());
    }
}
