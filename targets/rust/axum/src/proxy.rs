//! Asking the slow upstream, with reqwest's own connection pool and no limit.

use axum::extract::State;
use axum::http::StatusCode;

use crate::error::HandlerError;

/// The client and the address that every request asks.
#[derive(Clone)]
pub struct Upstream {
    client: reqwest::Client,
    url: String,
}

impl Upstream {
    pub fn new(base: &str) -> Self {
        Self {
            client: reqwest::Client::new(),
            url: format!("{base}/slow"),
        }
    }
}

pub async fn proxy(State(upstream): State<Upstream>) -> Result<(StatusCode, String), HandlerError> {
    let answer = upstream.client.get(&upstream.url).send().await?;
    Ok((answer.status(), answer.text().await?))
}
