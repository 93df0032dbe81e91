//! How the servers of the world tell apart what they read.

/// Where what a client sends is cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Heads of HTTP/1.1 without bodies.
    Heads,
    /// Frames of [`crate::protocol::tests::Echo`].
    Echo,
    /// Frames of HTTP/2 (RFC 9113 section 4.1), behind the preface.
    Http2,
    /// Frames of WebSocket (RFC 6455 section 5.2), behind the head of the handshake.
    WebSocket,
}

/// What a server reads first of what has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub length: usize,
    /// It ends a request. Other pieces are what else a protocol says.
    pub ends_request: bool,
    /// What tells its answer from others, where answers come in any order.
    pub tag: u32,
}

impl Framing {
    /// The first whole piece; `None` if more must come. `is_first`: nothing came before it on its
    /// connection.
    pub fn first(self, is_first: bool, input: &[u8]) -> Option<Piece> {
        match self {
            Self::Heads => Some(Piece { length: head(input)?, ends_request: true, tag: 0 }),
            Self::Echo => echo(input),
            Self::Http2 if is_first => {
                input.get(..PREFACE_BYTES)?;
                Some(Piece { length: PREFACE_BYTES, ends_request: false, tag: 0 })
            }
            Self::Http2 => http2(input),
            Self::WebSocket if is_first => {
                Some(Piece { length: head(input)?, ends_request: false, tag: 0 })
            }
            Self::WebSocket => websocket(input),
        }
    }
}

const PREFACE_BYTES: usize = 24;

fn head(input: &[u8]) -> Option<usize> {
    Some(memchr::memmem::find(input, b"\r\n\r\n")? + 4)
}

fn echo(input: &[u8]) -> Option<Piece> {
    let length = 4 + u32::from_be_bytes(*input.first_chunk()?) as usize;
    let frame = input.get(..length)?;
    Some(Piece { length, ends_request: true, tag: u32::from_be_bytes(*frame[4..].first_chunk()?) })
}

/// DATA or HEADERS that end their stream are the end of a request.
fn http2(input: &[u8]) -> Option<Piece> {
    let [a, b, c, kind, flags, stream @ ..] = *input.first_chunk::<9>()?;
    let length = 9 + u32::from_be_bytes([0, a, b, c]) as usize;
    input.get(..length)?;
    let ends_request = kind <= 1 && flags & 1 == 1;
    Some(Piece { length, ends_request, tag: u32::from_be_bytes(stream) })
}

/// A client's frame has a mask of four bytes. Texts and binary messages are requests.
fn websocket(input: &[u8]) -> Option<Piece> {
    let [first, second] = *input.first_chunk()?;
    let (from, payload) = match second & 0x7F {
        126 => (4, u16::from_be_bytes(*input.get(2..)?.first_chunk()?) as usize),
        127 => (10, u64::from_be_bytes(*input.get(2..)?.first_chunk()?) as usize),
        short => (2, usize::from(short)),
    };
    let length = from + 4 + payload;
    input.get(..length)?;
    Some(Piece { length, ends_request: matches!(first & 0x0F, 1 | 2), tag: 0 })
}

/// The payload of a client's frame of WebSocket.
pub fn unmasked(frame: &[u8]) -> Vec<u8> {
    let from = match frame[1] & 0x7F {
        126 => 4,
        127 => 10,
        _ => 2,
    };
    let (mask, payload) = frame[from..].split_at(4);
    payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
}
