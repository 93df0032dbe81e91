//! Keys as a terminal sends them: bytes. Only a few have a meaning here.
//!
//! They are read with poll(2) and read(2): if the terminal hangs up while the reader waits for it,
//! the reader must neither wait forever nor spin.
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// A key that has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// `q`, or Ctrl-C if the terminal does not turn it into a signal.
    Stop,
    /// `s`
    Skip,
    /// `?`, `h`
    Help,
    /// Escape by itself.
    Close,
    /// Ctrl-Z
    Suspend,
    /// Any other key. It only removes a remark.
    Other,
}

/// The keyboard of a terminal. After a read error, [`Self::wait`] only sleeps.
pub struct Keyboard {
    descriptor: Option<RawFd>,
}

impl Keyboard {
    /// Reads from this terminal, which must stay open.
    pub const fn new(descriptor: RawFd) -> Self {
        Self { descriptor: Some(descriptor) }
    }

    /// The keys pressed within `wait`. Returns with the first.
    pub fn wait(&mut self, wait: Duration) -> Vec<Key> {
        let Some(descriptor) = self.descriptor else {
            std::thread::sleep(wait);
            return Vec::new();
        };
        match read_within(descriptor, wait) {
            Ok(bytes) => keys(&bytes),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Vec::new(),
            Err(_) => {
                self.descriptor = None;
                Vec::new()
            }
        }
    }
}

/// The bytes that come within `wait`, possibly none. The end of the terminal is an error.
fn read_within(descriptor: RawFd, wait: Duration) -> io::Result<Vec<u8>> {
    let mut poll = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd.
    match unsafe { libc::poll(&raw mut poll, 1, wait.as_millis() as libc::c_int) } {
        0 => return Ok(Vec::new()),
        1 => {}
        _ => return Err(io::Error::last_os_error()),
    }
    let mut bytes = [0_u8; 256];
    // SAFETY: the buffer is valid for its length.
    match unsafe { libc::read(descriptor, bytes.as_mut_ptr().cast(), bytes.len()) } {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count if count < 0 => Err(io::Error::last_os_error()),
        count => Ok(bytes[..count as usize].to_vec()),
    }
}

/// Splits bytes into keys. A sequence that begins with an escape (arrows, function keys) is one key
/// (ECMA-48 section 5.4).
fn keys(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while let Some((first, rest)) = bytes.split_first() {
        let (key, length) = match (first, rest.first()) {
            (0x1b, Some(b'[')) => (
                Key::Other,
                rest[1..]
                    .iter()
                    .position(|byte| (0x40..=0x7e).contains(byte))
                    .map_or(bytes.len(), |end| end + 3),
            ),
            (0x1b, Some(b'O')) => (Key::Other, 3.min(bytes.len())),
            (0x1b, Some(_)) => (Key::Other, 2),
            (0x1b, None) => (Key::Close, 1),
            (b'q' | b'Q' | 0x03, _) => (Key::Stop, 1),
            (b's' | b'S', _) => (Key::Skip, 1),
            (b'?' | b'h' | b'H', _) => (Key::Help, 1),
            (0x1a, _) => (Key::Suspend, 1),
            _ => (Key::Other, 1),
        };
        keys.push(key);
        bytes = &bytes[length..];
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    #[test]
    fn letters_and_escapes() {
        assert_eq!(
            keys(b"qs?\x1a\x03x"),
            [Key::Stop, Key::Skip, Key::Help, Key::Suspend, Key::Stop, Key::Other]
        );
        assert_eq!(keys(b"\x1b"), [Key::Close]);
        // An arrow, F5, F1, Alt-q, a cut escape sequence: none of them is a `q` or an `s`.
        assert_eq!(keys(b"\x1b[A\x1b[15~\x1bOSq"), [Key::Other, Key::Other, Key::Other, Key::Stop]);
        assert_eq!(
            (keys(b"\x1bq"), keys(b"\x1b[1;5"), keys(b"\x1bO")),
            (vec![Key::Other], vec![Key::Other], vec![Key::Other])
        );
    }

    #[test]
    fn a_keyboard_that_is_gone_is_waited_for_and_not_asked() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut keyboard = Keyboard::new(reader.as_raw_fd());
        let wait = Duration::from_millis(20);
        assert_eq!(keyboard.wait(wait), []);
        writer.write_all(b"s").unwrap();
        assert_eq!(keyboard.wait(wait), [Key::Skip]);
        drop(writer);
        let began = std::time::Instant::now();
        for _ in 0..3 {
            assert_eq!(keyboard.wait(wait), []);
        }
        assert!(
            keyboard.descriptor.is_none() && began.elapsed() >= wait * 2,
            "{:?}",
            began.elapsed()
        );
    }
}
