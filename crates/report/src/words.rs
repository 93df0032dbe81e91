//! Figures as people read them, with the units that all of Pippin uses.
use pippin_model::figure::Figure;
pub use pippin_model::text::units::format_whole as whole;
use pippin_model::text::units::{format_bytes, format_count, format_ns};
use pippin_model::verdict::Verdict;
use pippin_stats::interval::Interval;
use pippin_stats::interval::ratio::Ratio;
use pippin_stats::rank::RankInterval;

/// The sign for an unknown figure.
pub const UNKNOWN: &str = "–";

/// A time, or the sign for unknown.
#[must_use]
pub fn ns(value: Option<u64>) -> String {
    value.map_or_else(|| UNKNOWN.into(), format_ns)
}

/// A time given as a floating-point number of nanoseconds.
#[must_use]
pub fn ns_f(value: Option<f64>) -> String {
    ns(value.filter(|v| v.is_finite() && *v >= 0.0).map(|v| v.round() as u64))
}

/// A number of bytes, or the sign for unknown.
#[must_use]
pub fn bytes(value: Option<u64>) -> String {
    value.map_or_else(|| UNKNOWN.into(), format_bytes)
}

/// A rate or a count, or the sign for unknown.
#[must_use]
pub fn count(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.into(), format_count)
}

/// A figure in its own unit.
pub fn figure(figure: Figure, value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.into(), |value| figure.unit().format(value))
}

/// Two figures in one unit, that of the larger: `0.950 ms` and `1.05 ms`.
#[must_use]
pub fn in_one_unit(of: Figure, values: [Option<f64>; 2]) -> [String; 2] {
    let shown = values.map(|value| figure(of, value));
    let ([Some(a), Some(b)], [Some((_, unit_a)), Some((_, unit_b))]) =
        (values, [0, 1].map(|at| shown[at].split_once(' ')))
    else {
        return shown;
    };
    let larger = if a >= b { unit_a } else { unit_b };
    let Some((_, size)) = UNITS.iter().find(|(unit, _)| *unit == larger) else { return shown };
    if unit_a == unit_b {
        return shown;
    }
    let scaled = |value: f64| {
        let value = value / size;
        // Three significant digits, as in the larger unit alone.
        let places = (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
        format!("{value:.places$} {larger}")
    };
    if a >= b { [shown[0].clone(), scaled(b)] } else { [scaled(a), shown[1].clone()] }
}

/// Units that the same figure may have, in the smallest of them.
const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// A fraction as a percentage: 0.0213 is `2.1 %`.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    match value.abs() {
        0.0 => "0 %".into(),
        v if v < 0.095 => format!("{value:.3} %"),
        v if v < 0.995 => format!("{value:.2} %"),
        v if v < 9.95 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    }
}

/// The trials in which something was seen: `in 1 of 3 trials: repetition 2`.
#[must_use]
pub fn in_trials(repetitions: &[u32], trials: u32) -> String {
    let numbers: Vec<String> = repetitions.iter().map(ToString::to_string).collect();
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("in {} of {trials} trials: repetition{plural} {}", numbers.len(), numbers.join(", "))
}

/// A verdict for a table, with the number of trials if not all of them have it: `INVALID (1 of 3)`.
#[must_use]
pub fn verdict(verdict: Verdict, invalid_repetitions: &[u32], trials: u32) -> String {
    match (verdict, invalid_repetitions.len() as u32) {
        (Verdict::Invalid, some) if some > 0 && some < trials => {
            format!("{verdict} ({some} of {trials})")
        }
        _ => verdict.to_string(),
    }
}

/// How far an interval reaches below (a negative fraction) and above a figure: `1.7 %` for both
/// sides, or each side separately if one reaches more than half as far again as the other. Above
/// 100 % it gives no exact figure.
#[must_use]
pub fn reach((below, above): (f64, f64)) -> String {
    let (less, more) = (below.abs().min(above), below.abs().max(above));
    if more > 1.0 {
        "> 100 %".into()
    } else if more < 0.01 || more <= 1.5 * less {
        percent(more)
    } else {
        format!("{:+.0} to {:+.0} %", below * 100.0, above * 100.0)
    }
}

/// A share of one core: `97 %`. More than one core is above 100 %, as in `top`: `150 %`.
#[must_use]
pub fn cores(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.into(), |cores| format!("{:.0} %", cores * 100.0))
}

/// A ratio: `1.23`, `0.046`.
#[must_use]
pub fn ratio(value: Option<f64>) -> String {
    value.map_or_else(
        || UNKNOWN.into(),
        |r| match r.abs() {
            v if v >= 99.95 => format!("{r:.0}"),
            v if v >= 9.995 => format!("{r:.1}"),
            v if v >= 0.0995 => format!("{r:.2}"),
            _ => format!("{r:.3}"),
        },
    )
}

