//! Units as hand-written files and the command line spell them: `"900ms"`, `"10s"`, `"900ms +-5%"`,
//! `"1KiB"`, `"2%"`.
use serde::{Deserialize, Serialize};
use std::fmt;

/// A text that is not a value of the expected unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}; write it like {example}")]
pub struct UnitError {
    /// The text.
    pub text: String,
    /// What was expected, with its article: "a duration".
    pub expected: &'static str,
    /// One or more right spellings.
    pub example: &'static str,
}

const NS_PER: [(&str, f64); 7] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9)];
const BYTES_PER: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
];

/// The longest accepted duration: 30 days. Longer ones are mistakes, and sums of durations must not
/// overflow.
const MAX_NS: f64 = 30.0 * 24.0 * 3_600e9;

fn split_number(text: &str) -> Option<(f64, &str)> {
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    number.is_finite().then_some((number, text[end..].trim()))
}

/// Reads `"900ms"`, `"1.5s"`, `"2m"`, `"1h"`, and sums such as `"1m30s"`, into nanoseconds.
///
/// # Errors
/// If the text is not a number with a unit of time, or is longer than 30 days.
pub fn parse_duration_ns(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError {
        text: text.into(),
        expected: "a duration",
        example: "\"900ms\", \"10s\", \"1m30s\" (units ns, us, ms, s, m, h)",
    };
    let mut rest = text.trim();
    let mut total = 0.0;
    if rest.is_empty() {
        return Err(error());
    }
    while !rest.is_empty() {
        let (number, after) = split_number(rest).ok_or_else(error)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let unit = after[..end].trim();
        let (_, factor) = NS_PER.iter().find(|(name, _)| *name == unit).ok_or_else(error)?;
        total += number * factor;
        rest = after[end..].trim();
    }
    if total > MAX_NS {
        return Err(error());
    }
    Ok(total.round() as u64)
}

/// Reads a number, optionally with `k` for thousands or `M` for millions: `5000`, `5k`, `0.5M`;
/// `None` if the text is not one.
#[must_use]
pub fn parse_scaled(text: &str) -> Option<f64> {
    let text = text.trim();
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    digits.trim().parse::<f64>().ok().map(|number| number * factor)
}

/// Reads `"1KiB"`, `"64kB"`, `"512B"` into bytes.
///
/// # Errors
/// If the text is not a number with a unit of size.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError {
        text: text.into(),
        expected: "a size",
        example: "\"512B\", \"1KiB\", \"2MiB\", \"64kB\"",
    };
    let (number, unit) = split_number(text.trim()).ok_or_else(error)?;
    let (_, factor) = BYTES_PER.iter().find(|(name, _)| *name == unit).ok_or_else(error)?;
    Ok((number * factor).round() as u64)
}

/// Reads `"2%"` into the fraction 0.02.
///
/// # Errors
/// If the text is not a number followed by `%`.
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    let error =
        || UnitError { text: text.into(), expected: "a percentage", example: "\"2%\", \"0.1%\"" };
    match split_number(text.trim()).ok_or_else(error)? {
        (number, "%") => Ok(number / 100.0),
        _ => Err(error()),
    }
}

/// A time with a uniform jitter around it: `"900ms +-5%"` means 855 to 945 ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean, in nanoseconds.
    pub mean_ns: u64,
    /// Half the width of the uniform distribution as a fraction of the mean: 0.05 for 5 %.
    pub jitter: f64,
}

impl Spread {
    /// A time without jitter.
    #[must_use]
    pub const fn exactly(mean_ns: u64) -> Self {
        Self { mean_ns, jitter: 0.0 }
    }

    /// Reads `"900ms"` or `"900ms +-5%"` (also with `±`).
    ///
    /// # Errors
    /// If either part is not valid, or the jitter is above 100 %.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError {
            text: text.into(),
            expected: "a duration with jitter",
            example: "\"900ms +-5%\" or \"900ms\"",
        };
        let plain = text.replace('±', "+-");
        let (mean, jitter) = match plain.split_once("+-") {
            Some((mean, jitter)) => (mean, parse_percent(jitter).map_err(|_| error())?),
            None => (plain.as_str(), 0.0),
        };
        if jitter > 1.0 {
            return Err(error());
        }
        Ok(Self { mean_ns: parse_duration_ns(mean).map_err(|_| error())?, jitter })
    }

    /// The value for `unit` in `[0, 1)`: linear from `mean * (1 - jitter)` to `mean * (1 +
    /// jitter)`.
    #[must_use]
    pub fn at(self, unit: f64) -> u64 {
        let mean = self.mean_ns as f64;
        (mean * (1.0 + self.jitter * (2.0 * unit - 1.0))).round() as u64
    }

    /// The lowest possible value, in nanoseconds.
    #[must_use]
    pub fn min_ns(self) -> u64 {
        self.at(0.0)
    }

    /// The highest possible value, in nanoseconds.
    #[must_use]
    pub fn max_ns(self) -> u64 {
        self.at(1.0)
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format_ns(self.mean_ns))?;
        if self.jitter > 0.0 {
            write!(f, " +-{}%", self.jitter * 100.0)?;
        }
        Ok(())
    }
}

