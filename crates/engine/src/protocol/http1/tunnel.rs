//! Asking a proxy for a tunnel to a server (CONNECT, RFC 9110 section 9.3.6).
use pippin_model::load::Proxy;

use super::DecodeError;
use super::head;

/// Why there is no tunnel if the time for it was over.
pub(crate) const LATE: &str = "the proxy did not answer CONNECT in time";
pub(crate) const CLOSED: &str = "the proxy closed the connection without a whole answer to CONNECT";
pub(crate) const RESET: &str =
    "the proxy reset the connection (RST) without a whole answer to CONNECT";
/// TLS and WebSocket begin with bytes of the client, so none of the server's can come first.
pub(crate) const EARLY: &str =
    "the proxy sent bytes behind its answer to CONNECT, before the server was sent any";
const REFUSED: &str = "the proxy refused CONNECT";
const NOT_HTTP: &str = "the proxy's answer to CONNECT is not HTTP/1.1";
const TOO_LARGE: &str = "the head of the proxy's answer to CONNECT is beyond the limit";

/// The request for a tunnel; `None` if the load asks for none. The credentials are in it, and in
/// nothing that goes through the tunnel.
pub(crate) fn request(proxy: &Proxy) -> Option<Vec<u8>> {
    let to = proxy.tunnel.as_ref()?;
    let fields: String = proxy
        .authorization()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .unwrap_or_default();
    Some(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{fields}\r\n").into_bytes())
}

/// Why no tunnel was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoTunnel {
    pub why: &'static str,
    /// The status of a proxy that refused.
    pub status: Option<u16>,
}

impl From<&'static str> for NoTunnel {
    fn from(why: &'static str) -> Self {
        Self { why, status: None }
    }
}

impl std::fmt::Display for NoTunnel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.why)?;
        self.status.map_or(Ok(()), |status| write!(f, " with status {status}"))
    }
}

/// The proxy's answer, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    bytes: Vec<u8>,
    /// Where the present head begins: behind interim answers (RFC 9110 section 15.2).
    from: usize,
    /// How much of it was searched for its end.
    seen: usize,
}

impl Answer {
    /// Reads on. Returns whether the tunnel is open; then [`Answer::behind`] has what came behind
    /// the answer. `most` bounds the answer and interim answers together, in bytes.
    ///
    /// # Errors
    /// Why there will be no tunnel.
    pub fn read(&mut self, input: &[u8], most: usize) -> Result<bool, NoTunnel> {
        self.bytes.extend_from_slice(input);
        loop {
            let rest = self.present();
            let end = match head::find_end(rest, self.seen) {
                Ok(end) => end,
                Err(DecodeError::Malformed(_)) => return Err(NOT_HTTP.into()),
                Err(DecodeError::TooLarge(_)) => return Err(TOO_LARGE.into()),
            };
            if self.from + end.unwrap_or(rest.len()) > most {
                return Err(TOO_LARGE.into());
            }
            let Some(end) = end else {
                self.seen = rest.len();
                return Ok(false);
            };
            // A tunnel has no body, whatever the head says of its length.
            let status = match head::parse(&rest[..end]) {
                Ok(info) => info.status,
                Err(DecodeError::Malformed(_)) => return Err(NOT_HTTP.into()),
                Err(DecodeError::TooLarge(_)) => return Err(TOO_LARGE.into()),
            };
            match status {
                100 | 102..=199 => (self.from, self.seen) = (self.from + end, 0),
                200..=299 => {
                    self.from += end;
                    return Ok(true);
                }
                other => return Err(NoTunnel { why: REFUSED, status: Some(other) }),
            }
        }
    }

    /// What has come of the present head and behind it; once the tunnel is open, what came through
    /// it.
    pub fn present(&self) -> &[u8] {
        &self.bytes[self.from..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::Credentials;

    /// However the bytes are cut.
    #[track_caller]
    fn reads(answer: &str, right: Result<Option<&str>, &str>) {
        for size in [1, 7, usize::MAX] {
            let mut seen = Answer::default();
            let mut read = Ok(false);
            for piece in answer.as_bytes().chunks(size.min(answer.len())) {
                match read {
                    Ok(false) => read = seen.read(piece, 200),
                    Ok(true) => seen.bytes.extend_from_slice(piece),
                    Err(_) => break,
                }
            }
            let read = read.map(|is_open| is_open.then(|| str::from_utf8(seen.present()).unwrap()));
            assert_eq!(read.map_err(|why| why.to_string()), right.map_err(str::to_string));
        }
    }

    #[test]
    fn a_tunnel_is_open_or_it_is_said_why_not() {
        reads("HTTP/1.1 200 Connection established\r\n\r\n", Ok(Some("")));
        reads("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nabc", Ok(Some("abc")));
        reads("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204\r\n\r\n", Ok(Some("")));
        reads("HTTP/1.1 200 OK\r\nVia: x\r\n", Ok(None));
        for status in [101, 301, 403, 407, 502] {
            let why = format!("the proxy refused CONNECT with status {status}");
            reads(&format!("HTTP/1.1 {status} X\r\nA: b\r\n\r\nno"), Err(&why));
        }
        for garbage in ["SSH-2.0-x\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 200 OK\n\n"] {
            reads(garbage, Err(NOT_HTTP));
        }
        reads(&format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(200)), Err(TOO_LARGE));
        let interim = "HTTP/1.1 100 X\r\n\r\n".repeat(20);
        reads(&interim, Err(TOO_LARGE));
    }

    #[test]
    fn the_request_names_the_server_and_who_asks() {
        let mut proxy = Proxy {
            authority: "127.0.0.1:3128".into(),
            tunnel: Some("example.org:443".into()),
            credentials: None,
        };
        let asked = |proxy: &Proxy| String::from_utf8(request(proxy).unwrap()).unwrap();
        assert_eq!(
            asked(&proxy),
            "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n"
        );
        proxy.credentials = Some(Credentials::of_url("Aladdin:open%20sesame").unwrap());
        let field = "\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n";
        assert!(asked(&proxy).ends_with(field));
        assert_eq!(request(&Proxy { tunnel: None, ..proxy }), None);
    }
}
