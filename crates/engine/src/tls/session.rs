//! The TLS of one connection: network bytes on one side, HTTP bytes on the other. It owns no socket
//! and reads no clock.
use std::sync::Arc;

use pippin_model::load::tls::Negotiated;
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{Error, HandshakeKind};

use super::Client;

/// A record's header, padding type and tag: 22 bytes in TLS 1.3, 29 in TLS 1.2; and a key update
/// that may go first.
const RECORD_OVERHEAD: usize = 64;
/// The plaintext of a record at the most (RFC 8446 section 5.1).
const RECORD_BYTES: usize = 16 * 1024;
/// Room for a message of the handshake, most of which are shorter.
const HANDSHAKE_BYTES: usize = 1024;
/// Output buffers up to this size are kept for the next request; larger ones are freed.
const KEPT_BYTES: usize = 4 * 1024;

/// The state of a secured connection, or of one that is being secured.
pub(crate) struct Session {
    tls: UnbufferedClientConnection,
    /// An incomplete record or handshake message.
    incoming: Vec<u8>,
    /// Ciphertext from `sent` on is still to be handed to the kernel.
    outgoing: Vec<u8>,
    sent: usize,
    is_secured: bool,
    is_closed_by_peer: bool,
    /// An error has occurred. rustls must not be asked again: it may still point into bytes that
    /// are gone, and would panic (docs/decisions/rustls-panics.md).
    has_failed: bool,
    /// The kernel does not take more at the moment.
    pub is_blocked: bool,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { is_secured, is_closed_by_peer, is_blocked, .. } = self;
        formatter
            .debug_struct("Session")
            .field("is_secured", is_secured)
            .field("is_closed_by_peer", is_closed_by_peer)
            .field("is_blocked", is_blocked)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// A session whose first message lies in [`Session::outgoing`].
    pub fn new(client: &Client) -> Result<Self, Error> {
        let tls = UnbufferedClientConnection::new(
            Arc::clone(&client.config),
            client.server_name.clone(),
        )?;
        let (incoming, outgoing) = (Vec::new(), Vec::new());
        let mut session = Self {
            tls,
            incoming,
            outgoing,
            sent: 0,
            is_secured: false,
            is_closed_by_peer: false,
            has_failed: false,
            is_blocked: false,
        };
        session.receive(&mut [], &mut Vec::new())?;
        Ok(session)
    }

    /// Whether the handshake is done.
    pub const fn is_secured(&self) -> bool {
        self.is_secured
    }

    /// Whether the server has ended its side with close_notify: nothing more comes, and nothing is
    /// missing.
    pub const fn is_closed_by_peer(&self) -> bool {
        self.is_closed_by_peer
    }

    /// Takes what the network brought, in pieces of any size, and appends what it holds to
    /// `plaintext`. `input` is decrypted in place.
    ///
    /// # Errors
    /// If the bytes break the rules of TLS, or an alert came. The session is then of no further
    /// use; an alert for the server may lie in [`Session::outgoing`].
    pub fn receive(&mut self, input: &mut [u8], plaintext: &mut Vec<u8>) -> Result<(), Error> {
        if self.has_failed {
            return Err(Error::General("the session has failed before".into()));
        }
        let result = self.take(input, plaintext);
        self.has_failed = result.is_err();
        result
    }

    fn take(&mut self, input: &mut [u8], plaintext: &mut Vec<u8>) -> Result<(), Error> {
        if self.incoming.is_empty() {
            let used = self.drive(input, plaintext)?;
            if used < input.len() {
                self.incoming.extend_from_slice(&input[used..]);
            }
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.incoming);
        bytes.extend_from_slice(input);
        let used = self.drive(&mut bytes, plaintext)?;
        bytes.drain(..used);
        if !bytes.is_empty() {
            self.incoming = bytes;
        }
        Ok(())
    }

