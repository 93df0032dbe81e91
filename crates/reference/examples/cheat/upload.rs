//! The workload `upload`, as docs/add-a-target.md describes it.
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Mode;
use crate::http::{Answer, Request};

/// What the modes read that leave out the rest of a body.
const PREFIX: usize = 64 * 1024;
/// The longest body of the mode `upload-up-to-10-mb`.
const MOST: usize = 10_000_000;

/// Requests that are being answered.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
/// More at once than any proof sends.
const LOAD: usize = 4;

/// A body as it comes.
pub struct Body<'a, R> {
    reader: &'a mut R,
    /// What is left of it, or of its present chunk.
    left: usize,
    is_chunked: bool,
    is_over: bool,
    /// The bytes of its chunks' framing, for who takes them for the body.
    framing: Vec<u8>,
}

impl<'a, R: BufRead> Body<'a, R> {
    /// Of a request whose head was read.
    pub fn from_request(request: &Request, reader: &'a mut R) -> Self {
        let is_chunked = request.field("transfer-encoding") == Some("chunked");
        let length = request.field("content-length").and_then(|length| length.parse().ok());
        let left = length.filter(|_| !is_chunked).unwrap_or_default();
        Self { reader, left, is_chunked, is_over: left == 0 && !is_chunked, framing: Vec::new() }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        self.framing.extend_from_slice(line.as_bytes());
        Ok(line)
    }

    fn begin_chunk(&mut self) -> io::Result<()> {
        let line = self.line()?;
        self.left = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        if self.left == 0 {
            self.line()?;
            self.is_over = true;
        }
        Ok(())
    }

    /// Reads what is left.
    pub fn skip(&mut self) -> io::Result<u64> {
        io::copy(self, &mut io::sink())
    }
}

impl<R: BufRead> Read for Body<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_chunked && self.left == 0 && !self.is_over {
            self.begin_chunk()?;
        }
        if self.is_over {
            return Ok(0);
        }
        let most = buffer.len().min(self.left);
        let read = self.reader.read(&mut buffer[..most])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read;
        if self.left == 0 && self.is_chunked {
            self.line()?;
        } else {
            self.is_over = self.left == 0;
        }
        Ok(read)
    }
}

/// Answers a request whose head was read. The answer is not written yet.
pub fn answer(
    mode: Mode,
    request: &Request,
    reader: &mut impl BufRead,
    mut stream: &TcpStream,
) -> io::Result<Answer> {
    if request.field("expect").is_some() {
        match mode.name {
            "upload-without-continue" => {}
            "upload-refuses-expect" => {
                let refusal = Answer::text("send it without Expect");
                return Ok(Answer { status: 417, ..refusal });
            }
            _ => stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
        }
    }
    let is_loaded = UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1 >= LOAD;
    if mode.name.ends_with("-under-load") {
        // So that others come meanwhile.
        std::thread::sleep(Duration::from_millis(2));
    }
    let answer = answered(mode, is_loaded, request, reader);
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    answer
}

fn answered(
    mode: Mode,
    is_loaded: bool,
    request: &Request,
    reader: &mut impl BufRead,
) -> io::Result<Answer> {
    let said = request.field("content-length").unwrap_or("0").to_string();
    let mut body = Body::from_request(request, reader);
    if mode.is("upload-refuses-empty-chunks") && body.is_chunked {
        body.begin_chunk()?;
        if body.is_over {
            return Ok(Answer { status: 400, ..Answer::text("no body") });
        }
    }
    let mut bytes = Vec::new();
    let mut hash = Sha256::new();
    let mut buffer = vec![0; PREFIX];
    let (mut length, mut digested) = (0, 0);
    loop {
        let read = body.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        length += read;
        let is_prefix =
            mode.is("upload-prefix") || mode.is("upload-prefix-under-load") && is_loaded;
        let of_it = if is_prefix { read.min(PREFIX.saturating_sub(digested)) } else { read };
        digested += of_it;
        if mode.is("upload-in-memory") {
            bytes.extend_from_slice(&buffer[..read]);
        } else {
            hash.update(&buffer[..of_it]);
        }
        if bytes.len() < 200 && !mode.is("upload-in-memory") {
            bytes.extend_from_slice(&buffer[..read.min(200)]);
        }
    }
    if mode.is("upload-in-memory") {
        hash.update(&bytes);
    }
    if mode.is("upload-with-framing") {
        length += body.framing.len();
        hash.update(&body.framing);
    }
    if mode.is("upload-up-to-10-mb") && length > MOST {
        return Ok(Answer { status: 413, ..Answer::text("too large") });
    }
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Answer::text(&match mode.name {
        "upload-length-of-the-head" => format!("{said} {digits}"),
        "upload-capitals" => format!("{length} {}", digits.to_uppercase()),
        "upload-line-end" => format!("{length} {digits}\n"),
        "upload-json" => format!("{{\"bytes\":{length},\"sha256\":\"{digits}\"}}"),
        "upload-by-length" => format!("{length} {}", first_of(&length.to_string(), digits)),
        "upload-by-length-under-load" if is_loaded => {
            format!("{length} {}", first_of(&length.to_string(), digits))
        }
        "upload-by-a-part" => {
            let part = bytes.get(100..200).unwrap_or_default();
            format!("{length} {}", first_of(&format!("{length} {part:?}"), digits))
        }
        _ => format!("{length} {digits}"),
    }))
}

/// The digest that came first under this key.
fn first_of(key: &str, digits: String) -> String {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(key.into()).or_insert(digits).clone()
}

/// What the modes answer that do not wait for the body; `None` in all others. It is read afterwards.
pub fn at_once(mode: Mode, request: &Request) -> Option<Answer> {
    let length = request.field("content-length").unwrap_or("1000");
    let digits = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    mode.is("upload-unread").then(|| Answer::text(&format!("{length} {digits}")))
}
