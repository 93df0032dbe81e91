//! The head of an answer: where it ends, what it says about the body's length and the connection.
use memchr::memchr;
use std::mem::MaybeUninit;

use super::DecodeError;

/// How the end of a body is found (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is no body: HEAD, 1xx, 204, 304.
    None,
    /// This many bytes.
    Length(u64),
    /// Chunks up to the one of length 0, then trailers.
    Chunked,
    /// Everything until the connection closes.
    UntilClose,
}

/// What a head says, as far as it matters for reading on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadInfo {
    /// The status code, 100 to 999.
    pub status: u16,
    /// Where the body ends.
    pub framing: Framing,
    /// Whether the server keeps the connection open after this answer, as far as it says.
    pub keep_alive: bool,
}

/// The most header fields of an answer, as curl takes them.
pub const MAX_FIELDS: usize = 5_000;
/// Room for this many fields is on the stack. Room for all would touch forty pages of it each time.
const USUAL_FIELDS: usize = 128;

/// Remembers the last head and what it meant.
///
/// Most servers send the same head for a second, until `Date` changes. Comparing it costs a tenth
/// of parsing it. One cache serves all connections of a thread.
#[derive(Debug, Default)]
pub struct HeadCache {
    bytes: Vec<u8>,
    meaning: Option<HeadInfo>,
}

impl HeadCache {
    /// The meaning and the length of the head at the start of `input`, if it is the one seen last.
    #[inline]
    pub(super) fn find(&self, input: &[u8]) -> Option<(HeadInfo, usize)> {
        let meaning = self.meaning?;
        input.starts_with(&self.bytes).then_some((meaning, self.bytes.len()))
    }

    pub(super) fn put(&mut self, head: &[u8], meaning: HeadInfo) {
        self.bytes.clear();
        self.bytes.extend_from_slice(head);
        self.meaning = Some(meaning);
    }
}

const START: &[u8] = b"HTTP/1.";

/// Looks for the empty line that ends a head in `bytes`; the first `seen` of them were searched
/// before. Rejects at once what can never become a head: another protocol, or a line that ends in a
/// bare LF.
pub(super) fn find_end(bytes: &[u8], seen: usize) -> Result<Option<usize>, DecodeError> {
    let known = bytes.len().min(START.len());
    if bytes[..known] != START[..known] {
        return Err(DecodeError::Malformed("does not start with HTTP/1."));
    }
    let mut at = seen;
    while let Some(offset) = memchr(b'\n', &bytes[at..]) {
        let lf = at + offset;
        if lf == 0 || bytes[lf - 1] != b'\r' {
            return Err(DecodeError::Malformed("line of the head ends in a bare LF"));
        }
        if lf >= 3 && bytes[lf - 2] == b'\n' {
            return Ok(Some(lf + 1));
        }
        at = lf + 1;
    }
    Ok(None)
}

/// Reads a whole head, empty line included. The framing is what the head says; the caller knows
/// about HEAD requests.
pub(super) fn parse(head: &[u8]) -> Result<HeadInfo, DecodeError> {
    let mut fields = [const { MaybeUninit::uninit() }; USUAL_FIELDS];
    match read(head, &mut fields) {
        Err(DecodeError::TooLarge(_)) => {
            read(head, &mut vec![const { MaybeUninit::uninit() }; MAX_FIELDS])
        }
        read => read,
    }
}

/// Reads a head with at most as many fields as there is room for.
fn read<'a>(
    head: &'a [u8],
    fields: &mut [MaybeUninit<httparse::Header<'a>>],
) -> Result<HeadInfo, DecodeError> {
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        head,
        fields,
    );
    match parsed {
        Ok(httparse::Status::Complete(length)) if length == head.len() => {}
        Ok(_) => return Err(DecodeError::Malformed("head is not a status line and header lines")),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(DecodeError::TooLarge("more than 5,000 header fields"));
        }
        Err(httparse::Error::Status) => return Err(DecodeError::Malformed("status line")),
        Err(httparse::Error::Version) => return Err(DecodeError::Malformed("version of HTTP")),
        Err(_) => return Err(DecodeError::Malformed("header line")),
    }
    let (Some(status), Some(minor)) = (response.code, response.version) else {
        return Err(DecodeError::Malformed("status line"));
    };
    if status < 100 {
        return Err(DecodeError::Malformed("status below 100"));
    }
    meaning(status, minor, response.headers)
}

fn meaning(
    status: u16,
    minor: u8,
    headers: &[httparse::Header<'_>],
) -> Result<HeadInfo, DecodeError> {
    let mut length: Option<u64> = None;
    let mut chunked = false;
    let mut keep_alive = minor >= 1;
    for header in headers {
        // Header names of these lengths are few: the length decides nearly always.
        match header.name.len() {
            14 if header.name.eq_ignore_ascii_case("content-length") => {
                if length.is_some() {
                    return Err(DecodeError::Malformed("Content-Length given twice"));
                }
                length = Some(decimal(header.value)?);
            }
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                if chunked || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err(DecodeError::Malformed(
                        "Transfer-Encoding other than one `chunked`",
                    ));
                }
                chunked = true;
            }
            10 if header.name.eq_ignore_ascii_case("connection") => {
                for token in header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    if token.eq_ignore_ascii_case(b"close") {
                        keep_alive = false;
                    } else if minor == 0 && token.eq_ignore_ascii_case(b"keep-alive") {
                        keep_alive = true;
                    }
                }
            }
            _ => {}
        }
    }
    let framing = match (length, chunked) {
        // Two readers of such an answer can disagree about its end (RFC 9112 section 6.3, request
        // smuggling).
        (Some(_), true) => {
            return Err(DecodeError::Malformed("both Content-Length and Transfer-Encoding"));
        }
        (None, true) if minor == 0 => {
            return Err(DecodeError::Malformed("Transfer-Encoding in HTTP/1.0"));
        }
        (None, true) => Framing::Chunked,
        (Some(length), false) => Framing::Length(length),
        (None, false) => Framing::UntilClose,
    };
    let framing =
        if status < 200 || status == 204 || status == 304 { Framing::None } else { framing };
    Ok(HeadInfo { status, framing, keep_alive })
}

fn decimal(value: &[u8]) -> Result<u64, DecodeError> {
    let digits = value.trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(DecodeError::Malformed("Content-Length is not a number"));
    }
    digits
        .iter()
        .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .ok_or(DecodeError::TooLarge("Content-Length beyond 2^64"))
}
