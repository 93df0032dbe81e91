//! How bytes leave, with both event loops: by a call of their own, so that the clock can be read before
//! and after it.
use super::Sending;
use super::socket;
use super::stamps::Stamped;

/// Sends, and asks now and then when the bytes left.
pub(super) struct Departing {
    stamped: Box<Stamped>,
    is_stamping: bool,
}

impl Departing {
    pub fn new() -> Self {
        Self { stamped: Stamped::new(), is_stamping: false }
    }

    /// Whether the next send is to be stamped.
    pub const fn stamp_next(&mut self, is_asked: bool) {
        self.is_stamping = is_asked;
    }

    /// Sends as much as the kernel takes at once. Returns how that went, and the number of system
    /// calls.
    #[inline]
    pub fn send(&mut self, fd: i32, bytes: &[u8]) -> (Sending, u64) {
        let (sent, calls) = if self.is_stamping {
            self.send_stamped(fd, bytes)
        } else {
            (socket::send(fd, bytes), 1)
        };
        let sending = match sent {
            Ok(sent) if sent == bytes.len() => Sending::Done,
            Ok(sent) => Sending::Blocked(sent as u32),
            Err(libc::EAGAIN) => Sending::Blocked(0),
            Err(error) => Sending::Failed(error),
        };
        (sending, calls)
    }

    #[cold]
    fn send_stamped(&mut self, fd: i32, bytes: &[u8]) -> (Result<usize, i32>, u64) {
        match socket::send_message(fd, self.stamped.message(bytes)) {
            // A kernel that knows no such stamps sent nothing; no request is lost for one.
            Err(libc::EINVAL) => (socket::send(fd, bytes), 2),
            sent => (sent, 1),
        }
    }
}
