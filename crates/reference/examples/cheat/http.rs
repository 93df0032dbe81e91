//! The least HTTP/1.1 that a benchmark client needs: a thread a connection, requests without
//! bodies.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use crate::{Mode, Server};

/// A request.
pub struct Request {
    method: String,
    /// Percent-encoded, as it came.
    pub path: String,
    close: bool,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Vec<u8>,
}

impl Answer {
    /// 200 with this text.
    pub fn text(body: &str) -> Self {
        Self { status: 200, content_type: "text/plain; charset=utf-8", body: body.into() }
    }
}

/// Serves until the process is ended.
pub fn serve(listener: TcpListener, mode: Mode, server: &'static Server) {
    for stream in listener.incoming().flatten() {
        if mode.is("closes-at-once") {
            continue;
        }
        // A thousand devices have a thread each.
        let spawned = std::thread::Builder::new()
            .stack_size(256 * 1024)
            .spawn(move || connection(&stream, mode, server));
        if let Err(error) = spawned {
            eprintln!("cheat: no thread: {error}");
        }
    }
}

fn connection(stream: &TcpStream, mode: Mode, server: &Server) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        if mode.is("logs-requests") {
            println!("{} {}", request.method, request.path);
        }
        let answer = server.answer(&request);
        if write(stream, mode, &request, &answer).is_err()
            || request.close
            || mode.is("silent-close")
        {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_ascii_whitespace();
    let mut request =
        Request { method: words.next()?.into(), path: words.next()?.into(), close: false };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        match line.trim_end() {
            "" => return Some(request),
            field => request.close |= field.eq_ignore_ascii_case("connection: close"),
        }
    }
}

fn write(
    mut stream: &TcpStream,
    mode: Mode,
    request: &Request,
    answer: &Answer,
) -> std::io::Result<()> {
    let Answer { status, content_type, body } = answer;
    let close = if request.close { "Connection: close\r\n" } else { "" };
    let mut bytes = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{close}\r\n",
        body.len()
    )
    .into_bytes();
    if request.method != "HEAD" || mode.is("head-body") {
        bytes.extend_from_slice(body);
    }
    stream.write_all(&bytes)
}

/// `%C3%A9` to `é`.
pub fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let decoded = (first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
