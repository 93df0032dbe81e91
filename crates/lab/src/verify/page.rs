//! The whole text of a page.
use pippin_engine::{Briefing, Exchange, Referee};
use pippin_model::load::LoadSpec;
use pippin_model::workload::{Proof, Sample, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::escapes::{Rows, every_page, is_unescaped};
use super::html::{Page, without_space};
use super::live::deputy::{self, Judges};
use super::sampled::{Exchanged, Found, Sampled, unknown_to_targets};
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
    pub fn from_workload(workload: &Workload) -> Option<Self> {
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
    pub fn differs(&self, sample: &Sample, page: &Page) -> Option<String> {
        difference(&page.text, &self.expected(sample))
    }
}

/// Where the text of a page is another one than it must be, if it is.
#[must_use]
pub fn difference(given: &str, expected: &str) -> Option<String> {
    if given == expected {
        return None;
    }
    let at = given.chars().zip(expected.chars()).take_while(|(a, b)| a == b).count();
    let from =
        |text: &str| -> String { text.chars().skip(at.saturating_sub(10)).take(40).collect() };
    Some(format!("the page says {:?} instead of {:?}", from(given), from(expected)))
}

/// Every page says what it must.
///
/// # Errors
/// The first difference, with the request.
pub fn text(subject: &mut Subject<'_>) -> Verdict {
    let Some(text) = Text::from_workload(subject.workload) else { return Ok(()) };
    every_page(subject, |sample, page| text.differs(sample, &Page::read(page)))
}

/// What the pages of a load must say.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expected {
    text: Text,
    rows: Vec<Rows>,
    escaped: Vec<String>,
    /// What each request was made of, by its place.
    samples: BTreeMap<u32, Sample>,
}

/// So many pages of a load are kept and compared. Of more, each has the same chance to be kept.
const KEPT: usize = 2_000;
/// So many samples a deputy gets, drawn at random: pages of other requests are not its concern.
const OF_A_DEPUTY: usize = 400;

/// Compares examined pages of a load as all proofs of pages do.
pub struct Pages {
    expected: Expected,
    sampled: Sampled,
}

impl Pages {
    /// Of requests that were made of these samples, after what was found in earlier loads.
    #[must_use]
    pub fn from_workload(
        workload: &Workload,
        text: Text,
        samples: Vec<Sample>,
        found: Found,
    ) -> Self {
        let proofs = || workload.proofs.iter();
        let rows = proofs().filter_map(|proof| match proof {
            Proof::Rows { id, count } => Some(Rows { id: id.clone(), count: *count }),
            _ => None,
        });
        let escaped = proofs().filter_map(|proof| match proof {
            Proof::Escapes { text } => Some(text.clone()),
            _ => None,
        });
        let (rows, escaped) = (rows.collect(), escaped.collect());
        let samples = (0..).zip(samples).collect();
        Self::expecting(Expected { text, rows, escaped, samples }, found)
    }

    /// Of a load whose pages must say this, after what was found in earlier loads.
    #[must_use]
    pub fn expecting(expected: Expected, found: Found) -> Self {
        Self { expected, sampled: Sampled::new(KEPT, found) }
    }

    /// What a deputy needs: not all samples, but which ones nobody can know.
    #[must_use]
    pub fn for_a_deputy(&self) -> Expected {
        let mut samples: Vec<(&u32, &Sample)> = self.expected.samples.iter().collect();
        let mut draw = unknown_to_targets();
        while samples.len() > OF_A_DEPUTY {
            samples.swap_remove(draw.below(samples.len() as u64) as usize);
        }
        let samples = samples.into_iter().map(|(nth, sample)| (*nth, sample.clone())).collect();
        Expected { samples, ..self.expected.clone() }
    }

    /// What a request was made of, but for what was drawn for it. Where that is all in which requests differ,
    /// any sample tells it. `None` for a request that only others can judge.
    fn sample(&self, request: u32, drawn: &str) -> Option<&Sample> {
        let samples = &self.expected.samples;
        let any = || samples.values().next().filter(|any| !drawn.is_empty() && any.is_all_drawn());
        samples.get(&request).or_else(any)
    }

    /// What is wrong with the page of a request, if anything is.
    fn fault(&self, Exchanged { request, drawn, body, .. }: &Exchanged) -> Option<String> {
        let page = String::from_utf8_lossy(body);
        let sample = self.sample(*request, drawn)?;
        match drawn.as_str() {
            "" => self.differs(sample, &page),
            drawn => self.differs(&sample.redrawn(drawn), &page),
        }
    }

    /// What is wrong with a page, if anything is.
    fn differs(&self, sample: &Sample, source: &str) -> Option<String> {
        let Expected { text, rows, escaped, .. } = &self.expected;
        let lacking = sample.contains.iter().find(|part| !source.contains(*part));
        let page = Page::read(source);
        lacking
            .map(|part| format!("the page lacks {part:?}"))
            .or_else(|| rows.iter().find_map(|rows| rows.differ(sample, &page)))
            .or_else(|| escaped.iter().find_map(|text| is_unescaped(text, sample, source, &page)))
            .or_else(|| text.differs(sample, &page))
    }

    /// Compares what was kept. Returns what was found so far.
    #[must_use]
    pub fn compared(&self) -> Found {
        self.sampled.compared(|page, _| self.fault(page))
    }

    /// Whether every page that was compared said what it must, in loads with so many right answers.
    ///
    /// # Errors
    /// How many did not, or that none was compared.
    pub fn verdict(&self, right: u64) -> Verdict {
        self.compared().verdict(right, "pages")
    }
}

