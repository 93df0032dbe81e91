//! That a page is made from data by a template engine.
use super::{Subject, Verdict};

/// As many rows as there must be, in every sample.
///
/// # Errors
/// How many there are instead.
pub fn rows(subject: &mut Subject<'_>, marker: &str, count: u32) -> Verdict {
    let subject = &*subject;
    subject.samples.iter().step_by(7).try_for_each(|sample| {
        let body = subject.ask("GET", &sample.path)?.body;
        let marker = sample.fill(marker);
        let found = String::from_utf8_lossy(&body).matches(&marker).count();
        if found == count as usize {
            Ok(())
        } else {
            Err(format!("GET {}: {found} times {marker:?} instead of {count}", sample.path))
        }
    })
}

/// A text of the data stands in the page with `<`, `>` and `&` as entities, and not raw.
///
/// # Errors
/// Which of the two is wrong.
pub fn escapes(subject: &mut Subject<'_>, text: &str) -> Verdict {
    let subject = &*subject;
    subject.samples.iter().step_by(7).try_for_each(|sample| {
        let body = subject.ask("GET", &sample.path)?.body;
        let page = String::from_utf8_lossy(&body);
        let raw = sample.fill(text);
        if page.contains(&raw) {
            return Err(format!("GET {}: {raw:?} stands in the page unescaped", sample.path));
        }
        if !decode_entities(&page).contains(&raw) {
            return Err(format!("GET {}: {raw:?} is not in the page, escaped or not", sample.path));
        }
        Ok(())
    })
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
