//! A request and its right answer, in the terms of RFC 9110. The protocol turns it into bytes.
//!
//! | module | what it does |
//! |---|---|
//! | [`requests`] | all requests of a load, with their turns |
//! | [`secrets`] | values that records do not keep: a length and a keyed digest |
//! | [`upload`] | bodies that are made while they are sent |
//! | [`coding`] | content codings: of an answer, and those that a request accepts |
//! | [`json_value`] | a value that the JSON of a right body has |
//! | [`request_file`] | files of requests, one module for each format |
//! | [`form`] | bodies of forms, as curl makes them |
//! | [`import`] | HAR files, access logs, curl commands, OpenAPI files and Postman collections as requests |
pub mod coding;
pub mod form;
pub mod import;
pub mod json_value;
pub mod request_file;
pub mod requests;
pub mod secrets;
pub mod upload;

use serde::{Deserialize, Serialize};

use self::json_value::JsonValue;
use self::upload::Upload;

/// How many characters of a request are drawn.
pub const DRAWN: usize = 8;

/// A request and its right answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The method: `GET`.
    pub method: String,
    /// Path and query, percent-encoded: `/hola/Ana?x=1`.
    pub target: String,
    /// The host, and the port unless it is the scheme's default. A header `Host` replaces it.
    pub host: String,
    /// Further headers, in order: name and value.
    pub headers: Vec<(String, String)>,
    /// The body; empty if there is none.
    #[serde(with = "body_bytes")]
    pub body: Vec<u8>,
    /// How the answer is checked.
    pub check: Check,
    /// [`DRAWN`] characters that occur once in the request: digits that do not begin with 0, or
    /// lower-case letters. Each time the request is sent, they are replaced by random ones of the
    /// same kind, and in the body check too. If they are hexadecimal digits with both letters and
    /// decimal digits, the number of the request replaces them, which no other request of the load
    /// has. `None` sends the same bytes each time. Not for WebSocket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<String>,
    /// How a body is made in place of [`Self::body`], which is then empty. `drawn` is eight digits,
    /// which stand in this body only. Only over HTTP/1.1; `None` sends `body`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<Upload>,
}

impl Request {
    /// A GET without headers or body. Any status from 200 to 399 is right.
    #[must_use]
    pub fn get(target: &str, host: &str) -> Self {
        Self {
            method: "GET".into(),
            target: target.into(),
            host: host.into(),
            headers: Vec::new(),
            body: Vec::new(),
            check: Check::default(),
            drawn: None,
            upload: None,
        }
    }
}

/// Whether a token may contain this byte. Methods and names of header fields are tokens (RFC 9110
/// section 5.6.2).
#[must_use]
pub const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

/// Whether a text is a token: a method, or the name of a header field.
#[must_use]
pub fn is_token_text(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token)
}

/// Whether a header field may have this value: no control characters but tabs. Bytes beyond ASCII
/// are obs-text (RFC 9110 section 5.5).
#[must_use]
pub fn is_field_value(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\t' || !byte.is_ascii_control())
}

/// The definition of a right answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Check {
    /// The right statuses; if empty, 200 to 399.
    pub status: Vec<u16>,
    /// The right body.
    pub body: BodyCheck,
    /// Values that a right body of JSON has; if there are any, each answer is parsed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub json: Vec<JsonValue>,
    /// The shortest possible time of a right answer, from the first byte sent to its arrival, in
    /// nanoseconds; 0 if there is none. A faster answer is an error of the kind "too early".
    #[serde(default)]
    pub least_ns: u64,
}

/// The definition of a right body.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyCheck {
    /// Any body.
    #[default]
    Any,
    /// Exactly these bytes.
    Exact(#[serde(with = "base64_bytes")] Vec<u8>),
    /// A length from `min` to `max`, both included.
    Length {
        /// The least number of bytes.
        min: u64,
        /// The greatest number of bytes.
        max: u64,
    },
    /// A length within bounds, and each of these byte strings somewhere in the body.
    Contains {
        /// The least number of bytes.
        min: u64,
        /// The greatest number of bytes.
        max: u64,
        /// The byte strings.
        all: Vec<String>,
    },
    /// The right body changes during the load. The load's referee decides for each answer.
    Refereed,
    /// The right body is long, and changes during the load. The load's referee gets its length and
    /// the digest that is made with this key while it arrives. The body itself is not kept.
    Digested {
        /// The seed of XXH64. Whoever does not know it cannot make a body for a digest.
        key: u64,
    },
    /// A stream of server-sent events, each of which has its number and its instant.
    Events(EventForm),
}

/// What a right stream of server-sent events is (WHATWG HTML, section 9.2). The data of each event is its
/// number, from 0 on, and its instant in milliseconds since 1970, with white space between the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EventForm {
    /// How many events it has.
    pub count: u32,
    /// The time between two events, nanoseconds. Event n is due n times this after the request.
    pub every_ns: u64,
    /// How much longer than that a gap may be, nanoseconds.
    pub off_ns: u64,
    /// How old an instant may be when its event comes, nanoseconds.
    pub fresh_ns: u64,
}

impl EventForm {
    /// Events are held back and sent together if they follow each other after less than this part of the time
    /// between two.
    const TOGETHER: u64 = 4;

    /// A longer gap is too long, nanoseconds.
    #[must_use]
    pub const fn longest_gap_ns(&self) -> u64 {
        self.every_ns + self.off_ns
    }

    /// Events after a shorter gap were sent together, nanoseconds.
    #[must_use]
    pub const fn shortest_gap_ns(&self) -> u64 {
        self.every_ns / Self::TOGETHER
    }
}

impl BodyCheck {
    /// Whether only a referee can say what is right.
    #[must_use]
    pub const fn needs_referee(&self) -> bool {
        matches!(self, Self::Refereed | Self::Digested { .. })
    }

    /// A body of any length that has each of these texts; any body if there are none.
    #[must_use]
    pub fn containing(all: Vec<String>) -> Self {
        if all.is_empty() { Self::Any } else { Self::Contains { min: 0, max: u64::MAX, all } }
    }
}

/// Bytes of a body: `{"text": ...}` if they are UTF-8, otherwise `{"base64": ...}`.
mod body_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::borrow::Cow;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Body<'a> {
        Text(Cow<'a, str>),
        Base64(String),
    }

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let body = str::from_utf8(bytes)
            .map_or_else(|_| Body::Base64(STANDARD.encode(bytes)), |text| Body::Text(text.into()));
        body.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        match Body::deserialize(deserializer)? {
            Body::Text(text) => Ok(text.into_owned().into_bytes()),
            Body::Base64(text) => STANDARD.decode(text).map_err(serde::de::Error::custom),
        }
    }
}

mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_text_where_it_can_be_and_comes_back_as_it_was() {
        let cases: [(&[u8], &str); 3] = [
            (b"", r#"{"text":""}"#),
            ("a=ü".as_bytes(), r#"{"text":"a=ü"}"#),
            (b"\xff\x00", r#"{"base64":"/wA="}"#),
        ];
        for (body, json) in cases {
            let request = Request {
                headers: vec![("Accept".into(), "*/*".into())],
                body: body.into(),
                ..Request::get("/", "localhost")
            };
            let written = serde_json::to_string(&request).unwrap();
            assert!(written.contains(&format!(r#""body":{json}"#)), "{written}");
            assert!(written.contains(r#""headers":[["Accept","*/*"]]"#), "{written}");
            assert_eq!(serde_json::from_str::<Request>(&written).unwrap(), request);
        }
    }
}
