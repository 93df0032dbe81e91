//! What a handler answers when something behind it failed.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Any failure of a template, the database or the upstream: a 500 with its text.
pub struct HandlerError(Box<dyn std::error::Error>);

impl IntoResponse for HandlerError {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0.to_string()).into_response()
    }
}

impl<E: Into<Box<dyn std::error::Error>>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}
