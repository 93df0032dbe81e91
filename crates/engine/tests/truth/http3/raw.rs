//! A server of QUIC whose streams have the bytes that a test says.
use pippin_testing::tls::Authority;
use quinn::VarInt;
use std::net::SocketAddr;
use std::sync::Arc;

use super::serving::{Room, Setup, listening};

/// How the server's side of a request's stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Fin,
    Reset(u32),
    /// It stays open.
    Open,
}

/// What the server does on each connection.
#[derive(Debug, Clone)]
pub(super) struct Behaviour {
    /// Its own streams in one direction, each with its bytes.
    pub streams: Vec<Vec<u8>>,
    /// Its first stream ends at once.
    pub ends_first: bool,
    /// It opens a stream in both directions.
    pub opens_both: bool,
    /// The bytes of each answer.
    pub answer: Vec<u8>,
    pub ending: Ending,
    /// It closes the connection with this code instead of an answer.
    pub closes: Option<u32>,
}

/// SETTINGS without any.
pub(super) const CONTROL: &[u8] = &[0x00, 0x04, 0x00];
/// HEADERS: `:status 200`.
pub(super) const OK: &[u8] = &[0x01, 0x03, 0x00, 0x00, 0xD9];
/// DATA: `hello`.
pub(super) const HELLO: &[u8] = b"\x00\x05hello";

impl Default for Behaviour {
    /// A right one.
    fn default() -> Self {
        Self {
            streams: vec![CONTROL.to_vec()],
            ends_first: false,
            opens_both: false,
            answer: [OK, HELLO].concat(),
            ending: Ending::Fin,
            closes: None,
        }
    }
}

pub(super) struct Raw {
    pub address: SocketAddr,
    pub authority: Authority,
    _room: Room,
}

impl Raw {
    pub fn new(behaviour: Behaviour) -> Self {
        let authority = Authority::new();
        let behaviour = Arc::new(behaviour);
        let (address, room) = listening(&authority, Setup::default(), move |connection| {
            let behaviour = Arc::clone(&behaviour);
            async move {
                let _ = serve(connection, behaviour).await;
            }
        });
        Self { address, authority, _room: room }
    }
}

async fn serve(
    connection: quinn::Connection,
    behaviour: Arc<Behaviour>,
) -> Result<(), quinn::ConnectionError> {
    let mut kept = Vec::new();
    for (nth, bytes) in behaviour.streams.iter().enumerate() {
        let mut stream = connection.open_uni().await?;
        let _ = stream.write_all(bytes).await;
        if nth == 0 && behaviour.ends_first {
            let _ = stream.finish();
        }
        kept.push(stream);
    }
    if behaviour.opens_both {
        // A client allows none: it never opens.
        let connection = connection.clone();
        tokio::spawn(async move { connection.open_bi().await.map(drop) });
    }
    loop {
        let (mut sending, mut receiving) = connection.accept_bi().await?;
        let _ = receiving.read_to_end(1 << 20).await;
        if let Some(code) = behaviour.closes {
            connection.close(VarInt::from_u32(code), b"");
        }
        let _ = sending.write_all(&behaviour.answer).await;
        match behaviour.ending {
            Ending::Fin => _ = sending.finish(),
            Ending::Reset(code) => _ = sending.reset(VarInt::from_u32(code)),
            Ending::Open => std::mem::forget(sending),
        }
    }
}
