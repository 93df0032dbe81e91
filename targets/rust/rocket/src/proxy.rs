//! Asking the slow upstream, with reqwest's own connection pool and no limit.

use rocket::http::Status;
use rocket::response::Debug;
use rocket::{State, get};

/// The client and the address that every request asks.
pub struct Upstream {
    client: reqwest::Client,
    url: String,
}

impl Upstream {
    pub fn new(base: &str) -> Self {
        Self { client: reqwest::Client::new(), url: format!("{base}/slow") }
    }
}

/// The status and the body of the upstream.
#[get("/api/proxy")]
pub async fn proxy(upstream: &State<Upstream>) -> Result<(Status, String), Debug<reqwest::Error>> {
    let answer = upstream.client.get(&upstream.url).send().await?;
    Ok((Status::new(answer.status().as_u16()), answer.text().await?))
}
