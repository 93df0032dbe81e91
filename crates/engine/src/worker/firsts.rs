//! What is kept of the first error of each kind. Nothing here runs while all goes well.
use pippin_model::result::{ErrorKind, FirstError};

use super::{Core, Stack};
use crate::digest::challenge::{UNAUTHORIZED, refusal};
use crate::error::place;
use crate::protocol::http1::MAX_FIELDS;
use crate::request::check::NO_STATUS;

/// How many bytes of a body, or of a status line, are shown.
const EXCERPT_BYTES: usize = 80;
/// How many bytes of what must be rejected are looked at.
const RAW_BYTES: usize = 1_024;

/// Why the next request to fail does so, as far as that is known before it is counted.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// In words; empty if the kind of error says it all.
    pub why: &'static str,
    /// What had come of the answer in the present piece of input.
    raw: Vec<u8>,
    /// Why the answer that was judged last is wrong, if there are words for it.
    pub words: Option<String>,
}

impl Blame {
    /// Keeps the beginning of what must be rejected.
    #[cold]
    pub fn take(&mut self, why: &'static str, raw: &[u8]) {
        self.why = why;
        self.raw.clear();
        self.raw.extend_from_slice(&raw[..raw.len().min(RAW_BYTES)]);
    }
}

/// A complete answer that is wrong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrong {
    pub kind: ErrorKind,
    pub stretch: u32,
    pub template: u32,
    pub status: u16,
}

impl<S: Stack> Core<'_, S> {
    /// Keeps the first wrong answer of its kind; `raw` is what came of it in one piece.
    #[cold]
    pub(super) fn note_wrong(&mut self, wrong: Wrong, raw: &[u8]) {
        let Wrong { kind, stretch, template, status } = wrong;
        let words = self.blame.words.take();
        if self.recorder.tally(stretch as usize).firsts.has(kind) {
            return;
        }
        let is_refused = status == UNAUTHORIZED && self.spec.digest.is_some();
        let why = words.or_else(|| is_refused.then(|| refusal(raw)).flatten());
        let (line, body) = split(raw);
        let status = line.or_else(|| (status != NO_STATUS).then(|| format!("status {status}")));
        let request = Some(self.request_in_words(template));
        let first = FirstError { request, why, status, body };
        self.recorder.tally(stretch as usize).firsts.keep(kind, first);
    }

    /// Keeps the first failure of its kind, with what is to blame for it; `template` is the request
    /// that failed, if one was sent.
    #[cold]
    pub(super) fn note_failure(&mut self, stretch: usize, kind: ErrorKind, template: Option<u32>) {
        let Blame { why, raw, .. } = std::mem::take(&mut self.blame);
        if self.recorder.tally(stretch).firsts.has(kind) {
            return;
        }
        let (status, body) = split(&raw);
        let request = template.map(|template| self.request_in_words(template));
        let why = self.why(kind, why);
        self.recorder.tally(stretch).firsts.keep(kind, FirstError { request, why, status, body });
    }

    /// The reason with the limits that belong to it.
    fn why(&self, kind: ErrorKind, why: &str) -> Option<String> {
        let limits = &self.spec.limits;
        Some(match kind {
            ErrorKind::TooLarge => format!(
                "{why} (limits: {MAX_FIELDS} header fields, {} KiB of head, {} MiB of body)",
                limits.head_bytes / 1_024,
                limits.body_bytes >> 20
            ),
            ErrorKind::Timeout => {
                let seconds = self.spec.timeouts.request_ns as f64 / 1e9;
                let more = if why.is_empty() { String::new() } else { format!(": {why}") };
                format!("no complete answer within {seconds} s{more}")
            }
            _ if why.is_empty() => return None,
            _ => why.into(),
        })
    }

    /// Method and target, and the place of the request if there are several.
    fn request_in_words(&self, template: u32) -> String {
        let nth = self.spec.requests.turns().nth(template as usize).unwrap_or(0);
        match &self.spec.scenario {
            Some(scenario) => format!("step {}", scenario.titles()[nth]),
            None if self.spec.requests.len() == 1 => {
                let request = &self.spec.requests[nth];
                format!("{} {}", request.method, request.target.escape_debug())
            }
            None => place(self.spec, nth),
        }
    }
}

/// The status line of an answer of HTTP/1.1 and the beginning of its body, as far as both are in
/// this piece. What does not begin with a status line is all taken for the body.
fn split(raw: &[u8]) -> (Option<String>, Option<String>) {
    if !raw.starts_with(b"HTTP/") {
        return (None, excerpt(raw));
    }
    let line = raw.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let body = memchr::memmem::find(raw, b"\r\n\r\n").map_or(&[][..], |end| &raw[end + 4..]);
    (excerpt(line), excerpt(body))
}

fn excerpt(bytes: &[u8]) -> Option<String> {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(EXCERPT_BYTES)]);
    (!bytes.is_empty()).then(|| shown.escape_debug().to_string())
}

/// Why a connection could not be opened, where the way out is not obvious.
pub(super) const fn why_not_opened(errno: i32) -> &'static str {
    match errno {
        libc::EADDRNOTAVAIL => {
            "no local port is left for this server: keep connections alive, or give more local addresses with --bind"
        }
        libc::EMFILE | libc::ENFILE => "no file descriptor is left: raise `ulimit -n`",
        libc::ENOBUFS | libc::ENOMEM => "the kernel has no memory left for another connection",
        libc::ENETUNREACH | libc::EHOSTUNREACH => "there is no route to the server",
        libc::EACCES | libc::EPERM => "this machine forbids it (a firewall, or the address)",
        libc::EINVAL => "the local address cannot reach that of the server",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_split_into_status_line_and_body_and_the_rest_is_shown_as_it_is() {
        let shown = |raw: &str| {
            let (line, body) = split(raw.as_bytes());
            (line.unwrap_or_default(), body.unwrap_or_default())
        };
        let both = |line: &str, body: &str| (line.to_string(), body.to_string());
        assert_eq!(
            shown("HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nno \"such\"\n"),
            both("HTTP/1.1 404 Not Found", "no \\\"such\\\"\\n")
        );
        assert_eq!(shown("HTTP/1.1 200 OK\r\nA: "), both("HTTP/1.1 200 OK", ""));
        assert_eq!(shown("SSH-2.0-x\r\n"), both("", "SSH-2.0-x\\r\\n"));
        assert_eq!(shown(""), both("", ""));
        assert_eq!(shown(&"x".repeat(500)).1.len(), EXCERPT_BYTES);
    }
}
