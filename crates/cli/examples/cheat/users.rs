//! The workload `users`.
use postgres::{Client, NoTls, Row};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

use crate::Mode;
use crate::http::Answer;

/// The database, and what a cheat keeps of it.
#[derive(Default)]
pub struct Users {
    client: Mutex<Option<Client>>,
    cached: Mutex<Option<String>>,
}

impl Users {
    /// All users as JSON.
    pub fn answer(&self, mode: Mode) -> Answer {
        let json = if mode.is("users-cached") { self.cached() } else { self.queried(mode) };
        match json {
            Ok(json) => Answer { content_type: "application/json", ..Answer::text(&json) },
            Err(message) => Answer { status: 500, ..Answer::text(&message) },
        }
    }

    fn cached(&self) -> Result<String, String> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some(json) => Ok(json.clone()),
            None => {
                let json = self.queried_in("ASC")?.to_string();
                *cached = Some(json.clone());
                Ok(json)
            }
        }
    }

    fn queried(&self, mode: Mode) -> Result<String, String> {
        let mut users = self.queried_in(if mode.is("users-reversed") { "DESC" } else { "ASC" })?;
        if mode.is("users-invented") {
            users[3]["email"] = "nobody@example.org".into();
        }
        Ok(users.to_string())
    }

    fn queried_in(&self, order: &str) -> Result<Value, String> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.is_none() {
            let url = std::env::var("DATABASE_URL").map_err(|_| "DATABASE_URL is not set")?;
            *client = Some(Client::connect(&url, NoTls).map_err(|error| error.to_string())?);
        }
        let Some(client) = client.as_mut() else { return Err("no connection".into()) };
        let rows = client
            .query(&format!("SELECT id, name, email FROM users ORDER BY id {order}"), &[])
            .map_err(|error| error.to_string())?;
        let user = |row: Row| json!({"id": row.get::<_, i32>(0), "name": row.get::<_, String>(1), "email": row.get::<_, String>(2)});
        Ok(rows.into_iter().map(user).collect())
    }
}
