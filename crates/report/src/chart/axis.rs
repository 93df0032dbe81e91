//! Axes: a range in drawing units with round ticks. Values are brought into drawing units by [`Axis::place`].
use crate::words;

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    Linear,
    /// Their logarithm to base 10.
    Log,
    /// A quantile q as log10(1 / (1 - q)): as much room from 90 % to 99 % as from 99 % to 99.9 % (HdrHistogram's axis).
    Hdr,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows, with the unit.
    pub title: String,
    /// How values become places.
    pub scale: Scale,
    /// The lowest place.
    pub from: f64,
    /// The highest place.
    pub to: f64,
    /// Places of the ticks with their labels.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From 0 (or `least`, if that is below) to at least `most`, with about `count` ticks at 1, 2 or 5 times a power of ten.
    pub fn linear(title: &str, least: f64, most: f64, count: u32, label: impl Fn(f64) -> String) -> Self {
        let least = least.min(0.0);
        let most = if most > least { most } else { least + 1.0 };
        let step = round_step((most - least) / f64::from(count.max(1)));
        let to = (most / step).ceil() * step;
        let first = (least / step).ceil() as i64;
        let last = (to / step).round() as i64;
        let ticks = (first..=last).map(|i| i as f64 * step).map(|v| (v, label(v))).collect();
        Self { title: title.into(), scale: Scale::Linear, from: least, to, ticks }
    }

    /// From `least` to `most` (both above 0), with ticks at 1, 2, 5 times powers of ten, or at powers alone over many decades.
    pub fn log(title: &str, least: f64, most: f64, label: impl Fn(f64) -> String) -> Self {
        let (from, to) = (least.max(1e-9).log10() - 0.04, most.max(least).max(1e-9).log10() + 0.06);
        let steps: &[f64] = if to - from > 3.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decades = (from.floor() as i32)..=(to.ceil() as i32);
        let values = decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        let ticks = values.map(|v| (v.log10(), label(v))).filter(|(place, _)| (from..=to).contains(place)).collect();
        Self { title: title.into(), scale: Scale::Log, from, to, ticks }
    }

    /// Quantiles from 0 to at least `most`.
    #[must_use]
    pub fn hdr(title: &str, most: f64) -> Self {
        let to = hdr_place(most).max(2.0) + 0.1;
        let names = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %", "99.99999 %"];
        let mut ticks: Vec<(f64, String)> = names.iter().enumerate().map(|(i, name)| (i as f64, (*name).into())).filter(|(place, _)| *place <= to).collect();
        ticks.insert(1, (hdr_place(0.5), "50 %".into()));
        Self { title: title.into(), scale: Scale::Hdr, from: 0.0, to, ticks }
    }

    /// Where a value stands.
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
        self.ticks.iter().find(|(tick, _)| (tick - place).abs() < near).map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

fn hdr_place(q: f64) -> f64 {
    -(1.0 - q.min(1.0 - 1e-12)).log10()
}

/// The next of 1, 2, 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * power).find(|s| *s >= step * 0.999).unwrap_or(power * 10.0)
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
    fn ticks_are_round() {
        let axis = Axis::linear("x", 0.0, 61_000.0, 5, short);
        assert_eq!(axis.ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(), ["0", "20k", "40k", "60k", "80k"]);
        let axis = Axis::log("x", 90e3, 6e6, time);
        assert_eq!(axis.ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(), ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms"]);
    }

    #[test]
    fn the_hdr_axis_gives_each_nine_the_same_room() {
        let axis = Axis::hdr("q", 0.9995);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(axis.place(0.9), 1.0) && near(axis.place(0.99), 2.0) && near(axis.place(0.0), 0.0));
        assert_eq!(axis.label_at(3.0), "99.9 %");
    }
}
