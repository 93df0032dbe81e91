//! An axis of dates: seconds since 1970 in UTC, with ticks at whole minutes, hours, days and
//! months.
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::axis::{Axis, Scale};

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;
/// Steps shorter than a month, in seconds.
const STEPS: [i64; 15] = [
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    4 * DAY,
    7 * DAY,
    14 * DAY,
];
/// Longer steps, in months.
const MONTHS: [i64; 6] = [1, 2, 3, 6, 12, 24];
/// 1970 began on a Thursday, so its week began three days before.
const MONDAY: i64 = -3 * DAY;

/// From the first instant to the last, with at most `most_ticks` ticks and a little room at both
/// ends.
#[must_use]
pub fn dates(first_s: f64, last_s: f64, most_ticks: u32) -> Axis {
    let room = ((last_s - first_s) * 0.03).max(5.0 * MINUTE as f64);
    let (from, to) = (first_s - room, last_s + room);
    let most = i64::from(most_ticks.max(2));
    let step = STEPS.into_iter().find(|step| (to - from) / *step as f64 <= most as f64);
    let places = step.map_or_else(|| by_months(from, to, most), |step| by_seconds(from, to, step));
    let over_years = at(from).year() != at(to).year();
    let mut day_before = None;
    let ticks = places
        .into_iter()
        .map(|place| (place as f64, label(place, step, over_years, &mut day_before)))
        .collect();
    Axis { title: "date (UTC)".into(), scale: Scale::Linear, from, to, ticks }
}

fn by_seconds(from: f64, to: f64, step: i64) -> Vec<i64> {
    let origin = if step >= 7 * DAY { MONDAY } else { 0 };
    let first = ((from - origin as f64) / step as f64).ceil() as i64;
    let last = ((to - origin as f64) / step as f64).floor() as i64;
    (first..=last).map(|i| origin + i * step).collect()
}

fn by_months(from: f64, to: f64, most: i64) -> Vec<i64> {
    let months = |at: &Zoned| i64::from(at.year()) * 12 + i64::from(at.month()) - 1;
    let (first, last) = (months(&at(from)) + 1, months(&at(to)));
    // If all steps leave too many ticks, use the smallest multiple of the greatest one that does
    // not.
    let step = MONTHS
        .into_iter()
        .find(|step| (last - first) / step < most)
        .unwrap_or(24 * ((last - first) / (24 * most) + 1));
    (first..=last).filter(|month| month % step == 0).filter_map(beginning).collect()
}

/// The first second of a month, counted from the year 0.
fn beginning(month: i64) -> Option<i64> {
    let date = DateTime::new((month / 12) as i16, (month % 12 + 1) as i8, 1, 0, 0, 0, 0).ok()?;
    date.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp().as_second())
}

/// The time of day if the day is that of the previous tick, otherwise the day, with the year if
/// there are several years; or the month.
fn label(
    place: i64,
    step: Option<i64>,
    over_years: bool,
    day_before: &mut Option<String>,
) -> String {
    let at = at(place as f64);
    let day = at.strftime("%-d %b").to_string();
    let is_new = day_before.as_ref() != Some(&day);
    *day_before = Some(day.clone());
    match step {
        None => at.strftime("%b %Y").to_string(),
        Some(DAY..) if over_years => at.strftime("%-d %b %Y").to_string(),
        Some(DAY..) => day,
        Some(_) if is_new => at.strftime("%-d %b %H:%M").to_string(),
        Some(_) => at.strftime("%H:%M").to_string(),
    }
}

fn at(second: f64) -> Zoned {
    Timestamp::from_second(second as i64).unwrap_or_default().to_zoned(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21 20:35:00 UTC, a Saturday.
    const EVENING: f64 = 1_795_293_300.0;

    fn labels(length_s: i64, most: u32) -> Vec<String> {
        dates(EVENING, EVENING + length_s as f64, most)
            .ticks
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    #[test]
    fn ticks_stand_where_clocks_and_calendars_have_them() {
        assert_eq!(labels(30 * MINUTE, 6), ["21 Nov 20:30", "20:40", "20:50", "21:00", "21:10"]);
        assert_eq!(labels(8 * HOUR, 6), ["21 Nov 22:00", "22 Nov 00:00", "02:00", "04:00"]);
        assert_eq!(labels(3 * DAY, 6), ["22 Nov", "23 Nov", "24 Nov"]);
        // Weeks begin on Mondays. The year is shown if there are two.
        assert_eq!(labels(30 * DAY, 6), ["23 Nov", "30 Nov", "7 Dec", "14 Dec", "21 Dec"]);
        assert_eq!(
            labels(50 * DAY, 4),
            ["30 Nov 2026", "14 Dec 2026", "28 Dec 2026", "11 Jan 2027"]
        );
        assert_eq!(
            labels(400 * DAY, 6),
            ["Jan 2027", "Apr 2027", "Jul 2027", "Oct 2027", "Jan 2028"]
        );
    }

    #[test]
    fn any_length_has_few_ticks() {
        for most in [3, 6] {
            for length in
                [0, 1, 59, 3_601, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000]
            {
                let axis = dates(EVENING, EVENING + f64::from(length), most);
                assert!(
                    (1..=most as usize + 1).contains(&axis.ticks.len()),
                    "{length} s: {:?}",
                    axis.ticks
                );
                assert!(axis.from < EVENING && axis.to > EVENING + f64::from(length));
                assert!(axis.ticks.iter().all(|(place, _)| (axis.from..=axis.to).contains(place)));
            }
        }
    }
}
