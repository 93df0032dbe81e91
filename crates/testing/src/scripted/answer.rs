//! One answer: what is sent, with which pauses, and what becomes of the connection.
use std::time::Duration;

/// What the server does next on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Hand these bytes to the kernel, in one call if it takes them.
    Send(Vec<u8>),
    /// Do nothing for so long.
    Wait(Duration),
    /// Send these bytes again and again, with this pause between.
    Endless { bytes: Vec<u8>, gap: Duration },
}

/// What becomes of the connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Keep,
    Close,
    Reset,
    /// It stays open, and nothing is ever sent on it again.
    Silence,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    /// With Content-Length, which may lie.
    Sized { bytes: Vec<u8>, declared: Option<u64> },
    /// In these chunks, with these trailer lines.
    Chunked { chunks: Vec<Vec<u8>>, trailers: Vec<String> },
    /// Ended by closing.
    UntilClose(Vec<u8>),
    /// Never ended: `bytes` again and again with `gap` between.
    Endless { bytes: Vec<u8>, gap: Duration, chunked: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    InHead,
    BeforeBody,
    InBody,
    InChunkSize,
    InChunk,
}

/// One answer. Built from one of the functions without `self` and changed by the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    delay: Duration,
    interim: Vec<u8>,
    status: Option<u16>,
    headers: Vec<String>,
    body: Body,
    /// In place of status, headers and body.
    raw: Option<Vec<u8>>,
    pauses: Vec<(Place, Duration)>,
    byte_by_byte: Option<Duration>,
    surplus: Vec<u8>,
    end: End,
}

impl Answer {
    /// 200 with this body and its length.
    #[must_use]
    pub fn ok(body: &[u8]) -> Self {
        Self::new(200, body)
    }

    /// This status with this body and its length.
    #[must_use]
    pub fn new(status: u16, body: &[u8]) -> Self {
        Self {
            delay: Duration::ZERO,
            interim: Vec::new(),
            status: Some(status),
            headers: Vec::new(),
            body: Body::Sized { bytes: body.to_vec(), declared: Some(body.len() as u64) },
            raw: None,
            pauses: Vec::new(),
            byte_by_byte: None,
            surplus: Vec::new(),
            end: End::Keep,
        }
    }

    /// These bytes and nothing else; they need not be HTTP.
    #[must_use]
    pub fn raw(bytes: &[u8]) -> Self {
        Self { status: None, raw: Some(bytes.to_vec()), ..Self::ok(b"") }
    }

    /// Nothing, ever; the connection stays open.
    #[must_use]
    pub fn silence() -> Self {
        Self { end: End::Silence, ..Self::raw(b"") }
    }

    /// Closes (FIN) without a byte.
    #[must_use]
    pub fn close() -> Self {
        Self::raw(b"").then_close()
    }

    /// Resets (RST) without a byte.
    #[must_use]
    pub fn reset() -> Self {
        Self::raw(b"").then_reset()
    }

    /// Adds a header line, `Name: value`.
    #[must_use]
    pub fn header(mut self, line: &str) -> Self {
        self.headers.push(line.to_owned());
        self
    }

