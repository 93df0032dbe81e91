//! Raw bytes to a server and back, on a connection of their own.
use pippin_engine::http1::client::Response;
use pippin_engine::http1::{Decoder, Eof, HeadCache, Rules};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long a server may take for all its answers.
const LIMIT: Duration = Duration::from_secs(2);
/// How long to wait for the end of a connection after the last answer.
const END: Duration = Duration::from_millis(300);
/// Between two pieces of a request, so that they are two segments.
const GAP: Duration = Duration::from_millis(20);

/// What is sent, and until when to listen.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The pieces, each sent as its own segment.
    pub pieces: Vec<Vec<u8>>,
    /// How many answers there should be.
    pub answers: usize,
    /// The answers have no body: they answer HEAD.
    pub is_head: bool,
    /// Listen until the server ends the connection.
    pub waits_for_end: bool,
    /// An interim answer is enough.
    pub interim_is_enough: bool,
}

impl Ask {
    fn is_post(&self) -> bool {
        self.pieces.first().is_some_and(|piece| piece.starts_with(b"POST "))
    }
}

/// What a server did.
#[derive(Debug, Default)]
pub struct Reaction {
    /// Its complete answers.
    pub answers: Vec<Response>,
    /// Interim answers.
    pub interim: Vec<u16>,
    /// Whether it ended the connection.
    pub closed: bool,
    /// Why no more answers could be read.
    pub broken: Option<String>,
    /// Whether its first answer to a POST says only that the path takes none (404, 405). It says
    /// nothing of the message's form, which the server may not have read yet.
    pub is_turned_away: bool,
}

impl Reaction {
    /// The status of the first answer; `None` if there was none.
    pub fn status(&self) -> Option<u16> {
        self.answers.first().map(|answer| answer.status)
    }

    /// In a few words, for the table.
    pub fn in_words(&self) -> String {
        let mut parts: Vec<String> = self.interim.iter().map(ToString::to_string).collect();
        parts.extend(self.answers.iter().map(|answer| answer.status.to_string()));
        if let Some(why) = &self.broken {
            parts.push(why.clone());
        }
        let words = if parts.is_empty() { "no answer".into() } else { parts.join(", ") };
        if self.closed { format!("{words}, closed") } else { words }
    }
}

/// Asks once.
pub fn with(address: SocketAddr, ask: &Ask) -> Reaction {
    let mut seen = Reaction::default();
    if let Err(error) = talk(address, ask, &mut seen) {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => seen.closed = true,
            _ => seen.broken = Some(error.to_string()),
        }
    }
    seen
}

fn talk(address: SocketAddr, ask: &Ask, seen: &mut Reaction) -> std::io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, LIMIT)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(LIMIT))?;
    for (nth, piece) in ask.pieces.iter().enumerate() {
        if nth > 0 {
            std::thread::sleep(GAP);
        }
        // A server may answer and close before it has read everything.
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    let mut answers = Answers::new(ask);
    let mut until = Instant::now() + LIMIT;
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        stream.set_read_timeout(Some(left))?;
        let length = stream.read(&mut buffer)?;
        let was_done = answers.are_enough(seen);
        if length == 0 {
            seen.closed = true;
            answers.end(seen);
            return Ok(());
        }
        answers.take(&buffer[..length], seen);
        if seen.broken.is_some() {
            return Ok(());
        }
        seen.is_turned_away = ask.is_post() && matches!(seen.status(), Some(404 | 405));
        if answers.are_enough(seen) {
            // What the server makes of the message shows by what it does next.
            if !ask.waits_for_end && !seen.is_turned_away {
                return Ok(());
            }
            if !was_done {
                until = Instant::now() + END;
            }
        }
    }
}

/// Splits what comes into answers.
struct Answers<'a> {
    ask: &'a Ask,
    rules: Rules,
    decoder: Decoder,
    cache: HeadCache,
    next: Response,
}

impl<'a> Answers<'a> {
    fn new(ask: &'a Ask) -> Self {
        let rules =
            Rules { head_only: ask.is_head, head_bytes: 64 * 1024, body_bytes: 16 * 1024 * 1024 };
        Self {
            ask,
            rules,
            decoder: Decoder::new(),
            cache: HeadCache::default(),
            next: Response::default(),
        }
    }

    fn are_enough(&self, seen: &Reaction) -> bool {
        seen.answers.len() >= self.ask.answers
            || self.ask.interim_is_enough && !seen.interim.is_empty()
    }

    fn take(&mut self, mut bytes: &[u8], seen: &mut Reaction) {
        while !bytes.is_empty() {
            let step = self.decoder.decode(bytes, &self.rules, &mut self.cache, &mut self.next);
            seen.interim.append(&mut self.next.interim);
            match step {
                Ok(step) => {
                    bytes = &bytes[step.used..];
                    if step.complete {
                        self.finish(seen);
                    } else if step.used == 0 {
                        return;
                    }
                }
                Err(error) => {
                    seen.broken = Some(error.to_string());
                    return;
                }
            }
        }
    }

    fn finish(&mut self, seen: &mut Reaction) {
        seen.answers.push(std::mem::take(&mut self.next));
        self.decoder = Decoder::new();
    }

    /// The connection has ended: an answer without a length is complete now.
    fn end(&mut self, seen: &mut Reaction) {
        match self.decoder.eof() {
            Eof::Complete => self.finish(seen),
            Eof::BeforeAnswer => {}
            Eof::InHead | Eof::InBody => seen.broken = Some("an answer that ends early".into()),
        }
    }
}
