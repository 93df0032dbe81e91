//! What is asked of the answers to each step.
use memchr::memmem;
use pippin_model::result::ErrorKind;
use pippin_model::scenario::find::{Answer, Finder, Source, regex};
use pippin_model::scenario::{Assertion, Scenario, Step};
use regex::bytes::Regex;

use super::{Filled, WholeAnswer};

/// What is asked of the answers to a step.
#[derive(Debug)]
pub(crate) struct Script {
    tests: Vec<(Test, Fault)>,
    /// What is taken, and in which place it is kept.
    captures: Vec<(Finder, usize, Fault)>,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub kind: ErrorKind,
    /// For people.
    pub what: String,
}

#[derive(Debug)]
enum Test {
    Contains(Filled),
    Json(Finder, Filled),
    Header(String, Filled),
    Regex(Regex),
    MaxBytes(u64),
}

/// Longer values are not captured, because they would go into every later request.
const MOST_CAPTURED_BYTES: usize = 8 * 1024;

impl Script {
    /// # Errors
    /// If a path, an expression or a name is wrong.
    pub fn new(step: &Step, names: &[String]) -> Result<Self, String> {
        let test = |assertion: &Assertion| Ok((test(assertion, names)?, fault(assertion)));
        let captures = step.captures.iter().map(|capture| {
            let place = names.iter().position(|name| *name == capture.name);
            let place = place.ok_or_else(|| format!("no value is named `{}`", capture.name))?;
            let what = format!("nothing to capture as `{}` at {}", capture.name, capture.from);
            Ok((capture.from.finder()?, place, Fault { kind: ErrorKind::NothingCaptured, what }))
        });
        Ok(Self {
            tests: step.assertions.iter().map(test).collect::<Result<_, String>>()?,
            captures: captures.collect::<Result<_, String>>()?,
        })
    }

    /// Whether the body matters, or its length at the most.
    pub fn needs_body(&self) -> bool {
        let of_test =
            |(test, _): &(Test, Fault)| !matches!(test, Test::Header(..) | Test::MaxBytes(_));
        let of_capture = |(finder, _, _): &(Finder, usize, Fault)| {
            !matches!(finder, Finder::Header(_) | Finder::Cookie(_))
        };
        self.tests.iter().any(of_test) || self.captures.iter().any(of_capture)
    }

    /// Checks an answer with this number of bytes in its body, and captures what later steps need.
    ///
    /// # Errors
    /// The first error: a check that fails, or a value that is missing.
    pub fn judge(
        &self,
        kept: &WholeAnswer,
        body_bytes: u64,
        values: &mut [String],
    ) -> Result<(), &Fault> {
        let answer = Answer::new(&kept.head, &kept.body);
        for (test, fault) in &self.tests {
            if !test.holds(&answer, body_bytes, values) {
                return Err(fault);
            }
        }
        for (finder, place, fault) in &self.captures {
            let is_usable = |text: &String| {
                text.len() <= MOST_CAPTURED_BYTES && !text.chars().any(char::is_control)
            };
            values[*place] = finder.find(&answer).filter(is_usable).ok_or(fault)?;
        }
        Ok(())
    }
}

impl Test {
    fn holds(&self, answer: &Answer<'_>, body_bytes: u64, values: &[String]) -> bool {
        match self {
            Self::Contains(text) => memmem::find(answer.body, &text.plain(values)).is_some(),
            Self::Json(finder, is) => {
                finder.find(answer).is_some_and(|found| found.as_bytes() == is.plain(values))
            }
            Self::Header(name, contains) => {
                let contains = contains.plain(values);
                answer
                    .headers(name)
                    .any(|value| memmem::find(value.as_bytes(), &contains).is_some())
            }
            Self::Regex(regex) => regex.is_match(answer.body),
            Self::MaxBytes(most) => body_bytes <= *most,
        }
    }
}

fn test(assertion: &Assertion, names: &[String]) -> Result<Test, String> {
    Ok(match assertion {
        Assertion::Contains(text) => Test::Contains(Filled::new(text, names)?),
        Assertion::Json { path, is } => {
            Test::Json(Source::Json(path.clone()).finder()?, Filled::new(is, names)?)
        }
        Assertion::Header { name, contains } => {
            Test::Header(name.clone(), Filled::new(contains, names)?)
        }
        Assertion::Regex(expression) => Test::Regex(regex(expression)?),
        Assertion::MaxBytes(most) => Test::MaxBytes(*most),
    })
}

