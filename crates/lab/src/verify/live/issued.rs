//! The upstream's numbers: each answer needs one of its own, issued after its request was sent.
use pippin_engine::{Briefing, Exchange, Referee};
use pippin_model::load::LoadSpec;
use pippin_reference::numbers::{MOST, Numbers};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::deputy::{self, Judges};
use crate::verify::Verdict;
use crate::verify::http::Answer;

/// Judges answers by the numbers in them, without asking the upstream.
pub struct Issued {
    numbers: Numbers,
    /// What the upstream waits before it answers.
    delay_ns: u64,
    used: Used,
    right: AtomicU64,
    untimely: AtomicU64,
    repeated: AtomicU64,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is no number of 20 digits.
    NoNumber,
    /// The upstream issued the number before the request was sent, or never.
    Untimely,
    /// Another answer had the number.
    Repeated,
}

impl Fault {
    /// In words, for the answer that has it.
    #[must_use]
    pub fn words(self, answer: &Answer) -> String {
        let body = answer.excerpt();
        match self {
            Self::NoNumber => format!("body {body} instead of the 20 digits of the upstream"),
            Self::Untimely => format!(
                "the upstream issued {body} before the request was sent, or never: it was not asked for this request"
            ),
            Self::Repeated => format!(
                "an earlier answer had {body} too: the upstream was not asked for each request"
            ),
        }
    }
}

impl Issued {
    /// For an upstream with these numbers and this wait.
    #[must_use]
    pub fn new(numbers: Numbers, delay_ns: u64) -> Self {
        let none = || AtomicU64::new(0);
        let (right, untimely, repeated) = (none(), none(), none());
        Self { numbers, delay_ns, used: Used::default(), right, untimely, repeated }
    }

    /// What is wrong with an answer. Its number is used afterwards.
    pub fn fault(&self, exchange: &Exchange<'_>) -> Option<Fault> {
        let Some(issue) = self.numbers.read(exchange.body) else { return Some(Fault::NoNumber) };
        let latest_ns = exchange.read_ns.saturating_sub(self.delay_ns);
        if !issue.is_not_before(exchange.sent_ns) || !issue.is_not_after(latest_ns) {
            return Some(Fault::Untimely);
        }
        self.used.is_again(issue.nth).then_some(Fault::Repeated)
    }

    /// How many answers of the loads so far had a number of their own.
    #[must_use]
    pub fn right(&self) -> u64 {
        self.right.load(Ordering::Relaxed)
    }

    /// Whether each answer of the loads so far had its own number.
    ///
    /// # Errors
    /// How many were not.
    pub fn verdict(&self) -> Verdict {
        let untimely = self.untimely.load(Ordering::Relaxed);
        let repeated = self.repeated.load(Ordering::Relaxed);
        if untimely + repeated == 0 {
            return Ok(());
        }
        Err(format!(
            "the upstream was not called for each request: {untimely} answers had a number that it had issued before the request was sent, or never; {repeated} had a number that another answer had"
        ))
    }
}

impl Referee for Issued {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        let fault = self.fault(exchange);
        let count = match fault {
            None => &self.right,
            Some(Fault::NoNumber) => return false,
            Some(Fault::Untimely) => &self.untimely,
            Some(Fault::Repeated) => &self.repeated,
        };
        count.fetch_add(1, Ordering::Relaxed);
        fault.is_none()
    }

    fn briefing(&self, _: &LoadSpec) -> Option<Briefing> {
        // Without a prefix, JSON numbers of 128 bits are not read everywhere.
        let key = format!("{:032x}", self.numbers.key());
        deputy::briefing(&Judges::Upstream { key, delay_ns: self.delay_ns }, true)
    }

    fn found(&self) -> String {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let found = Found {
            right: self.right(),
            untimely: count(&self.untimely),
            repeated: count(&self.repeated),
            used: self.used.pages(),
        };
        serde_json::to_string(&found).unwrap_or_default()
    }

    /// A number that two deputies have was used twice, although each of them found it right.
    fn take(&self, found: &str) -> Result<(), String> {
        let Found { right, untimely, repeated, used } = deputy::read(found)?;
        let again: u64 = used.iter().map(|(page, words)| self.used.mark(*page, words)).sum();
        self.right.fetch_add(right.saturating_sub(again), Ordering::Relaxed);
        self.untimely.fetch_add(untimely, Ordering::Relaxed);
        self.repeated.fetch_add(repeated + again, Ordering::Relaxed);
        Ok(())
    }
}

/// What a deputy has found.
#[derive(Serialize, Deserialize)]
struct Found {
    right: u64,
    untimely: u64,
    repeated: u64,
    /// Used numbers: pages of [`Used`] that have any, each up to its last word that is not 0.
    used: Vec<(u32, Vec<u64>)>,
}

const WORD_BITS: u32 = u64::BITS;
const PAGE_WORDS: u32 = 2_048;
const PAGE_BITS: u32 = PAGE_WORDS * WORD_BITS;

/// Which numbers were used: a bit for each, in pages of 16 KiB that are made when they are needed;
/// 32 MiB at the most.
struct Used(Vec<OnceLock<Box<[AtomicU64]>>>);

impl Default for Used {
    fn default() -> Self {
        Self((0..MOST / PAGE_BITS).map(|_| OnceLock::new()).collect())
    }
}

impl Used {
    /// Marks a number; whether it was marked already.
    fn is_again(&self, nth: u32) -> bool {
        let page = self.page(nth / PAGE_BITS);
        let bit = 1 << (nth % WORD_BITS);
        let word = &page[(nth % PAGE_BITS / WORD_BITS) as usize];
        word.fetch_or(bit, Ordering::Relaxed) & bit != 0
    }

