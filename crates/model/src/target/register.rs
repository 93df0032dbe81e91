//! `targets/register.toml`: the kind of each target, until when its parts are supported, and when
//! its pinned versions were released. It is separate from the manifests, because it changes with
//! the calendar and not with the servers.
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use crate::target::TargetId;
use crate::text::file::{FileError, Wrong, read_with_text};

/// The kind of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// A server without a framework: the language's own, or an HTTP library.
    Raw,
    /// A framework with a router and little else.
    Micro,
    /// A framework with its own router, templates, configuration and data access.
    Full,
    /// A file server or proxy, without an application.
    Static,
}

impl fmt::Display for ServerKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Raw => "raw server",
            Self::Micro => "micro framework",
            Self::Full => "full framework",
            Self::Static => "file server or proxy",
        })
    }
}

/// Until when the makers of a part of a target support it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// The part: `Ruby 3.1`.
    pub what: String,
    /// The last day, as `2025-03-26`.
    pub until: String,
    /// The page that states it.
    pub source: String,
}

/// The release date of a version that a target pins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The version: `Iris 12.2.11`.
    pub what: String,
    /// The day of its release, as `2024-04-24`.
    pub released: String,
    /// The page that states it.
    pub source: String,
}

/// The register's entries for one target. Missing ones are unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The kind of server.
    pub kind: Option<ServerKind>,
    /// Until when parts of it are supported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support: Vec<Support>,
    /// The release dates of its pinned versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Pin>,
}

impl Registered {
    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What readers of a figure from this day should know, in sentences: parts out of support, and
    /// versions released more than a year before. `day` has the form `2026-11-22`.
    #[must_use]
    pub fn notes(&self, day: &str) -> Vec<String> {
        let ended =
            self.support.iter().filter(|support| support.until.as_str() < day).map(
                |Support { what, until, .. }| format!("{what} is out of support since {until}"),
            );
        let before = year_before(day);
        let old = self.pins.iter().filter(|pin| pin.released < before).map(
            |Pin { what, released, .. }| {
                format!("{what} is more than a year old (released on {released})")
            },
        );
        ended.chain(old).collect()
    }
}

/// A day, one year earlier. Days are compared as text, so the 29th of February needs no special
/// care.
fn year_before(day: &str) -> String {
    let (year, rest) = day.split_at_checked(4).unwrap_or((day, ""));
    year.parse().map_or_else(|_| day.into(), |year: u32| format!("{:04}{rest}", year.max(1) - 1))
}

/// The whole register.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Register {
    targets: BTreeMap<TargetId, Vec<Line>>,
}

/// One fact about a target that is installed in this way.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// `None` means every way.
    route: Option<String>,
    fact: Fact,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fact {
    Kind(ServerKind),
    Support(Support),
    Pin(Pin),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default)]
    kind: BTreeMap<ServerKind, Vec<String>>,
    #[serde(default)]
    support: Vec<RawSupport>,
    #[serde(default)]
    pin: Vec<RawPin>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSupport {
    what: String,
    until: String,
    source: String,
    targets: Vec<String>,
    route: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPin {
    what: String,
    released: String,
    source: String,
    targets: Vec<String>,
    route: Option<String>,
}

impl Register {
    /// Reads a register.
    ///
    /// # Errors
    /// If the file cannot be used. The message names the place and the fix.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let (raw, text): (Raw, String) = read_with_text(path)?;
        Self::checked(raw).map_err(|wrong| wrong.in_file(path, &text))
    }

    fn checked(raw: Raw) -> Result<Self, Wrong> {
        let mut register = Self::default();
        let mut kinds = BTreeSet::new();
        for (kind, names) in raw.kind {
            for (place, name) in names.iter().enumerate() {
                let at = format!("kind[{place}]");
                if !kinds.insert(name.clone()) {
                    return Err(Wrong::at(at, format!("`{name}` has two kinds; keep one")));
                }
                register.add(&at, name, None, Fact::Kind(kind))?;
            }
        }
        for (place, RawSupport { what, until, source, targets, route }) in
            raw.support.into_iter().enumerate()
        {
            let at = format!("support[{place}]");
            day(&format!("{at}.until"), &until)?;
            for name in &targets {
                let fact =
                    Support { what: what.clone(), until: until.clone(), source: source.clone() };
                register.add(&format!("{at}.targets"), name, route.clone(), Fact::Support(fact))?;
            }
        }
        for (place, RawPin { what, released, source, targets, route }) in
            raw.pin.into_iter().enumerate()
        {
            let at = format!("pin[{place}]");
            day(&format!("{at}.released"), &released)?;
            for name in &targets {
                let fact =
                    Pin { what: what.clone(), released: released.clone(), source: source.clone() };
                register.add(&format!("{at}.targets"), name, route.clone(), Fact::Pin(fact))?;
            }
        }
        Ok(register)
    }

    fn add(
        &mut self,
        at: &str,
        name: &str,
        route: Option<String>,
        fact: Fact,
    ) -> Result<(), Wrong> {
        let id: TargetId = name.parse().map_err(|error: crate::target::TargetIdError| {
            Wrong::at(at.to_string(), error.to_string())
        })?;
        if id.variant.is_some() {
            let message = format!("`{name}` names a variant; the register knows whole targets");
            return Err(Wrong::at(at.to_string(), message));
        }
        self.targets.entry(id).or_default().push(Line { route, fact });
        Ok(())
    }

    /// The entries for a target, or for the target of a variant. Lines with a route count if the
    /// target was installed by it. If `route` is `None`, those of all routes count.
    #[must_use]
    pub fn entries(&self, target: &TargetId, route: Option<&str>) -> Registered {
        let mut found = Registered::default();
        for line in self.targets.get(&target.base()).into_iter().flatten() {
            if route.is_some() && line.route.is_some() && line.route.as_deref() != route {
                continue;
            }
            match &line.fact {
                Fact::Kind(kind) => found.kind = Some(*kind),
                Fact::Support(support) => found.support.push(support.clone()),
                Fact::Pin(pin) => found.pins.push(pin.clone()),
            }
        }
        found
    }

    /// The targets in the register.
    pub fn targets(&self) -> impl Iterator<Item = &TargetId> {
        self.targets.keys()
    }
}

