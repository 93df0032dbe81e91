//! Frames: their header, kinds and flags (RFC 9113 sections 4.1 and 6).

/// What a client sends first (section 3.4).
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) const HEADER_BYTES: usize = 9;
/// The largest payload that both sides accept by default (section 6.5.2). The engine keeps the
/// default and never sends more.
pub(super) const MOST_BYTES: usize = 16_384;

/// Kinds of frames (section 6).
pub(super) mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// Flags; which kind has which is said in section 6.
pub(super) mod flag {
    pub const END_STREAM: u8 = 0x1;
    pub const ACK: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// Settings (section 6.5.2).
pub(super) mod setting {
    pub const HEADER_TABLE_SIZE: u16 = 1;
    pub const ENABLE_PUSH: u16 = 2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    pub const MAX_FRAME_SIZE: u16 = 5;
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// Error codes (section 7).
pub(super) mod code {
    pub const PROTOCOL_ERROR: u32 = 1;
    pub const REFUSED_STREAM: u32 = 7;
    pub const CANCEL: u32 = 8;

    /// RST_STREAM with this code, in words (section 7).
    pub const fn words(code: u32) -> &'static str {
        match code {
            0 => "RST_STREAM with NO_ERROR",
            1 => "RST_STREAM with PROTOCOL_ERROR",
            2 => "RST_STREAM with INTERNAL_ERROR",
            3 => "RST_STREAM with FLOW_CONTROL_ERROR",
            5 => "RST_STREAM with STREAM_CLOSED",
            6 => "RST_STREAM with FRAME_SIZE_ERROR",
            8 => "RST_STREAM with CANCEL",
            9 => "RST_STREAM with COMPRESSION_ERROR",
            11 => "RST_STREAM with ENHANCE_YOUR_CALM",
            13 => "RST_STREAM with HTTP_1_1_REQUIRED",
            _ => "RST_STREAM with another code",
        }
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Header {
    #[inline]
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            // The highest bit is reserved and has no meaning.
            stream: u32::from_be_bytes(stream) & 0x7FFF_FFFF,
        }
    }

    pub const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends the header of a frame.
#[inline]
pub(super) fn begin(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    let [d, e, f, g] = stream.to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags, d, e, f, g]);
}

/// Appends a frame whose payload is a number.
pub(super) fn put_number(out: &mut Vec<u8>, kind: u8, stream: u32, number: u32) {
    begin(out, 4, kind, 0, stream);
    out.extend_from_slice(&number.to_be_bytes());
}

/// Appends a header block: one frame, or several if it is long (section 4.3).
#[inline]
pub(super) fn put_block(out: &mut Vec<u8>, stream: u32, parts: [&[u8]; 2], ends_stream: bool) {
    let end_stream = if ends_stream { flag::END_STREAM } else { 0 };
    let [start, block] = parts;
    let length = start.len() + block.len();
    if length <= MOST_BYTES {
        begin(out, length, kind::HEADERS, end_stream | flag::END_HEADERS, stream);
        out.extend_from_slice(start);
        out.extend_from_slice(block);
        return;
    }
    let whole = parts.concat();
    let count = whole.len().div_ceil(MOST_BYTES);
    for (nth, piece) in whole.chunks(MOST_BYTES).enumerate() {
        let (kind, mut flags) =
            if nth == 0 { (kind::HEADERS, end_stream) } else { (kind::CONTINUATION, 0) };
        if nth + 1 == count {
            flags |= flag::END_HEADERS;
        }
        begin(out, piece.len(), kind, flags, stream);
        out.extend_from_slice(piece);
    }
}
