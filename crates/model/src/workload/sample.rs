//! Concrete requests of a workload, each with its right answer.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{Request, Source, Vary, Workload};
use crate::request::DRAWN;
use crate::request::json_value::JsonValue;
use crate::request::upload::Upload;
use crate::workload::draw::Draw;

/// The maximum number of different requests of a workload. All are made before the load begins,
/// each with its answer, and all are proved.
pub const MOST_SAMPLES: u64 = 10_000;

/// The values of a request with [`Source::Upload`]: the length of its body, and how it is sent.
pub(super) const BYTES: &str = "bytes";
pub(super) const SENT: &str = "sent";
pub(super) const CHUNKED: &str = "chunked";
pub(super) const WITH_LENGTH: &str = "length";

/// One concrete request of a workload, with its right answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The path, percent-encoded.
    pub path: String,
    /// Further headers of the request: name and value.
    pub headers: Vec<(String, String)>,
    /// The body of the request; empty if it has none.
    pub request_body: String,
    /// The whole body of the answer, if the workload fixes it.
    pub body: Option<String>,
    /// Texts that must be in the body.
    pub contains: Vec<String>,
    /// Values that the JSON of the body must have.
    pub json: Vec<JsonValue>,
    /// The values of the placeholders.
    pub binding: BTreeMap<String, String>,
    /// The part of its only random value that each request can replace by another
    /// ([`crate::request::Request::drawn`]); `None` if there is none.
    pub drawn: Option<String>,
    /// How the body of the request is made in place of `request_body`; its number is `drawn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<Upload>,
}

impl Sample {
    /// Replaces the placeholders in a text of the workload file with this sample's values.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        self.fill_with(text, str::to_string)
    }

    /// Fills a text, with each value converted by `write`.
    #[must_use]
    pub fn fill_with(&self, text: &str, write: fn(&str) -> String) -> String {
        fill(text, &self.binding, write)
    }

    /// The body that its values ask for, with a number of its own.
    fn uploading(&mut self, seed: u64, nth: u64) {
        let value = |name| self.binding.get(name).map(String::as_str);
        let bytes = value(BYTES).and_then(|bytes| bytes.parse().ok()).unwrap_or_default();
        let chunked = value(SENT) == Some(CHUNKED);
        let key = Draw::new(seed ^ 0x0B0D1E5).bits();
        let number = 10_000_000 + Draw::at(key, nth).below(90_000_000);
        self.upload = Some(Upload { bytes, chunked, key });
        self.drawn = Some(number.to_string());
    }

    /// This request without a header field of this name, in whatever case.
    #[must_use]
    pub fn without_header(&self, name: &str) -> Self {
        let mut sample = self.clone();
        sample.headers.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
        sample
    }

    /// Whether all that varies in this request is drawn anew each time it is sent, so that [`Sample::redrawn`]
    /// makes any request of its workload.
    #[must_use]
    pub fn is_all_drawn(&self) -> bool {
        self.drawn.is_some()
            && self.binding.values().all(|value| self.drawn.as_ref() == Some(value))
    }

    /// This request with another value in place of the drawn one, as far as its answer depends
    /// on it.
    #[must_use]
    pub fn redrawn(&self, value: &str) -> Self {
        let Some(drawn) = &self.drawn else { return self.clone() };
        let other = |text: &String| text.replace(drawn.as_str(), value);
        Self {
            path: other(&self.path),
            body: self.body.as_ref().map(other),
            contains: self.contains.iter().map(other).collect(),
            binding: self.binding.iter().map(|(name, text)| (name.clone(), other(text))).collect(),
            drawn: Some(value.into()),
            ..self.clone()
        }
    }
}

impl Workload {
    /// The requests of this workload, each with its right answer: one for each value that varies,
    /// or `drawn` of them if values are random.
    #[must_use]
    pub fn samples(&self, seed: u64, drawn: usize) -> Vec<Sample> {
        let vary = &self.request.vary;
        if vary.values().all(|vary| vary.count().is_some()) {
            let mut samples = self.all_samples();
            if self.answer.from == Some(Source::Upload) {
                samples.iter_mut().zip(0..).for_each(|(sample, nth)| sample.uploading(seed, nth));
            }
            return samples;
        }
        let mut draw = Draw::new(seed);
        let mut bind = |nth| {
            vary.iter().map(|(name, vary)| (name.clone(), vary.drawn(nth, &mut draw))).collect()
        };
        (0..drawn).map(|nth| self.sample(bind(nth))).collect()
    }

    fn all_samples(&self) -> Vec<Sample> {
        let mut bindings: Vec<BTreeMap<String, String>> = vec![BTreeMap::new()];
        for (name, vary) in &self.request.vary {
            let values: Vec<String> = match vary {
                Vary::Names { values, .. } | Vary::Values { values } => values.clone(),
                Vary::Range { from, to } => (*from..=*to).map(|n| n.to_string()).collect(),
            };
            bindings = bindings
                .iter()
                .flat_map(|binding| {
                    values.iter().map(move |value| {
                        let mut bound = binding.clone();
                        bound.insert(name.clone(), value.clone());
                        bound
                    })
                })
                .collect();
        }
        bindings.into_iter().map(|binding| self.sample(binding)).collect()
    }

    fn sample(&self, binding: BTreeMap<String, String>) -> Sample {
        let fill = |text: &str| fill(text, &binding, |value| value.to_string());
        let filled = |value: &JsonValue| JsonValue {
            pointer: value.pointer.clone(),
            is: value.is.as_deref().map(fill),
        };
        Sample {
            drawn: self.drawn_part(&binding),
            upload: None,
            path: self::fill(&self.request.path, &binding, percent_encode),
            headers: self
                .request
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), fill(value)))
                .collect(),
            request_body: self.request.body.as_deref().map(fill).unwrap_or_default(),
            body: self.answer.body.as_deref().map(fill),
            contains: self.answer.contains.iter().map(|text| fill(text)).collect(),
            json: self.answer.json.iter().map(filled).collect(),
            binding,
        }
    }
}

