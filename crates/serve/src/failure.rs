//! The page for requests that fail.
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use pippin_report::form::FormError;
use pippin_store::StoreError;

use crate::page::page;

/// A failure as a page.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    message: String,
}

impl Failure {
    /// The page or run does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: message.into() }
    }

    /// The request cannot be done.
    pub fn refused(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// An error of Pippin itself.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, message: error.to_string() }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::UnknownRun(..) => Self::not_found(error.to_string()),
            other => Self::internal(other),
        }
    }
}

impl From<FormError> for Failure {
    fn from(error: FormError) -> Self {
        match error {
            FormError::UnknownChart(_) => Self::not_found(error.to_string()),
            other => Self::internal(other),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = html! { main id="main" { h1 { (self.status.as_u16()) " " (self.status.canonical_reason().unwrap_or_default()) } p { (self.message) } p { a href="/" { "All runs" } } } };
        (self.status, page("Not answered", "", &body)).into_response()
    }
}
