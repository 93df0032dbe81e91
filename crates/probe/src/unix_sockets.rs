//! Unix sockets of this network namespace and who they are connected to, by sock_diag(7)
//! (include/uapi/linux/unix_diag.h).
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::sock_diag::{BY_FAMILY, SockDiag, attributes, number};

/// `UDIAG_SHOW_NAME`, `UDIAG_SHOW_VFS` and `UDIAG_SHOW_PEER`.
const SHOW: u32 = 1 | 2 | 4;
/// `UNIX_DIAG_NAME`, `UNIX_DIAG_VFS`, `UNIX_DIAG_PEER`.
const NAME: u16 = 0;
const FILE: u16 = 1;
const PEER: u16 = 2;
/// The length of `struct unix_diag_msg`, and places in it.
const MESSAGE_BYTES: usize = 16;
const STATE_AT: usize = 2;
const INODE_AT: usize = 4;
/// The state of a listening socket (`TCP_LISTEN`).
const LISTEN: u8 = 10;

/// A unix socket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnixSocket {
    /// The inode by which `/proc/PID/fd` names it.
    pub inode: u32,
    /// The inode of the socket that it is connected to.
    pub peer: Option<u32>,
    /// What it is bound to, as its program wrote it. A connection that was accepted has the name of
    /// the socket that listens.
    pub name: Option<Vec<u8>>,
    /// The inode of the file that it is bound to.
    pub file: Option<u32>,
    /// Whether it listens.
    pub listens: bool,
}

/// All unix sockets of this network namespace.
///
/// # Errors
/// If the kernel does not tell.
pub fn all() -> io::Result<Vec<UnixSocket>> {
    let mut request = vec![libc::AF_UNIX as u8, 0, 0, 0];
    request.extend(u32::MAX.to_ne_bytes());
    request.extend(0_u32.to_ne_bytes());
    request.extend(SHOW.to_ne_bytes());
    request.extend([0; 8]);
    let mut all = Vec::new();
    SockDiag::open()?.dump(BY_FAMILY, &request, |message| all.extend(socket(message)))?;
    Ok(all)
}

/// The inodes of the sockets that listen at a path; empty if there are none in this namespace, or
/// the kernel does not tell.
#[must_use]
pub fn listening_at(path: &Path) -> Vec<u32> {
    let Ok(file) = std::fs::metadata(path) else { return Vec::new() };
    let mut found = all().unwrap_or_default();
    // Inodes of files are unique on one file system only, and programs may write a relative path.
    found.retain(|socket| {
        let is_named = socket.name.as_deref().is_some_and(|name| {
            let name = Path::new(std::ffi::OsStr::from_bytes(
                name.split(|b| *b == 0).next().unwrap_or_default(),
            ));
            name.file_name() == path.file_name()
        });
        socket.listens
            && is_named
            && socket.file.is_some_and(|it| u64::from(it) == file.ino() & u64::from(u32::MAX))
    });
    found.iter().map(|socket| socket.inode).collect()
}

fn socket(message: &[u8]) -> Option<UnixSocket> {
    let rest = message.get(MESSAGE_BYTES..)?;
    let mut socket = UnixSocket {
        inode: number(message, INODE_AT),
        listens: message[STATE_AT] == LISTEN,
        ..UnixSocket::default()
    };
    for (kind, value) in attributes(rest) {
        match kind {
            NAME => socket.name = Some(value.to_vec()),
            FILE if value.len() >= 4 => socket.file = Some(number(value, 0)),
            PEER if value.len() >= 4 => socket.peer = Some(number(value, 0)).filter(|it| *it != 0),
            _ => {}
        }
    }
    Some(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::{UnixListener, UnixStream};

    #[test]
    fn the_listener_at_a_path_and_both_ends_of_a_connection_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let found = listening_at(&path);
        assert_eq!(found.len(), 1);
        let _client = UnixStream::connect(&path).unwrap();
        let _accepted = listener.accept().unwrap();
        let all = all().unwrap();
        let name = all.iter().find(|it| it.inode == found[0]).unwrap().name.clone();
        let accepted = all.iter().find(|it| it.name == name && !it.listens).unwrap();
        let client = all.iter().find(|it| Some(it.inode) == accepted.peer).unwrap();
        assert_eq!(client.peer, Some(accepted.inode));
        assert!(listening_at(folder.path()).is_empty());
        drop(listener);
        assert!(listening_at(&path).is_empty());
    }

    #[test]
    fn what_is_cut_off_is_none() {
        for length in 0..MESSAGE_BYTES {
            assert_eq!(socket(&vec![1; length]), None);
        }
        assert!(socket(&[1; MESSAGE_BYTES]).is_some());
    }
}