    fn page(&self, nth: u32) -> &[AtomicU64] {
        self.0[nth as usize % self.0.len()]
            .get_or_init(|| (0..PAGE_WORDS).map(|_| AtomicU64::new(0)).collect())
    }

    /// The pages that have a mark.
    fn pages(&self) -> Vec<(u32, Vec<u64>)> {
        let words = |page: &[AtomicU64]| -> Vec<u64> {
            let words = page.iter().map(|word| word.load(Ordering::Relaxed));
            let mut words: Vec<u64> = words.collect();
            words.truncate(words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1));
            words
        };
        let used = (0..).zip(&self.0).filter_map(|(nth, page)| Some((nth, words(page.get()?))));
        used.collect()
    }

    /// Marks the numbers of a page; how many of them were marked already.
    fn mark(&self, page: u32, words: &[u64]) -> u64 {
        let again = |(own, new): (&AtomicU64, &u64)| {
            u64::from((own.fetch_or(*new, Ordering::Relaxed) & new).count_ones())
        };
        self.page(page).iter().zip(words).map(again).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY_NS: u64 = 1_000_000;
    const ISSUED_NS: u64 = 50_000_000;

    fn fault(issued: &Issued, body: &[u8], sent_ns: u64, read_ns: u64) -> Option<Fault> {
        issued.fault(&Exchange { body, sent_ns, read_ns, ..Exchange::default() })
    }

    fn book() -> (Issued, Numbers) {
        let numbers = Numbers::new(5);
        (Issued::new(numbers.clone(), DELAY_NS), numbers)
    }

    #[test]
    fn a_number_is_right_once_and_for_a_request_that_was_sent_before_it_was_issued() {
        let (issued, numbers) = book();
        let body = numbers.issue(3, ISSUED_NS);
        let read_ns = ISSUED_NS + DELAY_NS;
        assert_eq!(fault(&issued, &body, ISSUED_NS + 2_000, read_ns), Some(Fault::Untimely));
        assert_eq!(fault(&issued, &body, ISSUED_NS, read_ns), None);
        assert_eq!(fault(&issued, &body, ISSUED_NS, read_ns), Some(Fault::Repeated));
        let other = numbers.issue(4, ISSUED_NS);
        assert_eq!(fault(&issued, &other, ISSUED_NS - 5, read_ns), None);
    }

    #[test]
    fn what_came_before_the_upstream_could_answer_is_none_of_its_numbers() {
        let (issued, numbers) = book();
        let body = numbers.issue(0, ISSUED_NS);
        let read_ns = ISSUED_NS + DELAY_NS - 2_000;
        assert_eq!(fault(&issued, &body, ISSUED_NS - 1, read_ns), Some(Fault::Untimely));
    }

    #[test]
    fn invented_numbers_are_never_timely() {
        let (issued, _) = book();
        for number in 0..100_000_u64 {
            let body = format!("{:020}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let fault = fault(&issued, body.as_bytes(), ISSUED_NS, ISSUED_NS + 10 * DELAY_NS);
            assert_eq!(fault, Some(Fault::Untimely), "{body}");
        }
        assert_eq!(fault(&issued, b"12345", 0, 0), Some(Fault::NoNumber));
    }

    /// A request that was answered right.
    fn exchange(body: &[u8]) -> Exchange<'_> {
        let (sent_ns, read_ns) = (ISSUED_NS, ISSUED_NS + DELAY_NS);
        Exchange { body, sent_ns, read_ns, ..Exchange::default() }
    }

    #[test]
    fn a_number_that_two_deputies_have_is_found_when_they_report() {
        let (issued, numbers) = book();
        let briefing = issued.briefing(&LoadSpec::default()).unwrap();
        assert!(briefing.is_timed);
        let deputies = [(); 2].map(|()| deputy::from_briefing(&briefing.text).unwrap());
        let judge = |deputy: usize, nth: u32| {
            deputies[deputy].is_right(&exchange(&numbers.issue(nth, ISSUED_NS)))
        };
        assert!(judge(0, 0) && judge(0, MOST - 1) && judge(0, PAGE_BITS + 70));
        assert!(judge(1, 1) && !judge(1, 1));
        assert!(judge(1, PAGE_BITS + 70), "a deputy does not know what the other has seen");
        issued.take(&deputies[0].found()).unwrap();
        assert_eq!((issued.right(), issued.verdict()), (3, Ok(())));
        issued.take(&deputies[1].found()).unwrap();
        assert_eq!(issued.right(), 4, "0, 1, the last, and one of those that two had");
        let said = issued.verdict().unwrap_err();
        assert!(said.contains("0 answers") && said.contains("2 had a number"), "{said}");
        assert!(issued.take("{}").is_err());
    }

    #[test]
    fn the_verdict_counts_what_the_load_had() {
        let (issued, numbers) = book();
        let right = |nth, sent_ns| {
            let body = numbers.issue(nth, ISSUED_NS);
            issued.is_right(&Exchange {
                body: &body,
                sent_ns,
                read_ns: ISSUED_NS + DELAY_NS,
                ..Exchange::default()
            })
        };
        assert!(right(0, ISSUED_NS) && right(MOST - 1, ISSUED_NS));
        assert_eq!(issued.verdict(), Ok(()));
        assert!(!right(0, ISSUED_NS) && !right(1, ISSUED_NS + 9_000));
        assert_eq!(issued.right(), 2);
        let said = issued.verdict().unwrap_err();
        assert!(said.contains("1 answers had a number that it had issued before"), "{said}");
    }
}
