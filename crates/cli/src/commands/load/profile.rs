//! From the flags of `pippin load` to a profile. The flags are described at their definition. This
//! file only decides which flags make which profile, and which flags then have no effect.
use pippin_model::load::{Connections, Scenario, StopRule, WarmUp};
use pippin_model::plan::profile::{Arrivals, Profile, Schedule, Steps};
use pippin_model::text::units::Spread;

use crate::arguments::LoadArguments;
use crate::arguments::load::ShapeArguments;
use crate::exit::CliError;
use crate::values::{Stages, Time};

/// The default time to measure.
const DURATION: Time = Time::from_s(10);
/// The default rate at which a search begins, in requests per second.
const START_REQUESTS_PER_S: f64 = 100.0;
/// The default rate at which a search begins, in walks per second.
const START_WALKS_PER_S: f64 = 10.0;
/// The precision of a search, as a fraction of the rate.
const PRECISION: f64 = 0.02;
/// The default think time of devices.
const DEVICE_THINK: Spread = Spread { mean_ns: 900_000_000, jitter: 0.05 };

/// The default number of requests of a device.
const DEVICE_REQUESTS: u32 = 100;

/// The profile that the flags of `pippin load` describe, for users who go through a scenario, or
/// through several.
pub fn from_arguments(
    arguments: &LoadArguments,
    scenario: Option<&Scenario>,
) -> Result<Profile, CliError> {
    let mut profile = without_streams(arguments, scenario)?;
    if profile.schedule.user_stages().is_some() && arguments.protocol.http2.streams > 1 {
        return Err(CliError::User(
            "--streams has no effect with --stages users:...: each user has a connection of its own; leave it out".into(),
        ));
    }
    profile.connections.streams = arguments.protocol.http2.streams;
    profile.network = arguments.reach.network;
    if let Some(scenario) = scenario {
        divide_users(&arguments.shape, scenario, &mut profile)?;
    }
    Ok(profile.with_walks(scenario.map(Scenario::mean_steps)))
}

/// Gives the load as many users as its scenarios have together, if each has a number of its own.
///
/// # Errors
/// If the flags say otherwise.
pub fn divide_users(
    shape: &ShapeArguments,
    scenario: &Scenario,
    profile: &mut Profile,
) -> Result<(), CliError> {
    let Some(users) = scenario.users() else { return Ok(()) };
    let wrong = |why: String| Err(CliError::User(format!("--scenario FILE:users=N: {why}")));
    if profile.schedule.arrivals().is_some() {
        return wrong("at a rate each walk is another user; give weights, as FILE:70".into());
    }
    if profile.steps != Steps::One {
        return wrong(
            "--sweep and --objective change the number of users; give weights, as FILE:70".into(),
        );
    }
    let is_fixed = matches!(profile.schedule, Schedule::Closed { .. });
    if is_fixed && shape.connections.is_none() {
        profile.connections.count = users as u32;
    }
    let has = profile.schedule.users(profile.connections.count);
    if u64::from(has) != users {
        return wrong(format!(
            "the scenarios have {users} users together, and the load has {has}; make them equal, or give weights, as FILE:70"
        ));
    }
    Ok(())
}

fn without_streams(
    arguments: &LoadArguments,
    scenario: Option<&Scenario>,
) -> Result<Profile, CliError> {
    let shape = &arguments.shape;
    let profile = if let Some(devices) = arguments.devices {
        return of_devices(arguments, devices, scenario);
    } else if let Some(points) = &arguments.sweep {
        refuse_ramp(shape, "--sweep")?;
        let sweep = Profile::sweep(points.0.clone(), duration(shape).ns());
        Profile { warm_up: shape.warm_up.unwrap_or(WarmUp::AUTO_OF_A_LOAD), ..sweep }
    } else if let Some(objective) = &arguments.objective {
        refuse_ramp(shape, "--objective")?;
        refuse_warm_up(shape, "--objective")?;
        if shape.think.is_some() {
            return Err(CliError::User(
                "--think has no effect with --objective, which searches for a rate; it goes with --devices".into(),
            ));
        }
        let duration_ns = duration(shape).ns();
        objective
            .fits_steps_of(duration_ns)
            .map_err(|error| CliError::User(format!("--objective: {error} (-d)")))?;
        Profile::capacity(
            objective.clone(),
            shape.rate.unwrap_or(match scenario {
                Some(_) => START_WALKS_PER_S,
                None => START_REQUESTS_PER_S,
            }),
            shape.connections(),
            duration_ns,
            PRECISION,
        )
    } else {
        return of_shape(shape, DURATION);
    };
    Ok(with_connections(profile, shape))
}

