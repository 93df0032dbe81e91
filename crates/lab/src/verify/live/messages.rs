//! The table `messages` while it changes: which pages are right.
//!
//! Every answer is searched for one word of each message, in their order: of the rows as they were
//! between the request and its answer, and of the message that this request adds. A sample is compared whole.
use memchr::memmem::Finder;
use pippin_engine::{Exchange, Referee};
use pippin_model::workload::{Sample, Workload};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::changes::{Tally, VERSIONS_KEPT, Versions};
use crate::services::table_kind::TableKind;
use crate::verify::messages::{Layout, Message, longest_word, place, with_added};
use crate::verify::sampled::{Exchanged, Found, Sampled};

/// So many pages of a load are kept and compared.
const KEPT: usize = 2_000;

/// So many versions are searched for what a stale answer says: those of ten seconds.
const SEARCHED: usize = 100;

/// Judges the pages of a target.
pub struct MessageAnswers {
    layout: Option<Layout>,
    table: Arc<Table>,
    /// What each request adds, by its place.
    added: Vec<Added>,
    sampled: Sampled<Arc<Version>>,
}

/// The table over all loads of a target.
pub struct Table {
    versions: RwLock<VecDeque<Arc<Version>>>,
    tally: Tally,
}

/// The table as it was for a while.
struct Version {
    rows: Value,
    sorted: Vec<Message>,
    /// The word of each, in the same order.
    words: Vec<Finder<'static>>,
    /// When a later version was known to be committed (CLOCK_MONOTONIC, nanoseconds).
    superseded_ns: AtomicU64,
}

impl Version {
    fn from_rows(rows: Value) -> Arc<Self> {
        let sorted = Message::sorted(&rows);
        let words =
            sorted.iter().map(|it| Finder::new(longest_word(&it.text)).into_owned()).collect();
        Arc::new(Self { rows, sorted, words, superseded_ns: AtomicU64::new(u64::MAX) })
    }

    /// Whether a page has the words of these rows in their order, and that of the added text at its
    /// place.
    fn is_in<'a>(&self, Sent { message, word }: &Sent<'_>, page: &'a [u8]) -> bool {
        let (before, after) = self.words.split_at(place(&self.sorted, &message.text));
        let own = Finder::new(word);
        let mut words = before.iter().chain(std::iter::once(&own)).chain(after);
        // What is left of the page behind the words so far.
        let behind =
            |page: &'a [u8], word: &Finder<'_>| page.get(word.find(page)? + word.needle().len()..);
        words.try_fold(page, behind).is_some()
    }
}

/// The message that a request adds, and the part of its text that is drawn when it is sent.
struct Added {
    text: String,
    drawn: Option<String>,
}

impl Added {
    fn from_sample(sample: &Sample) -> Self {
        Self { text: Message::added(sample).text, drawn: sample.drawn.clone() }
    }

    /// As a request was sent, with what was drawn for it, if anything was.
    fn sent<'a>(&'a self, drawn: &'a str) -> Sent<'a> {
        match &self.drawn {
            Some(part) if !drawn.is_empty() => Sent {
                message: Message::to_add(self.text.replace(part.as_str(), drawn)),
                word: drawn,
            },
            Some(part) => Sent { message: Message::to_add(self.text.clone()), word: part },
            None => {
                Sent { message: Message::to_add(self.text.clone()), word: longest_word(&self.text) }
            }
        }
    }
}

/// The message of one request, and a word of it that stands in a page however it is escaped: what was
/// drawn for this request.
struct Sent<'a> {
    message: Message,
    word: &'a str,
}

impl Table {
    /// The newest version that an answer says; `None` if none of the latest ones is it.
    fn version_of(&self, sent: &Sent<'_>, page: &[u8]) -> Option<Arc<Version>> {
        let versions = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        let latest = versions.iter().rev().take(SEARCHED);
        latest.into_iter().find(|version| version.is_in(sent, page)).map(Arc::clone)
    }
}

impl MessageAnswers {
    /// For a workload whose table is as it is written now, before any request.
    #[must_use]
    pub fn from_workload(workload: &Workload, rows: Value) -> Self {
        let versions = RwLock::new([Version::from_rows(rows)].into());
        let table = Arc::new(Table { versions, tally: Tally::default() });
        let (layout, sampled) =
            (Layout::from_workload(workload), Sampled::new(KEPT, Found::default()));
        Self { layout, table, added: Vec::new(), sampled }
    }

    /// For requests that were made of these samples, with what was found in earlier loads.
    #[must_use]
    pub fn for_samples(&self, samples: &[Sample]) -> Self {
        Self {
            layout: self.layout.clone(),
            table: Arc::clone(&self.table),
            added: samples.iter().map(Added::from_sample).collect(),
            sampled: Sampled::new(KEPT, self.compared()),
        }
    }

    /// The table, which changes.
    #[must_use]
    pub const fn table(&self) -> &Arc<Table> {
        &self.table
    }

    fn sent<'a>(&'a self, request: u32, drawn: &'a str) -> Option<Sent<'a>> {
        Some(self.added.get(request as usize)?.sent(drawn))
    }

    /// Compares what was kept. Returns what was found so far.
    #[must_use]
    pub fn compared(&self) -> Found {
        self.sampled.compared(|Exchanged { request, drawn, body, note, .. }, _| {
            let Sent { message, .. } = self.sent(*request, drawn)?;
            let page = String::from_utf8_lossy(body);
            self.layout.as_ref()?.fault(&with_added(&note.sorted, message), &page)
        })
    }
}

