//! A protocol's bytes for one connection that wait for the kernel.
use crate::protocol::{Bytes, Outgoing};

/// Frames that wait for the kernel.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub bytes: Vec<u8>,
    sent: usize,
}

/// If this many bytes wait, the server floods us with questions and does not read the answers.
const MOST_WAITING: usize = 2 << 20;
/// Buffers for requests of usual size are kept for the next ones.
const KEPT_BYTES: usize = 16 * 1024;

impl Frames {
    /// How many bytes wait.
    pub const fn waiting(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Whether the server floods us with questions and does not read the answers. `own`: how many
    /// bytes of requests may wait besides.
    pub const fn is_flooded(&self, own: usize) -> bool {
        self.waiting() > MOST_WAITING + own
    }
}

impl Outgoing for Frames {
    const STAYS: bool = false;
    #[inline]
    fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }
    #[inline]
    fn bytes(&self) -> Bytes<'_> {
        Bytes::Own(&self.bytes[self.sent..])
    }
    #[inline]
    fn took(&mut self, count: u32) {
        self.sent += count as usize;
        if self.is_empty() {
            self.sent = 0;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
        }
    }
}
