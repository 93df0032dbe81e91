//! Variable-length numbers (RFC 9000 section 16), and the frames of a stream that comes in pieces
//! (RFC 9114 section 7.1).

/// Types of frames (RFC 9114 section 7.2).
pub(super) mod kind {
    pub const DATA: u64 = 0x00;
    pub const HEADERS: u64 = 0x01;
    pub const CANCEL_PUSH: u64 = 0x03;
    pub const SETTINGS: u64 = 0x04;
    pub const PUSH_PROMISE: u64 = 0x05;
    pub const GOAWAY: u64 = 0x07;
    pub const MAX_PUSH_ID: u64 = 0x0D;
    /// Those of HTTP/2 that have no counterpart (section 7.2.8).
    pub const RESERVED: [u64; 4] = [0x02, 0x06, 0x08, 0x09];
}

/// The longest number in bytes.
const LONGEST: usize = 8;

/// Appends a number, which must be below 2^62.
pub(super) fn put_number(out: &mut Vec<u8>, value: u64) {
    match value {
        0..0x40 => out.push(value as u8),
        0x40..0x4000 => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value | 0xC000_0000_0000_0000).to_be_bytes()),
    }
}

/// The number with which `bytes` begin, and its length; `None` if it is incomplete.
pub(super) fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let length = 1 << (first >> 6);
    let rest = bytes.get(1..length)?;
    let value =
        rest.iter().fold(u64::from(first & 0x3F), |value, byte| value << 8 | u64::from(*byte));
    Some((value, length))
}

/// Appends a frame.
pub(super) fn put_frame(out: &mut Vec<u8>, kind: u64, payload: &[u8]) {
    put_number(out, kind);
    put_number(out, payload.len() as u64);
    out.extend_from_slice(payload);
}

/// What comes next of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A frame begins.
    Begins { kind: u64, length: u64 },
    /// Some bytes of the payload of a frame of this type. `ends`: they are its last.
    Payload { kind: u64, bytes: &'a [u8], ends: bool },
}

/// Reads the frames of a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Frames {
    /// An incomplete type and length.
    partial: [u8; 2 * LONGEST],
    held: u8,
    /// The type of the present frame, and how much of its payload is still to come.
    present: Option<(u64, u64)>,
}

impl Frames {
    /// Whether the stream may end here: between two frames.
    pub const fn is_between(&self) -> bool {
        self.present.is_none() && self.held == 0
    }

    /// The next part of `input`, and how much of it that takes; `None` if all of it is read.
    pub fn next<'a>(&mut self, input: &'a [u8]) -> Option<(Part<'a>, usize)> {
        match self.present {
            Some((kind, left)) => {
                if input.is_empty() {
                    return None;
                }
                let count = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                let left = left - count as u64;
                self.present = (left > 0).then_some((kind, left));
                Some((Part::Payload { kind, bytes: &input[..count], ends: left == 0 }, count))
            }
            None => self.begin(input),
        }
    }

    fn begin<'a>(&mut self, input: &'a [u8]) -> Option<(Part<'a>, usize)> {
        let held = usize::from(self.held);
        let more = input.len().min(self.partial.len() - held);
        self.partial[held..held + more].copy_from_slice(&input[..more]);
        let bytes = &self.partial[..held + more];
        let header = number(bytes).and_then(|(kind, kind_length)| {
            let (length, length_length) = number(&bytes[kind_length..])?;
            Some((kind, length, kind_length + length_length))
        });
        let Some((kind, length, used)) = header else {
            self.held += more as u8;
            return None;
        };
        self.held = 0;
        self.present = (length > 0).then_some((kind, length));
        Some((Part::Begins { kind, length }, used - held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_the_rfc() {
        // RFC 9000 appendix A.1.
        for (bytes, value) in [
            (&[0xC2, 0x19, 0x7C, 0x5E, 0xFF, 0x14, 0xE8, 0x8C][..], 151_288_809_941_952_652),
            (&[0x9D, 0x7F, 0x3E, 0x7D], 494_878_333),
            (&[0x7B, 0xBD], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(number(bytes), Some((value, bytes.len())));
            let mut written = Vec::new();
            put_number(&mut written, value);
            assert_eq!(written, bytes);
            assert_eq!(number(&bytes[..bytes.len() - 1]), None, "incomplete");
        }
        assert_eq!(number(&[0x40, 0x25]), Some((37, 2)), "not the shortest form");
    }

    /// All frames of a stream that comes in pieces of this length.
    fn read(stream: &[u8], piece: usize) -> (Vec<(u64, Vec<u8>)>, bool) {
        let mut frames = Frames::default();
        let mut read: Vec<(u64, Vec<u8>)> = Vec::new();
        for mut input in stream.chunks(piece) {
            while let Some((part, used)) = frames.next(input) {
                match part {
                    Part::Begins { kind, .. } => read.push((kind, Vec::new())),
                    Part::Payload { kind, bytes, .. } => {
                        let last = read.last_mut().unwrap();
                        assert_eq!(last.0, kind);
                        last.1.extend_from_slice(bytes);
                    }
                }
                input = &input[used..];
            }
        }
        (read, frames.is_between())
    }

    proptest! {
        #[test]
        fn frames_are_the_same_however_they_are_split(
            wanted in proptest::collection::vec((0_u64..1 << 62, proptest::collection::vec(0_u8.., 0..200)), 0..6),
            piece in 1_usize..400,
        ) {
            let mut stream = Vec::new();
            for (kind, payload) in &wanted {
                put_frame(&mut stream, *kind, payload);
            }
            let (read, is_between) = read(&stream, piece);
            prop_assert_eq!(read, wanted);
            prop_assert!(is_between);
        }
    }
}
