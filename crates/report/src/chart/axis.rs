//! Axes: a range in drawing units with round ticks. [`Axis::place`] converts a value to drawing
//! units.
use crate::words;

/// How values are converted to places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    Linear,
    /// Their logarithm to base 10.
    Log,
    /// A quantile q as log10(1 / (1 - q)): 90 % to 99 % gets as much room as 99 % to 99.9 %
    /// (HdrHistogram's axis).
    Hdr,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows, with the unit.
    pub title: String,
    /// How values are converted to places.
    pub scale: Scale,
    /// The lowest place.
    pub from: f64,
    /// The highest place.
    pub to: f64,
    /// Places of the ticks with their labels.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From 0 (or `least`, if that is below) to at least `most`, with about `count` ticks at 1, 2
    /// or 5 times a power of ten.
    pub fn linear(
        title: &str,
        least: f64,
        most: f64,
        count: u32,
        label: impl Fn(f64) -> String,
    ) -> Self {
        let least = least.min(0.0);
        let most = if most > least { most } else { least + 1.0 };
        let step = round_step((most - least) / f64::from(count.max(1)));
        let to = (most / step).ceil() * step;
        let first = (least / step).ceil() as i64;
        let last = (to / step).round() as i64;
        let ticks = (first..=last).map(|i| i as f64 * step).map(|v| (v, label(v))).collect();
        Self { title: title.into(), scale: Scale::Linear, from: least, to, ticks }
    }

    /// From `least` to `most` (both above 0), with ticks at 1, 2, 5 times powers of ten. Over many
    /// decades only powers have ticks; within part of a decade ticks are closer.
    pub fn log(title: &str, least: f64, most: f64, label: impl Fn(f64) -> String) -> Self {
        let least = least.max(1e-9);
        let most = most.max(least);
        let room = (most / least).log10().max(0.02);
        let (from, to) = (least.log10() - 0.02 * room, most.log10() + 0.04 * room);
        let values = log_ticks(from, to);
        let ticks = values.into_iter().map(|v| (v.log10(), label(v))).collect();
        Self { title: title.into(), scale: Scale::Log, from, to, ticks }
    }

    /// Bytes on a logarithmic axis with ticks at powers of two, or, if it holds fewer than three of
    /// those, at the multiples of one.
    pub fn log_bytes(title: &str, least: f64, most: f64) -> Self {
        let mut axis = Self::log(title, least / 1.2, most * 1.2, size);
        let powers =
            (0..50).map(|power| 2f64.powi(power)).map(|bytes| (bytes.log10(), size(bytes)));
        let all: Vec<(f64, String)> =
            powers.filter(|(place, _)| (axis.from..=axis.to).contains(place)).collect();
        let every = all.len().div_ceil(8).max(1);
        axis.ticks = if all.len() >= 3 {
            all.into_iter().step_by(every).collect()
        } else {
            let (least, most) = (10f64.powf(axis.from), 10f64.powf(axis.to));
            let step = 2f64.powf(((most - least) / 3.0).log2().floor());
            multiples(least, most, step).map(|bytes| (bytes.log10(), size(bytes))).collect()
        };
        axis
    }

    /// Bytes from 0, with ticks at multiples of a power of two.
    pub fn linear_bytes(title: &str, most: f64) -> Self {
        let most = most.max(1.0);
        let step = 2f64.powf((most / 5.0).log2().ceil());
        let count = (most / step).ceil() as i64;
        let ticks = (0..=count).map(|i| i as f64 * step).map(|bytes| (bytes, size(bytes)));
        Self {
            title: title.into(),
            scale: Scale::Linear,
            from: 0.0,
            to: count as f64 * step,
            ticks: ticks.collect(),
        }
    }

    /// A logarithmic axis with ticks at the measured values. Ticks that would be too close together
    /// are left out.
    pub fn log_at(
        title: &str,
        values: &[f64],
        most_ticks: u32,
        label: impl Fn(f64) -> String,
    ) -> Self {
        let (least, most) =
            values.iter().fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
        let mut axis = Self::log(title, least, most, &label);
        let gap = (axis.to - axis.from) / f64::from(most_ticks.max(1)) * 0.8;
        let mut places: Vec<f64> = values.iter().map(|value| axis.place(*value)).collect();
        places.sort_by(f64::total_cmp);
        let mut ticks: Vec<(f64, String)> = Vec::new();
        for place in places {
            if ticks.last().is_none_or(|(last, _)| place - last >= gap) {
                ticks.push((place, label(10f64.powf(place).round())));
            }
        }
        axis.ticks = ticks;
        axis
    }

    /// Quantiles from 0 to at least `most`. On a narrow chart only every other nine has a tick.
    #[must_use]
    pub fn hdr(title: &str, most: f64, narrow: bool) -> Self {
        let to = hdr_place(most).max(2.0) + 0.1;
        let names =
            ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %", "99.99999 %"];
        let all = names
            .iter()
            .enumerate()
            .map(|(i, name)| (i as f64, (*name).to_string()))
            .filter(|(place, _)| *place <= to);
        let ticks: Vec<(f64, String)> = if narrow && to > 3.5 {
            all.enumerate().filter(|(i, _)| i % 2 == 1).map(|(_, tick)| tick).collect()
        } else if narrow {
            all.collect()
        } else {
            let mut ticks: Vec<(f64, String)> = all.collect();
            ticks.insert(1, (hdr_place(0.5), "50 %".into()));
            ticks
        };
        Self { title: title.into(), scale: Scale::Hdr, from: 0.0, to, ticks }
    }

    /// The place of a value.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(1e-9).log10(),
            Scale::Hdr => hdr_place(value),
        }
    }

    /// The label of the tick at this place; empty between ticks.
    #[must_use]
    pub fn label_at(&self, place: f64) -> String {
        let near = (self.to - self.from) / 1_000.0;
        self.ticks
            .iter()
            .find(|(tick, _)| (tick - place).abs() < near)
            .map(|(_, label)| label.clone())
            .unwrap_or_default()
    }
}