/// The profile of the plain shapes: a closed or an open loop. `usual` is its default length.
pub fn of_shape(shape: &ShapeArguments, usual: Time) -> Result<Profile, CliError> {
    let arrivals = match (shape.poisson, shape.jitter) {
        (true, _) => Arrivals::Poisson,
        (_, true) => Arrivals::Jittered,
        _ => Arrivals::Constant,
    };
    let profile = if let Some(Stages::Users(stages)) = &shape.stages {
        refuse_beside_users(shape)?;
        Profile::users(stages.clone(), shape.think)
    } else if let Some(Stages::Rates(stages)) = &shape.stages {
        if shape.think.is_some() {
            return Err(CliError::User(
                "--stages of a rate cannot be used with --think: its requests do not wait for answers; users that think are --stages users:10@30s,0@30s".into(),
            ));
        }
        Profile::staged(stages.clone(), arrivals, shape.connections())
    } else if let Some(rate) = shape.rate {
        refuse_warm_up(shape, "-R")?;
        let duration_ns = shape.duration.unwrap_or(usual).ns();
        Profile::open(rate, arrivals, shape.connections(), ramp_ns(shape)?, duration_ns)
    } else {
        refuse_ramp(shape, "a closed loop")?;
        closed(shape, usual)?
    };
    Ok(with_connections(profile, shape))
}

/// What has no effect on users that come and go.
fn refuse_beside_users(shape: &ShapeArguments) -> Result<(), CliError> {
    let given = [
        ("-c", shape.connections.is_some(), "the stages say how many users there are"),
        ("--poisson", shape.poisson, "users wait for their answers"),
        ("--jitter", shape.jitter, "users wait for their answers"),
    ];
    match given.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, why)) => Err(CliError::User(format!(
            "{option} has no effect with --stages users:...: {why}; leave it out"
        ))),
        None => Ok(()),
    }
}

fn with_connections(profile: Profile, shape: &ShapeArguments) -> Profile {
    let requests_per_connection =
        if shape.no_keep_alive { Some(1) } else { shape.requests_per_connection };
    let pipeline = shape.pipeline;
    let connections = Connections { requests_per_connection, pipeline, ..profile.connections };
    Profile { connections, ..profile }
}

fn duration(shape: &ShapeArguments) -> Time {
    shape.duration.unwrap_or(DURATION)
}

fn closed(shape: &ShapeArguments, usual: Time) -> Result<Profile, CliError> {
    let (stop, warm_up) = match (shape.count, shape.warm_up) {
        (None, warm_up) => (
            StopRule::after(shape.duration.unwrap_or(usual).ns()),
            warm_up.unwrap_or(WarmUp::AUTO_OF_A_LOAD),
        ),
        (Some(count), None | Some(WarmUp::None)) => (StopRule::requests(count), WarmUp::None),
        (Some(_), Some(_)) => {
            return Err(CliError::User(
                "--warm-up has no effect with a number of requests (-n); leave it out".into(),
            ));
        }
    };
    Ok(Profile {
        schedule: Schedule::Closed { think: shape.think },
        warm_up,
        ..Profile::closed(shape.connections(), stop)
    })
}

fn of_devices(
    arguments: &LoadArguments,
    devices: u32,
    scenario: Option<&Scenario>,
) -> Result<Profile, CliError> {
    refuse_warm_up(&arguments.shape, "--devices")?;
    if scenario.is_some_and(|it| !it.mix.is_empty()) && arguments.requests_per_device.is_none() {
        return Err(CliError::User(
            "--devices: the walks of several scenarios have different lengths; say after how many requests a device is replaced (--requests-per-device)".into(),
        ));
    }
    let steps = scenario.map(|scenario| scenario.steps.len() as u32);
    let times: Vec<u64> = arguments.shape.ramp.iter().map(|time| time.ns()).collect();
    let phases_ns: [u64; 3] = times.try_into().map_err(|_| {
        CliError::User("--ramp: devices need three times, UP,SUSTAIN,DOWN, as 10s,30s,10s".into())
    })?;
    if phases_ns.contains(&0) {
        return Err(CliError::User("--ramp: each phase must be longer than 0".into()));
    }
    let think = arguments.shape.think.unwrap_or(DEVICE_THINK);
    let each = arguments.requests_per_device.or(steps).unwrap_or(DEVICE_REQUESTS);
    let profile = Profile::devices(devices, each, think, phases_ns);
    let Some(objective) = &arguments.objective else { return Ok(profile) };
    objective.fits_steps_of(phases_ns[1]).map_err(|error| {
        CliError::User(format!("--objective: {error} (--ramp UP,SUSTAIN,DOWN)"))
    })?;
    Ok(profile.most_devices(objective.clone(), PRECISION))
}

fn ramp_ns(shape: &ShapeArguments) -> Result<u64, CliError> {
    match shape.ramp.as_slice() {
        [] => Ok(0),
        [time] => Ok(time.ns()),
        _ => Err(CliError::User(
            "--ramp: an open loop (-R) takes one time, over which its rate rises; three times are for --devices".into(),
        )),
    }
}

fn refuse_ramp(shape: &ShapeArguments, with: &str) -> Result<(), CliError> {
    if shape.ramp.is_empty() {
        return Ok(());
    }
    Err(CliError::User(format!("--ramp has no effect with {with}; it goes with -R or --devices")))
}

fn refuse_warm_up(shape: &ShapeArguments, with: &str) -> Result<(), CliError> {
    match &shape.warm_up {
        Some(_) => Err(CliError::User(format!(
            "--warm-up has no effect with {with}; its ramp (--ramp) is left out instead"
        ))),
        None => Ok(()),
    }
}
