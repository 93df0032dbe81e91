//! Renders requests as HTTP/1.1 (RFC 9112).
use pippin_model::load::{LoadSpec, Request};
use pippin_model::request::upload::Upload;
use pippin_model::request::{is_field_value, is_token_text};
use pippin_model::scenario::text::Text;

use crate::scenario::redirection::is_about_body;

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
    #[error("value of header `{0}` must hold no line breaks or other control characters")]
    HeaderValue(String),
    /// A header that the builder itself sets.
    #[error("header `{0}` is set by Pippin from the body: leave it out")]
    HeaderReserved(String),
}

/// The bytes to send. `Content-Length` is added if there is a body, or if the method usually has
/// one, and `Connection: close` if the request is the only one of its connection. Of an upload, only
/// the head.
///
/// # Errors
/// As [`check`].
pub fn render(request: &Request, is_only: bool) -> Result<Vec<u8>, RequestError> {
    render_to(request, "", is_only)
}

/// [`render`] with this text before the path: [`origin`] for a proxy, or none for a server.
pub(crate) fn render_to(
    request: &Request,
    origin: &str,
    is_only: bool,
) -> Result<Vec<u8>, RequestError> {
    check(request)?;
    let Request { method, target, body, .. } = request;
    let mut bytes = Vec::with_capacity(128 + body.len());
    put_line(&mut bytes, &[method, " ", origin, path(origin, target), " HTTP/1.1"]);
    bytes.extend(fields(request, is_only));
    match request.upload {
        Some(Upload { chunked: true, .. }) => put_line(&mut bytes, &["Transfer-Encoding: chunked"]),
        Some(Upload { bytes: length, .. }) => {
            put_line(&mut bytes, &["Content-Length: ", &length.to_string()]);
        }
        None if has_length(request) => {
            put_line(&mut bytes, &["Content-Length: ", &body.len().to_string()]);
        }
        None => {}
    }
    put_line(&mut bytes, &[]);
    bytes.extend_from_slice(body);
    Ok(bytes)
}

/// What stands before the path of a request: its scheme and host if it is sent to a proxy, in
/// absolute form (RFC 9112 section 3.2.2), and else nothing.
pub(crate) fn origin(spec: &LoadSpec, request: &Request) -> String {
    match &spec.proxy {
        Some(proxy) if proxy.tunnel.is_none() => format!("http://{}", request.host),
        _ => String::new(),
    }
}

/// A request without its body, as it is sent to learn what the server asks of whoever sends it, with
/// made-up values where a user has its own.
pub(crate) fn asking(spec: &LoadSpec, request: &Request) -> Request {
    let mut request = if spec.scenario.is_some() { example(request) } else { request.clone() };
    request.headers.retain(|(name, _)| !is_about_body(name));
    request.body.clear();
    request
}

/// The request of a step with made-up values.
pub(super) fn example(request: &Request) -> Request {
    let fill = |text: &str| Text::parse(text).example();
    let headers = &request.headers;
    Request {
        target: fill(&request.target),
        headers: headers.iter().map(|(name, value)| (name.clone(), fill(value))).collect(),
        ..request.clone()
    }
}

/// The path behind an origin. `*`, which is for the server as a whole, is then nothing (RFC 9112
/// section 3.2.4).
fn path<'a>(origin: &str, target: &'a str) -> &'a str {
    if target == "*" && !origin.is_empty() { "" } else { target }
}

fn put_line(bytes: &mut Vec<u8>, parts: &[&str]) {
    parts.iter().for_each(|part| bytes.extend_from_slice(part.as_bytes()));
    bytes.extend_from_slice(b"\r\n");
}

/// The header lines of a request, but for the length of its body.
pub(super) fn fields(request: &Request, is_only: bool) -> Vec<u8> {
    let Request { host, headers, .. } = request;
    let mut bytes = Vec::new();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        put_line(&mut bytes, &["Host: ", host]);
    }
    for (name, value) in headers {
        put_line(&mut bytes, &[name, ": ", value]);
    }
    if is_only {
        put_line(&mut bytes, &["Connection: close"]);
    }
    bytes
}

/// Whether a request says how long its body is.
pub(super) fn has_length(request: &Request) -> bool {
    !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH")
}