impl Versions for Table {
    fn kind(&self) -> TableKind {
        TableKind::Messages
    }

    fn latest(&self) -> Value {
        let versions = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        versions.back().map_or(Value::Null, |version| version.rows.clone())
    }

    fn begins(&self, rows: Value) {
        let version = Version::from_rows(rows);
        let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        versions.push_back(version);
        if versions.len() > VERSIONS_KEPT {
            versions.pop_front();
        }
    }

    fn committed(&self, at_ns: u64) {
        let versions = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        for version in versions.iter().rev().skip(1) {
            version.superseded_ns.fetch_min(at_ns, Ordering::Relaxed);
        }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl Referee for MessageAnswers {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        let Exchange { request, drawn, body, sent_ns, .. } = *exchange;
        let Some(sent) = self.sent(request, drawn) else { return false };
        self.table.version_of(&sent, body).is_some_and(|version| {
            self.table.tally.count(version.superseded_ns.load(Ordering::Relaxed), sent_ns)
        })
    }

    fn examine(&self, exchange: &Exchange<'_>) {
        let sent = self.sent(exchange.request, exchange.drawn);
        let version = sent.and_then(|sent| self.table.version_of(&sent, exchange.body));
        if let Some(version) = version {
            self.sampled.take_with(exchange, version);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn workload() -> Workload {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/messages.toml");
        Workload::read(&path).unwrap()
    }

    fn page(messages: &[Message]) -> String {
        let text = |it: &Message| it.text.replace('&', "&amp;").replace('<', "&lt;");
        let row = |it: &Message| format!("<tr><td>{}</td><td>{}</td></tr>", it.id, text(it));
        let rows: String = messages.iter().map(row).collect();
        format!(
            "<title>Messages - Catalogue</title>Home About Help<h1>Messages</h1>\
             <table><tr><th>Number<th>Message</tr>{rows}</table>\
             Rendered by the framework's own template engine, with a layout around it, a loop over twelve items, and escaping of what comes from data."
        )
    }

    /// Answers to the request at this place, as it was drawn first or again.
    struct World {
        answers: MessageAnswers,
        samples: Vec<Sample>,
    }

    impl World {
        fn new() -> Self {
            let workload = workload();
            let samples = workload.samples(3, 40);
            let answers =
                MessageAnswers::from_workload(&workload, TableKind::Messages.first_rows());
            Self { answers: answers.for_samples(&samples), samples }
        }

        fn page(&self, request: usize, drawn: &str) -> String {
            let sample = &self.samples[request];
            let sample = if drawn.is_empty() { sample.clone() } else { sample.redrawn(drawn) };
            let sorted = Message::sorted(&self.answers.table.latest());
            page(&with_added(&sorted, Message::added(&sample)))
        }

        fn exchange<'a>(
            request: usize,
            drawn: &'a str,
            page: &'a str,
            sent_ns: u64,
        ) -> Exchange<'a> {
            let request = request as u32;
            Exchange { request, drawn, body: page.as_bytes(), sent_ns, ..Exchange::default() }
        }

        fn is_right(&self, request: usize, drawn: &str, page: &str, sent_ns: u64) -> bool {
            self.answers.is_right(&Self::exchange(request, drawn, page, sent_ns))
        }
    }

    #[test]
    fn a_page_is_right_for_its_own_request_alone() {
        let world = World::new();
        for request in 0..40 {
            let page = world.page(request, "");
            assert!(world.is_right(request, "", &page, 1), "{page}");
        }
        assert!(!world.is_right(20, "", &world.page(21, ""), 1), "the page of another request");
        let page = world.page(20, "zyxwvuts");
        assert!(world.is_right(20, "zyxwvuts", &page, 1), "{page}");
        assert!(!world.is_right(20, "zyxwvutr", &page, 1) && !world.is_right(20, "", &page, 1));
        assert!(!world.is_right(99, "", &page, 1), "nobody asked that");
        assert_eq!(world.answers.table.tally.right(), 41);
    }

    #[test]
    fn a_page_without_a_committed_change_is_stale() {
        let world = World::new();
        let before = world.page(15, "");
        let mut rows = world.answers.table.latest();
        rows[3]["text"] = "zzz 0123456789abcdef &".into();
        world.answers.table.begins(rows);
        let after = world.page(15, "");
        assert!(world.is_right(15, "", &before, 20) && world.is_right(15, "", &after, 20));
        world.answers.table.committed(30);
        assert!(world.is_right(15, "", &before, 29), "its request was sent before the commit");
        assert!(!world.is_right(15, "", &before, 30) && world.is_right(15, "", &after, 30));
        let said = world.answers.table.tally.verdict().unwrap_err();
        assert!(said.starts_with("1 answers lacked a change"), "{said}");
    }

    #[test]
    fn rows_in_another_order_are_wrong_and_samples_are_compared_whole() {
        let world = World::new();
        let mut messages = Message::sorted(&world.answers.table.latest());
        messages.insert(0, Message::added(&world.samples[15]));
        assert!(!world.is_right(15, "", &page(&messages), 1), "the added one stands first");
        let unescaped = world.page(15, "").replace("&lt;", "<");
        assert!(world.is_right(15, "", &unescaped, 1), "all words are there");
        world.answers.examine(&World::exchange(15, "", &unescaped, 1));
        world.answers.examine(&World::exchange(16, "", &world.page(16, ""), 1));
        let found = world.answers.for_samples(&[]).compared();
        assert_eq!((found.compared, found.wrong), (2, 1));
        assert!(found.first.unwrap().contains("unescaped"));
    }
}
