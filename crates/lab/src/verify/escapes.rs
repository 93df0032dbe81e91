//! Proves that a template engine makes the page from data.
use super::html::{Page, without_space};
use super::{Subject, Verdict};
use pippin_model::workload::Sample;
use serde::{Deserialize, Serialize};

/// Every sample has its rows.
///
/// # Errors
/// Which row is missing, or there more than once.
pub fn rows(subject: &mut Subject<'_>, id: &str, count: u32) -> Verdict {
    let rows = Rows { id: id.into(), count };
    every_page(subject, |sample, page| rows.differ(sample, &Page::read(page)))
}

/// A text of the data stands in the page with `<`, `>` and `&` as entities, and not raw.
///
/// # Errors
/// Which of the two is wrong.
pub fn escapes(subject: &mut Subject<'_>, text: &str) -> Verdict {
    every_page(subject, |sample, page| is_unescaped(text, sample, page, &Page::read(page)))
}

/// Asks for some pages; `differs` says what is wrong with one.
pub(super) fn every_page(
    subject: &Subject<'_>,
    differs: impl Fn(&Sample, &str) -> Option<String>,
) -> Verdict {
    subject.samples.iter().step_by(7).try_for_each(|sample| {
        let body = subject.ask_sample(sample)?.body;
        differs(sample, &String::from_utf8_lossy(&body))
            .map_or(Ok(()), |difference| Err(format!("GET {}: {difference}", sample.path)))
    })
}

/// Rows that a page must have.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rows {
    /// The attribute `id` of a row, with the placeholders of the workload and `{i}`, its number.
    pub id: String,
    /// How many there are.
    pub count: u32,
}

impl Rows {
    /// What is wrong with the rows of a page, if anything is: each must be there once.
    #[must_use]
    pub fn differ(&self, sample: &Sample, page: &Page) -> Option<String> {
        (1..=self.count).find_map(|i| {
            let id = sample.fill(&self.id.replace("{i}", &i.to_string()));
            let found = page.ids.iter().filter(|given| **given == id).count();
            (found != 1).then(|| format!("id {id:?} of row {i} stands {found} times in the page"))
        })
    }
}

/// Why a text of the data does not stand in a page as it must, if so. `source` is the page as it
/// came, `page` what it says.
#[must_use]
pub fn is_unescaped(text: &str, sample: &Sample, source: &str, page: &Page) -> Option<String> {
    let raw = sample.fill(text);
    if source.contains(&raw) {
        return Some(format!("{raw:?} stands in the page unescaped"));
    }
    (!page.text.contains(&without_space(&raw)))
        .then(|| format!("{raw:?} is not in the page, escaped or not"))
}
