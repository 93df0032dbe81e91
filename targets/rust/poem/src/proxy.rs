//! Asking the slow upstream, with reqwest's own connection pool and no limit.

/// The client and the address that every request asks.
#[derive(Clone)]
pub struct Upstream {
    client: reqwest::Client,
    url: String,
}

impl Upstream {
    pub fn new(base: &str) -> Self {
        Self { client: reqwest::Client::new(), url: format!("{base}/slow") }
    }

    /// The status and the body of the upstream.
    pub async fn ask(&self) -> reqwest::Result<(u16, String)> {
        let answer = self.client.get(&self.url).send().await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }
}
