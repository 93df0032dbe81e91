//! The whole text of a page.
use pippin_engine::{Briefing, Exchange, Referee};
use pippin_model::load::{BodyCheck, LoadSpec};
use pippin_model::workload::{Proof, Sample, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::escapes::{Rows, decode_entities, every_page, is_unescaped};
use super::live::deputy::{self, Judges};
use super::{Subject, Verdict};

/// What a page must say.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Text {
    text: String,
    row: String,
    rows: u32,
}

impl Text {
    /// Of a workload with such a proof.
    #[must_use]
    pub fn of(workload: &Workload) -> Option<Self> {
        workload.proofs.iter().find_map(|proof| match proof {
            Proof::Text { text, row, rows } => {
                Some(Self { text: text.clone(), row: row.clone(), rows: *rows })
            }
            _ => None,
        })
    }

    /// The text of the page for this sample, without white space.
    fn expected(&self, sample: &Sample) -> String {
        let n: u64 = sample.binding.get("n").and_then(|n| n.parse().ok()).unwrap_or(0);
        let row = |i: u32| {
            self.row
                .replace("{i*n}", &(u128::from(i) * u128::from(n)).to_string())
                .replace("{i}", &i.to_string())
        };
        let rows: String = (1..=self.rows).map(row).collect();
        without_space(&sample.fill(&self.text.replace("{rows}", &rows)))
    }

    /// Where a page differs; `None` if it says what it must.
    #[must_use]
    pub fn differs(&self, sample: &Sample, page: &str) -> Option<String> {
        let (given, expected) = (text_of(page), self.expected(sample));
        if given == expected {
            return None;
        }
        let at = given.chars().zip(expected.chars()).take_while(|(a, b)| a == b).count();
        let from =
            |text: &str| -> String { text.chars().skip(at.saturating_sub(10)).take(40).collect() };
        Some(format!("the page says {:?} instead of {:?}", from(&given), from(&expected)))
    }
}

/// What stands between tags, entities decoded, without white space.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let end = if tag.starts_with("!--") { "-->" } else { ">" };
        rest = tag.split_once(end).map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    without_space(&decode_entities(&text))
}

fn without_space(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Every page says what it must.
///
/// # Errors
/// The first difference, with the request.
pub fn text(subject: &mut Subject<'_>) -> Verdict {
    let Some(text) = Text::of(subject.workload) else { return Ok(()) };
    every_page(subject, |sample, page| text.differs(sample, page))
}

/// What the pages of a load must say.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expected {
    text: Text,
    rows: Vec<Rows>,
    escaped: Vec<String>,
    /// What each request was made of, by its place; those of another kind are not here.
    samples: BTreeMap<u32, Sample>,
}

/// Looks at pages under load as all proofs of pages do.
pub struct Pages {
    expected: Expected,
    wrong: AtomicU64,
}

impl Pages {
    /// Of requests that were made of these samples; in earlier loads `wrong` pages were wrong.
    #[must_use]
    pub fn of(workload: &Workload, text: Text, samples: Vec<Option<Sample>>, wrong: u64) -> Self {
        let proofs = || workload.proofs.iter();
        let rows = proofs().filter_map(|proof| match proof {
            Proof::Rows { marker, count } => Some(Rows { marker: marker.clone(), count: *count }),
            _ => None,
        });
        let escaped = proofs().filter_map(|proof| match proof {
            Proof::Escapes { text } => Some(text.clone()),
            _ => None,
        });
        let (rows, escaped) = (rows.collect(), escaped.collect());
        let samples = (0..).zip(samples).filter_map(|(nth, sample)| Some((nth, sample?)));
        let samples = samples.collect();
        Self::expecting(Expected { text, rows, escaped, samples }, wrong)
    }

    /// Of a load whose pages must say this; in earlier loads `wrong` pages were wrong.
    #[must_use]
    pub const fn expecting(expected: Expected, wrong: u64) -> Self {
        Self { expected, wrong: AtomicU64::new(wrong) }
    }

    /// What is needed to judge the pages that are compared in full.
    #[must_use]
    pub fn expected(&self, load: &LoadSpec) -> Expected {
        let is_compared = |nth: u32| {
            let request = load.requests.get(nth as usize);
            request.is_some_and(|request| request.check.body == BodyCheck::Refereed)
        };
        let samples = self.expected.samples.iter().filter(|(nth, _)| is_compared(**nth));
        let samples = samples.map(|(nth, sample)| (*nth, sample.clone())).collect();
        Expected { samples, ..self.expected.clone() }
    }

    /// What is wrong with a page, if anything is.
    fn differs(&self, sample: &Sample, page: &str) -> Option<String> {
        let Expected { text, rows, escaped, .. } = &self.expected;
        let lacking = sample.contains.iter().find(|part| !page.contains(*part));
        lacking
            .map(|part| format!("the page lacks {part:?}"))
            .or_else(|| rows.iter().find_map(|rows| rows.differ(sample, page)))
            .or_else(|| escaped.iter().find_map(|text| is_unescaped(text, sample, page)))
            .or_else(|| text.differs(sample, page))
    }

