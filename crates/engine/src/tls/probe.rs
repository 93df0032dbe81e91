//! One handshake by itself, before a load: whether it would succeed, and if not, why.
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use pippin_model::tls::{Negotiated, TlsSpec};

use super::{Client, Session, reason};
use crate::error::{EngineError, Remedy};

/// Connects, does the handshake and says goodbye.
pub(crate) fn handshake(
    address: SocketAddr,
    spec: &TlsSpec,
    timeout: Duration,
) -> Result<Negotiated, EngineError> {
    let client = Client::new(spec)?;
    converse(address, &client, timeout)
        .map_err(|Failed { reason, remedy }| EngineError::Handshake { address, reason, remedy })
}

/// A handshake that did not come to its end.
struct Failed {
    reason: String,
    remedy: Option<Remedy>,
}

impl From<rustls::Error> for Failed {
    fn from(error: rustls::Error) -> Self {
        Self { reason: reason::in_words(&error), remedy: reason::remedy(&error) }
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => reason::HANDSHAKE_TIMEOUT.into(),
            _ => format!("{}: {error}", reason::RESET_IN_HANDSHAKE),
        };
        Self { reason, remedy: None }
    }
}

fn converse(address: SocketAddr, client: &Client, timeout: Duration) -> Result<Negotiated, Failed> {
    let until = Instant::now() + timeout;
    let mut stream = TcpStream::connect_timeout(&address, timeout)?;
    let mut session = Session::new(client)?;
    let mut buffer = vec![0; 16 * 1024];
    loop {
        stream.write_all(session.outgoing())?;
        session.took(session.outgoing().len());
        if session.is_secured() {
            break;
        }
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left))?;
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Err(Failed { reason: reason::CLOSED_IN_HANDSHAKE.into(), remedy: None });
        }
        if let Err(error) = session.receive(&mut buffer[..length], &mut Vec::new()) {
            // The alert is a courtesy.
            let _ = stream.write_all(session.outgoing());
            return Err(error.into());
        }
    }
    session.say_goodbye();
    let _ = stream.write_all(session.outgoing());
    Ok(session.negotiated())
}
