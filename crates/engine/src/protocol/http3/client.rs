//! One connection before a load: whether the server speaks HTTP/3. Blocking, on a UDP socket of its own.
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use pippin_model::load::tls::Negotiated;

use super::datagrams::Datagrams;
use super::protocol::{negotiated, settings};
use super::session::{Origin, Session};
use crate::protocol::http2::Limits;
use crate::protocol::{Bytes, Outgoing as _};
use crate::tls::Client;

/// The largest datagram that UDP has.
const DATAGRAM_BYTES: usize = 65_536;

/// Makes a handshake with the server to which a socket is connected, and says goodbye. What it agreed on.
///
/// # Errors
/// Why there is no connection, in words.
pub(crate) fn greet(
    socket: &UdpSocket,
    client: &Client,
    limit: Duration,
) -> Result<Negotiated, String> {
    let words = |error: io::Error| match error.kind() {
        ErrorKind::ConnectionRefused => "nobody listens on this UDP port".into(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("no answer within {} ms", limit.as_millis())
        }
        _ => error.to_string(),
    };
    let end = Instant::now() + limit;
    let limits = Limits { head_bytes: 16 * 1024, body_bytes: 0 };
    let settings = settings(client, limits, 1)?;
    let origin = Origin::new();
    let begin = Instant::now();
    let now = || origin.instant(begin.elapsed().as_nanos() as u64);
    let mut session = Session::new(&settings, now())?;
    let mut out = Datagrams::default();
    let mut buffer = vec![0; DATAGRAM_BYTES];
    session.transmit(now(), &mut out);
    loop {
        send_all(socket, &mut out).map_err(words)?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(words(ErrorKind::TimedOut.into()));
        }
        let due = session.due(origin).map_or(left, |due| {
            Duration::from_nanos(due).saturating_sub(begin.elapsed()).max(Duration::from_millis(1))
        });
        socket.set_read_timeout(Some(due.min(left))).map_err(words)?;
        let length = match socket.recv(&mut buffer) {
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => 0,
            Err(error) => return Err(words(error)),
        };
        match session.greet(&buffer[..length], now(), &mut out) {
            Ok(false) => {}
            Ok(true) => {
                session.leave(now(), &mut out);
                _ = send_all(socket, &mut out);
                return Ok(negotiated(&session));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn send_all(socket: &UdpSocket, out: &mut Datagrams) -> io::Result<()> {
    while !out.is_empty() {
        let Bytes::Own(bytes) = out.bytes() else { return Ok(()) };
        let length = bytes.len() as u32;
        socket.send(bytes)?;
        out.took(length);
    }
    Ok(())
}
