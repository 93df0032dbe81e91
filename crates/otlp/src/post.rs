//! Sends the packed figures.
use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use std::time::Duration;
use ureq::Agent;

/// A blocking client: it runs on the exporter's own thread.
#[derive(Debug)]
pub struct Post(Agent);

impl Post {
    pub fn new(patience: Duration) -> Self {
        Self(Agent::config_builder().timeout_global(Some(patience)).build().into())
    }
}

#[async_trait]
impl HttpClient for Post {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        // A status other than success is an error here.
        let mut answer = self.0.run(Request::from_parts(parts, body.as_ref()))?;
        let body = answer.body_mut().read_to_vec()?;
        Ok(Response::builder().status(answer.status()).body(body.into())?)
    }
}
