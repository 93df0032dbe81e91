//! Parses requests for the reference servers: where one ends, what it requests, whether its
//! connection stays open.

/// The longest head that is read.
const HEAD_LIMIT: usize = 64 * 1024;
/// The longest body that is read (and thrown away).
const BODY_LIMIT: usize = 1024 * 1024;

/// Methods that make a difference here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// POST.
    Post,
    /// Any other.
    Other,
}

/// What happens to the connection after the answer (RFC 9112 section 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// HTTP/1.1's default.
    Keep,
    /// Kept for an HTTP/1.0 client that asked for it, which the answer must confirm.
    KeepAndSay,
    /// The client asked to close, or is HTTP/1.0.
    Close,
}

/// One complete request at the start of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Its method.
    pub method: Method,
    /// Its target as it was sent.
    pub target: &'a [u8],
    /// What happens to the connection after its answer.
    pub persistence: Persistence,
    /// Bytes of head and body together.
    pub length: usize,
}

/// What the bytes hold.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// A whole request.
    Complete(Request<'a>),
    /// The beginning of one.
    Partial,
    /// No request.
    Bad,
}

/// Looks for a request at the start of `bytes`.
pub fn parse(bytes: &[u8]) -> Parsed<'_> {
    let Some(head_length) = head_length(bytes) else {
        return if bytes.len() > HEAD_LIMIT { Parsed::Bad } else { Parsed::Partial };
    };
    let head = &bytes[..head_length - 2];
    let Some(line_end) = find(head, b"\r\n") else { return Parsed::Bad };
    let Some((method, target, old)) = request_line(&head[..line_end]) else { return Parsed::Bad };
    let mut persistence = if old { Persistence::Close } else { Persistence::Keep };
    let mut body_length = 0;
    let mut rest = &head[line_end + 2..];
    while let Some(end) = find(rest, b"\r\n") {
        let line = &rest[..end];
        rest = &rest[end + 2..];
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return Parsed::Bad };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"connection") {
            if value.eq_ignore_ascii_case(b"close") {
                persistence = Persistence::Close;
            } else if old && value.eq_ignore_ascii_case(b"keep-alive") {
                persistence = Persistence::KeepAndSay;
            }
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let Some(length) = std::str::from_utf8(value)
                .ok()
                .and_then(|text| text.parse().ok())
                .filter(|length| *length <= BODY_LIMIT)
            else {
                return Parsed::Bad;
            };
            body_length = length;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            // No client of these servers sends chunked bodies, so they are refused.
            return Parsed::Bad;
        }
    }
    if bytes.len() < head_length + body_length {
        return Parsed::Partial;
    }
    Parsed::Complete(Request { method, target, persistence, length: head_length + body_length })
}

/// Method, target, and whether the version is 1.0.
fn request_line(line: &[u8]) -> Option<(Method, &[u8], bool)> {
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let method = match method {
        b"GET" => Method::Get,
        b"HEAD" => Method::Head,
        b"POST" => Method::Post,
        b"" => return None,
        _ => Method::Other,
    };
    let old = match version {
        b"HTTP/1.1" => false,
        b"HTTP/1.0" => true,
        _ => return None,
    };
    (words.next().is_none() && !target.is_empty()).then_some((method, target, old))
}

/// The length of the head with its empty line.
fn head_length(bytes: &[u8]) -> Option<usize> {
    find(bytes, b"\r\n\r\n").map(|at| at + 4)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Remembers the last head: load generators send the same one again and again, and comparing is
/// much cheaper than parsing.
#[derive(Default)]
pub struct LastHead {
    bytes: Vec<u8>,
    facts: Option<(Method, Persistence, std::ops::Range<usize>)>,
}

impl LastHead {
    /// As [`parse`]; a request without a body that begins with the last head is not parsed again. A
    /// head ends at its first empty line, so bytes that begin with it hold the same request.
    pub fn parse<'a>(&mut self, bytes: &'a [u8]) -> Parsed<'a> {
        if let Some((method, persistence, target)) = &self.facts
            && bytes.starts_with(&self.bytes)
        {
            let request = Request {
                method: *method,
                target: &bytes[target.clone()],
                persistence: *persistence,
                length: self.bytes.len(),
            };
            return Parsed::Complete(request);
        }
        let parsed = parse(bytes);
        if let Parsed::Complete(request) = &parsed
            && head_length(bytes) == Some(request.length)
        {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..request.length]);
            let start = request.target.as_ptr() as usize - bytes.as_ptr() as usize;
            self.facts =
                Some((request.method, request.persistence, start..start + request.target.len()));
        }
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::{LastHead, Method, Parsed, Persistence, Request, parse};

    fn complete(bytes: &[u8]) -> Request<'_> {
        match parse(bytes) {
            Parsed::Complete(request) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_ends_with_its_body() {
        let bytes = b"POST /reset HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n\r\n";
        let request = complete(bytes);
        assert_eq!((request.method, request.target), (Method::Post, &b"/reset"[..]));
        assert_eq!(&bytes[request.length..], b"GET / HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn every_prefix_is_partial() {
        let bytes = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), Parsed::Partial, "{length}");
        }
    }

    #[test]
    fn connections_persist_as_http_says() {
        assert_eq!(complete(b"GET / HTTP/1.1\r\n\r\n").persistence, Persistence::Keep);
        assert_eq!(
            complete(b"GET / HTTP/1.1\r\nconnection: Close\r\n\r\n").persistence,
            Persistence::Close
        );
        assert_eq!(complete(b"GET / HTTP/1.0\r\n\r\n").persistence, Persistence::Close);
        assert_eq!(
            complete(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").persistence,
            Persistence::KeepAndSay
        );
    }

    #[test]
    fn nonsense_is_bad() {
        for bytes in [
            &b"\r\n\r\n"[..],
            b"GET /\r\n\r\n",
            b"GET / HTTP/2\r\n\r\n",
            b"GET  / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(parse(bytes), Parsed::Bad, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn the_last_head_is_recognised_and_another_is_not_taken_for_it() {
        let mut last = LastHead::default();
        let first = b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2);
        let Parsed::Complete(parsed) = last.parse(&first) else { panic!("not complete") };
        let Parsed::Complete(again) = last.parse(&first[parsed.length..]) else {
            panic!("not complete")
        };
        assert_eq!(parsed, again);
        let Parsed::Complete(other) = last.parse(b"GET /count HTTP/1.1\r\nHost: a\r\n\r\n") else {
            panic!("not complete")
        };
        assert_eq!(other.target, b"/count");
        assert_eq!(last.parse(b"GET /count HTTP/1.1\r\nHo"), Parsed::Partial);
    }
}
