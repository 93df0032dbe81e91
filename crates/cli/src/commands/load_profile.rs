//! The flags of `pippin load` as a profile: the same words and the same checks as in a plan.
use pippin_model::profile::{BoolOrNumber, OneOrMany, Profile, RawProfile};

use crate::arguments::LoadArguments;
use crate::exit::CliError;

const DEFAULT_DURATION: &str = "10s";

/// The profile that the flags describe.
pub fn of(arguments: &LoadArguments) -> Result<Profile, CliError> {
    raw(arguments)?.checked().map_err(|message| CliError::User(as_flags(&message)))
}

fn raw(arguments: &LoadArguments) -> Result<RawProfile, CliError> {
    let duration = arguments
        .duration
        .clone()
        .or_else(|| arguments.requests.is_none().then(|| DEFAULT_DURATION.into()));
    let keep_alive = match (arguments.no_keep_alive, arguments.requests_per_connection) {
        (true, _) => Some(BoolOrNumber::Bool(false)),
        (false, Some(requests)) => Some(BoolOrNumber::Number(requests)),
        (false, None) => None,
    };
    let connections = Some(OneOrMany::One(arguments.connections));
    let base = RawProfile { duration: duration.clone(), keep_alive, ..RawProfile::default() };
    if let Some(devices) = arguments.devices {
        return devices_of(arguments, devices);
    }
    if let Some(list) = &arguments.sweep {
        refuse_ramp(arguments, "--sweep")?;
        return Ok(RawProfile {
            kind: Some("sweep".into()),
            connections: Some(OneOrMany::Many(numbers(list)?)),
            warm_up: arguments.warm_up.clone(),
            ..base
        });
    }
    if let Some(objective) = &arguments.objective {
        refuse_ramp(arguments, "--objective")?;
        refuse_warm_up(arguments, "--objective")?;
        return Ok(RawProfile {
            kind: Some("capacity".into()),
            connections,
            objective: Some(objective.clone()),
            start_rate: Some(arguments.rate.unwrap_or(100.0)),
            ..base
        });
    }
    if let Some(rate) = arguments.rate {
        refuse_warm_up(arguments, "-R")?;
        let arrivals = arguments.poisson.then(|| "poisson".to_string());
        return Ok(RawProfile {
            kind: Some("open".into()),
            connections,
            rate: Some(rate),
            arrivals,
            ramp: arguments.ramp.clone(),
            ..base
        });
    }
    refuse_ramp(arguments, "a closed loop")?;
    Ok(RawProfile {
        kind: Some("closed".into()),
        connections,
        requests: arguments.requests,
        warm_up: arguments.warm_up.clone(),
        think: arguments.think.clone(),
        ..base
    })
}

fn devices_of(arguments: &LoadArguments, devices: u32) -> Result<RawProfile, CliError> {
    refuse_warm_up(arguments, "--devices")?;
    let ramp = arguments.ramp.as_deref().unwrap_or_default();
    let [up, sustain, down]: [&str; 3] =
        ramp.split(',').collect::<Vec<_>>().try_into().map_err(|_| {
            CliError::User(format!(
                "--ramp `{ramp}`: devices need three times, UP,SUSTAIN,DOWN, as 10s,30s,10s"
            ))
        })?;
    Ok(RawProfile {
        kind: Some("devices".into()),
        devices: Some(devices),
        requests_per_device: Some(arguments.requests_per_device),
        think: arguments.think.clone(),
        ramp_up: Some(up.into()),
        sustain: Some(sustain.into()),
        ramp_down: Some(down.into()),
        ..RawProfile::default()
    })
}

fn refuse_ramp(arguments: &LoadArguments, with: &str) -> Result<(), CliError> {
    match &arguments.ramp {
        Some(_) => Err(CliError::User(format!(
            "--ramp has no effect with {with}; it goes with -R or --devices"
        ))),
        None => Ok(()),
    }
}

fn refuse_warm_up(arguments: &LoadArguments, with: &str) -> Result<(), CliError> {
    match &arguments.warm_up {
        Some(_) => Err(CliError::User(format!(
            "--warm-up has no effect with {with}; its ramp (--ramp) is what is left out"
        ))),
        None => Ok(()),
    }
}

/// `1,2,4` or `1..512`: doubling from the first to the last, which is always among them.
fn numbers(list: &str) -> Result<Vec<u32>, CliError> {
    let error = || {
        CliError::User(format!(
            "--sweep `{list}` is neither a list (1,2,4,8) nor a doubling range (1..512)"
        ))
    };
    if let Some((first, last)) = list.split_once("..") {
        let (first, last): (u32, u32) =
            (first.trim().parse().map_err(|_| error())?, last.trim().parse().map_err(|_| error())?);
        if first == 0 || first > last {
            return Err(error());
        }
        let mut points: Vec<u32> = std::iter::successors(Some(first), |n| n.checked_mul(2))
            .take_while(|n| *n < last)
            .collect();
        points.push(last);
        return Ok(points);
    }
    list.split(',').map(|number| number.trim().parse().map_err(|_| error())).collect()
}

/// The checks speak of a plan's keys; on the command line these are flags.
fn as_flags(message: &str) -> String {
    let names = [
        ("profile.connections", "-c or --sweep"),
        ("profile.duration", "-d"),
        ("profile.requests", "-n"),
        ("profile.warm_up", "--warm-up"),
        ("profile.think", "--think"),
        ("profile.rate", "-R"),
        ("profile.start_rate", "-R"),
        ("profile.ramp_up", "--ramp"),
        ("profile.ramp_down", "--ramp"),
        ("profile.sustain", "--ramp"),
        ("profile.ramp", "--ramp"),
        ("profile.objective", "--objective"),
    ];
    names.iter().fold(message.to_string(), |message, (key, flag)| message.replace(key, flag))
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn a_range_doubles_and_keeps_its_end() {
        assert_eq!(numbers("1..10").unwrap(), [1, 2, 4, 8, 10]);
        assert_eq!(numbers("1..8").unwrap(), [1, 2, 4, 8]);
        assert_eq!(numbers("3, 5").unwrap(), [3, 5]);
        for wrong in ["8..1", "0..4", "a", "1..", ""] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }
}
