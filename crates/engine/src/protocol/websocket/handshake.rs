//! The opening handshake (RFC 6455 section 4).
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use pippin_model::load::Request;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use crate::protocol::http1::request;

/// Why there is no WebSocket if the time for it was over.
pub(super) const LATE: &str = "the handshake of the WebSocket did not end in time";
/// What a server adds to the key (section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// A key of 16 bytes in base64, and what proves that it was read.
const KEY_BYTES: usize = 24;
const ACCEPT_BYTES: usize = 28;

/// Headers that the handshake sets itself (section 4.1).
const OWN: [&str; 6] = [
    "upgrade",
    "connection",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
    "sec-websocket-accept",
];
const SUBPROTOCOL: &str = "sec-websocket-protocol";

/// Whether the handshake can be written.
///
/// # Errors
/// What part of it is wrong, and what is right.
pub(crate) fn check(asked: &Request) -> Result<(), String> {
    request::check(asked).map_err(|why| why.to_string())?;
    if asked.method != "GET" {
        return Err(format!(
            "a WebSocket is opened by GET, not by {}: leave the method out",
            asked.method
        ));
    }
    let own = |name: &str| OWN.iter().any(|own| name.eq_ignore_ascii_case(own));
    match asked.headers.iter().find(|(name, _)| own(name)) {
        Some((name, _)) => {
            Err(format!("header `{name}` is set by the handshake of WebSocket: leave it out"))
        }
        None => Ok(()),
    }
}

/// The request of all handshakes of a load; only its key varies.
#[derive(Debug, Default)]
pub(super) struct Opening {
    bytes: Vec<u8>,
    /// Where the key is.
    key_at: usize,
    /// Subprotocols that are offered.
    offered: Vec<String>,
}

impl Opening {
    /// # Errors
    /// As [`check`].
    pub fn from_request(asked: &Request) -> Result<Self, String> {
        check(asked)?;
        let mut request = Request { body: Vec::new(), ..asked.clone() };
        let own = [
            ("Upgrade", "websocket".to_string()),
            ("Connection", "Upgrade".to_string()),
            ("Sec-WebSocket-Version", "13".to_string()),
            ("Sec-WebSocket-Key", "=".repeat(KEY_BYTES)),
        ];
        request.headers.extend(own.map(|(name, value)| (name.to_string(), value)));
        let bytes = request::render(&request, false).map_err(|why| why.to_string())?;
        let key_at = bytes.len() - KEY_BYTES - b"\r\n\r\n".len();
        let offered = asked
            .headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(SUBPROTOCOL))
            .flat_map(|(_, value)| value.split(',').map(|name| name.trim().to_string()))
            .collect();
        Ok(Self { bytes, key_at, offered })
    }

    /// Appends the request with this nonce; what its answer must prove.
    pub fn put(&self, nonce: [u8; 16], out: &mut Vec<u8>) -> Box<Answer> {
        let from = out.len();
        out.extend_from_slice(&self.bytes);
        let key = STANDARD.encode(nonce);
        let at = from + self.key_at;
        out[at..at + KEY_BYTES].copy_from_slice(key.as_bytes());
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes());
        let mut accept = [0; ACCEPT_BYTES];
        accept.copy_from_slice(STANDARD.encode(hash).as_bytes());
        Box::new(Answer { head: Vec::new(), interim_bytes: 0, accept })
    }
}

