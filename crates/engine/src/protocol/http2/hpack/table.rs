//! The tables that header fields are looked up in (RFC 7541 section 2.3).
use std::collections::VecDeque;

/// A field of a table: its name and its value.
pub(super) type Pair<'a> = (&'a [u8], &'a [u8]);

/// RFC 7541 appendix A; the first has the index 1.
#[rustfmt::skip]
pub(super) const STATIC: [Pair<'static>; 61] = [
    (b":authority", b""),
    (b":method", b"GET"),
    (b":method", b"POST"),
    (b":path", b"/"),
    (b":path", b"/index.html"),
    (b":scheme", b"http"),
    (b":scheme", b"https"),
    (b":status", b"200"),
    (b":status", b"204"),
    (b":status", b"206"),
    (b":status", b"304"),
    (b":status", b"400"),
    (b":status", b"404"),
    (b":status", b"500"),
    (b"accept-charset", b""),
    (b"accept-encoding", b"gzip, deflate"),
    (b"accept-language", b""),
    (b"accept-ranges", b""),
    (b"accept", b""),
    (b"access-control-allow-origin", b""),
    (b"age", b""),
    (b"allow", b""),
    (b"authorization", b""),
    (b"cache-control", b""),
    (b"content-disposition", b""),
    (b"content-encoding", b""),
    (b"content-language", b""),
    (b"content-length", b""),
    (b"content-location", b""),
    (b"content-range", b""),
    (b"content-type", b""),
    (b"cookie", b""),
    (b"date", b""),
    (b"etag", b""),
    (b"expect", b""),
    (b"expires", b""),
    (b"from", b""),
    (b"host", b""),
    (b"if-match", b""),
    (b"if-modified-since", b""),
    (b"if-none-match", b""),
    (b"if-range", b""),
    (b"if-unmodified-since", b""),
    (b"last-modified", b""),
    (b"link", b""),
    (b"location", b""),
    (b"max-forwards", b""),
    (b"proxy-authenticate", b""),
    (b"proxy-authorization", b""),
    (b"range", b""),
    (b"referer", b""),
    (b"refresh", b""),
    (b"retry-after", b""),
    (b"server", b""),
    (b"set-cookie", b""),
    (b"strict-transport-security", b""),
    (b"transfer-encoding", b""),
    (b"user-agent", b""),
    (b"vary", b""),
    (b"via", b""),
    (b"www-authenticate", b""),
];

/// What each entry costs besides its bytes (RFC 7541 section 4.1).
pub(super) const ENTRY_BYTES: usize = 32;

/// Fields that were sent before on the same connection, the newest first. Their bytes are in one
/// piece of memory, so that a field costs no allocation.
#[derive(Debug)]
pub(super) struct Dynamic {
    entries: VecDeque<Entry>,
    bytes: Vec<u8>,
    /// Where the oldest entry begins in `bytes`.
    start: usize,
    /// As RFC 7541 section 4.1 counts.
    size: usize,
    most: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Where it begins in `bytes`.
    at: u32,
    name: u32,
    value: u32,
}

impl Entry {
    const fn length(self) -> usize {
        (self.name + self.value) as usize
    }
}

impl Dynamic {
    pub const fn new(most: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: Vec::new(), start: 0, size: 0, most }
    }

    /// How large it may be, as RFC 7541 section 4.1 counts.
    pub const fn most(&self) -> usize {
        self.most
    }

    /// The field with this index, counted from 0, the newest.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Pair<'_>> {
        let entry = self.entries.get(index)?;
        let bytes = &self.bytes[entry.at as usize..][..entry.length()];
        Some(bytes.split_at(entry.name as usize))
    }

    /// Adds a field, and evicts the oldest ones if needed (RFC 7541 section 4.4).
    pub fn insert(&mut self, name: &[u8], value: &[u8]) {
        let needed = name.len() + value.len() + ENTRY_BYTES;
        self.shrink_to(self.most.saturating_sub(needed));
        if needed > self.most {
            return;
        }
        if self.start > self.most {
            self.compact();
        }
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.entries.push_front(Entry { at, name: name.len() as u32, value: value.len() as u32 });
        self.size += needed;
    }

    /// Changes how large it may be.
    pub fn resize(&mut self, most: usize) {
        self.most = most;
        self.shrink_to(most);
    }

    fn shrink_to(&mut self, size: usize) {
        while self.size > size
            && let Some(oldest) = self.entries.pop_back()
        {
            self.start += oldest.length();
            self.size -= oldest.length() + ENTRY_BYTES;
        }
    }

    /// Forgets the bytes of entries that are gone.
    fn compact(&mut self) {
        self.bytes.drain(..self.start);
        let start = self.start as u32;
        self.entries.iter_mut().for_each(|entry| entry.at -= start);
        self.start = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_give_way_and_memory_stays_bounded() {
        let mut table = Dynamic::new(100);
        for round in 0..1_000_u32 {
            let value = round.to_string();
            table.insert(b"name", value.as_bytes());
            assert_eq!(table.get(0), Some((&b"name"[..], value.as_bytes())));
            assert!(table.entries.len() <= 2 && table.bytes.len() < 300);
        }
        assert_eq!(table.get(1), Some((&b"name"[..], &b"998"[..])));
        assert_eq!(table.get(2), None);
    }

    /// RFC 7541 section 4.4: an entry larger than the table empties it. This is not an error.
    #[test]
    fn an_entry_larger_than_the_table_empties_it() {
        let mut table = Dynamic::new(100);
        table.insert(b"a", b"b");
        table.insert(b"a", &[b'x'; 100]);
        assert_eq!(table.get(0), None);
        table.insert(b"a", b"c");
        assert_eq!(table.get(0), Some((&b"a"[..], &b"c"[..])));
        table.resize(0);
        assert_eq!(table.get(0), None);
    }
}