/// A ratio with its interval: `0.72 (0.70-0.74)`.
#[must_use]
pub fn ratio_within(ratio: &Ratio) -> String {
    let [value, low, high] = ratio_parts(ratio);
    format!("{value} ({low}-{high})")
}

/// A ratio with its interval in a sentence: `0.72 times (0.70 to 0.74)`.
#[must_use]
pub fn times(ratio: &Ratio) -> String {
    let [value, low, high] = ratio_parts(ratio);
    format!("{value} times ({low} to {high})")
}

/// The ratio and its ends, with as many decimals as are needed to tell the ends apart, and at least
/// two digits of the ratio.
fn ratio_parts(ratio: &Ratio) -> [String; 3] {
    let Interval { low, high, .. } = ratio.interval;
    let of_ends = match high - low {
        width if width >= 1.0 => 1,
        width if width >= 0.01 => 2,
        _ => 3,
    };
    let of_value = match ratio.value {
        value if value >= 0.0995 => 1,
        value if value >= 0.00995 => 3,
        _ => 4,
    };
    let decimals = of_ends.max(of_value);
    [ratio.value, low, high].map(|part| format!("{part:.decimals$}"))
}

/// A text with a capital and a full stop.
#[must_use]
pub fn sentence(text: &str) -> String {
    format!("{}.", capital(text))
}

/// The text with a capital first letter.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The possible ranks of a target: `1`, `2-3`; one rank if no interval is known.
#[must_use]
pub fn rank(rank: Option<u32>, interval: Option<RankInterval>) -> String {
    match (interval, rank) {
        (Some(interval), _) => interval.to_string(),
        (None, Some(rank)) => rank.to_string(),
        (None, None) => UNKNOWN.into(),
    }
}

/// CPU time of a request, given as CPU-seconds per million requests, which are microseconds.
#[must_use]
pub fn cpu_a_request(seconds_per_million: Option<f64>) -> String {
    ns_f(seconds_per_million.map(|us| us * 1e3))
}

/// The name of a part and its version, from what its program prints: `axum 0.8.9` from
/// `registry+https://github.com/rust-lang/crates.io-index#axum@0.8.9` (`cargo pkgid`), `go 1.22.1`
/// from `bin/server: go1.22.1`. Where no version is found in it, all of it stands behind the name.
/// What comes from a list has a name of its own.
#[must_use]
pub fn version(label: &str, printed: &str) -> String {
    let printed = printed.trim();
    if let Some(told) = of_a_list(label, printed) {
        return told;
    }
    format!("{label} {}", version_in(printed).unwrap_or(printed))
}

/// Labels of versions that are taken from a list: `pip freeze`, `go list -m all`, a folder of jars.
const LISTS: [&str; 3] = ["packages", "modules", "libraries"];

/// `uvicorn 0.54.0` from `uvicorn==0.54.0`, `echo 4.13.3` from `github.com/labstack/echo/v4 v4.13.3`,
/// `undertow-core 2.4.4.Final` from `undertow-core-2.4.4.Final.jar`.
fn of_a_list(label: &str, printed: &str) -> Option<String> {
    if !LISTS.contains(&label) {
        return None;
    }
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let is_major = |part: &&str| part.strip_prefix('v').is_some_and(digit);
    let jar = || {
        let jar = printed.strip_suffix(".jar")?;
        let (at, _) = jar.match_indices('-').find(|(at, _)| digit(&jar[at + 1..]))?;
        Some((&jar[..at], &jar[at + 1..]))
    };
    let (name, version) =
        printed.split_once("==").or_else(|| printed.split_once(" v")).or_else(jar)?;
    let name = name.split('/').rfind(|part| !is_major(part))?;
    Some(format!("{name} {version}"))
}