/// Writes nanoseconds with three significant digits in the unit a reader expects: `507 ms`, `1.14
/// ms`, `86.2 µs`.
#[must_use]
pub fn format_ns(ns: u64) -> String {
    let value = ns as f64;
    let (scaled, unit) = match ns {
        // From 999.5 on, three digits round to 1000: that is 1.00 of the next unit.
        0..1_000 => return format!("{ns} ns"),
        1_000..999_500 => (value / 1e3, "µs"),
        999_500..999_500_000 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(scaled))
}

/// Writes a length that a person chose: round numbers of seconds or minutes without decimals,
/// others like measured times.
#[must_use]
pub fn format_length(ns: u64) -> String {
    match ns {
        0 => "0 s".into(),
        ns if ns.is_multiple_of(60_000_000_000) => format!("{} min", ns / 60_000_000_000),
        ns if ns.is_multiple_of(1_000_000_000) => format!("{} s", ns / 1_000_000_000),
        ns => format_ns(ns),
    }
}

/// Writes bytes with three significant digits in binary units: `34.1 MiB`.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    let mut scaled = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if scaled < 1024.0 {
            return if unit == "B" {
                format!("{bytes} B")
            } else {
                format!("{} {unit}", three_digits(scaled))
            };
        }
        scaled /= 1024.0;
    }
    format!("{} TiB", three_digits(scaled))
}

/// A count with its noun. The plural has an `s`, or `es` behind an `s`: `1 request`, `2,000 requests`, `2 processes`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let ending = match (count, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {noun}{ending}", format_whole(count))
}

/// Writes a whole number with thousands separated by commas: `7`, `37,258`.
#[must_use]
pub fn format_whole(count: u64) -> String {
    if count < 1_000 { count.to_string() } else { format_count(count as f64) }
}

/// Writes a rate with thousands separated by commas, and only significant digits: `37,258`, `9.79`.
#[must_use]
pub fn format_count(value: f64) -> String {
    // 999.5 is written as 1,000.
    if value.abs() < 999.5 {
        return three_digits(value);
    }
    let digits = format!("{value:.0}");
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_agrees_with_its_count() {
        let written = [0, 1, 2, 2_000].map(|count| counted(count, "request"));
        assert_eq!(written, ["0 requests", "1 request", "2 requests", "2,000 requests"]);
        let written = [1, 2].map(|count| counted(count, "process"));
        assert_eq!(written, ["1 process", "2 processes"]);
    }

    #[test]
    fn durations_of_every_unit_and_sums() {
        let cases = [
            ("900ms", 900_000_000),
            ("1.5s", 1_500_000_000),
            ("1m30s", 90_000_000_000),
            ("2 h", 7_200_000_000_000),
            ("250us", 250_000),
            ("7ns", 7),
        ];
        for (text, ns) in cases {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
        for text in ["", "10", "ms", "10 parsecs", "-1s", "9999999h", "1e5s", "1s 2"] {
            assert!(parse_duration_ns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_and_percentages() {
        assert_eq!(parse_bytes("1KiB"), Ok(1024));
        assert_eq!(parse_bytes("64kB"), Ok(64_000));
        assert!(parse_bytes("12").is_err());
        assert_eq!(parse_percent("2%"), Ok(0.02));
        assert!(parse_percent("2").is_err());
    }

    #[test]
    fn a_spread_covers_its_range_and_prints_as_it_is_read() {
        let spread = Spread::parse("900ms +-5%").unwrap();
        assert_eq!(
            (spread.min_ns(), spread.at(0.5), spread.max_ns()),
            (855_000_000, 900_000_000, 945_000_000)
        );
        assert_eq!(Spread::parse(&spread.to_string()), Ok(spread));
        assert_eq!(Spread::parse("900ms ±5%"), Ok(spread));
        assert!(Spread::parse("900ms +-500%").is_err());
    }

    #[test]
    fn figures_read_like_print() {
        assert_eq!(format_ns(507_638_000), "508 ms");
        assert_eq!(format_ns(86_249), "86.2 µs");
        assert_eq!(format_ns(1_140_000), "1.14 ms");
        assert_eq!([999_499, 999_500].map(format_ns), ["999 µs", "1.00 ms"]);
        assert_eq!([999_499_999, 999_600_000].map(format_ns), ["999 ms", "1.00 s"]);
        assert_eq!(format_count(37_257.91), "37,258");
        assert_eq!(format_count(1_234_567.0), "1,234,567");
        assert_eq!(format_count(9.794), "9.79");
        assert_eq!(format_bytes(35_756_442), "34.1 MiB");
    }
}
