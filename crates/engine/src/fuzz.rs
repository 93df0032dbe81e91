//! The parsers of server data, for fuzzing (feature `fuzz`; the crate `pippin-fuzz` calls them).
//!
//! Each function panics if a parser breaks its guarantees. It returns a number that stands for what
//! the parser did: input with a new number is worth mutating further.
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use pippin_model::load::Protocol;
use pippin_model::load::tls::TlsSpec;

use crate::protocol::http1::{DecodeError, Decoder, HeadCache, HeadInfo, Rules, Sink};
pub use crate::protocol::http2::fuzz::{frames, hpack};
pub use crate::protocol::http3::fuzz::{answer, section};
use crate::tls::{Client, Session};

/// The number of an outcome.
pub(crate) fn number(outcome: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    outcome.hash(&mut hasher);
    hasher.finish()
}

/// A rough count: small differences are not news.
pub(crate) const fn roughly(count: usize) -> u32 {
    usize::BITS - count.leading_zeros()
}

#[derive(Default, PartialEq, Debug)]
struct Account {
    interim: Vec<u16>,
    heads: Vec<HeadInfo>,
    body: Vec<u8>,
    complete: usize,
    fault: Option<DecodeError>,
}

const HEAD_BYTES: u32 = 512;
const BODY_BYTES: u64 = 4_096;

impl Sink for Account {
    fn interim(&mut self, status: u16) {
        self.interim.push(status);
    }
    fn head(&mut self, info: &HeadInfo, raw: &[u8]) {
        assert!(raw.len() <= HEAD_BYTES as usize && raw.ends_with(b"\r\n\r\n"));
        self.heads.push(*info);
    }
    fn body(&mut self, piece: &[u8]) {
        assert!(!piece.is_empty());
        self.body.extend_from_slice(piece);
    }
}

/// Reads answers of HTTP/1.1 until the bytes end or are rejected.
fn answers(bytes: &[u8], size: usize, head_only: bool) -> Account {
    let rules = Rules { head_only, head_bytes: HEAD_BYTES, body_bytes: BODY_BYTES };
    let (mut decoder, mut cache) = (Decoder::new(), HeadCache::default());
    let mut seen = Account::default();
    for mut piece in bytes.chunks(size) {
        while !piece.is_empty() {
            match decoder.decode(piece, &rules, &mut cache, &mut seen) {
                Err(fault) => {
                    seen.fault = Some(fault);
                    return seen;
                }
                Ok(step) => {
                    assert!(step.used <= piece.len());
                    assert!(step.complete || step.used == piece.len());
                    assert!(step.used > 0 || step.complete);
                    seen.complete += usize::from(step.complete);
                    piece = &piece[step.used..];
                }
            }
            assert!(decoder.body_bytes() <= BODY_BYTES);
        }
    }
    seen
}

/// The HTTP/1.1 decoder keeps its limits, and finds the same in the bytes however they are cut. The
/// first two bytes say how to cut them.
pub fn decoder(input: &[u8]) -> u64 {
    let [size, flags, bytes @ ..] = input else { return 0 };
    let head_only = flags & 1 == 1;
    let mut whole = answers(bytes, bytes.len().max(1), head_only);
    let mut cut = answers(bytes, usize::from(*size).max(1), head_only);
    // A part of a body may have been handed on before the body was rejected.
    if whole.fault.is_some() {
        whole.body.clear();
        cut.body.clear();
    }
    assert_eq!(whole, cut);
    let head = whole.heads.last().map(|head| (head.status / 100, head.keep_alive));
    let framing = whole.heads.last().map(|head| std::mem::discriminant(&head.framing));
    let fault = whole.fault.map(|fault| match fault {
        DecodeError::Malformed(why) | DecodeError::TooLarge(why) => why,
    });
    number((
        head,
        framing,
        fault,
        roughly(whole.complete),
        roughly(whole.interim.len()),
        roughly(whole.body.len()),
    ))
}

/// A client that trusts anybody.
static CLIENT: LazyLock<Option<Client>> = LazyLock::new(|| {
    let spec = TlsSpec {
        server_name: "localhost".into(),
        extra_roots_pem: None,
        verify: false,
        resume: false,
        client: None,
    };
    Client::new(&spec, Protocol::Http1).ok()
});

/// A TLS session as a worker drives it, for a caller who is the server.
pub struct Secured(Session);

impl Secured {
    /// Its first message is in [`Secured::take_outgoing`]. `None` if there can be none.
    #[must_use]
    pub fn new() -> Option<Self> {
        Session::new(CLIENT.as_ref()?).ok().map(Self)
    }

    /// Whether the handshake is done.
    #[must_use]
    pub const fn is_secured(&self) -> bool {
        self.0.is_secured()
    }

    /// What it wants to send, in pieces of this size.
    #[must_use]
    pub fn take_outgoing(&mut self, size: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while !self.0.outgoing().is_empty() {
            let taken = size.clamp(1, self.0.outgoing().len());
            all.extend_from_slice(&self.0.outgoing()[..taken]);
            self.0.took(taken);
        }
        all
    }

    /// Gives it bytes of the network; what they hold is appended to `plaintext`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn receive(&mut self, piece: &[u8], plaintext: &mut Vec<u8>) -> Result<(), String> {
        self.0.receive(&mut piece.to_vec(), plaintext).map_err(|error| error.to_string())
    }

    /// Encrypts; whether it may.
    pub fn seal(&mut self, plaintext: &[u8]) -> bool {
        self.0.seal(plaintext).is_ok()
    }

    /// Says that nothing more will be sent.
    pub fn say_goodbye(&mut self) {
        self.0.say_goodbye();
    }
}

/// A TLS session takes any bytes in its handshake, in pieces of the size that the first byte says,
/// and can be asked for everything afterwards.
pub fn records(input: &[u8]) -> u64 {
    let [size, bytes @ ..] = input else { return 0 };
    let Some(Ok(mut session)) = CLIENT.as_ref().map(Session::new) else { return 0 };
    let (mut plaintext, mut fault) = (Vec::new(), None);
    for piece in bytes.chunks(usize::from(*size).max(1)) {
        if let Err(error) = session.receive(&mut piece.to_vec(), &mut plaintext) {
            fault = Some(error.to_string());
        }
        assert!(session.seal(b"GET / HTTP/1.1\r\n\r\n").is_err(), "there was no handshake");
    }
    session.say_goodbye();
    assert!(plaintext.is_empty() && !session.is_secured());
    number((fault, roughly(session.outgoing().len())))
}
