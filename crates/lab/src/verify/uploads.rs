//! Answers that say what came: the length of the request's body and its SHA-256.
use pippin_engine::{Briefing, Exchange, Referee};
use pippin_model::load::LoadSpec;
use pippin_model::request::upload::{Content, Upload, number};
use pippin_model::workload::Sample;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::live::deputy::{self, Judges};
use super::sampled::{Exchanged, Found, Sampled};

/// Bodies up to this length are digested for every answer: one of 1 kB takes about a microsecond.
const AT_ONCE: u64 = 4_096;
/// So many of the other answers of a load are kept, and their bodies are made and digested when it is
/// over. Bodies of 1 MB take 1 ms each, where the processor has instructions for SHA-256.
const KEPT: usize = 120;
/// How much of a body is made at a time.
const PORTION: u64 = 256 * 1024;

/// What a right answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// The length.
    pub bytes: u64,
    /// The digest.
    pub sha256: [u8; 32],
}

impl Said {
    /// Of a body that is here.
    #[must_use]
    pub fn from_body(body: &[u8]) -> Self {
        Self { bytes: body.len() as u64, sha256: Sha256::digest(body).into() }
    }

    /// Of a body that is made.
    fn made(content: &Content, bytes: u64, number: [u8; 8]) -> Self {
        let (mut hash, mut part) = (Sha256::new(), Vec::new());
        let mut at = 0;
        while at < bytes {
            let to = (at + PORTION).min(bytes);
            part.clear();
            content.put(bytes, number, at, to, &mut part);
            hash.update(&part);
            at = to;
        }
        Self { bytes, sha256: hash.finalize().into() }
    }

    /// What a body of an answer says; `None` if it is something else. A line may end behind it.
    fn read(body: &[u8]) -> Option<Self> {
        let text = str::from_utf8(body).ok()?;
        let text =
            text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
        let (bytes, digits) = text.split_once(' ')?;
        let bytes =
            bytes.bytes().all(|byte| byte.is_ascii_digit()).then(|| bytes.parse().ok())??;
        let mut sha256 = [0; 32];
        if digits.len() != 2 * sha256.len() {
            return None;
        }
        for (byte, pair) in sha256.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let digit = |nth: usize| char::from(pair[nth]).to_digit(16);
            *byte = (digit(0)? << 4 | digit(1)?) as u8;
        }
        Some(Self { bytes, sha256 })
    }

    /// What is wrong with the body of an answer, if anything is.
    #[must_use]
    pub fn differs(&self, body: &[u8]) -> Option<String> {
        let Some(said) = Self::read(body) else {
            let text: String = String::from_utf8_lossy(body).chars().take(100).collect();
            return Some(format!(
                "the body is {text:?} instead of a length, a space and 64 hexadecimal digits"
            ));
        };
        if said.bytes != self.bytes {
            return Some(format!("a length of {} instead of {}", said.bytes, self.bytes));
        }
        (said != *self).then(|| {
            format!(
                "another SHA-256 than that of the {} bytes of the request: {} instead of {}",
                self.bytes,
                short(&said.sha256),
                short(&self.sha256)
            )
        })
    }
}

/// The first digits of a digest.
fn short(sha256: &[u8; 32]) -> String {
    sha256[..6].iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "..."
}

/// All that is needed to judge the answers of a load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expected {
    /// The bodies of the requests, by their places.
    asked: Vec<Upload>,
}

/// Judges the answers of a target.
pub struct UploadAnswers {
    asked: Vec<Upload>,
    /// `None` before any request.
    content: Option<Content>,
    sampled: Sampled,
}

impl UploadAnswers {
    /// Before any request.
    #[must_use]
    pub fn new() -> Self {
        Self::from_uploads(Vec::new(), Found::default())
    }

    fn from_uploads(asked: Vec<Upload>, found: Found) -> Self {
        let content = asked.first().map(|upload| Content::from_key(upload.key));
        Self { asked, content, sampled: Sampled::new(KEPT, found) }
    }

    /// For a deputy.
    #[must_use]
    pub fn expecting(Expected { asked }: Expected) -> Self {
        Self::from_uploads(asked, Found::default())
    }

    /// For requests that were made of these samples, with what was found in earlier loads.
    #[must_use]
    pub fn for_samples(&self, samples: &[Sample]) -> Self {
        Self::from_uploads(
            samples.iter().map_while(|sample| sample.upload).collect(),
            self.compared(),
        )
    }

    /// What is wrong with the answer to a sample, if anything is.
    #[must_use]
    pub fn differs(sample: &Sample, body: &[u8]) -> Option<String> {
        let number = sample.drawn.as_deref().and_then(number);
        let (Some(upload), Some(number)) = (sample.upload, number) else {
            return Some("the request does not say which body it has".into());
        };
        Said::made(&Content::from_key(upload.key), upload.bytes, number).differs(body)
    }

    fn right(&self, request: u32, drawn: &str) -> Option<Said> {
        let upload = self.asked.get(request as usize)?;
        Some(Said::made(self.content.as_ref()?, upload.bytes, number(drawn)?))
    }

    /// Compares what was kept. Returns what was found so far.
    #[must_use]
    pub fn compared(&self) -> Found {
        self.sampled.compared(|Exchanged { request, drawn, body, .. }, _| {
            match self.right(*request, drawn) {
                Some(right) => right.differs(body),
                None => Some(format!("nobody knows which body request {request} had")),
            }
        })
    }
}

