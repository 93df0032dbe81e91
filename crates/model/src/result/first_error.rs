//! The first error of a kind.
use serde::{Deserialize, Serialize};

/// What is known of the first error of a kind: enough to see where and what went wrong. It may hold
/// what a server sends to one user alone, so a store does not keep it unless it is asked to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstError {
    /// The request: its method and target, and its place among those of the load if there are
    /// several. `None` if no request had been sent.
    pub request: Option<String>,
    /// Why it is an error, in words; `None` if the kind says it all.
    pub why: Option<String>,
    /// The status line of the answer, or the status alone; `None` if no head had come.
    pub status: Option<String>,
    /// The first bytes that had come of the body, or of what is no HTTP, with everything escaped
    /// that is not printable; `None` if there were none, or none was kept.
    pub body: Option<String>,
}

impl FirstError {
    /// In one line: `GET /a: more than 5000 header fields; HTTP/1.1 200 OK; "..."`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let body = self.body.as_ref().map(|body| format!("\"{body}\""));
        let parts = [self.why.clone(), self.status.clone(), body];
        let said: Vec<String> = parts.into_iter().flatten().collect();
        match &self.request {
            Some(request) if said.is_empty() => request.clone(),
            Some(request) => format!("{request}: {}", said.join("; ")),
            None => said.join("; "),
        }
    }
}