/// Whether a request can be written.
///
/// # Errors
/// If a server would not read a part as it is meant.
pub fn check(request: &Request) -> Result<(), RequestError> {
    let Request { method, target, host, headers, .. } = request;
    let visible = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_token_text(method) {
        return Err(RequestError::Method(method.clone()));
    }
    if !visible(target) || !(target.starts_with('/') || target == "*") {
        return Err(RequestError::Target(target.clone()));
    }
    if !visible(host) {
        return Err(RequestError::Host(host.clone()));
    }
    for (name, value) in headers {
        if !is_token_text(name) {
            return Err(RequestError::HeaderName(name.clone()));
        }
        if name.eq_ignore_ascii_case("content-length")
            || name.eq_ignore_ascii_case("transfer-encoding")
        {
            return Err(RequestError::HeaderReserved(name.clone()));
        }
        if !is_field_value(value) {
            return Err(RequestError::HeaderValue(name.clone()));
        }
    }
    Ok(())
}

/// Whether a request may be sent again if the server closed the connection before it arrived (RFC
/// 9110 section 9.2.2).
pub(crate) fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Request {
        Request::get("/", "localhost:8080")
    }

    fn header(name: &str, value: &str) -> (String, String) {
        (name.into(), value.into())
    }

    fn text(request: &Request, is_only: bool) -> String {
        String::from_utf8(render(request, is_only).unwrap()).unwrap()
    }

    #[test]
    fn a_plain_get_is_a_line_and_a_host() {
        assert_eq!(text(&plain(), false), "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n");
    }

    #[test]
    fn a_proxy_gets_the_absolute_form() {
        let asked = |target: &str| {
            let request = Request { target: target.into(), ..plain() };
            let bytes = render_to(&request, "http://localhost:8080", false).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(
            asked("/a?b"),
            "GET http://localhost:8080/a?b HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"
        );
        assert!(asked("*").starts_with("GET http://localhost:8080 HTTP/1.1\r\n"));
    }

    #[test]
    fn a_body_brings_its_length_and_a_host_header_replaces_the_host() {
        let request = Request {
            method: "POST".into(),
            headers: vec![header("host", "a"), header("X-Y", "z")],
            body: b"12345".to_vec(),
            ..plain()
        };
        assert_eq!(
            text(&request, false),
            "POST / HTTP/1.1\r\nhost: a\r\nX-Y: z\r\nContent-Length: 5\r\n\r\n12345"
        );
        let empty = Request { method: "PUT".into(), ..plain() };
        assert!(text(&empty, false).ends_with("Content-Length: 0\r\n\r\n"));
    }

    #[test]
    fn the_only_request_of_a_connection_says_so_behind_its_own_headers() {
        let request = Request {
            method: "POST".into(),
            headers: vec![header("Accept", "*/*")],
            body: b"x".to_vec(),
            ..plain()
        };
        assert_eq!(
            text(&request, true),
            "POST / HTTP/1.1\r\nHost: localhost:8080\r\nAccept: */*\r\nConnection: close\r\n\
             Content-Length: 1\r\n\r\nx"
        );
    }

    #[test]
    fn what_a_server_would_read_otherwise_is_refused() {
        let error = |request: Request| render(&request, false).unwrap_err();
        for method in ["", "GE T", "GET\r\n"] {
            let refused = error(Request { method: method.into(), ..plain() });
            assert!(matches!(refused, RequestError::Method(_)), "{method}");
        }
        for target in ["", "x", "/a b", "/ä", "/a\r\nX: y"] {
            let refused = error(Request { target: target.into(), ..plain() });
            assert!(matches!(refused, RequestError::Target(_)), "{target}");
        }
        for host in ["", "a b", "a\r\nX: y"] {
            let refused = error(Request { host: host.into(), ..plain() });
            assert!(matches!(refused, RequestError::Host(_)), "{host}");
        }
        let of = |name, value| error(Request { headers: vec![header(name, value)], ..plain() });
        assert!(matches!(of("a b", "c"), RequestError::HeaderName(_)));
        assert!(matches!(of("a", "\u{7f}"), RequestError::HeaderValue(_)));
        assert!(matches!(of("a", "b\r\nc: d"), RequestError::HeaderValue(_)));
        assert!(matches!(of("Content-Length", "5"), RequestError::HeaderReserved(_)));
    }
}
