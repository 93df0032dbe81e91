//! The unix socket of a target.
use pippin_engine::{EngineError, Place};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use crate::lifecycle::supervised::Launch;

/// A unix socket of a target. Its path is short: unix(7) allows 107 bytes.
#[derive(Debug)]
pub(super) struct Socket {
    pub path: PathBuf,
}

impl Socket {
    /// One with a name that nobody can guess, so that nobody can take it before the target does.
    pub fn named(port: u16) -> Self {
        let random = RandomState::new().build_hasher().finish();
        let name = format!("pippin-{random:016x}-{port}.socket");
        Self { path: std::env::temp_dir().join(name) }
    }

    /// Tells the target of it.
    pub fn tell(&self, launch: &mut Launch) {
        let path = self.path.to_string_lossy().into_owned();
        launch.command.iter_mut().for_each(|word| *word = word.replace("{SOCKET}", &path));
        launch.env.values_mut().for_each(|value| *value = value.replace("{SOCKET}", &path));
        launch.env.insert("SOCKET".into(), path);
    }

    /// Whether somebody still listens. Where the queue is full, somebody does.
    pub fn answers(&self) -> bool {
        match Place::from(self.path.as_path()).reach(Duration::from_millis(300)) {
            Ok(()) => true,
            Err(EngineError::Unreachable { error, .. }) => error.kind() == ErrorKind::WouldBlock,
            Err(_) => false,
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::within;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::{UnixListener, UnixStream};

    /// The kernel queues one connection (listen(2)), and lets the next one wait.
    #[test]
    fn a_socket_whose_queue_is_full_is_listened_on() {
        let folder = tempfile::tempdir().unwrap();
        let socket = Socket { path: folder.path().join("s") };
        let listener = UnixListener::bind(&socket.path).unwrap();
        // SAFETY: no pointers.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let _queued = UnixStream::connect(&socket.path).unwrap();
        let (socket, answers) = within(Duration::from_secs(20), move || {
            let answers = socket.answers();
            (socket, answers)
        });
        assert!(answers);
        drop(listener);
        assert!(!socket.answers());
    }
}