/// Round values between two powers of ten, given as exponents: at least three, if there are that
/// many.
fn log_ticks(from: f64, to: f64) -> Vec<f64> {
    let within = |steps: &[f64]| -> Vec<f64> {
        let decades = (from.floor() as i32)..=(to.ceil() as i32);
        let values =
            decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        values.filter(|v| (from..=to).contains(&v.log10())).collect()
    };
    let choices: [&[f64]; 2] = if to - from > 3.5 {
        [&[1.0], &[1.0]]
    } else {
        [&[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]]
    };
    if let Some(found) = choices.iter().map(|steps| within(steps)).find(|found| found.len() >= 3) {
        return found;
    }
    let (least, most) = (10f64.powf(from), 10f64.powf(to));
    multiples(least, most, round_step((most - least) / 5.0)).collect()
}

/// The multiples of a step from `least` to `most`.
fn multiples(least: f64, most: f64, step: f64) -> impl Iterator<Item = f64> {
    ((least / step).ceil() as i64..=(most / step).floor() as i64).map(move |i| i as f64 * step)
}

fn hdr_place(q: f64) -> f64 {
    -(1.0 - q.min(1.0 - 1e-12)).log10()
}

/// The next of 1, 2, 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|f| f * power)
        .find(|s| *s >= step * 0.999)
        .unwrap_or(power * 10.0)
}

/// A time on an axis: `200 µs`, `1 ms`.
#[must_use]
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        v if v < 1e3 => (v, "ns"),
        v if v < 1e6 => (v / 1e3, "µs"),
        v if v < 1e9 => (v / 1e6, "ms"),
        v => (v / 1e9, "s"),
    };
    format!("{} {unit}", plain((value * 1e6).round() / 1e6))
}

/// A rate or count on an axis: `20k`, `1.5M`.
#[must_use]
pub fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{}M", plain(value / 1e6)),
        v if v >= 1e4 => format!("{}k", plain(value / 1e3)),
        _ => plain(value),
    }
}

/// A percentage of a core on an axis.
#[must_use]
pub fn core_percent(cores: f64) -> String {
    format!("{} %", plain((cores * 100.0).round()))
}

/// A share on an axis.
#[must_use]
pub fn share(fraction: f64) -> String {
    format!("{} %", plain(fraction * 100.0))
}

/// Bytes on an axis.
#[must_use]
pub fn size(bytes: f64) -> String {
    words::bytes(Some(bytes.max(0.0) as u64)).replace(".00 ", " ").replace(".0 ", " ")
}

fn plain(value: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_narrow_range_have_at_least_three_ticks() {
        let mib = f64::from(1 << 20);
        for (least, most) in [(41.0, 52.0), (100.0, 101.0), (3.0, 9.0), (1.0, 900.0)] {
            let axis = Axis::log_bytes("memory", least * mib, most * mib);
            assert!((3..=12).contains(&axis.ticks.len()), "{:?}", axis.ticks);
        }
        let axis = Axis::log_bytes("memory", 41.0 * mib, 52.0 * mib);
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["40 MiB", "48 MiB", "56 MiB"]);
    }

    #[test]
    fn bytes_from_0_have_ticks_at_multiples_of_a_power_of_two() {
        let labels = |most: f64| -> Vec<String> {
            Axis::linear_bytes("x", most).ticks.into_iter().map(|(_, label)| label).collect()
        };
        let mib = |count: f64| size(count * 1_048_576.0);
        assert_eq!(
            labels(15.4 * 1_048_576.0),
            [size(0.0), mib(4.0), mib(8.0), mib(12.0), mib(16.0)]
        );
        assert!(Axis::linear_bytes("x", 0.0).to >= 1.0);
        for most in [1.0, 1023.0, 5e6, 3e11] {
            let axis = Axis::linear_bytes("x", most);
            assert!(axis.to >= most && (3..=6).contains(&axis.ticks.len()), "{most}: {axis:?}");
        }
    }

    #[test]
    fn ticks_are_round() {
        let axis = Axis::linear("x", 0.0, 61_000.0, 5, short);
        assert_eq!(
            axis.ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(),
            ["0", "20k", "40k", "60k", "80k"]
        );
        let axis = Axis::log("x", 90e3, 6e6, time);
        assert_eq!(
            axis.ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(),
            ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms"]
        );
        let axis = Axis::log("x", 96e6, 119e6, time);
        assert_eq!(
            axis.ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(),
            ["100 ms", "105 ms", "110 ms", "115 ms", "120 ms"]
        );
    }

    #[test]
    fn the_hdr_axis_gives_each_nine_the_same_room() {
        let axis = Axis::hdr("q", 0.9995, false);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(
            near(axis.place(0.9), 1.0) && near(axis.place(0.99), 2.0) && near(axis.place(0.0), 0.0)
        );
        assert_eq!(axis.label_at(3.0), "99.9 %");
    }
}
