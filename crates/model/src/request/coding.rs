//! Content codings (RFC 9110 section 8.4): which one an answer has, and which a request accepts.
use serde::{Deserialize, Serialize};
use std::fmt;

/// The coding of an answer's body.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// Nobody looked at the head of the answer.
    #[default]
    Unseen,
    /// None: no `Content-Encoding`, or `identity`.
    Plain,
    /// `gzip`, or `x-gzip`, which means the same.
    Gzip,
    /// `deflate`.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
    /// Another one, or several in a row.
    Other,
}

impl Coding {
    /// Those that a request can ask for.
    pub const PACKED: [Self; 4] = [Self::Gzip, Self::Deflate, Self::Brotli, Self::Zstd];

    /// That of a field `Content-Encoding`.
    #[must_use]
    pub fn of_field(value: &[u8]) -> Self {
        let value = value.trim_ascii();
        if value.eq_ignore_ascii_case(b"x-gzip") {
            return Self::Gzip;
        }
        if value.is_empty() || value.eq_ignore_ascii_case(b"identity") {
            return Self::Plain;
        }
        let is_named = |coding: &Self| value.eq_ignore_ascii_case(coding.name().as_bytes());
        Self::PACKED.into_iter().find(is_named).unwrap_or(Self::Other)
    }

    /// After one more field `Content-Encoding` of the same answer: fields are one list.
    #[must_use]
    pub fn and_field(self, value: &[u8]) -> Self {
        match (self, Self::of_field(value)) {
            (Self::Unseen | Self::Plain, coding) => coding,
            (coding, Self::Plain) => coding,
            _ => Self::Other,
        }
    }

    /// Its name in header fields.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unseen => "unseen",
            Self::Plain => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Other => "another coding",
        }
    }
}

/// The codings that a request accepts, besides none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted(u8);

impl Accepted {
    /// No coding.
    pub const NONE: Self = Self(0);

    /// Those of a field `Accept-Encoding` (RFC 9110 section 12.5.3). A weight of 0 refuses a coding,
    /// and `*` stands for all that are not named.
    #[must_use]
    pub fn of_field(value: &str) -> Self {
        let wishes = || {
            value.split(',').map(|wish| {
                let (name, weight) = wish.split_once(';').unwrap_or((wish, ""));
                (name.trim(), is_above_zero(weight))
            })
        };
        let of = |coding: Coding| {
            let is_it = |name: &str| match name {
                "*" => false,
                name => Coding::of_field(name.as_bytes()) == coding,
            };
            let named = wishes().find(|(name, _)| is_it(name));
            named.or_else(|| wishes().find(|(name, _)| *name == "*")).is_some_and(|wish| wish.1)
        };
        let bits = Coding::PACKED.into_iter().filter(|coding| of(*coding)).map(bit);
        Self(bits.fold(0, |all, bit| all | bit))
    }

    /// Whether an answer may have this coding. No coding is always accepted.
    #[must_use]
    pub fn has(self, coding: Coding) -> bool {
        coding == Coding::Plain || self.0 & bit(coding) != 0
    }

    /// Whether only an answer as it is can be read.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Accepted {
    /// `gzip, br`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return out.write_str("no coding");
        }
        let all = Coding::PACKED.into_iter().filter(|coding| self.has(*coding));
        out.write_str(&all.map(Coding::name).collect::<Vec<_>>().join(", "))
    }
}

fn bit(coding: Coding) -> u8 {
    Coding::PACKED.iter().position(|packed| *packed == coding).map_or(0, |place| 1 << place)
}

/// Whether a weight such as `q=0.5` accepts. One that cannot be read does.
fn is_above_zero(weight: &str) -> bool {
    let number = weight.trim().strip_prefix(['q', 'Q']).and_then(|rest| {
        rest.trim_start().strip_prefix('=').and_then(|number| number.trim().parse::<f64>().ok())
    });
    number != Some(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_accepts_what_it_names_and_what_a_star_stands_for() {
        for (field, accepted) in [
            ("", "no coding"),
            ("identity", "no coding"),
            ("gzip", "gzip"),
            ("X-GZIP", "gzip"),
            ("gzip, deflate, br, zstd", "gzip, deflate, br, zstd"),
            ("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip, deflate, br, zstd"),
            ("gzip;q=0", "no coding"),
            ("gzip ; q=0.000, zstd", "zstd"),
            ("*, gzip;q=0", "deflate, br, zstd"),
            ("*;q=0, br", "br"),
            ("gzip;q=x, pack200-gzip", "gzip"),
        ] {
            assert_eq!(Accepted::of_field(field).to_string(), accepted, "{field}");
        }
        let none = Accepted::default();
        assert!(none.is_empty() && none.has(Coding::Plain) && !none.has(Coding::Other));
        let all = Accepted::of_field("*");
        assert!(!all.has(Coding::Other) && !all.has(Coding::Unseen));
    }

    #[test]
    fn the_coding_of_an_answer_is_read_in_whatever_case_and_several_are_another_one() {
        for (fields, coding) in [
            (&["gzip"][..], Coding::Gzip),
            (&[" GZIP\r"], Coding::Gzip),
            (&["x-gzip"], Coding::Gzip),
            (&["br"], Coding::Brotli),
            (&[], Coding::Plain),
            (&["identity"], Coding::Plain),
            (&["identity", "zstd"], Coding::Zstd),
            (&["gzip, br"], Coding::Other),
            (&["gzip", "br"], Coding::Other),
            (&["gzip", "gzip"], Coding::Other),
            (&["compress"], Coding::Other),
        ] {
            let read = fields.iter().fold(Coding::Plain, |all, it| all.and_field(it.as_bytes()));
            assert_eq!(read, coding, "{fields:?}");
        }
    }
}
