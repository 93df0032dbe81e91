//! The flags of `pippin load` as a profile. What a flag means is said where it is defined; here is
//! only which flags make which profile, and which of them then have no effect.
use pippin_model::load_spec::{Connections, StopRule, WarmUp};
use pippin_model::profile::{Arrivals, Profile, Schedule};
use pippin_model::units::Spread;

use crate::arguments::LoadArguments;
use crate::exit::CliError;
use crate::values::Time;

/// How long to measure where nothing says so.
const DURATION: Time = Time::from_s(10);
/// Where a search begins where nothing says so, requests per second.
const START_RATE_PER_S: f64 = 100.0;
/// How near a search comes, as a fraction of the rate.
const PRECISION: f64 = 0.02;
/// The think time of devices where nothing says so.
const DEVICE_THINK: Spread = Spread { mean_ns: 900_000_000, jitter: 0.05 };

/// The profile that the flags describe.
pub fn of(arguments: &LoadArguments) -> Result<Profile, CliError> {
    let profile = if let Some(devices) = arguments.devices {
        return of_devices(arguments, devices);
    } else if let Some(points) = &arguments.sweep {
        refuse_ramp(arguments, "--sweep")?;
        let sweep = Profile::sweep(points.0.clone(), duration(arguments).ns());
        Profile { warm_up: arguments.warm_up.unwrap_or(WarmUp::AUTO), ..sweep }
    } else if let Some(objective) = &arguments.objective {
        refuse_ramp(arguments, "--objective")?;
        refuse_warm_up(arguments, "--objective")?;
        Profile::capacity(
            objective.clone(),
            arguments.rate.unwrap_or(START_RATE_PER_S),
            arguments.connections,
            duration(arguments).ns(),
            PRECISION,
        )
    } else if let Some(rate) = arguments.rate {
        refuse_warm_up(arguments, "-R")?;
        let arrivals = if arguments.poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let duration_ns = duration(arguments).ns();
        Profile::open(rate, arrivals, arguments.connections, ramp_ns(arguments)?, duration_ns)
    } else {
        refuse_ramp(arguments, "a closed loop")?;
        closed(arguments)?
    };
    let requests_per_connection =
        if arguments.no_keep_alive { Some(1) } else { arguments.requests_per_connection };
    let pipeline = arguments.pipeline;
    let streams = arguments.streams;
    let connections =
        Connections { requests_per_connection, pipeline, streams, ..profile.connections };
    Ok(Profile { connections, ..profile })
}

fn duration(arguments: &LoadArguments) -> Time {
    arguments.duration.unwrap_or(DURATION)
}

fn closed(arguments: &LoadArguments) -> Result<Profile, CliError> {
    let (stop, warm_up) = match (arguments.requests, arguments.warm_up) {
        (None, warm_up) => {
            (StopRule::after(duration(arguments).ns()), warm_up.unwrap_or(WarmUp::AUTO))
        }
        (Some(count), None | Some(WarmUp::None)) => (StopRule::requests(count), WarmUp::None),
        (Some(_), Some(_)) => {
            return Err(CliError::User(
                "--warm-up has no effect where requests are counted (-n); leave it out".into(),
            ));
        }
    };
    Ok(Profile {
        schedule: Schedule::Closed { think: arguments.think },
        warm_up,
        ..Profile::closed(arguments.connections, stop)
    })
}

fn of_devices(arguments: &LoadArguments, devices: u32) -> Result<Profile, CliError> {
    refuse_warm_up(arguments, "--devices")?;
    let times: Vec<u64> = arguments.ramp.iter().map(|time| time.ns()).collect();
    let phases_ns: [u64; 3] = times.try_into().map_err(|_| {
        CliError::User("--ramp: devices need three times, UP,SUSTAIN,DOWN, as 10s,30s,10s".into())
    })?;
    if phases_ns.contains(&0) {
        return Err(CliError::User("--ramp: each phase must be longer than 0".into()));
    }
    let think = arguments.think.unwrap_or(DEVICE_THINK);
    Ok(Profile::devices(devices, arguments.requests_per_device, think, phases_ns))
}

fn ramp_ns(arguments: &LoadArguments) -> Result<u64, CliError> {
    match arguments.ramp.as_slice() {
        [] => Ok(0),
        [time] => Ok(time.ns()),
        _ => Err(CliError::User(
            "--ramp: an open loop (-R) has one time, over which its rate climbs; three go with --devices".into(),
        )),
    }
}

fn refuse_ramp(arguments: &LoadArguments, with: &str) -> Result<(), CliError> {
    if arguments.ramp.is_empty() {
        return Ok(());
    }
    Err(CliError::User(format!("--ramp has no effect with {with}; it goes with -R or --devices")))
}

fn refuse_warm_up(arguments: &LoadArguments, with: &str) -> Result<(), CliError> {
    match &arguments.warm_up {
        Some(_) => Err(CliError::User(format!(
            "--warm-up has no effect with {with}; its ramp (--ramp) is what is left out"
        ))),
        None => Ok(()),
    }
}