    /// Goes on until the session needs more bytes. Returns how many of `bytes` it has used.
    fn drive(&mut self, bytes: &mut [u8], plaintext: &mut Vec<u8>) -> Result<usize, Error> {
        let mut used = 0;
        loop {
            let UnbufferedStatus { mut discard, state } =
                self.tls.process_tls_records(&mut bytes[used..]);
            let mut goes_on = true;
            match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record?;
                        discard += record.discard;
                        plaintext.extend_from_slice(record.payload);
                    }
                }
                Ok(ConnectionState::EncodeTlsData(mut message)) => {
                    grow(&mut self.outgoing, HANDSHAKE_BYTES, |space| message.encode(space))?
                }
                // Done as far as the session is concerned: `outgoing` is sent in order later.
                Ok(ConnectionState::TransmitTlsData(message)) => message.done(),
                Ok(ConnectionState::PeerClosed) => self.is_closed_by_peer = true,
                Ok(ConnectionState::WriteTraffic(_)) => {
                    self.is_secured = true;
                    goes_on = false;
                }
                Ok(_) => goes_on = false,
                Err(error) => {
                    self.encode_alert(&mut bytes[used..]);
                    return Err(error);
                }
            }
            used += discard;
            if !goes_on {
                return Ok(used);
            }
        }
    }

    /// After an error: writes the alert that tells the server, if there is one. `bytes` are those
    /// of the call that failed, none removed: rustls may point anywhere into them.
    fn encode_alert(&mut self, bytes: &mut [u8]) {
        if let Ok(ConnectionState::EncodeTlsData(mut message)) =
            self.tls.process_tls_records(bytes).state
        {
            // If the alert cannot be written, that is not a second error.
            let _ = grow(&mut self.outgoing, RECORD_OVERHEAD, |space| message.encode(space));
        }
    }

    /// Encrypts; the ciphertext is appended to [`Session::outgoing`].
    ///
    /// # Errors
    /// If the session is not secured or has failed.
    pub fn seal(&mut self, plaintext: &[u8]) -> Result<(), Error> {
        if !self.is_secured || self.has_failed {
            return Err(Error::HandshakeNotComplete);
        }
        let space = plaintext.len() + (plaintext.len() / RECORD_BYTES + 1) * RECORD_OVERHEAD;
        match self.tls.process_tls_records(&mut self.incoming).state? {
            ConnectionState::WriteTraffic(mut traffic) => {
                grow(&mut self.outgoing, space, |space| traffic.encrypt(plaintext, space))
            }
            _ => Err(Error::HandshakeNotComplete),
        }
    }

    /// Says that nothing more will be sent (RFC 8446 section 6.1).
    pub fn say_goodbye(&mut self) {
        if !self.is_secured || self.has_failed {
            return;
        }
        if let Ok(ConnectionState::WriteTraffic(mut traffic)) =
            self.tls.process_tls_records(&mut self.incoming).state
        {
            // A failure does not matter: the connection is closed next.
            let _ = grow(&mut self.outgoing, RECORD_OVERHEAD, |space| {
                traffic.queue_close_notify(space)
            });
        }
    }

    /// Ciphertext that is still to be handed to the kernel.
    pub fn outgoing(&self) -> &[u8] {
        &self.outgoing[self.sent..]
    }

    /// The kernel has taken `count` bytes of it.
    pub fn took(&mut self, count: usize) {
        self.sent += count;
        if self.sent == self.outgoing.len() {
            self.sent = 0;
            self.outgoing.clear();
            self.outgoing.shrink_to(KEPT_BYTES);
        }
    }

    /// What the handshake agreed on, once it is done.
    pub fn negotiated(&self) -> Negotiated {
        Negotiated {
            version: self
                .tls
                .protocol_version()
                .and_then(|version| version.as_str())
                .map_or("unknown".into(), version_name),
            cipher_suite: self
                .tls
                .negotiated_cipher_suite()
                .and_then(|suite| suite.suite().as_str())
                .unwrap_or("unknown")
                .into(),
            key_exchange: self
                .tls
                .negotiated_key_exchange_group()
                .and_then(|group| group.name().as_str())
                .map(Into::into),
            alpn: self.tls.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()),
            handshakes: 1,
            resumed: u64::from(self.tls.handshake_kind() == Some(HandshakeKind::Resumed)),
        }
    }
}

/// `TLSv1_3` as everybody writes it: `TLSv1.3`.
fn version_name(name: &str) -> String {
    name.replace('_', ".")
}

/// The error for too little space, with the size that would be enough.
trait TooSmall {
    fn needed(&self) -> Option<usize>;
}

impl TooSmall for EncodeError {
    fn needed(&self) -> Option<usize> {
        match self {
            Self::InsufficientSize(size) => Some(size.required_size),
            Self::AlreadyEncoded => None,
        }
    }
}

impl TooSmall for EncryptError {
    fn needed(&self) -> Option<usize> {
        match self {
            Self::InsufficientSize(size) => Some(size.required_size),
            Self::EncryptExhausted => None,
        }
    }
}

/// Appends to `bytes` what `write` writes, which gets `space` bytes, or as many as it says it
/// needs.
fn grow<E: TooSmall + ToString>(
    bytes: &mut Vec<u8>,
    space: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, E>,
) -> Result<(), Error> {
    let before = bytes.len();
    bytes.resize(before + space, 0);
    let mut written = write(&mut bytes[before..]);
    if let Err(needed) = written.as_ref().map_err(TooSmall::needed)
        && let Some(needed) = needed
    {
        bytes.resize(before + needed, 0);
        written = write(&mut bytes[before..]);
    }
    bytes.truncate(before + written.as_ref().copied().unwrap_or(0));
    written.map(drop).map_err(|error| Error::General(error.to_string()))
}
