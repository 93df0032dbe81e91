//! HPACK: the encoding of header fields in HTTP/2 (RFC 7541).
//!
//! | module | what it does |
//! |---|---|
//! | `table` | the static and the dynamic table |
//! | `huffman` | strings in Huffman's code |
//! | `literals` | numbers and strings, which QPACK has too |
//! | [`encode`] | requests, rendered once before the load |
//! | `repeats` | blocks that come again, and need not be decoded again |
//! | this file | decoding, for each answer |
pub(super) mod encode;
mod huffman;
pub(in crate::protocol) mod literals;
mod repeats;
mod table;

use literals::{BadBlock, Input};
use repeats::Last;
use table::{Dynamic, STATIC};

/// The size of the dynamic table unless somebody changes it (RFC 9113 section 6.5.2).
pub(super) const TABLE_BYTES: usize = 4096;

/// The state of decoding on one connection.
#[derive(Debug)]
pub(super) struct Decoder {
    table: Dynamic,
    /// Strings in Huffman's code, decoded: a name and a value.
    name: Vec<u8>,
    value: Vec<u8>,
    last: Last,
}

impl Decoder {
    pub fn new() -> Self {
        Self {
            table: Dynamic::new(TABLE_BYTES),
            name: Vec::new(),
            value: Vec::new(),
            last: Last::default(),
        }
    }

    /// Whether a block has the same fields as the one that [`Decoder::decode`] was given last. Then
    /// it counts as decoded. `false` says nothing.
    #[inline]
    pub fn repeats(&mut self, block: &[u8]) -> bool {
        self.last.repeats(block)
    }

    /// Decodes a block and hands on each of its fields. After a block that breaks the rules the tables of
    /// both sides differ, so that the connection is unusable (RFC 9113 section 4.3).
    ///
    /// # Errors
    /// If the block breaks the rules. The fields before the fault were handed on.
    pub fn decode(
        &mut self,
        block: &[u8],
        mut each: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), BadBlock> {
        self.last.settle(&mut self.table);
        let mut input = Input(block);
        let mut may_resize = true;
        let mut is_kept = self.last.begin(block.len());
        // Whether it names entries of the table, and whether it adds some. If both, or if it resizes
        // the table, then the same bytes mean something else the next time.
        let (mut names, mut adds) = (false, false);
        while let Some(first) = input.0.first().copied() {
            if first & 0b1110_0000 == 0b0010_0000 {
                // Only at the beginning of a block, and within what we allowed (section 4.2, 6.3).
                let size = input.number(5)?;
                if !may_resize || size > TABLE_BYTES {
                    return Err(BadBlock);
                }
                self.table.resize(size);
                is_kept = false;
                continue;
            }
            may_resize = false;
            if first & 0x80 != 0 {
                let index = input.number(7)?;
                names |= index > STATIC.len();
                let (name, value) = self.field(index)?;
                each(name, value);
                continue;
            }
            let is_added = first & 0x40 != 0;
            let index = input.number(if is_added { 6 } else { 4 })?;
            names |= index > STATIC.len();
            adds |= is_added;
            is_kept &= !(names && adds);
            self.literal(&mut input, index, (is_added, is_kept), &mut each)?;
        }
        if is_kept && !(names && adds) {
            self.last.keep(block);
        }
        Ok(())
    }

    /// A field whose value, and perhaps name, are written out (section 6.2). It may be added to the
    /// table, and be part of a block that is kept.
    fn literal(
        &mut self,
        input: &mut Input<'_>,
        index: usize,
        (is_added, is_kept): (bool, bool),
        each: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), BadBlock> {
        let Self { table, name: name_space, value: value_space, last } = self;
        let name = match index {
            0 => input.string(7, name_space)?,
            _ if index <= STATIC.len() => STATIC[index - 1].0,
            _ => {
                // Copied, because the new entry may evict this one.
                let (name, _) = table.get(index - STATIC.len() - 1).ok_or(BadBlock)?;
                name_space.clear();
                name_space.extend_from_slice(name);
                name_space.as_slice()
            }
        };
        let value = input.string(7, value_space)?;
        each(name, value);
        if is_added {
            if is_kept {
                last.add(name, value);
            }
            table.insert(name, value);
        }
        Ok(())
    }

    /// The field with this index (section 2.3.3).
    #[inline]
    fn field(&self, index: usize) -> Result<table::Pair<'_>, BadBlock> {
        let place = index.checked_sub(1).ok_or(BadBlock)?;
        match STATIC.get(place) {
            Some(field) => Ok(*field),
            None => self.table.get(place - STATIC.len()).ok_or(BadBlock),
        }
    }
}

#[cfg(test)]
mod tests;