/// A day has the form `2026-11-22`, so days can be compared as text.
fn day(at: &str, text: &str) -> Result<(), Wrong> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_number = |part: &&str, length: usize, most: u32| {
        part.len() == length && part.parse().is_ok_and(|number: u32| (1..=most).contains(&number))
    };
    match parts.as_slice() {
        [year, month, day]
            if is_number(year, 4, 9999) && is_number(month, 2, 12) && is_number(day, 2, 31) =>
        {
            Ok(())
        }
        _ => Err(Wrong::at(
            at.to_string(),
            format!("`{text}` is not a day; write it like \"2026-11-22\""),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::file::parse_toml;

    const GOOD: &str = r#"
[kind]
raw = ["go/net-http"]
micro = ["ruby/sinatra"]

[[support]]
what = "Ruby 3.1"
until = "2025-03-26"
source = "https://www.ruby-lang.org/en/downloads/branches/"
targets = ["ruby/sinatra"]
route = "debian"

[[pin]]
what = "Sinatra 3.0.5"
released = "2022-12-16"
source = "https://rubygems.org/gems/sinatra/versions/3.0.5"
targets = ["ruby/sinatra"]
"#;

    fn register(text: &str) -> Result<Register, String> {
        let raw =
            parse_toml(Path::new("register.toml"), text).map_err(|error| error.to_string())?;
        Register::checked(raw).map_err(|wrong| wrong.message)
    }

    fn id(name: &str) -> TargetId {
        name.parse().unwrap()
    }

    #[test]
    fn a_variant_has_what_its_target_has() {
        let register = register(GOOD).unwrap();
        let of = |name: &str| register.entries(&id(name), None);
        assert_eq!(of("ruby/sinatra:threads"), of("ruby/sinatra"));
        assert_eq!(of("go/net-http").kind, Some(ServerKind::Raw));
        assert_eq!(of("go/chi"), Registered::default());
    }

    #[test]
    fn notes_begin_the_day_after_support_and_a_year_after_a_release() {
        let sinatra = register(GOOD).unwrap().entries(&id("ruby/sinatra"), None);
        assert_eq!(sinatra.notes("2023-12-16"), Vec::<String>::new());
        let old = "Sinatra 3.0.5 is more than a year old (released on 2022-12-16)";
        assert_eq!(sinatra.notes("2023-12-17"), [old]);
        assert_eq!(sinatra.notes("2025-03-26"), [old]);
        let ended = "Ruby 3.1 is out of support since 2025-03-26";
        assert_eq!(sinatra.notes("2025-03-27"), [ended, old]);
    }

    #[test]
    fn what_holds_for_one_route_is_not_told_of_another() {
        let register = register(GOOD).unwrap();
        let notes =
            |route| register.entries(&id("ruby/sinatra"), Some(route)).notes("2026-11-22").len();
        assert_eq!((notes("debian"), notes("rubygems")), (2, 1));
    }

    #[test]
    fn slips_are_named() {
        let cases = [
            (GOOD.replace("2025-03-26", "26.3.2025"), "`26.3.2025` is not a day"),
            (GOOD.replace("2022-12-16\"\n", "2022-13-16\"\n"), "`2022-13-16` is not a day"),
            (GOOD.replace("[\"go/net-http\"]", "[\"ruby/sinatra\"]"), "has two kinds"),
            (GOOD.replace("[\"go/net-http\"]", "[\"ruby/sinatra:x\"]"), "names a variant"),
            (GOOD.replace("micro =", "mirco ="), "mirco"),
            (GOOD.replace("until", "til"), "til"),
        ];
        for (text, message) in cases {
            let error = register(&text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
