//! The least HTTP/1.1 that a benchmark client needs: a thread a connection.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::upload::{self, Body};
use crate::{Mode, Server, events, oddities};

/// A request.
pub struct Request {
    method: String,
    /// Percent-encoded, as it came.
    pub path: String,
    /// It says `Connection: close`.
    pub close: bool,
    /// Its field `Accept-Encoding`; empty if it has none.
    pub accepts: String,
    /// All fields of its head: names in small letters, and values.
    fields: Vec<(String, String)>,
    /// Its number on its connection, from 1.
    pub nth: u32,
    /// The bytes of its first line.
    length: usize,
    /// Its body, where the workload is about what it says.
    pub body: Vec<u8>,
}

impl Request {
    /// Its method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The value of the first field of this name, in small letters.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    /// Further fields of its head.
    pub headers: Vec<String>,
    pub body: Vec<u8>,
}

impl Answer {
    /// 200 with this text.
    pub fn text(body: &str) -> Self {
        let (content_type, headers) = ("text/plain; charset=utf-8", Vec::new());
        Self { status: 200, content_type, headers, body: body.into() }
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

/// So many requests of a connection are read in the mode `learns-the-period`.
const LEARNED: u32 = 25;

/// No proof sends more requests on a connection: after those of a load, the mode `works-on` has work
/// left.
const OF_A_PROOF: u32 = 50;

fn connection(stream: &TcpStream, mode: Mode, server: &Server) {
    let _ = stream.set_nodelay(true);
    crate::outside::on_connection(mode);
    let mut reader = BufReader::new(stream);
    let mut count = 0;
    let mut learned = Vec::new();
    while let Some(mut request) = read(&mut reader) {
        count += 1;
        request.nth = count;
        let unread = match mode {
            mode if mode.is("reads-nothing") => Some((3, "/")),
            mode if mode.is("users-reads-nothing") => Some((3, "/api/users/")),
            mode if mode.is("upstream-reads-nothing") => Some((1, "/api/proxy/")),
            _ => None,
        };
        if let Some((_, path)) = unread.filter(|(read, _)| count > *read) {
            request = Request { method: "GET".into(), path: path.into(), ..request };
        }
        if mode.is("reads-the-method-alone") && count > 3 {
            request.path = "/".into();
        }
        if mode.is("hello-by-length") && count > 3 {
            let (method, path) = match request.length {
                16 => ("GET", "/"),
                17 => ("HEAD", "/"),
                _ => ("GET", "/unread"),
            };
            request = Request { method: method.into(), path: path.into(), ..request };
        }
        if mode.is("learns-the-period") {
            if count <= LEARNED {
                learned.push((request.method.clone(), request.path.clone()));
            } else {
                let (method, path) = learned[(count - 1) as usize % learned.len()].clone();
                request = Request { method, path, ..request };
            }
        }
        request.close |=
            mode.is("one-request-a-connection") || mode.is("pre-forks-for-one-request");
        if mode.is("logs-requests") {
            println!("{} {}", request.method, request.path);
        }
        let is_done = if request.path == "/upload" {
            uploaded(stream, mode, &mut reader, &request)
        } else if request.path == "/events" {
            events::answer(mode, &request, stream)
        } else {
            let mut body = Vec::new();
            let is_read = Body::from_request(&request, &mut reader).read_to_end(&mut body);
            if request.path.starts_with("/products") {
                request.body = body;
            }
            is_read.and_then(|_| write(stream, mode, &request, &server.answer(&request)))
        };
        if is_done.is_err() || request.close || mode.is("silent-close") {
            return;
        }
    }
    if mode.is("works-on") && count > OF_A_PROOF {
        crate::outside::burn(Duration::from_millis(mode.number()));
    }
}

/// Reads the body of an upload and answers, in the order of this mode.
fn uploaded(
    stream: &TcpStream,
    mode: Mode,
    reader: &mut impl BufRead,
    request: &Request,
) -> std::io::Result<()> {
    if let Some(answer) = upload::at_once(mode, request) {
        write(stream, mode, request, &answer)?;
        return Body::from_request(request, reader).skip().map(drop);
    }
    if mode.is("upload-head-first") {
        let mut begin: &TcpStream = stream;
        begin.write_all(b"HTTP/1.1 200 X\r\n")?;
        let answer = upload::answer(mode, request, reader, stream)?;
        let head = head(mode, request, &answer);
        let rest = head.split_once("\r\n").map_or("", |(_, rest)| rest);
        return begin.write_all(&[rest.as_bytes(), &answer.body].concat());
    }
    let answer = upload::answer(mode, request, reader, stream)?;
    write(stream, mode, request, &answer)?;
    // Who refuses an expectation does not get the body.
    if answer.status == 417 { Err(std::io::ErrorKind::InvalidInput.into()) } else { Ok(()) }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_ascii_whitespace();
    let mut request = Request {
        method: words.next()?.into(),
        path: words.next()?.into(),
        close: false,
        accepts: String::new(),
        fields: Vec::new(),
        nth: 0,
        length: line.len(),
        body: Vec::new(),
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        match line.trim_end() {
            "" => return Some(request),
            field => {
                request.close |= field.eq_ignore_ascii_case("connection: close");
                if let Some((name, value)) = field.split_once(':') {
                    if name.eq_ignore_ascii_case("accept-encoding") {
                        request.accepts = value.trim().into();
                    }
                    request.fields.push((name.to_lowercase(), value.trim().into()));
                }
            }
        }
    }
}

fn write(
    mut stream: &TcpStream,
    mode: Mode,
    request: &Request,
    answer: &Answer,
) -> std::io::Result<()> {
    let body = &answer.body;
    let mut bytes = head(mode, request, answer).into_bytes();
    if mode.is("late-bodies") && oddities::is_late() {
        stream.write_all(&bytes)?;
        bytes.clear();
        std::thread::sleep(Duration::from_millis(41));
    }
    if (request.method != "HEAD" || mode.is("head-body")) && answer.status != 304 {
        if is_chunked(mode) {
            let (first, rest) = body.split_at(body.len().div_ceil(2));
            for chunk in [first, rest].into_iter().filter(|chunk| !chunk.is_empty()) {
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
        } else {
            bytes.extend_from_slice(body);
        }
    }
    stream.write_all(&bytes)
}

fn is_chunked(mode: Mode) -> bool {
    mode.is("chunked") || mode.is("static-chunked")
}

fn head(mode: Mode, request: &Request, answer: &Answer) -> String {
    let Answer { status, content_type, headers, body } = answer;
    let version = if mode.is("http-1.0") { "1.0" } else { "1.1" };
    let mut lines = vec![
        format!("HTTP/{version} {status} X"),
        format!("Content-Type: {content_type}"),
        if *status == 304 {
            "Cache-Control: no-cache".into()
        } else if is_chunked(mode) {
            "Transfer-Encoding: chunked".into()
        } else {
            format!("Content-Length: {}", body.len())
        },
    ];
    if *status == 204 {
        lines.truncate(1);
    }
    lines.extend(headers.iter().cloned());
    if request.close {
        lines.push("Connection: close".into());
    } else if mode.is("http-1.0") {
        lines.push("Connection: keep-alive".into());
    }
    if mode.is("extra-headers") {
        lines.extend(["X-Powered-By: tests", "Server: odd", "Vary: *"].map(String::from));
    }
    if mode.is("big-headers") {
        lines.extend((0..12).map(|nth| format!("X-Big-{nth}: {}", "b".repeat(1_000))));
    }
    if mode.is("lower-case-headers") {
        lines[1..].iter_mut().for_each(|line| *line = line.to_lowercase());
    }
    lines.join("\r\n") + "\r\n\r\n"
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
