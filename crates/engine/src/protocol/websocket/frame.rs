//! How frames are written and read (RFC 6455 section 5.2).

/// What a frame is (section 5.2).
pub(super) mod opcode {
    /// Set in the last frame of a message, and in control frames.
    pub const FINAL: u8 = 0x80;
    pub const CONTINUATION: u8 = 0x0;
    pub const TEXT: u8 = 0x1;
    pub const BINARY: u8 = 0x2;
    pub const CLOSE: u8 = 0x8;
    pub const PING: u8 = 0x9;
    pub const PONG: u8 = 0xA;
}

/// Why a connection ends (section 7.4.1).
pub(super) mod code {
    pub const NORMAL: u16 = 1000;
    pub const PROTOCOL_ERROR: u16 = 1002;
    /// Never sent: a Close frame without a code.
    pub const NONE: u16 = 1005;
    pub const NOT_UTF8: u16 = 1007;
    pub const TOO_LARGE: u16 = 1009;
}

/// The longest payload of a Close, a Ping or a Pong (section 5.5).
const MOST_CONTROL: u64 = 125;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;

/// A rule that the server has broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Breach {
    #[error("the server masked a frame (section 5.1)")]
    Masked,
    #[error("a frame has reserved bits set, and no extension was agreed on (section 5.2)")]
    Reserved,
    #[error("a frame of an unknown kind (section 5.2)")]
    Opcode,
    #[error("a length is not in its shortest form (section 5.2)")]
    Length,
    #[error("a control frame is longer than 125 bytes or in fragments (section 5.5)")]
    Control,
    #[error("a message began within another one (section 5.4)")]
    Interleaved,
    #[error("a fragment of no message (section 5.4)")]
    Stray,
    #[error("a text is not UTF-8 (section 8.1)")]
    NotUtf8,
    #[error("a Close frame has no proper code (section 7.4)")]
    Code,
    #[error("a message is beyond the limit")]
    TooLarge,
    #[error("pings without end, while the server reads no pong")]
    Flood,
}

impl Breach {
    /// The code with which the connection is closed for it.
    pub const fn code(self) -> u16 {
        match self {
            Self::NotUtf8 => code::NOT_UTF8,
            Self::TooLarge => code::TOO_LARGE,
            _ => code::PROTOCOL_ERROR,
        }
    }
}

/// The header of a frame of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub is_final: bool,
    pub opcode: u8,
    pub length: u64,
}

impl Header {
    pub const fn is_control(self) -> bool {
        self.opcode >= opcode::CLOSE
    }
}

/// A header that is being read. A server's has up to 10 bytes, as it has no mask.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    bytes: [u8; 10],
    have: u8,
}

impl Incoming {
    /// Whether a header has begun to come.
    pub const fn has_begun(&self) -> bool {
        self.have > 0
    }

    /// Reads on; the header if it is complete now, and how many bytes of `input` it took. Otherwise
    /// it took them all.
    #[inline]
    pub fn read(&mut self, input: &[u8]) -> Result<Option<(Header, usize)>, Breach> {
        let mut taken = 0;
        loop {
            let whole = match self.bytes[1] & !MASKED {
                _ if self.have < 2 => 2,
                126 => 4,
                127 => 10,
                _ => 2,
            };
            let have = usize::from(self.have);
            if have == whole {
                let header = self.parse(whole)?;
                self.have = 0;
                return Ok(Some((header, taken)));
            }
            let more = (whole - have).min(input.len() - taken);
            if more == 0 {
                return Ok(None);
            }
            self.bytes[have..have + more].copy_from_slice(&input[taken..taken + more]);
            taken += more;
            self.have += more as u8;
            if self.have >= 2 {
                Self::check(self.bytes[0], self.bytes[1])?;
            }
        }
    }

    /// What the first two bytes say.
    #[inline]
    const fn check(first: u8, second: u8) -> Result<(), Breach> {
        if second & MASKED != 0 {
            return Err(Breach::Masked);
        }
        if first & RESERVED != 0 {
            return Err(Breach::Reserved);
        }
        match first & 0x0F {
            opcode::CONTINUATION | opcode::TEXT | opcode::BINARY => Ok(()),
            opcode::CLOSE | opcode::PING | opcode::PONG
                if first & opcode::FINAL == 0 || second as u64 > MOST_CONTROL =>
            {
                Err(Breach::Control)
            }
            opcode::CLOSE | opcode::PING | opcode::PONG => Ok(()),
            _ => Err(Breach::Opcode),
        }
    }

    #[inline]
    fn parse(&self, whole: usize) -> Result<Header, Breach> {
        let bytes = &self.bytes;
        let (length, least) = match whole {
            4 => (u64::from(u16::from_be_bytes([bytes[2], bytes[3]])), 126),
            10 => {
                let [_, _, length @ ..] = *bytes;
                (u64::from_be_bytes(length), 1 << 16)
            }
            _ => (u64::from(bytes[1]), 0),
        };
        // The highest bit is no part of a length.
        if length < least || length >> 63 != 0 {
            return Err(Breach::Length);
        }
        Ok(Header { is_final: bytes[0] & opcode::FINAL != 0, opcode: bytes[0] & 0x0F, length })
    }
}

/// Appends the header of a frame, which a client masks; `first` is its kind, and whether it is
/// final.
#[inline]
pub(super) fn begin(out: &mut Vec<u8>, first: u8, length: usize, mask: [u8; 4]) {
    out.push(first);
    match length {
        0..=125 => out.push(MASKED | length as u8),
        126..=0xFFFF => {
            out.push(MASKED | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            out.push(MASKED | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&mask);
}

/// Masks a payload (section 5.3).
#[inline]
pub(super) fn mask(payload: &mut [u8], mask: [u8; 4]) {
    let wide = u64::from_ne_bytes([
        mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3],
    ]);
    let (words, rest) = payload.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= key;
    }
}

/// Appends a frame with this payload.
pub(super) fn put(out: &mut Vec<u8>, first: u8, payload: &[u8], key: [u8; 4]) {
    begin(out, first, payload.len(), key);
    let from = out.len();
    out.extend_from_slice(payload);
    mask(&mut out[from..], key);
}

/// Appends a Close frame.
pub(super) fn put_close(out: &mut Vec<u8>, code: u16, key: [u8; 4]) {
    put(out, opcode::FINAL | opcode::CLOSE, &code.to_be_bytes(), key);
}
