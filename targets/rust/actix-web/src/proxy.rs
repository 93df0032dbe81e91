//! Asking the slow upstream with awc, the client of actix-web; one for each worker.

use actix_web::error::ErrorBadGateway;
use actix_web::http::header::ContentType;
use actix_web::web::Data;
use actix_web::{HttpResponse, Result};

/// The client and the address that every request asks.
pub struct Upstream {
    client: awc::Client,
    url: String,
}

impl Upstream {
    /// A client without a limit on its connections; awc would make 100 at once and let the others
    /// wait.
    pub fn new(base: &str) -> Self {
        let connector = awc::Connector::new().limit(0);
        Self {
            client: awc::Client::builder().connector(connector).finish(),
            url: format!("{base}/slow"),
        }
    }
}

pub async fn proxy(upstream: Data<Upstream>) -> Result<HttpResponse> {
    let request = upstream.client.get(&upstream.url);
    let mut answer = request.send().await.map_err(|error| ErrorBadGateway(error.to_string()))?;
    let body = answer.body().await.map_err(ErrorBadGateway)?;
    Ok(HttpResponse::build(answer.status()).content_type(ContentType::plaintext()).body(body))
}
