//! Numbers and strings of HPACK (RFC 7541 section 5), which QPACK has too (RFC 9204 section 4.1): the
//! prefix of a string's length alone differs.
use super::huffman;

/// A header block that breaks the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::protocol) struct BadBlock;

/// What is left of a block.
pub(in crate::protocol) struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Result<u8, BadBlock> {
        let (first, rest) = self.0.split_first().ok_or(BadBlock)?;
        self.0 = rest;
        Ok(*first)
    }

    /// A number that begins in the lowest `prefix` bits of the next byte (section 5.1). Numbers
    /// from 2^28 on are refused: no block is so long.
    #[inline]
    pub fn number(&mut self, prefix: u32) -> Result<usize, BadBlock> {
        let most = (1_usize << prefix) - 1;
        let mut number = usize::from(self.byte()?) & most;
        if number < most {
            return Ok(number);
        }
        for shift in [0, 7, 14, 21] {
            let byte = usize::from(self.byte()?);
            number += (byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(BadBlock)
    }

    /// A string whose length begins in the lowest `prefix` bits of the next byte. It lies in the block or,
    /// decoded, in `space` (section 5.2).
    #[inline]
    pub fn string<'b>(&mut self, prefix: u32, space: &'b mut Vec<u8>) -> Result<&'b [u8], BadBlock>
    where
        'a: 'b,
    {
        let is_huffman = self.0.first().ok_or(BadBlock)? >> prefix & 1 == 1;
        let length = self.number(prefix)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(BadBlock)?;
        self.0 = rest;
        if !is_huffman {
            return Ok(text);
        }
        space.clear();
        huffman::decode(text, space).ok_or(BadBlock)?;
        Ok(space)
    }
}

/// Appends a number behind the bits of a pattern (section 5.1).
pub(in crate::protocol) fn put_number(out: &mut Vec<u8>, pattern: u8, prefix: u32, value: usize) {
    let most = (1_usize << prefix) - 1;
    if value < most {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a string in the shorter of its two forms (section 5.2); as it is if it `varies`, so that others
/// can be put in its place.
pub(in crate::protocol) fn put_string(
    out: &mut Vec<u8>,
    pattern: u8,
    prefix: u32,
    text: &[u8],
    varies: bool,
) {
    let short = huffman::encode(text);
    if !varies && short.len() < text.len() {
        put_number(out, pattern | 1 << prefix, prefix, short.len());
        out.extend(short);
    } else {
        put_number(out, pattern, prefix, text.len());
        out.extend_from_slice(text);
    }
}
