//! The workload `messages`: rows of a table and one that the request adds.
use postgres::Row;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Mode;
use crate::http::{Answer, percent_decode};
use crate::page::{HEAD, NAVIGATION};
use crate::shared::Shared;
use crate::users::Users;

/// Requests that are being answered.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
/// The rows that a cheat keeps, and since when.
static KEPT: Mutex<Option<(Vec<Message>, Instant)>> = Mutex::new(None);
/// Pages and rows that several requests get.
static SHARED: LazyLock<Shared> = LazyLock::new(Shared::default);

/// More at once than any proof sends.
const LOAD: usize = 4;

const READ: &str = "SELECT id, text FROM messages";

#[derive(Clone)]
struct Message {
    id: i32,
    text: String,
}

/// The page of a request with this text, percent-encoded.
pub fn answer(mode: Mode, users: &Users, added: &str) -> Answer {
    let under_way = UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1;
    let is_load = under_way >= LOAD;
    if mode.name.ends_with("-under-load") {
        // So that others come meanwhile.
        std::thread::sleep(Duration::from_millis(2));
    }
    let added = Message { id: 0, text: percent_decode(added) };
    let page = match mode.name {
        "messages-shared-page" => SHARED.ask(|| page(mode, users, added, is_load)),
        _ => page(mode, users, added, is_load),
    };
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    match page {
        Ok(page) => Answer { content_type: "text/html; charset=utf-8", ..Answer::text(&page) },
        Err(message) => Answer { status: 500, ..Answer::text(&message) },
    }
}

fn page(mode: Mode, users: &Users, added: Message, is_load: bool) -> Result<String, String> {
    let mut messages = rows(mode, users, &added)?;
    let is_last =
        mode.is("messages-added-last") || (mode.is("messages-added-last-under-load") && is_load);
    let is_added = !mode.is("messages-without-added") && !mode.is("messages-union");
    if is_added && !is_last {
        messages.push(added.clone());
    }
    match mode.name {
        "messages-by-number" => messages.sort_by_key(|message| message.id),
        "messages-by-language" => messages.sort_by_key(|message| message.text.to_lowercase()),
        "messages-by-utf-16" => {
            messages.sort_by_cached_key(|it| it.text.encode_utf16().collect::<Vec<_>>());
        }
        _ => messages.sort_by(|a, b| a.text.cmp(&b.text)),
    }
    if is_added && is_last {
        messages.push(added);
    }
    let lines: Vec<String> = messages.iter().map(|it| line(mode, it, is_load)).collect();
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n{HEAD}\n  <title>Messages - Catalogue</title>\n{NAVIGATION}\n    \
         <h1>Messages</h1>\n    <table>\n      <tr><th>Number</th><th>Message</th></tr>\n{}\n    </table>\n  </main>\n  <footer>\n    \
         <p>Rendered by the framework's own template engine, with a layout around it, a loop over twelve items, and escaping of what comes from data.</p>\n  \
         </footer>\n</body>\n</html>\n",
        lines.join("\n")
    ))
}

/// The rows of the table, or what a cheat has in their place.
fn rows(mode: Mode, users: &Users, added: &Message) -> Result<Vec<Message>, String> {
    let ask = |sql: &str| -> Result<Vec<Message>, String> {
        let rows = users.with_client(|client| client.query(sql, &[]))?;
        Ok(rows.into_iter().map(message).collect())
    };
    match mode.name {
        "messages-prepared" => kept(Duration::MAX, || ask(READ)),
        "messages-cached-5ms" => {
            if UNDER_WAY.load(Ordering::SeqCst) <= 2 {
                // Whoever asks while few do gets fresh rows.
                std::thread::sleep(Duration::from_millis(6));
            }
            kept(Duration::from_millis(5), || ask(READ))
        }
        "messages-one-row-read" => {
            ask("SELECT id, text FROM messages LIMIT 1")?;
            std::thread::sleep(Duration::from_millis(6));
            kept(Duration::from_millis(5), || ask(READ))
        }
        "messages-sorted-by-database" => ask("SELECT id, text FROM messages ORDER BY text"),
        "messages-union" => users.with_client(|client| {
            let sql = "SELECT id, text FROM messages UNION ALL SELECT 0, $1::text";
            Ok(client.query(sql, &[&added.text])?.into_iter().map(message).collect())
        }),
        "messages-in-transactions" => users.with_client(|client| {
            let mut transaction = client.transaction()?;
            let rows = transaction.query(READ, &[])?;
            transaction.commit()?;
            Ok(rows.into_iter().map(message).collect())
        }),
        _ => ask(READ),
    }
}

fn message(row: Row) -> Message {
    Message { id: row.get(0), text: row.get(1) }
}

fn kept(
    life: Duration,
    ask: impl FnOnce() -> Result<Vec<Message>, String>,
) -> Result<Vec<Message>, String> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((rows, since)) = &*kept
        && since.elapsed() <= life
    {
        return Ok(rows.clone());
    }
    let rows = ask()?;
    *kept = Some((rows.clone(), Instant::now()));
    Ok(rows)
}

/// A row of the page.
fn line(mode: Mode, Message { id, text }: &Message, is_load: bool) -> String {
    let shown = match mode.name {
        "messages-unescaped" if *id == 0 => text.clone(),
        "messages-unescaped-under-load" if is_load => text.clone(),
        "messages-escaped-twice" => escaped(&escaped(text)),
        "messages-entities-for-all" => entities(text),
        "messages-fragments" => fragment(text),
        _ => escaped(text),
    };
    match mode.name {
        "messages-numbers-under-load" if is_load => {
            format!("      <tr><td>{}</td><td>{shown}</td></tr>", id + 1)
        }
        "messages-titles" => {
            format!("      <tr title=\"{shown}\"><td>{id}</td><td>{shown}</td></tr>")
        }
        "messages-optional-tags" => format!("      <tr><td>{id}<td>{shown}"),
        _ => format!("      <tr><td>{id}</td><td>{shown}</td></tr>"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&#34;")
}

/// Everything but ASCII letters, digits and spaces as a reference to its number.
fn entities(text: &str) -> String {
    let one = |character: char| match character {
        ' ' | '0'..='9' | 'A'..='Z' | 'a'..='z' => character.to_string(),
        other => format!("&#x{:x};", other as u32),
    };
    text.chars().map(one).collect()
}

/// Escaped before, for another request.
fn fragment(text: &str) -> String {
    static FRAGMENTS: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
    let mut fragments = FRAGMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, fragment)) = fragments.iter().find(|(known, _)| known == text) {
        return fragment.clone();
    }
    let fragment = escaped(text);
    if fragments.len() < 1_000 {
        fragments.push((text.into(), fragment.clone()));
    }
    fragment
}