impl Default for UploadAnswers {
    fn default() -> Self {
        Self::new()
    }
}

impl Referee for UploadAnswers {
    /// Every answer has the right length, and those to short bodies have the right digest.
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        let Exchange { request, body, drawn, .. } = *exchange;
        let Some(upload) = self.asked.get(request as usize) else { return false };
        if upload.bytes <= AT_ONCE {
            return self.right(request, drawn).is_some_and(|right| right.differs(body).is_none());
        }
        Said::read(body).is_some_and(|said| said.bytes == upload.bytes)
    }

    fn examine(&self, exchange: &Exchange<'_>) {
        let upload = self.asked.get(exchange.request as usize);
        if upload.is_none_or(|upload| upload.bytes > AT_ONCE) {
            self.sampled.take(exchange);
        }
    }

    fn briefing(&self, _: &LoadSpec) -> Option<Briefing> {
        deputy::briefing(&Judges::Uploads(Expected { asked: self.asked.clone() }), false)
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

    /// SHA-256 of no bytes and of `abc`, from FIPS 180-2, appendix B.
    const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_right_answer_may_have_capitals_and_a_line_end_and_nothing_else() {
        let said = Said::from_body(b"abc");
        let capitals = OF_ABC.to_uppercase();
        for right in [
            format!("3 {OF_ABC}"),
            format!("3 {capitals}"),
            format!("3 {OF_ABC}\n"),
            format!("3 {OF_ABC}\r\n"),
        ] {
            assert_eq!(said.differs(right.as_bytes()), None, "{right}");
        }
        for (wrong, words) in [
            (format!("4 {OF_ABC}"), "a length of 4 instead of 3"),
            (
                format!("3 {OF_NOTHING}"),
                "another SHA-256 than that of the 3 bytes of the request: e3b0c44298fc... instead of ba7816bf8f01...",
            ),
            (format!("3  {OF_ABC}"), "the body is \"3  ba"),
            (format!("+3 {OF_ABC}"), "the body is \"+3 ba"),
            (format!("3 {OF_ABC}0"), "the body is \"3 ba"),
            (format!("3 {OF_ABC} "), "the body is \"3 ba"),
            (format!("3 g{}", &OF_ABC[1..]), "the body is \"3 ga"),
            (String::new(), "the body is \"\""),
        ] {
            let said = said.differs(wrong.as_bytes()).unwrap();
            assert!(said.starts_with(words), "{said}");
        }
        assert_eq!(Said::from_body(b"").differs(format!("0 {OF_NOTHING}").as_bytes()), None);
    }

    fn text(body: &[u8]) -> String {
        let Said { bytes, sha256 } = Said::from_body(body);
        let digits: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{bytes} {digits}")
    }

    fn exchange<'a>(request: u32, drawn: &'a str, body: &'a str) -> Exchange<'a> {
        Exchange { request, drawn, body: body.as_bytes(), ..Exchange::default() }
    }

    #[test]
    fn short_bodies_are_judged_at_once_and_long_ones_in_samples() {
        let upload = |bytes| Upload { bytes, chunked: false, key: 3 };
        let asked = vec![upload(1_000), upload(1_000_000)];
        let answers = UploadAnswers::from_uploads(asked, Found::default());
        let content = Content::from_key(3);
        let [short, long] =
            [1_000, 1_000_000].map(|bytes| text(&content.whole(bytes, *b"87654321")));
        assert!(answers.is_right(&exchange(0, "87654321", &short)));
        assert!(!answers.is_right(&exchange(0, "12345678", &short)), "the body of another request");
        assert!(answers.is_right(&exchange(1, "87654321", &long)));
        assert!(answers.is_right(&exchange(1, "12345678", &long)), "its digest is looked at later");
        assert!(!answers.is_right(&exchange(1, "87654321", &short)), "another length");
        assert!(!answers.is_right(&exchange(2, "87654321", &short)), "nobody asked that");
        answers.examine(&exchange(0, "12345678", &short));
        assert_eq!(answers.compared().compared, 0, "it was judged before");
        answers.examine(&exchange(1, "87654321", &long));
        assert_eq!((answers.compared().compared, answers.compared().wrong), (1, 0));
        answers.examine(&exchange(1, "12345678", &long));
        let found = answers.compared();
        assert_eq!((found.compared, found.wrong), (2, 1));
        assert!(found.first.unwrap().starts_with("another SHA-256 than that of the 1000000 bytes"));
    }

    #[test]
    fn a_deputy_judges_by_what_it_is_told() {
        let upload = Upload { bytes: 5_000, chunked: true, key: 9 };
        let answers = UploadAnswers::from_uploads(vec![upload], Found::default());
        let briefing = answers.briefing(&LoadSpec::default()).unwrap();
        let deputy = deputy::from_briefing(&briefing.text).unwrap();
        let right = text(&Content::from_key(9).whole(5_000, *b"87654321"));
        assert!(deputy.is_right(&exchange(0, "87654321", &right)));
        deputy.examine(&exchange(0, "87654322", &right));
        answers.take(&deputy.found()).unwrap();
        assert_eq!((answers.compared().compared, answers.compared().wrong), (1, 1));
    }
}