    /// Waits before anything is sent.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay += delay;
        self
    }

    /// Sends an interim answer first (100, 103), in the same call as what follows.
    #[must_use]
    pub fn interim(mut self, status: u16) -> Self {
        self.interim
            .extend_from_slice(format!("HTTP/1.1 {status} {}\r\n\r\n", reason(status)).as_bytes());
        self
    }

    /// Declares another length than the body has.
    #[must_use]
    pub fn declared_length(mut self, length: u64) -> Self {
        if let Body::Sized { declared, .. } = &mut self.body {
            *declared = Some(length);
        }
        self
    }

    /// Sends the body in chunks of this size, with these trailer lines.
    #[must_use]
    pub fn chunked(mut self, chunk_bytes: usize, trailers: &[&str]) -> Self {
        let chunks = self.body_bytes().chunks(chunk_bytes.max(1)).map(<[u8]>::to_vec).collect();
        self.body = Body::Chunked {
            chunks,
            trailers: trailers.iter().map(|line| (*line).to_owned()).collect(),
        };
        self
    }

    /// Sends the body without a length and ends it by closing.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.body = Body::UntilClose(self.body_bytes());
        self.then_close()
    }

    /// Sends the body again and again, with this pause between, as one body that never ends;
    /// chunked or without a length.
    #[must_use]
    pub fn endless(mut self, gap: Duration, chunked: bool) -> Self {
        self.body = Body::Endless { bytes: self.body_bytes(), gap, chunked };
        self
    }

    /// Pauses in the middle of the head.
    #[must_use]
    pub fn pause_in_head(self, pause: Duration) -> Self {
        self.pause(Place::InHead, pause)
    }

    /// Pauses between the head and the body.
    #[must_use]
    pub fn pause_before_body(self, pause: Duration) -> Self {
        self.pause(Place::BeforeBody, pause)
    }

    /// Pauses in the middle of the body.
    #[must_use]
    pub fn pause_in_body(self, pause: Duration) -> Self {
        self.pause(Place::InBody, pause)
    }

    /// Chunked: pauses after the first digit of the first chunk's size.
    #[must_use]
    pub fn pause_in_chunk_size(self, pause: Duration) -> Self {
        self.pause(Place::InChunkSize, pause)
    }

    /// Chunked: pauses in the middle of the first chunk's data.
    #[must_use]
    pub fn pause_in_chunk(self, pause: Duration) -> Self {
        self.pause(Place::InChunk, pause)
    }

    /// Sends everything one byte a call, with this pause between.
    #[must_use]
    pub fn byte_by_byte(mut self, gap: Duration) -> Self {
        self.byte_by_byte = Some(gap);
        self
    }

    /// Sends more bytes after the end of the answer, in the same call as its end.
    #[must_use]
    pub fn surplus(mut self, bytes: &[u8]) -> Self {
        self.surplus = bytes.to_vec();
        self
    }

    /// Closes after the answer without announcing it.
    #[must_use]
    pub fn then_close(mut self) -> Self {
        self.end = End::Close;
        self
    }

    /// Says `Connection: close` and closes after the answer.
    #[must_use]
    pub fn then_close_as_said(self) -> Self {
        self.header("Connection: close").then_close()
    }

    /// Resets the connection after the answer.
    #[must_use]
    pub fn then_reset(mut self) -> Self {
        self.end = End::Reset;
        self
    }

    fn pause(mut self, place: Place, pause: Duration) -> Self {
        self.pauses.push((place, pause));
        self
    }

    fn body_bytes(&self) -> Vec<u8> {
        match &self.body {
            Body::Sized { bytes, .. } | Body::UntilClose(bytes) | Body::Endless { bytes, .. } => {
                bytes.clone()
            }
            Body::Chunked { chunks, .. } => chunks.concat(),
        }
    }

    pub(super) fn status(&self) -> Option<u16> {
        self.status
    }

    pub(super) fn end(&self) -> End {
        self.end
    }

    /// The waits within the answer, together.
    pub(super) fn wait(&self) -> Duration {
        let waits =
            |step: &Step| if let Step::Wait(pause) = step { *pause } else { Duration::ZERO };
        self.steps().iter().map(waits).sum()
    }

    /// What the server has to do.
    pub(super) fn steps(&self) -> Vec<Step> {
        let (wire, mut pauses) = self.wire();
        pauses.sort_unstable();
        let mut steps = Vec::new();
        push_wait(&mut steps, self.delay);
        let mut from = 0;
        for (at, pause) in pauses.into_iter().chain([(wire.len(), Duration::ZERO)]) {
            self.push_bytes(&mut steps, &wire[from..at]);
            push_wait(&mut steps, pause);
            from = at;
        }
        if let Body::Endless { bytes, gap, chunked } = &self.body {
            let bytes = if *chunked { chunk(bytes) } else { bytes.clone() };
            steps.push(Step::Endless { bytes, gap: *gap });
        }
        steps
    }

    fn push_bytes(&self, steps: &mut Vec<Step>, bytes: &[u8]) {
        match self.byte_by_byte {
            Some(gap) => {
                for byte in bytes {
                    if steps.iter().any(|step| matches!(step, Step::Send(_))) {
                        push_wait(steps, gap);
                    }
                    steps.push(Step::Send(vec![*byte]));
                }
            }
            None if bytes.is_empty() => {}
            None => steps.push(Step::Send(bytes.to_vec())),
        }
    }

    /// All bytes, and the offsets at which to pause.
    fn wire(&self) -> (Vec<u8>, Vec<(usize, Duration)>) {
        let mut wire = self.interim.clone();
        let head_from = wire.len();
        if let Some(raw) = &self.raw {
            wire.extend_from_slice(raw);
        } else {
            wire.extend_from_slice(self.head().as_bytes());
        }
        let body_from = wire.len();
        if self.raw.is_none() {
            wire.extend_from_slice(&self.body_on_wire());
        }
        let body_bytes = wire.len() - body_from;
        let (size_bytes, first_chunk_bytes) = match &self.body {
            Body::Chunked { chunks, .. } => chunks
                .first()
                .map_or((0, 0), |first| (format!("{:x}\r\n", first.len()).len(), first.len())),
            _ => (0, 0),
        };
        let offset = |place| match place {
            Place::InHead => head_from + (body_from - head_from) / 2,
            Place::BeforeBody => body_from,
            Place::InBody => body_from + body_bytes / 2,
            Place::InChunkSize => body_from + 1,
            Place::InChunk => body_from + size_bytes + first_chunk_bytes / 2,
        };
        let pauses = self
            .pauses
            .iter()
            .map(|(place, pause)| (offset(*place).min(wire.len()), *pause))
            .collect();
        wire.extend_from_slice(&self.surplus);
        (wire, pauses)
    }

    fn head(&self) -> String {
        let status = self.status.unwrap_or(200);
        let mut head =
            format!("HTTP/1.1 {status} {}\r\nContent-Type: text/plain\r\n", reason(status));
        match &self.body {
            Body::Sized { declared: Some(length), .. } => {
                head += &format!("Content-Length: {length}\r\n")
            }
            Body::Chunked { .. } | Body::Endless { chunked: true, .. } => {
                head += "Transfer-Encoding: chunked\r\n"
            }
            Body::Sized { declared: None, .. }
            | Body::UntilClose(_)
            | Body::Endless { chunked: false, .. } => {}
        }
        for line in &self.headers {
            head += line;
            head += "\r\n";
        }
        head + "\r\n"
    }

    fn body_on_wire(&self) -> Vec<u8> {
        match &self.body {
            Body::Sized { bytes, .. } | Body::UntilClose(bytes) => bytes.clone(),
            Body::Endless { .. } => Vec::new(),
            Body::Chunked { chunks, trailers } => {
                let mut wire: Vec<u8> = chunks.iter().flat_map(|bytes| chunk(bytes)).collect();
                wire.extend_from_slice(b"0\r\n");
                for line in trailers {
                    wire.extend_from_slice(line.as_bytes());
                    wire.extend_from_slice(b"\r\n");
                }
                wire.extend_from_slice(b"\r\n");
                wire
            }
        }
    }
}

