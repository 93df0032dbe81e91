//! Asking the slow upstream, with hyper-util's client, its connection pool and no limit.

use std::error::Error;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::{StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::HandlerError;

/// The client and the address that every request asks.
pub struct Upstream {
    client: Client<HttpConnector, Empty<Bytes>>,
    url: Uri,
}

impl Upstream {
    pub fn new(base: &str) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            url: format!("{base}/slow").parse()?,
        })
    }

    pub async fn ask(&self) -> Result<(StatusCode, Bytes), HandlerError> {
        let answer = self.client.get(self.url.clone()).await?;
        let status = answer.status();
        Ok((status, answer.into_body().collect().await?.to_bytes()))
    }
}
