//! Receive buffers from which the kernel picks (io_uring's provided buffer ring). An idle
//! connection holds none.
use std::io;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

/// Bytes between two buffers: an odd number of cache lines. Buffers at multiples of a power of two
/// would share a few cache sets. Each answer goes into the buffer that was free the longest, and
/// would evict the others.
const APART: usize = 3 * 64;

/// The ring of free buffers, and their memory.
pub(super) struct Buffers {
    /// One mapping: first the ring's entries, then the buffers.
    memory: *mut u8,
    length: usize,
    count: u16,
    size: usize,
    /// From the start of one buffer to that of the next.
    stride: usize,
    entries_bytes: usize,
    tail: u16,
}

impl Buffers {
    /// `count` buffers of `size` bytes; `count` is a power of two.
    pub fn new(count: u16, size: usize) -> io::Result<Self> {
        let entries_bytes = (usize::from(count) * size_of::<BufRingEntry>()).next_multiple_of(4096);
        let stride = size + APART;
        let length = entries_bytes + usize::from(count) * stride;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that
        // exists.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mut buffers =
            Self { memory: memory.cast(), length, count, size, stride, entries_bytes, tail: 0 };
        for id in 0..count {
            buffers.give_back(id);
        }
        Ok(buffers)
    }

    /// Tells the kernel of the ring, as buffer group `group`.
    pub fn register(&self, submitter: &Submitter<'_>, group: u16) -> io::Result<()> {
        // SAFETY: the mapping lives as long as `self`, which the event loop drops after its ring.
        unsafe { submitter.register_buf_ring_with_flags(self.memory as u64, self.count, group, 0) }
    }

    /// The first `filled` bytes of a buffer that the kernel has handed out.
    #[inline]
    pub fn bytes(&self, id: u16, filled: usize) -> &[u8] {
        let offset = self.entries_bytes + usize::from(id % self.count) * self.stride;
        // SAFETY: the range lies within the mapping, and the kernel does not write to a buffer
        // between handing it out and getting it back.
        unsafe { std::slice::from_raw_parts(self.memory.add(offset), filled.min(self.size)) }
    }

    /// The filled bytes of a buffer, to be changed.
    #[inline]
    pub fn bytes_mut(&mut self, id: u16, filled: usize) -> &mut [u8] {
        let offset = self.entries_bytes + usize::from(id % self.count) * self.stride;
        // SAFETY: as above, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(offset), filled.min(self.size)) }
    }

    /// Gives a buffer back to the kernel.
    #[inline]
    pub fn give_back(&mut self, id: u16) {
        let address =
            self.memory as u64 + self.entries_bytes as u64 + u64::from(id) * self.stride as u64;
        let entries = self.memory.cast::<BufRingEntry>();
        // SAFETY: the index is below `count`, the number of entries in the mapping; the entry is
        // the kernel's only once the tail passes it, which the release store makes known. The tail
        // lies within the first entry (struct io_uring_buf_ring) and is aligned.
        unsafe {
            let entry = &mut *entries.add(usize::from(self.tail & (self.count - 1)));
            entry.set_addr(address);
            entry.set_len(self.size as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(entries).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the kernel's ring that used it is gone.
        unsafe { libc::munmap(self.memory.cast(), self.length) };
    }
}
