//! Builds requests as bytes.
use super::body::is_token;

/// What a request is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The method: `GET`.
    pub method: &'a str,
    /// Path and query as they go over the wire, percent-encoded: `/hola/Ana?x=1`.
    pub target: &'a str,
    /// Host and, unless it is the scheme's own, port; a header `Host` replaces it.
    pub host: &'a str,
    /// Further headers, in order.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body. `Content-Length` is added if there is one, or if the method usually has one.
    pub body: &'a [u8],
}

/// Why a request cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Not a token.
    #[error("method `{0}` must be a word like GET or POST")]
    Method(String),
    /// Not a path.
    #[error(
        "path `{0}` must start with `/` and hold no spaces, control or non-ASCII characters: percent-encode them, for example %20 for a space"
    )]
    Target(String),
    /// Not a host.
    #[error(
        "host `{0}` must not be empty and hold visible ASCII only: write an international name in its xn-- form"
    )]
    Host(String),
    /// Not a header name.
    #[error("header name `{0}` must hold letters, digits and -_.!#$%&'*+^`|~ only")]
    HeaderName(String),
    /// Not a header value.
    #[error("value of header `{0}` must be ASCII without line breaks or control characters")]
    HeaderValue(String),
    /// A header that the builder itself sets.
    #[error("header `{0}` is set by Pippin from the body: leave it out")]
    HeaderReserved(String),
}

impl Request<'_> {
    /// The bytes to send.
    ///
    /// # Errors
    /// If a part would not be read by a server as it is meant.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RequestError> {
        self.check()?;
        let mut bytes = Vec::with_capacity(128 + self.body.len());
        let mut line = |parts: &[&str]| {
            for part in parts {
                bytes.extend_from_slice(part.as_bytes());
            }
            bytes.extend_from_slice(b"\r\n");
        };
        line(&[self.method, " ", self.target, " HTTP/1.1"]);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            line(&["Host: ", self.host]);
        }
        for (name, value) in self.headers {
            line(&[name, ": ", value]);
        }
        if !self.body.is_empty() || matches!(self.method, "POST" | "PUT" | "PATCH") {
            line(&["Content-Length: ", &self.body.len().to_string()]);
        }
        line(&[]);
        bytes.extend_from_slice(self.body);
        Ok(bytes)
    }

    fn check(&self) -> Result<(), RequestError> {
        let visible =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if self.method.is_empty() || !self.method.bytes().all(is_token) {
            return Err(RequestError::Method(self.method.into()));
        }
        if !visible(self.target) || !(self.target.starts_with('/') || self.target == "*") {
            return Err(RequestError::Target(self.target.into()));
        }
        if !visible(self.host) {
            return Err(RequestError::Host(self.host.into()));
        }
        for (name, value) in self.headers {
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(RequestError::HeaderName((*name).into()));
            }
            if name.eq_ignore_ascii_case("content-length")
                || name.eq_ignore_ascii_case("transfer-encoding")
            {
                return Err(RequestError::HeaderReserved((*name).into()));
            }
            if !value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
                return Err(RequestError::HeaderValue((*name).into()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Request<'_> =
        Request { method: "GET", target: "/", host: "localhost:8080", headers: &[], body: b"" };

    #[test]
    fn a_plain_get_is_a_line_and_a_host() {
        assert_eq!(PLAIN.to_bytes().unwrap(), b"GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n");
    }

    #[test]
    fn a_body_brings_its_length_and_a_host_header_replaces_the_host() {
        let request = Request {
            method: "POST",
            headers: &[("host", "a"), ("X-Y", "z")],
            body: b"12345",
            ..PLAIN
        };
        assert_eq!(
            request.to_bytes().unwrap(),
            b"POST / HTTP/1.1\r\nhost: a\r\nX-Y: z\r\nContent-Length: 5\r\n\r\n12345"
        );
        let empty = Request { method: "PUT", ..PLAIN };
        assert!(empty.to_bytes().unwrap().ends_with(b"Content-Length: 0\r\n\r\n"));
    }

    #[test]
    fn what_a_server_would_read_otherwise_is_refused() {
        let name = |request: Request<'_>| request.to_bytes().unwrap_err();
        assert!(matches!(name(Request { method: "GE T", ..PLAIN }), RequestError::Method(_)));
        for target in ["", "x", "/a b", "/ä", "/a\r\nX: y"] {
            assert!(
                matches!(name(Request { target, ..PLAIN }), RequestError::Target(_)),
                "{target}"
            );
        }
        assert!(matches!(name(Request { host: "", ..PLAIN }), RequestError::Host(_)));
        assert!(matches!(
            name(Request { headers: &[("a b", "c")], ..PLAIN }),
            RequestError::HeaderName(_)
        ));
        assert!(matches!(
            name(Request { headers: &[("a", "ü")], ..PLAIN }),
            RequestError::HeaderValue(_)
        ));
        assert!(matches!(
            name(Request { headers: &[("a", "b\r\nc: d")], ..PLAIN }),
            RequestError::HeaderValue(_)
        ));
        assert!(matches!(
            name(Request { headers: &[("Content-Length", "5")], ..PLAIN }),
            RequestError::HeaderReserved(_)
        ));
    }
}
