//! Files in memory that processes hold open (memfd_create(2)): their pages belong to no process
//! unless they are mapped.
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

/// Bytes in the files in memory that these processes hold open, each file once.
#[must_use]
pub fn held_bytes(pids: impl Iterator<Item = i32>) -> u64 {
    let mut files: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for pid in pids {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd"));
        for descriptor in descriptors.into_iter().flatten().flatten() {
            let path = descriptor.path();
            let is_in_memory = std::fs::read_link(&path)
                .is_ok_and(|link| link.as_os_str().as_encoded_bytes().starts_with(b"/memfd:"));
            if is_in_memory && let Ok(file) = std::fs::metadata(&path) {
                // stat(2): blocks of 512 bytes, those that were written.
                files.insert((file.dev(), file.ino()), file.blocks() * 512);
            }
        }
    }
    files.into_values().sum()
}

#[cfg(test)]
mod tests {
    use super::held_bytes;
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::FromRawFd;

    #[test]
    fn what_is_written_counts_once_and_mapped_or_not() {
        let own = std::process::id() as i32;
        let before = held_bytes(std::iter::once(own));
        // SAFETY: the name is a C string; the descriptor that comes back is nobody else's.
        let mut file =
            unsafe { File::from_raw_fd(libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC)) };
        file.write_all(&vec![1; 3 << 20]).unwrap();
        let _other = file.try_clone().unwrap();
        assert_eq!(held_bytes([own, own].into_iter()), before + (3 << 20));
    }
}
