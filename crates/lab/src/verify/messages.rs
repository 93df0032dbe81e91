//! The page of messages: the rows of a table and the one that its request adds, in the order of their
//! texts, escaped.
use pippin_model::workload::{Proof, Sample, Workload};
use serde_json::Value;

use super::html::{Page, without_space};
use super::page::difference;
use super::{Subject, Verdict};

/// The number of the message that a request adds.
const ADDED: i64 = 0;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number.
    pub id: i64,
    /// Its text.
    pub text: String,
}

impl Message {
    /// The one that the request of a sample adds.
    #[must_use]
    pub fn added(sample: &Sample) -> Self {
        Self::to_add(sample.binding.get("add").cloned().unwrap_or_default())
    }

    /// One with this text that a request adds.
    #[must_use]
    pub const fn to_add(text: String) -> Self {
        Self { id: ADDED, text }
    }

    /// Those of a table, in the order of their texts.
    #[must_use]
    pub fn sorted(table: &Value) -> Vec<Self> {
        let message = |row: &Value| Self {
            id: row["id"].as_i64().unwrap_or_default(),
            text: row["text"].as_str().unwrap_or_default().into(),
        };
        let mut messages: Vec<Self> = table.as_array().into_iter().flatten().map(message).collect();
        // Rust compares the bytes of UTF-8.
        messages.sort_by(|a, b| a.text.cmp(&b.text));
        messages
    }
}

/// The longest word of ASCII letters and digits, which stands in a page however the text is escaped.
#[must_use]
pub fn longest_word(text: &str) -> &str {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    words.fold("", |longest, word| if word.len() > longest.len() { word } else { longest })
}

/// Where a message stands among others that are sorted.
#[must_use]
pub fn place(sorted: &[Message], text: &str) -> usize {
    sorted.partition_point(|message| message.text.as_str() < text)
}

/// What a page of messages says.
#[derive(Debug, Clone)]
pub struct Layout {
    text: String,
    row: String,
}

impl Layout {
    /// Of a workload with such a proof.
    #[must_use]
    pub fn from_workload(workload: &Workload) -> Option<Self> {
        workload.proofs.iter().find_map(|proof| match proof {
            Proof::Messages { text, row } => Some(Self { text: text.clone(), row: row.clone() }),
            _ => None,
        })
    }

    /// A row as its reader sees it, without white space.
    fn line(&self, Message { id, text }: &Message) -> String {
        let (before, after) = self.row.split_once("{text}").unwrap_or((&self.row, ""));
        let with_id = |part: &str| part.replace("{id}", &id.to_string());
        without_space(&(with_id(before) + text + &with_id(after)))
    }

    /// What is wrong with a page of these messages, if anything is. They are sorted.
    #[must_use]
    pub fn fault(&self, messages: &[Message], source: &str) -> Option<String> {
        let page = Page::read(source);
        let lines: Vec<String> = messages.iter().map(|message| self.line(message)).collect();
        let (before, after) = self.text.split_once("{rows}").unwrap_or((&self.text, ""));
        let expected = without_space(before) + &lines.concat() + &without_space(after);
        if page.text == expected {
            return None;
        }
        unescaped(messages, source)
            .or_else(|| missing(messages, &page))
            .or_else(|| misplaced(messages, &lines, &page))
            .or_else(|| difference(&page.text, &expected))
    }
}

/// A text whose markup is markup in the page.
fn unescaped(messages: &[Message], source: &str) -> Option<String> {
    let is_raw = |message: &&Message| message.text.contains('<') && source.contains(&message.text);
    let Message { text, .. } = messages.iter().find(is_raw)?;
    Some(format!("{text:?} stands in the page unescaped"))
}

fn missing(messages: &[Message], page: &Page) -> Option<String> {
    let is_missing = |message: &&Message| !page.text.contains(&without_space(&message.text));
    let Message { id, text } = messages.iter().find(is_missing)?;
    let which = if *id == ADDED { "which the request adds, " } else { "" };
    Some(format!("message {id}, {which}{text:?}, is not in the page as it is"))
}

/// The first two that do not stand in the order of their texts.
fn misplaced(messages: &[Message], lines: &[String], page: &Page) -> Option<String> {
    let places: Vec<usize> = lines.iter().map_while(|line| page.text.find(line)).collect();
    let nth = places.windows(2).position(|pair| pair[0] > pair[1])?;
    let [first, second] = [messages.get(nth)?, messages.get(nth + 1)?].map(|it| &it.text);
    Some(format!(
        "the messages are not in the order of their UTF-8 bytes: {second:?} stands before {first:?}"
    ))
}