impl Workload {
    /// The last characters of a random name, or a number with this many digits if all such numbers
    /// are allowed. Only the path may contain it, because nothing else of a request is written
    /// again, and the answer must not be checked as JSON, whose values are not written again either.
    fn drawn_part(&self, binding: &BTreeMap<String, String>) -> Option<String> {
        let Request { path, headers, body, vary, .. } = &self.request;
        let mut random = vary.iter().filter(|(_, vary)| vary.count().is_none());
        let (Some((name, vary)), None) = (random.next(), random.next()) else { return None };
        if !self.answer.json.is_empty() {
            return None;
        }
        let has_it = |text: &&String| placeholders(text).contains(&&**name);
        let in_path = placeholders(path).into_iter().filter(|other| other == name).count();
        if headers.values().chain(body).any(|text| has_it(&text)) || in_path != 1 {
            return None;
        }
        let value = binding.get(name)?;
        let others = binding.iter().filter(|(other, _)| *other != name);
        if others.into_iter().any(|(_, other)| other.contains(&**value)) {
            return None;
        }
        let part = value.get(value.len().checked_sub(DRAWN)?..)?;
        let is_drawn = match vary {
            Vary::Names { values, .. } => {
                !values.contains(value) && part.bytes().all(|byte| byte.is_ascii_lowercase())
            }
            Vary::Values { .. } => false,
            Vary::Range { from, to } => {
                value.len() == DRAWN && *from <= 10_000_000 && *to >= 99_999_999
            }
        };
        is_drawn.then(|| part.to_string())
    }
}

pub(super) fn placeholders(text: &str) -> Vec<&str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name)).collect()
}

fn fill(text: &str, binding: &BTreeMap<String, String>, write: impl Fn(&str) -> String) -> String {
    binding.iter().fold(text.to_string(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), &write(value))
    })
}

/// Percent-encodes every byte.
#[must_use]
pub fn percent_encode_all(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Percent-encodes everything except the unreserved characters of RFC 3986 section 2.3.
#[must_use]
pub fn percent_encode(text: &str) -> String {
    percent_encode_bytes(text.as_bytes())
}

/// Percent-encodes all bytes except the unreserved characters of RFC 3986 section 2.3.
#[must_use]
pub fn percent_encode_bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Bytes that were percent-encoded, as text: what is no UTF-8 is replaced, and a `%` without two
/// hexadecimal digits stays.
#[must_use]
pub fn percent_decode(bytes: &[u8]) -> String {
    percent_encoding::percent_decode(bytes).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn samples_encode_the_path_and_not_the_body() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/hola.toml");
        let samples = Workload::read(&path).unwrap().samples(1, 200);
        let jose = samples.iter().find(|sample| sample.binding["name"] == "José").unwrap();
        assert_eq!(
            (jose.path.as_str(), jose.body.as_deref()),
            ("/hola/Jos%C3%A9", Some("Hola José"))
        );
        assert!(samples.iter().any(|sample| sample.path == "/hola/50%25"));
        assert_eq!(samples.len(), 200);
        assert_eq!(samples, Workload::read(&path).unwrap().samples(1, 200), "the seed decides");
        assert_ne!(samples, Workload::read(&path).unwrap().samples(2, 200));
    }

    #[test]
    fn drawn_names_and_numbers_can_be_drawn_again() {
        let read = |id: &str| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
            Workload::read(&folder.join(format!("{id}.toml"))).unwrap().samples(3, 100)
        };
        let names = read("hola");
        let of_file = |sample: &&Sample| sample.drawn.is_none();
        assert_eq!(names.iter().filter(of_file).count(), 20, "the names of the file stay");
        let sample = names.last().unwrap();
        let (drawn, other) = (sample.drawn.clone().unwrap(), sample.redrawn("zzzzzzzz"));
        assert!(sample.path.ends_with(&drawn) && sample.body.as_ref().unwrap().ends_with(&drawn));
        assert!(other.path.ends_with("zzzzzzzz"), "{}", other.path);
        assert_eq!(other.body.unwrap(), format!("Hola {}", other.binding["name"]));
        let page = read("page").remove(0);
        assert_eq!(page.drawn.as_ref(), Some(&page.binding["n"]));
        let other = page.redrawn("12345678");
        assert_eq!(
            (other.path.as_str(), other.binding["n"].as_str()),
            ("/page/12345678", "12345678")
        );
        assert_eq!(other.contains[0], "row-12345678-1");
        let json = read("json");
        let sizes: Vec<&str> = json.iter().map(|sample| &*sample.binding["n"]).take(6).collect();
        assert_eq!(sizes, ["1", "50", "1000", "1", "50", "1000"], "in turn");
        assert_eq!(json[1].redrawn("12345678").path, "/json/50?m=12345678");
        let uploads = read("upload");
        let [first, second] = [&uploads[0], &uploads[1]];
        assert_eq!(first.upload.map(|it| (it.bytes, it.chunked)), Some((1_000, false)));
        assert_eq!(second.upload.map(|it| (it.bytes, it.chunked)), Some((1_000, true)));
        assert!(
            first.drawn.as_ref().is_some_and(|it| it.len() == 8) && first.drawn != second.drawn
        );
        assert!(read("hello").iter().chain(&read("users")).all(|sample| sample.drawn.is_none()));
    }
}
