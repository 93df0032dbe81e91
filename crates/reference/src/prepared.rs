//! Answers made once and sent often.
use crate::request::{Method, Persistence, Request};

/// An answer in every form that a request can need: connection kept, kept with a header that says
/// so, or closed; with its body or (HEAD) without.
pub(crate) struct Prepared {
    /// Head and body by persistence.
    answers: [Vec<u8>; 3],
    body_length: usize,
}

impl Prepared {
    pub(crate) fn new(status: &str, content_type: &str, body: &[u8]) -> Self {
        let answer = |connection: &str| {
            let mut bytes = format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{connection}\r\n", body.len()).into_bytes();
            bytes.extend_from_slice(body);
            bytes
        };
        Self {
            answers: [
                answer(""),
                answer("Connection: keep-alive\r\n"),
                answer("Connection: close\r\n"),
            ],
            body_length: body.len(),
        }
    }

    /// `404 Not Found`.
    pub(crate) fn not_found() -> Self {
        Self::new("404 Not Found", "text/plain", b"Not Found")
    }

    /// Appends the form of the answer that fits the request.
    pub(crate) fn write(&self, method: Method, persistence: Persistence, out: &mut Vec<u8>) {
        let answer = match persistence {
            Persistence::Keep => &self.answers[0],
            Persistence::KeepAndSay => &self.answers[1],
            Persistence::Close => &self.answers[2],
        };
        let end =
            if method == Method::Head { answer.len() - self.body_length } else { answer.len() };
        out.extend_from_slice(&answer[..end]);
    }

    /// As [`Self::write`], for a whole request.
    pub(crate) fn answer(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        self.write(request.method, request.persistence, out);
    }
}

#[cfg(test)]
mod tests {
    use super::Prepared;
    use crate::request::{Method, Persistence};

    #[test]
    fn head_has_the_length_but_no_body() {
        let prepared = Prepared::new("200 OK", "text/plain", b"abc");
        let mut out = Vec::new();
        prepared.write(Method::Head, Persistence::Close, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        );
    }
}