/// All messages of a page: those of a table, which are sorted, and the added one.
#[must_use]
pub fn with_added(sorted: &[Message], added: Message) -> Vec<Message> {
    let mut messages = sorted.to_vec();
    messages.insert(place(sorted, &added.text), added);
    messages
}

/// Every page has the rows as Pippin wrote them and the one of its request.
///
/// # Errors
/// The first difference, with the request.
pub fn pages(subject: &mut Subject<'_>) -> Verdict {
    let Some(layout) = Layout::from_workload(subject.workload) else { return Ok(()) };
    let sorted = Message::sorted(subject.services.postgres()?.written());
    let subject = &*subject;
    subject.samples.iter().try_for_each(|sample| {
        let body = subject.ask_sample(sample)?.body;
        let messages = with_added(&sorted, Message::added(sample));
        layout
            .fault(&messages, &String::from_utf8_lossy(&body))
            .map_or(Ok(()), |fault| Err(format!("GET {}: {fault}", sample.path)))
    })
}

/// A changed row is in the very next answer; the change is taken back.
///
/// # Errors
/// If the old row is served.
pub fn fresh(subject: &mut Subject<'_>) -> Verdict {
    const ROW: i32 = 7;
    let rows = Message::sorted(subject.services.postgres()?.written());
    let before = rows.into_iter().find(|message| message.id == i64::from(ROW));
    let before = before.map(|message| message.text).unwrap_or_default();
    for round in 0..2 {
        let text = format!("changed<{round}> {}", std::process::id());
        subject.services.postgres()?.change(ROW, &text)?;
        let answer = subject.first().and_then(|sample| subject.ask_sample(sample));
        subject.services.postgres()?.change(ROW, &before)?;
        let source = String::from_utf8_lossy(&answer?.body).into_owned();
        if !Page::read(&source).text.contains(&without_space(&text)) {
            return Err(format!(
                "row {ROW} was changed to {text:?}, which the next page lacks: the answer is cached"
            ));
        }
    }
    pages(subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::table_kind::TableKind;

    fn layout() -> Layout {
        Layout { text: "Messages {rows} End".into(), row: "{id} {text}".into() }
    }

    fn messages(added: &str) -> Vec<Message> {
        let sorted = Message::sorted(&TableKind::Messages.first_rows());
        with_added(&sorted, Message { id: 0, text: added.into() })
    }

    fn page(messages: &[Message], escape: fn(&str) -> String) -> String {
        let row =
            |it: &Message| format!("<tr><td>{}</td><td>{}</td></tr>", it.id, escape(&it.text));
        let rows: String = messages.iter().map(row).collect();
        format!("<h1>Messages</h1><table>{rows}</table>End")
    }

    fn escaped(text: &str) -> String {
        text.replace('&', "&#38;")
            .replace('<', "&lt;")
            .replace('"', "&quot;")
            .replace('\'', "&#x27;")
    }

    #[test]
    fn a_page_in_any_spelling_is_right_and_each_fault_is_told() {
        let added = "new <b>one</b> & more";
        let right = messages(added);
        let fault = |page: &str| layout().fault(&right, page);
        assert_eq!(fault(&page(&right, escaped)), None);
        let mut said = Vec::new();
        said.push(fault(&page(&right, |text| text.into())));
        let without: Vec<Message> = right.iter().filter(|it| it.id != 0).cloned().collect();
        said.push(fault(&page(&without, escaped)));
        let mut by_number = right.clone();
        by_number.sort_by_key(|message| message.id);
        said.push(fault(&page(&by_number, escaped)));
        said.push(fault(&page(&right, escaped).replace(">0<", ">13<")));
        said.push(fault(&page(&right, |text| escaped(&escaped(text)))));
        let said: Vec<String> = said.into_iter().map(Option::unwrap).collect();
        for (said, words) in said.iter().zip([
            "stands in the page unescaped",
            "message 0, which the request adds, \"new <b>one</b> & more\", is not in the page",
            "not in the order of their UTF-8 bytes",
            "the page says",
            "is not in the page as it is",
        ]) {
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn every_row_has_a_word_of_its_own() {
        let rows = Message::sorted(&TableKind::Messages.first_rows());
        for message in &rows {
            let word = longest_word(&message.text);
            assert!(word.len() >= 6, "{message:?}");
            assert_eq!(rows.iter().filter(|it| it.text.contains(word)).count(), 1, "{word}");
        }
        assert_eq!(longest_word("日本語"), "");
    }
}