    /// How many pages were wrong so far.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        self.wrong.load(Ordering::Relaxed)
    }

    /// Whether every page that was compared said what it must.
    ///
    /// # Errors
    /// How many did not.
    pub fn verdict(&self) -> Verdict {
        match self.wrong() {
            0 => Ok(()),
            wrong => Err(format!(
                "{wrong} pages of those that were compared in full said something else"
            )),
        }
    }
}

impl Referee for Pages {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        let page = String::from_utf8_lossy(exchange.body);
        let sample = self.expected.samples.get(&exchange.request);
        let is_right = sample.is_some_and(|sample| match exchange.drawn {
            "" => self.differs(sample, &page).is_none(),
            drawn => self.differs(&sample.redrawn(drawn), &page).is_none(),
        });
        self.wrong.fetch_add(u64::from(!is_right), Ordering::Relaxed);
        is_right
    }

    fn briefing(&self, load: &LoadSpec) -> Option<Briefing> {
        deputy::briefing(&Judges::Pages(self.expected(load)), false)
    }

    fn found(&self) -> String {
        self.wrong().to_string()
    }

    fn take(&self, found: &str) -> Result<(), String> {
        let wrong: u64 = deputy::read(found)?;
        self.wrong.fetch_add(wrong, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn text() -> Text {
        let (text, row) = ("Page {n} {rows} End", "Item {i} <of> {n} & more {i*n} EUR");
        Text { text: text.into(), row: row.into(), rows: 2 }
    }

    fn sample() -> Sample {
        let binding = BTreeMap::from([("n".to_string(), "7".to_string())]);
        let (headers, request_body) = (Vec::new(), String::new());
        Sample {
            path: "/page/7".into(),
            headers,
            request_body,
            body: None,
            contains: Vec::new(),
            binding,
            drawn: None,
        }
    }

    #[test]
    fn tags_white_space_and_the_spelling_of_entities_are_free() {
        let differs = |page: &str| text().differs(&sample(), page);
        let page = "<!DOCTYPE html><!-- a > b --><h1 class='x'>Page 7</h1>\n<li>Item 1 &lt;of&#62; 7 &amp; more</li>7 EUR\
                    <li/>Item 2 &#60;of&gt; 7 &#38; more <b>14</b>\tEUR End";
        assert_eq!(differs(page), None);
        let said = differs(&page.replace("14", "15")).unwrap();
        assert!(said.contains("15EUREnd") && said.contains("14EUREnd"), "{said}");
        assert!(differs("").is_some() && differs(&page.replace("Page 7", "")).is_some());
    }

    #[test]
    fn a_deputy_judges_the_pages_that_are_compared_in_full() {
        use pippin_model::load::{Check, Request};
        let of_kind = |body| Request {
            check: Check { body, ..Check::default() },
            ..Request::get("/page/7", "x")
        };
        let load = LoadSpec {
            requests: vec![of_kind(BodyCheck::Any), of_kind(BodyCheck::Refereed)].into(),
            ..LoadSpec::default()
        };
        let samples = BTreeMap::from([(0, sample()), (1, sample())]);
        let expected = Expected { text: text(), rows: Vec::new(), escaped: Vec::new(), samples };
        let pages = Pages::expecting(expected, 0);
        assert_eq!(pages.expected(&load).samples.into_keys().collect::<Vec<_>>(), [1]);
        let deputy = deputy::of(&pages.briefing(&load).unwrap().text).unwrap();
        let judge = |request, body: &str| {
            let body = body.as_bytes();
            deputy.is_right(&Exchange { request, body, drawn: "", sent_ns: 0, read_ns: 1 })
        };
        let page =
            "Page 7 Item 1 &lt;of> 7 &amp; more 7 EUR Item 2 &lt;of> 7 &amp; more 14 EUR End";
        assert!(judge(1, page));
        pages.take(&deputy.found()).unwrap();
        assert_eq!(pages.verdict(), Ok(()));
        assert!(!judge(1, &page.replace("14", "15")));
        pages.take(&deputy.found()).unwrap();
        assert!(pages.verdict().is_err());
    }

    #[test]
    fn a_number_may_be_as_large_as_64_bits_hold() {
        let mut sample = sample();
        sample.binding.insert("n".into(), u64::MAX.to_string());
        let page = "Page 18446744073709551615 \
                    Item 1 &lt;of> 18446744073709551615 &amp; more 18446744073709551615 EUR \
                    Item 2 &lt;of> 18446744073709551615 &amp; more 36893488147419103230 EUR End";
        assert_eq!(text().differs(&sample, page), None);
    }
}
