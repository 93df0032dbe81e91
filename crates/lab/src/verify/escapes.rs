//! Proves that a template engine makes the page from data.
use super::{Subject, Verdict};
use pippin_model::workload::Sample;
use serde::{Deserialize, Serialize};

/// Every sample has the right number of rows.
///
/// # Errors
/// How many there are instead.
pub fn rows(subject: &mut Subject<'_>, marker: &str, count: u32) -> Verdict {
    let rows = Rows { marker: marker.into(), count };
    every_page(subject, |sample, page| rows.differ(sample, page))
}

/// A text of the data stands in the page with `<`, `>` and `&` as entities, and not raw.
///
/// # Errors
/// Which of the two is wrong.
pub fn escapes(subject: &mut Subject<'_>, text: &str) -> Verdict {
    every_page(subject, |sample, page| is_unescaped(text, sample, page))
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
    /// What each row has, with the placeholders of the workload.
    pub marker: String,
    /// How many there are.
    pub count: u32,
}

impl Rows {
    /// What is wrong with the rows of a page, if anything is.
    #[must_use]
    pub fn differ(&self, sample: &Sample, page: &str) -> Option<String> {
        let marker = sample.fill(&self.marker);
        let found = page.matches(&marker).count();
        (found != self.count as usize)
            .then(|| format!("{found} times {marker:?} instead of {}", self.count))
    }
}

/// Why a text of the data does not stand in a page as it must, if so.
#[must_use]
pub fn is_unescaped(text: &str, sample: &Sample, page: &str) -> Option<String> {
    let raw = sample.fill(text);
    if page.contains(&raw) {
        return Some(format!("{raw:?} stands in the page unescaped"));
    }
    (!decode_entities(page).contains(&raw))
        .then(|| format!("{raw:?} is not in the page, escaped or not"))
}

/// The entities that template engines write for the five characters that matter.
pub(super) fn decode_entities(page: &str) -> String {
    const ENTITIES: [(&str, &str); 12] = [
        ("&lt;", "<"),
        ("&#60;", "<"),
        ("&#x3C;", "<"),
        ("&#x3c;", "<"),
        ("&gt;", ">"),
        ("&#62;", ">"),
        ("&#x3E;", ">"),
        ("&#x3e;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#38;", "&"),
        // Last, so that `&amp;lt;` becomes `&lt;` and not `<`.
        ("&amp;", "&"),
    ];
    ENTITIES
        .iter()
        .fold(page.to_string(), |page, (entity, character)| page.replace(entity, character))
}

#[cfg(test)]
mod tests {
    use super::decode_entities;

    #[test]
    fn entities_decode_once() {
        assert_eq!(decode_entities("a &lt;b&#62; &amp;lt; &amp; c"), "a <b> &lt; & c");
    }
}
