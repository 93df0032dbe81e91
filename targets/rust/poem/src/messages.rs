//! Rows of a table and an added one: `templates/messages.html` inside `templates/layout.html`.

use std::error::Error;

use askama::Template;
use deadpool_postgres::Pool;
use serde::Deserialize;
use tokio_postgres::Row;

/// A message: a row of the table, or the one that a request adds, which has the number 0.
struct Message {
    id: i32,
    text: String,
}

#[derive(Template)]
#[template(path = "messages.html")]
struct Messages {
    messages: Vec<Message>,
}

impl Messages {
    /// The rows and an added one, in the order of their texts: Rust compares bytes.
    fn with(rows: Vec<Row>, added: String) -> Self {
        let message = |row: Row| Message { id: row.get("id"), text: row.get("text") };
        let mut messages: Vec<Message> = rows.into_iter().map(message).collect();
        messages.push(Message { id: 0, text: added });
        messages.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        Self { messages }
    }
}

#[derive(Deserialize)]
pub struct Added {
    pub add: String,
}

pub async fn render(pool: &Pool, added: Added) -> Result<String, Box<dyn Error + Send + Sync>> {
    let client = pool.get().await?;
    let statement = client.prepare_cached("SELECT id, text FROM messages").await?;
    let rows = client.query(&statement, &[]).await?;
    Ok(Messages::with(rows, added.add).render()?)
}
