//! The workload `events`, as docs/add-a-target.md describes it.
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::Mode;
use crate::http::Request;

const COUNT: u64 = 100;
const EVERY: Duration = Duration::from_millis(100);
/// Where the modes end or disturb a stream that do so within it.
const WITHIN: u64 = 60;

/// Streams that are being sent.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
/// No proof asks for more at a time.
const OF_A_PROOF: usize = 8;

/// Answers with a stream of events.
///
/// # Errors
/// If the connection broke, or is to be closed.
pub fn answer(mode: Mode, request: &Request, stream: &TcpStream) -> io::Result<()> {
    UNDER_WAY.fetch_add(1, Ordering::SeqCst);
    let sent = send(mode, request, stream);
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    sent
}

fn send(mode: Mode, request: &Request, mut stream: &TcpStream) -> io::Result<()> {
    let begun = Instant::now();
    let framing = Framing { is_chunked: !mode.is("events-until-close") };
    stream.write_all(head(mode, request, framing).as_bytes())?;
    let mut held = before(mode);
    let mut number = 0;
    while number < COUNT {
        let is_loaded = UNDER_WAY.load(Ordering::SeqCst) > OF_A_PROOF;
        let at = begun + due(mode, number);
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        let is_over = mode.is("events-end-early")
            || mode.is("events-broken-off")
            || mode.is("events-end-early-under-load") && is_loaded;
        if is_over && number == WITHIN {
            break;
        }
        let as_number = match mode.name {
            "events-out-of-order" if number == WITHIN => WITHIN + 1,
            "events-out-of-order" if number == WITHIN + 1 => WITHIN,
            _ => number,
        };
        if !(mode.is("events-lost") && number == WITHIN) {
            held += &event(mode, as_number, said(mode, begun, number, is_loaded));
        }
        number += 1;
        let is_due = number.is_multiple_of(together(mode, is_loaded)) || number == COUNT;
        // A chunk of no bytes would end the body.
        if is_due && !held.is_empty() {
            framing.send(mode, stream, &std::mem::take(&mut held))?;
        }
    }
    if mode.is("events-broken-off") || !framing.is_chunked {
        return Err(io::ErrorKind::ConnectionAborted.into());
    }
    stream.write_all(b"0\r\n\r\n")
}

fn head(mode: Mode, request: &Request, framing: Framing) -> String {
    let content_type = match mode.name {
        "events-wrong-type" => "text/plain",
        "events-charset" => "Text/Event-Stream; charset=utf-8",
        _ => "text/event-stream",
    };
    if !framing.is_chunked {
        return format!(
            "HTTP/1.0 200 X\r\nContent-Type: {content_type}\r\nConnection: close\r\n\r\n"
        );
    }
    let close = if request.close { "Connection: close\r\n" } else { "" };
    format!(
        "HTTP/1.1 200 X\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n{close}\r\n"
    )
}

/// How a stream is written.
#[derive(Clone, Copy)]
struct Framing {
    /// In chunks; otherwise it ends with the connection.
    is_chunked: bool,
}

impl Framing {
    fn send(self, mode: Mode, stream: &TcpStream, text: &str) -> io::Result<()> {
        if !mode.is("events-in-pieces") {
            return self.put(stream, text);
        }
        for piece in text.as_bytes().chunks(7) {
            self.put(stream, &String::from_utf8_lossy(piece))?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn put(self, mut stream: &TcpStream, text: &str) -> io::Result<()> {
        if self.is_chunked {
            stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
        } else {
            stream.write_all(text.as_bytes())
        }
    }
}

/// What comes before the first event.
fn before(mode: Mode) -> String {
    match mode.name {
        "events-with-comments" => format!(":{}\n\n", " ".repeat(2_048)),
        "events-byte-order-mark" => "\u{feff}".into(),
        _ => String::new(),
    }
}

/// When an event is sent, after the request.
fn due(mode: Mode, number: u64) -> Duration {
    let even = EVERY * number as u32;
    match mode.name {
        "events-at-once" => Duration::ZERO,
        "events-too-fast" => even * 9 / 10,
        // Up to 60 ms late, the first one too.
        "events-unsteady" => even + Duration::from_millis(number * 37 % 60),
        _ => even,
    }
}

/// How many are sent together.
fn together(mode: Mode, is_loaded: bool) -> u64 {
    match mode.name {
        "events-held-back" => 10,
        "events-held-back-under-load" if is_loaded => 10,
        "events-in-pairs" => 2,
        _ => 1,
    }
}

/// The instant that an event says: milliseconds since 1970.
fn said(mode: Mode, begun: Instant, number: u64, is_loaded: bool) -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    let now = unix_ms();
    let prepared = |from: u64| from + (EVERY * number as u32).as_millis() as u64;
    match mode.name {
        "events-at-once" => prepared(now - begun.elapsed().as_millis() as u64),
        "events-replayed" => prepared(now - begun.elapsed().as_millis() as u64 - 3_600_000),
        "events-replayed-under-load" => {
            let first = *FIRST.get_or_init(|| now);
            if is_loaded { prepared(first) } else { now }
        }
        _ => now,
    }
}

fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.as_millis() as u64
}

fn event(mode: Mode, number: u64, ms: u64) -> String {
    match mode.name {
        "events-crlf" => format!("data: {number} {ms}\r\n\r\n"),
        "events-cr" => format!("data: {number} {ms}\r\r"),
        "events-with-comments" => {
            format!(
                ": still here\n\nretry: 3000\nid: {number}\nevent: message\ndata: {number} {ms}\n\n"
            )
        }
        "events-two-lines" => format!("data:{number}\ndata:{ms}\n\n"),
        "events-without-blank-lines" => format!("data: {number} {ms}\n"),
        "events-in-seconds" => format!("data: {number} {}\n\n", ms / 1000),
        "events-json" => format!("data: {{\"n\":{number},\"at\":{ms}}}\n\n"),
        _ => format!("data: {number} {ms}\n\n"),
    }
}
