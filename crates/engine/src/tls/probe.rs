//! One handshake by itself, before a load: whether it would succeed, and if not, why.
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use pippin_model::tls::{Negotiated, TlsSpec};

use super::{Client, Session, reason};
use crate::error::EngineError;

/// Connects, does the handshake and says goodbye.
pub(crate) fn handshake(address: SocketAddr, spec: &TlsSpec, timeout: Duration) -> Result<Negotiated, EngineError> {
    let client = Client::new(spec)?;
    converse(address, &client, timeout).map_err(|reason| EngineError::Handshake { address, reason })
}

fn converse(address: SocketAddr, client: &Client, timeout: Duration) -> Result<Negotiated, String> {
    let broken = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => reason::HANDSHAKE_TIMEOUT.to_string(),
        _ => format!("{}: {error}", reason::RESET_IN_HANDSHAKE),
    };
    let until = Instant::now() + timeout;
    let mut stream = TcpStream::connect_timeout(&address, timeout).map_err(broken)?;
    let mut session = Session::new(client, 0).map_err(|error| reason::in_words(&error))?;
    let mut buffer = vec![0; 16 * 1024];
    loop {
        stream.write_all(session.outgoing()).map_err(broken)?;
        session.took(session.outgoing().len());
        if session.is_secured() {
            break;
        }
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left)).map_err(broken)?;
        let length = stream.read(&mut buffer).map_err(broken)?;
        if length == 0 {
            return Err(reason::CLOSED_IN_HANDSHAKE.into());
        }
        if let Err(error) = session.receive(&mut buffer[..length], &mut Vec::new()) {
            // The alert is a courtesy.
            let _ = stream.write_all(session.outgoing());
            return Err(reason::in_words(&error));
        }
    }
    session.say_goodbye();
    let _ = stream.write_all(session.outgoing());
    Ok(session.negotiated())
}