/// Why no WebSocket was opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Something else came.
    #[error("the answer to the handshake is not HTTP/1.1: {0}")]
    NotHttp(&'static str),
    /// The head of the answer is too long.
    #[error("the head of the answer to the handshake is beyond the limit")]
    TooLarge,
    /// The server does not want to.
    #[error("the server answers {0} in place of 101 (Switching Protocols)")]
    Status(u16),
    /// A header of the handshake is missing or says something else.
    #[error("the server's header {0}: it does not agree to WebSocket")]
    Header(&'static str),
    /// It may not have read the key.
    #[error("the server's Sec-WebSocket-Accept does not fit the key that was sent")]
    Accept,
    /// Nothing of the kind was offered.
    #[error("the server chose {0}, which was not offered")]
    NotOffered(&'static str),
    /// It chose several of what was offered.
    #[error("the server chose several subprotocols, where it may choose one")]
    SeveralSubprotocols,
}

/// What a right head says.
#[derive(Debug, PartialEq, Eq)]
enum Judged {
    Agrees,
    IsInterim,
}

/// The server's answer to a handshake, as far as it has come.
#[derive(Debug)]
pub(crate) struct Answer {
    head: Vec<u8>,
    /// The length of the interim answers that came before this head.
    interim_bytes: usize,
    /// What `Sec-WebSocket-Accept` must be.
    accept: [u8; ACCEPT_BYTES],
}

impl Answer {
    /// Reads on; how many bytes of `input` belong to the handshake, if it is done. Otherwise all.
    /// Interim answers before it (RFC 9110 section 15.2) are passed over; `most` bounds them and the
    /// answer together.
    pub fn read(
        &mut self,
        opening: &Opening,
        input: &[u8],
        most: usize,
    ) -> Result<Option<usize>, Refusal> {
        let mut used = 0;
        while let Some(length) = self.read_head(&input[used..], most)? {
            used += length;
            if self.judge(&opening.offered)? == Judged::Agrees {
                return Ok(Some(used));
            }
            self.interim_bytes += self.head.len();
            self.head.clear();
        }
        Ok(None)
    }

    /// Reads on; how many bytes of `input` belong to the head, if it is complete. Otherwise all.
    fn read_head(&mut self, input: &[u8], most: usize) -> Result<Option<usize>, Refusal> {
        const END: &[u8] = b"\r\n\r\n";
        const START: &[u8] = b"HTTP/1.1 ";
        let most = most.saturating_sub(self.interim_bytes);
        let seen = self.head.len();
        self.head.extend_from_slice(input);
        let known = self.head.len().min(START.len());
        if self.head[..known] != START[..known] {
            return Err(Refusal::NotHttp("it does not start with HTTP/1.1"));
        }
        let from = seen.saturating_sub(END.len() - 1);
        let Some(at) = memmem::find(&self.head[from..], END) else {
            return if self.head.len() > most { Err(Refusal::TooLarge) } else { Ok(None) };
        };
        let end = from + at + END.len();
        if end > most {
            return Err(Refusal::TooLarge);
        }
        self.head.truncate(end);
        Ok(Some(end - seen))
    }

    /// Section 4.1: what a client must look at.
    fn judge(&self, offered: &[String]) -> Result<Judged, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; 128];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = response.parse(&self.head);
        if !matches!(parsed, Ok(httparse::Status::Complete(_))) {
            return Err(Refusal::NotHttp("its head is not well formed"));
        }
        match response.code {
            Some(101) => {}
            Some(100..=199) => return Ok(Judged::IsInterim),
            other => return Err(Refusal::Status(other.unwrap_or_default())),
        }
        let values = |name: &'static str| {
            response
                .headers
                .iter()
                .filter(move |header| header.name.eq_ignore_ascii_case(name))
                .map(|header| header.value.trim_ascii())
        };
        let has_token = |name, token: &str| {
            values(name)
                .flat_map(|value| value.split(|byte| *byte == b','))
                .any(|value| value.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
        };
        if !has_token("upgrade", "websocket") {
            return Err(Refusal::Header("Upgrade is not `websocket`"));
        }
        if !has_token("connection", "upgrade") {
            return Err(Refusal::Header("Connection is not `Upgrade`"));
        }
        let mut accepts = values("sec-websocket-accept");
        if accepts.next() != Some(&self.accept[..]) || accepts.next().is_some() {
            return Err(Refusal::Accept);
        }
        if values("sec-websocket-extensions").any(|value| !value.is_empty()) {
            return Err(Refusal::NotOffered("an extension"));
        }
        let is_offered = |value: &[u8]| offered.iter().any(|name| name.as_bytes() == value);
        if !values(SUBPROTOCOL).all(is_offered) {
            return Err(Refusal::NotOffered("a subprotocol"));
        }
        // Section 11.3.4: the field comes once.
        if values(SUBPROTOCOL).count() > 1 {
            return Err(Refusal::SeveralSubprotocols);
        }
        Ok(Judged::Agrees)
    }
}