fn fault(assertion: &Assertion) -> Fault {
    let (kind, what) = match assertion {
        Assertion::Contains(text) => {
            (ErrorKind::WrongBody, format!("the body does not contain `{text}`"))
        }
        Assertion::Json { path, is } => {
            (ErrorKind::WrongBody, format!("{path} of the body is not `{is}`"))
        }
        Assertion::Header { name, contains } if contains.is_empty() => {
            (ErrorKind::WrongHeader, format!("there is no header {name}"))
        }
        Assertion::Header { name, contains } => {
            (ErrorKind::WrongHeader, format!("the header {name} does not contain `{contains}`"))
        }
        Assertion::Regex(expression) => {
            (ErrorKind::WrongBody, format!("nothing in the body matches `{expression}`"))
        }
        Assertion::MaxBytes(most) => {
            (ErrorKind::WrongBody, format!("the body has more than {most} bytes"))
        }
    };
    Fault { kind, what }
}

/// What is asked of the answers to all steps.
///
/// # Errors
/// The number of the first step that is wrong, and why.
pub(crate) fn all(scenario: &Scenario) -> Result<Vec<Script>, (usize, String)> {
    let mut all = Vec::new();
    for part in scenario.parts() {
        let names = part.names();
        for step in part.steps {
            all.push(Script::new(step, &names).map_err(|why| (all.len(), why))?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::scenario::Capture;

    fn script(assertions: Vec<Assertion>, captures: &[(&str, &str)]) -> Script {
        let capture = |(name, from): &(&str, &str)| Capture {
            name: (*name).into(),
            from: Source::parse(from).unwrap(),
        };
        let step = Step {
            name: "s".into(),
            body: Default::default(),
            assertions,
            captures: captures.iter().map(capture).collect(),
            think: None,
        };
        Script::new(&step, &["user".into(), "id".into()]).unwrap()
    }

    fn judged(script: &Script, body: &[u8]) -> (Option<ErrorKind>, String) {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".to_vec();
        let mut values = vec!["ana".to_string(), "old".into()];
        let kept = WholeAnswer { head, body: body.to_vec() };
        let wrong =
            script.judge(&kept, body.len() as u64, &mut values).err().map(|fault| fault.kind);
        (wrong, values[1].clone())
    }

    #[test]
    fn each_test_has_an_answer_that_passes_and_one_that_does_not() {
        let header = |contains: &str| Assertion::Header {
            name: "content-type".into(),
            contains: contains.into(),
        };
        let json = |is: &str| Assertion::Json { path: "$.u".into(), is: is.into() };
        let body = Some(ErrorKind::WrongBody);
        let cases = [
            (Assertion::Contains("Hi {user}".into()), "..Hi ana..", None),
            (Assertion::Contains("Hi {user}".into()), "Hi bo", body),
            (json("{user}"), "{\"u\":\"ana\"}", None),
            (json("5"), "{\"u\":5}", None),
            (json("5"), "{\"u\":6}", body),
            (json(""), "{}", body),
            (header("html"), "", None),
            (header("json"), "", Some(ErrorKind::WrongHeader)),
            (
                Assertion::Header { name: "X".into(), contains: String::new() },
                "",
                Some(ErrorKind::WrongHeader),
            ),
            (Assertion::Regex("a.c".into()), "abc", None),
            (Assertion::Regex("a.c".into()), "ab", body),
            (Assertion::MaxBytes(3), "abc", None),
            (Assertion::MaxBytes(3), "abcd", body),
        ];
        for (assertion, body, wrong) in cases {
            let name = format!("{assertion:?}");
            assert_eq!(
                judged(&script(vec![assertion], &[]), body.as_bytes()).0,
                wrong,
                "{name} {body}"
            );
        }
    }

    #[test]
    fn a_capture_takes_the_value_or_is_an_error() {
        let of = |from, body: &[u8]| judged(&script(Vec::new(), &[("id", from)]), body);
        assert_eq!(of("regex:id=([0-9]+)", b"id=42;"), (None, "42".into()));
        let nothing = Some(ErrorKind::NothingCaptured);
        assert_eq!(of("regex:id=([0-9]+)", b"id=;").0, nothing);
        assert_eq!(of("regex:(?s)id=(.*)", b"id=a\r\nX: y").0, nothing, "it would break a header");
        assert_eq!(of("regex:(.*)", &[b'a'; MOST_CAPTURED_BYTES]).0, None);
        assert_eq!(of("regex:(.*)", &[b'a'; MOST_CAPTURED_BYTES + 1]).0, nothing);
    }

    #[test]
    fn only_what_looks_into_bodies_needs_them() {
        assert!(!script(vec![Assertion::MaxBytes(1)], &[("id", "header:X")]).needs_body());
        assert!(script(vec![Assertion::Contains("x".into())], &[]).needs_body());
        assert!(script(Vec::new(), &[("id", "json:$.id")]).needs_body());
    }
}