fn push_wait(steps: &mut Vec<Step>, pause: Duration) {
    if pause > Duration::ZERO {
        steps.push(Step::Wait(pause));
    }
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut wire = format!("{:x}\r\n", bytes.len()).into_bytes();
    wire.extend_from_slice(bytes);
    wire.extend_from_slice(b"\r\n");
    wire
}

fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        103 => "Early Hints",
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        304 => "Not Modified",
        404 => "Not Found",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Step};
    use std::time::Duration;

    const PAUSE: Duration = Duration::from_millis(30);

    fn parts(answer: &Answer) -> Vec<String> {
        let part = |step: &Step| match step {
            Step::Send(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            Step::Wait(pause) => format!("{pause:?}"),
            Step::Endless { bytes, gap } => {
                format!("{:?} every {gap:?}", String::from_utf8_lossy(bytes))
            }
        };
        answer.steps().iter().map(part).collect()
    }

    #[test]
    fn pauses_lie_where_they_say() {
        let plain = Answer::ok(b"abcd");
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n";
        assert_eq!(parts(&plain), [format!("{head}abcd")]);
        assert_eq!(parts(&plain.clone().pause_before_body(PAUSE)), [head, "30ms", "abcd"]);
        assert_eq!(
            parts(&plain.clone().pause_in_body(PAUSE)),
            [&format!("{head}ab"), "30ms", "cd"]
        );
        let in_head = parts(&plain.pause_in_head(PAUSE).delay(PAUSE));
        assert_eq!((in_head[0].as_str(), in_head[2].as_str(), in_head.len()), ("30ms", "30ms", 4));
        assert_eq!(format!("{}{}", in_head[1], in_head[3]), format!("{head}abcd"));
    }

    #[test]
    fn chunks_and_trailers() {
        let answer = Answer::ok(b"abcdefghijklmnopqrstuvwxyz").chunked(16, &["X-Sum: 1"]);
        let wire = parts(&answer).concat();
        assert!(
            wire.ends_with(
                "\r\n\r\n10\r\nabcdefghijklmnop\r\na\r\nqrstuvwxyz\r\n0\r\nX-Sum: 1\r\n\r\n"
            ),
            "{wire}"
        );
        assert!(parts(&answer.clone().pause_in_chunk_size(PAUSE))[2].starts_with("0\r\nabc"));
        assert!(parts(&answer.pause_in_chunk(PAUSE))[2].starts_with("ijklmnop\r\n"));
    }

    #[test]
    fn byte_by_byte_waits_between_bytes_only() {
        let steps = Answer::raw(b"abc").byte_by_byte(PAUSE).steps();
        assert_eq!(steps.len(), 5);
        assert_eq!(Answer::raw(b"abc").byte_by_byte(PAUSE).wait(), 2 * PAUSE);
    }

    #[test]
    fn surplus_leaves_with_the_end() {
        assert!(
            parts(&Answer::ok(b"x").surplus(b"HTTP/1.1 200 OK"))
                .concat()
                .ends_with("\r\n\r\nxHTTP/1.1 200 OK")
        );
        assert_eq!(Answer::ok(b"x").surplus(b"y").steps().len(), 1);
    }

    #[test]
    fn a_body_without_end() {
        let steps = Answer::ok(b"ab").endless(PAUSE, true).steps();
        assert_eq!(steps[1], Step::Endless { bytes: b"2\r\nab\r\n".to_vec(), gap: PAUSE });
    }
}