/// The first word that reads as a version: numbers with points between them, letters before them
/// left out, as in `v20.1.0`. In an address it is the last one.
fn version_in(printed: &str) -> Option<&str> {
    let ends = |c: char| c.is_whitespace() || "/@#=:,;()[]\"'".contains(c);
    let mut words =
        printed.split(ends).map(|word| word.trim_start_matches(|c: char| c.is_ascii_alphabetic()));
    let is_version = |word: &&str| {
        word.split_once('.').is_some_and(|(first, rest)| {
            !first.is_empty()
                && first.bytes().all(|byte| byte.is_ascii_digit())
                && rest.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    if printed.contains("://") { words.rfind(is_version) } else { words.find(is_version) }
}

/// UTC to the minute: `2026-11-21 20:35 UTC`.
#[must_use]
pub fn time(unix_ns: u64) -> String {
    utc(unix_ns, "%Y-%m-%d %H:%M UTC")
}

/// An instant in UTC to the second: `2026-11-21 20:35:39 UTC`.
#[must_use]
pub fn second(unix_ns: u64) -> String {
    utc(unix_ns, "%Y-%m-%d %H:%M:%S UTC")
}

/// An instant of a day in UTC to the microsecond, as a server's log has it: `20:35:39.123456`.
#[must_use]
pub fn instant(unix_ns: u64) -> String {
    utc(unix_ns, "%H:%M:%S%.6f")
}

/// The day in UTC: `2026-11-21`.
#[must_use]
pub fn date(unix_ns: u64) -> String {
    utc(unix_ns, "%Y-%m-%d")
}

fn utc(unix_ns: u64, form: &str) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(unix_ns))
        .map_or_else(|_| UNKNOWN.into(), |at| at.strftime(form).to_string())
}

/// The beginning of a day that is written as `2026-11-21`, in UTC, nanoseconds since 1970; `None`
/// if it is no day since then.
#[must_use]
pub fn day(text: &str) -> Option<u64> {
    let date: jiff::civil::Date = text.parse().ok()?;
    let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    u64::try_from(start.timestamp().as_nanosecond()).ok()
}

/// The length of a run: `4 min 12 s`.
#[must_use]
pub fn length(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_stats::interval::bootstrap::Basis;

    #[test]
    fn figures_read_as_print_has_them() {
        assert_eq!(
            (percent(0.0), percent(0.0213), percent(0.97), percent(0.000_4)),
            ("0 %".into(), "2.1 %".into(), "97 %".into(), "0.040 %".into())
        );
        assert_eq!((cores(Some(1.5)), cores(None)), ("150 %".into(), "–".into()));
        assert_eq!((ratio(Some(1.2345)), ratio(Some(0.0456))), ("1.23".into(), "0.046".into()));
        assert_eq!(time(1_795_293_339_000_000_000), "2026-11-21 20:35 UTC");
        assert_eq!(day("2026-11-21").map(time).as_deref(), Some("2026-11-21 00:00 UTC"));
        assert_eq!((day("2026-11-31"), day("1969-12-31"), day("soon")), (None, None, None));
        assert_eq!(
            (length(252_000_000_000), length(7_300_000_000_000)),
            ("4 min 12 s".into(), "2 h 1 min".into())
        );
        assert_eq!(ns(Some(86_249)), "86.2 µs");
        assert_eq!(
            (reach((-0.017, 0.016)), reach((-0.69, 0.25))),
            ("1.7 %".into(), "-69 to +25 %".into())
        );
    }

    #[test]
    fn small_ratios_have_two_digits_too() {
        let within = |value, low, high| {
            let interval = Interval { low, high, basis: Basis::Trials };
            ratio_within(&Ratio { value, interval })
        };
        assert_eq!(within(0.0272, 0.0204, 0.0346), "0.027 (0.020-0.035)");
        assert_eq!(within(0.00412, 0.0041, 0.0042), "0.0041 (0.0041-0.0042)");
        assert_eq!(within(0.7, 0.54, 0.9), "0.70 (0.54-0.90)");
        assert_eq!(within(40.7, 36.9, 44.9), "40.7 (36.9-44.9)");
    }

    #[test]
    fn versions_are_read_out_of_what_programs_print() {
        let cargo = "registry+https://github.com/rust-lang/crates.io-index#axum@0.8.9";
        for (label, printed, told) in [
            ("axum", cargo, "axum 0.8.9"),
            ("nginx", "nginx version: nginx/1.22.1", "nginx 1.22.1"),
            ("python", "Python 3.11.2", "python 3.11.2"),
            ("node", "v20.1.0", "node 20.1.0"),
            ("go", "bin/server: go1.22.1", "go 1.22.1"),
            ("go", "go version go1.22 linux/amd64", "go 1.22"),
            ("java", "openjdk 17.0.9 2023-10-17", "java 17.0.9"),
            ("ruby", "ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64]", "ruby 3.1.2p20"),
            ("clojure", "\"1.11.1\"", "clojure 1.11.1"),
            ("caddy", "v2.6.2 h1:wKoFIxpmOJLGl3QXoo6PNbYvGW4xLEgo32GPBEjWL8o=", "caddy 2.6.2"),
            ("erlang", "25", "erlang 25"),
            ("perl", "", "perl "),
            ("packages", "uvicorn==0.54.0", "uvicorn 0.54.0"),
            ("modules", "github.com/labstack/echo/v4 v4.13.3", "echo 4.13.3"),
            (
                "modules",
                "example.org/targets/go/net-http",
                "modules example.org/targets/go/net-http",
            ),
            ("libraries", "undertow-core-2.4.4.Final.jar", "undertow-core 2.4.4.Final"),
        ] {
            assert_eq!(version(label, printed), told);
        }
    }
}