impl Referee for Pages {
    /// Only examined pages are looked at.
    fn is_right(&self, _: &Exchange<'_>) -> bool {
        true
    }

    /// What cannot be compared here does not count as compared.
    fn examine(&self, exchange: &Exchange<'_>) {
        if self.sample(exchange.request, exchange.drawn).is_some() {
            self.sampled.take(exchange);
        }
    }

    fn briefing(&self, _: &LoadSpec) -> Option<Briefing> {
        deputy::briefing(&Judges::Pages(self.for_a_deputy()), false)
    }

    fn found(&self) -> String {
        serde_json::to_string(&self.compared()).unwrap_or_default()
    }

    fn take(&self, found: &str) -> Result<(), String> {
        self.sampled.add(deputy::read(found)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            json: Vec::new(),
            binding,
            drawn: None,
            upload: None,
        }
    }

    #[test]
    fn tags_white_space_and_the_spelling_of_entities_are_free() {
        let differs = |page: &str| text().differs(&sample(), &Page::read(page));
        let page = "<!DOCTYPE html><!-- a > b --><h1 class='x'>Page 7</h1>\n<li>Item 1 &lt;of&#62; 7 &amp; more</li>7 EUR\
                    <li/>Item 2 &#60;of&gt; 7 &#38; more <b>14</b>\tEUR End";
        assert_eq!(differs(page), None);
        let said = differs(&page.replace("14", "15")).unwrap();
        assert!(said.contains("15EUREnd") && said.contains("14EUREnd"), "{said}");
        assert!(differs("").is_some() && differs(&page.replace("Page 7", "")).is_some());
    }

    fn expected(samples: u32) -> Expected {
        let samples = (0..samples).map(|nth| (nth, sample())).collect();
        Expected { text: text(), rows: Vec::new(), escaped: Vec::new(), samples }
    }

    const PAGE: &str =
        "Page 7 Item 1 &lt;of> 7 &amp; more 7 EUR Item 2 &lt;of> 7 &amp; more 14 EUR End";

    fn examine(pages: &dyn Referee, request: u32, body: &str) {
        let body = body.as_bytes();
        pages.examine(&Exchange { request, body, read_ns: 1, ..Exchange::default() });
    }

    #[test]
    fn a_deputy_judges_pages_and_gets_some_samples_drawn_at_random() {
        let pages = Pages::expecting(expected(2_000), Found::default());
        let chosen = || pages.for_a_deputy().samples.into_keys().collect::<Vec<_>>();
        assert_eq!(chosen().len(), OF_A_DEPUTY);
        assert_ne!(chosen(), chosen());
        let pages = Pages::expecting(expected(2), Found::default());
        let deputy =
            deputy::from_briefing(&pages.briefing(&LoadSpec::default()).unwrap().text).unwrap();
        examine(&*deputy, 77, "the page of a request that it does not know");
        pages.take(&deputy.found()).unwrap();
        assert_eq!(pages.compared().compared, 0, "what nobody could compare");
        examine(&*deputy, 1, PAGE);
        assert!(pages.verdict(20_000).unwrap_err().starts_with("none of 20000 pages"));
        assert_eq!(pages.verdict(50), Ok(()), "too few to have one for sure");
        pages.take(&deputy.found()).unwrap();
        assert_eq!(pages.verdict(20_000), Ok(()));
        examine(&*deputy, 1, &PAGE.replace("14", "15"));
        pages.take(&deputy.found()).unwrap();
        assert!(pages.verdict(20_000).unwrap_err().starts_with("1 pages"));
    }

    #[test]
    fn a_deputy_judges_every_page_whose_number_is_drawn() {
        let drawn = Sample { drawn: Some("7".into()), ..sample() };
        let samples = (0..2_000).map(|nth| (nth, drawn.clone())).collect();
        let pages = Pages::expecting(Expected { samples, ..expected(0) }, Found::default());
        let deputy =
            deputy::from_briefing(&pages.briefing(&LoadSpec::default()).unwrap().text).unwrap();
        let wrong = PAGE.replace("14", "15");
        for request in 0..2_000 {
            let body = wrong.as_bytes();
            deputy.examine(&Exchange { request, drawn: "7", body, ..Exchange::default() });
        }
        pages.take(&deputy.found()).unwrap();
        let found = pages.compared();
        assert_eq!((found.compared, found.wrong), (2_000, 2_000));
    }

    #[test]
    fn of_many_pages_each_has_the_same_chance_and_none_is_compared_twice() {
        let pages = Pages::expecting(expected(1), Found::default());
        let wrong = PAGE.replace("14", "15");
        // Wrong ones early, in the middle and late: about 2,000 of 10,000 are compared.
        (0..10_000).for_each(|nth| examine(&pages, 0, if nth % 2 == 0 { PAGE } else { &wrong }));
        let found = pages.compared().wrong;
        assert!((850..1_150).contains(&found), "{found}");
        assert_eq!(pages.compared().wrong, found);
        examine(&pages, 0, &wrong);
        assert_eq!(pages.compared().wrong, found + 1);
    }

    #[test]
    fn a_number_may_be_as_large_as_64_bits_hold() {
        let mut sample = sample();
        sample.binding.insert("n".into(), u64::MAX.to_string());
        let page = "Page 18446744073709551615 \
                    Item 1 &lt;of> 18446744073709551615 &amp; more 18446744073709551615 EUR \
                    Item 2 &lt;of> 18446744073709551615 &amp; more 36893488147419103230 EUR End";
        assert_eq!(text().differs(&sample, &Page::read(page)), None);
    }
}
