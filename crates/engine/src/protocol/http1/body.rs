//! The chunked framing of a body (RFC 9112 section 7.1). Framing is read byte by byte, data slice
//! by slice.
use pippin_model::request::is_token;

use super::DecodeError;

/// Where in the chunked framing the decoder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    /// In the digits of a size; `digits` were read.
    Size { digits: u8 },
    /// In the part of a size line that is ignored: a chunk extension of this length so far.
    Extension { length: u16 },
    /// Before the LF of a size line.
    SizeLf,
    /// In the data.
    Data,
    /// Before the CR after the data.
    DataCr,
    /// Before the LF after the data.
    DataLf,
    /// At the start of a trailer line.
    LineStart,
    /// Inside a trailer line: in its name, or after its colon.
    Line { named: bool },
    /// Before the LF that ends a trailer line.
    LineLf,
    /// Before the LF that ends the whole answer.
    LastLf,
}

/// What one byte of framing led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Go(Chunk),
    Done,
}

/// More digits than 64 bits hold.
const MAX_DIGITS: u8 = 16;
const MAX_EXTENSION: u16 = 4096;

/// Reads one byte of framing; `size` is the chunk size, built up digit by digit.
pub(super) fn turn(state: Chunk, byte: u8, size: &mut u64) -> Result<Turn, DecodeError> {
    let next = match (state, byte) {
        (Chunk::Size { digits }, _) if byte.is_ascii_hexdigit() => {
            if digits == MAX_DIGITS {
                return Err(DecodeError::TooLarge("chunk size beyond 2^64"));
            }
            *size = (*size << 4) | u64::from(hex(byte));
            Chunk::Size { digits: digits + 1 }
        }
        (Chunk::Size { digits: 1.. }, b'\r') => Chunk::SizeLf,
        (Chunk::Size { digits: 1.. }, b';' | b' ' | b'\t') => Chunk::Extension { length: 0 },
        (Chunk::Extension { .. }, b'\r') => Chunk::SizeLf,
        (Chunk::Extension { length }, b'\t' | b' '..=b'~' | 0x80..) => {
            if length == MAX_EXTENSION {
                return Err(DecodeError::TooLarge("chunk extension beyond 4096 bytes"));
            }
            Chunk::Extension { length: length + 1 }
        }
        (Chunk::SizeLf, b'\n') if *size == 0 => Chunk::LineStart,
        (Chunk::SizeLf, b'\n') => Chunk::Data,
        (Chunk::DataCr, b'\r') => Chunk::DataLf,
        (Chunk::DataLf, b'\n') => {
            *size = 0;
            Chunk::Size { digits: 0 }
        }
        (Chunk::LineStart, b'\r') => Chunk::LastLf,
        (Chunk::LineStart | Chunk::Line { named: false }, _) if is_token(byte) => {
            Chunk::Line { named: false }
        }
        (Chunk::Line { named: false }, b':') => Chunk::Line { named: true },
        (Chunk::Line { named: true }, b'\r') => Chunk::LineLf,
        (Chunk::Line { named: true }, b'\t' | b' '..=b'~' | 0x80..) => Chunk::Line { named: true },
        (Chunk::LineLf, b'\n') => Chunk::LineStart,
        (Chunk::LastLf, b'\n') => return Ok(Turn::Done),
        (Chunk::Size { .. }, _) => return Err(DecodeError::Malformed("chunk size")),
        (Chunk::DataCr | Chunk::DataLf, _) => {
            return Err(DecodeError::Malformed("no CRLF after a chunk"));
        }
        (Chunk::LineStart | Chunk::Line { .. } | Chunk::LineLf | Chunk::LastLf, _) => {
            return Err(DecodeError::Malformed("trailer"));
        }
        (Chunk::Extension { .. } | Chunk::SizeLf | Chunk::Data, _) => {
            return Err(DecodeError::Malformed("chunk size line"));
        }
    };
    Ok(Turn::Go(next))
}

const fn hex(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        _ => byte - b'A' + 10,
    }
}
