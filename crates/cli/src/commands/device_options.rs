//! What the options of devices say: --ramp, --think, --scale.
use pippin_model::units::{Spread, parse_duration_ns};

use crate::exit::CliError;

/// `UP,SUSTAIN,DOWN` of --ramp, in nanoseconds.
pub fn phases(ramp: &str) -> Result<[u64; 3], CliError> {
    let time = |text: &str| {
        parse_duration_ns(text).map_err(|error| CliError::User(format!("--ramp: {error}")))
    };
    let times: Vec<u64> = ramp.split(',').map(time).collect::<Result<_, _>>()?;
    times.try_into().map_err(|_| {
        CliError::User(format!(
            "--ramp `{ramp}` needs three times, UP,SUSTAIN,DOWN, as 10s,10s,10s"
        ))
    })
}

/// `900ms +-5%` of --think.
pub fn think(text: &str) -> Result<Spread, CliError> {
    Spread::parse(text).map_err(|error| CliError::User(format!("--think: {error}")))
}

/// `1/10` or `0.1` of --scale.
pub fn fraction(text: &str) -> Result<f64, CliError> {
    let number = |part: &str| part.trim().parse::<f64>().ok();
    let value = match text.split_once('/') {
        Some((above, below)) => {
            number(above).zip(number(below)).map(|(above, below)| above / below)
        }
        None => number(text),
    };
    value.filter(|value| *value > 0.0 && *value <= 1_000.0).ok_or_else(|| {
        CliError::User(format!("--scale `{text}` is not a fraction; write it like 1/10 or 0.1"))
    })
}
