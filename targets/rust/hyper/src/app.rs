//! What is answered to which path. hyper has no router, so that a `match` is one.

use std::convert::Infallible;
use std::env;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;

use crate::HandlerError;
use crate::proxy::Upstream;
use crate::users;

const DEVICE_BODY: [u8; 1024] = [b'x'; 1024];
const PLAIN: &str = "text/plain; charset=utf-8";

type Answer = Response<Full<Bytes>>;

/// What the requests share.
pub struct App {
    pool: Option<Pool>,
    upstream: Option<Upstream>,
}

impl App {
    /// Reads the environment; what needs a service is there only when the service is.
    pub fn from_env() -> Result<Self, Box<dyn Error>> {
        let pool = match env::var("DATABASE_URL") {
            Ok(url) => Some(users::pool(
                &url,
                env::var("DATABASE_POOL").ok().as_deref(),
            )?),
            Err(_) => None,
        };
        let upstream = match env::var("UPSTREAM_URL") {
            Ok(base) => Some(Upstream::new(&base)?),
            Err(_) => None,
        };
        Ok(Self { pool, upstream })
    }

    /// Answers every request; a failure behind the handler is a 500 with its text.
    pub async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Result<Answer, Infallible> {
        Ok(self.route(&request).await.unwrap_or_else(|error| {
            answer(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, error.to_string())
        }))
    }

    async fn route<B>(&self, request: &Request<B>) -> Result<Answer, HandlerError> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(answer(StatusCode::METHOD_NOT_ALLOWED, PLAIN, ""));
        }
        let path = request.uri().path();
        match (path, &self.pool, &self.upstream) {
            ("/", ..) => Ok(answer(StatusCode::OK, PLAIN, "Hello World!")),
            ("/device", ..) => {
                wait_for_device().await;
                let body = Bytes::from_static(&DEVICE_BODY);
                Ok(answer(StatusCode::OK, PLAIN, body))
            }
            ("/api/users/", Some(pool), _) => {
                let users = users::users(pool).await?;
                Ok(answer(StatusCode::OK, "application/json", users))
            }
            ("/api/proxy/", _, Some(upstream)) => {
                let (status, body) = upstream.ask().await?;
                Ok(answer(status, PLAIN, body))
            }
            _ => Ok(match path.strip_prefix("/hola/") {
                Some(name) if !name.is_empty() && !name.contains('/') => {
                    let name = percent_decode_str(name).decode_utf8_lossy();
                    answer(StatusCode::OK, PLAIN, format!("Hola {name}"))
                }
                _ => answer(StatusCode::NOT_FOUND, PLAIN, "Not Found"),
            }),
        }
    }
}

/// Waits 95 to 105 ms; a sleeping task holds no thread.
async fn wait_for_device() {
    let wait = Duration::from_micros(rand::random_range(95_000..105_000));
    tokio::time::sleep(wait).await;
}

fn answer(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}
