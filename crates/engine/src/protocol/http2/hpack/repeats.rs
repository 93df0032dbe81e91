//! Header blocks that come again.
//!
//! The answers of a load have nearly all the same head. Servers send the same few indices for it,
//! or write the same strings each time, and some (nginx) also add them to the table each time. The
//! same bytes mean the same fields if they name no entry of the table, or if the table has not
//! changed. So the fields need not be decoded and judged again.
//!
//! What the block adds to the table is added when the next other block is decoded: nobody looks at
//! the table before. The table keeps the latest fields that fit, so after enough repeats it stays
//! the same, and more of them need not be added.
use super::table::{Dynamic, ENTRY_BYTES};

/// Longer blocks are not kept: each connection has its own.
const MOST_BYTES: usize = 1024;
/// After so many blocks in a row that were kept and did not come again, no more are kept.
const MOST_IN_VAIN: u8 = 16;

/// The block that was decoded last, if the next one may be equal.
#[derive(Debug, Default)]
pub(super) struct Last {
    /// Empty if none is kept.
    block: Vec<u8>,
    /// The fields that it adds to the table, one behind the other.
    bytes: Vec<u8>,
    /// The lengths of their names and values, in order.
    added: Vec<(u32, u32)>,
    /// How often the block came again and its fields were not added.
    owed: usize,
    /// The length of the block that was decoded last.
    length: usize,
    in_vain: u8,
}

impl Last {
    /// A block is about to be decoded. Returns whether it will be kept: that costs copies, and only
    /// blocks as long as the one before are likely to come again.
    #[inline]
    pub fn begin(&mut self, length: usize) -> bool {
        self.block.clear();
        let is_likely = length == std::mem::replace(&mut self.length, length)
            && length <= MOST_BYTES
            && self.in_vain < MOST_IN_VAIN;
        if is_likely {
            self.bytes.clear();
            self.added.clear();
        }
        is_likely
    }

    /// The block adds a field to the table.
    pub fn add(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.added.push((name.len() as u32, value.len() as u32));
    }

    /// The block is decoded, and would be decoded in the same way once more.
    pub fn keep(&mut self, block: &[u8]) {
        self.block.extend_from_slice(block);
        self.in_vain += 1;
    }

    /// Whether a block means what the kept one does. What it adds to the table is owed then.
    #[inline]
    pub fn repeats(&mut self, block: &[u8]) -> bool {
        let is_same = self.block == block && !block.is_empty();
        if is_same {
            self.in_vain = 0;
            self.owed += 1;
        }
        is_same
    }

    /// The table becomes what decoding all repeats would have made of it. To be called before the
    /// table is looked at, or another block is kept.
    pub fn settle(&mut self, table: &mut Dynamic) {
        let owed = std::mem::take(&mut self.owed);
        let size = self.bytes.len() + self.added.len() * ENTRY_BYTES;
        // So many fill the table.
        let enough = table.most().checked_div(size).map_or(0, |times| times + 1);
        for _ in 0..owed.min(enough) {
            let mut rest = self.bytes.as_slice();
            for (name, value) in &self.added {
                let (field, behind) = rest.split_at((name + value) as usize);
                let (name, value) = field.split_at(*name as usize);
                table.insert(name, value);
                rest = behind;
            }
        }
    }
}
