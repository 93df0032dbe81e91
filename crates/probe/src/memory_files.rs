//! Files whose bytes are in memory and that processes hold open: their pages belong to no process
//! unless they are mapped. That are files without a name (memfd_create(2)), and files of tmpfs(5) or
//! ramfs that they may write. What is closed in between is not seen.
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::DirEntry;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// statfs(2), `f_type`.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// A file, by its device and its number there (stat(2)).
pub type FileId = (u64, u64);

/// The file at this path; `None` if there is none.
#[must_use]
pub fn id_of(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Bytes in the files in memory that these processes hold open, each file once, without their `log`:
/// that is Pippin's.
#[must_use]
pub fn held_bytes(pids: impl Iterator<Item = i32>, log: Option<FileId>) -> u64 {
    let mut files: BTreeMap<FileId, u64> = BTreeMap::new();
    for pid in pids {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd"));
        for descriptor in descriptors.into_iter().flatten().flatten() {
            if is_in_memory(&descriptor)
                && let Ok(file) = std::fs::metadata(descriptor.path())
                && file.is_file()
            {
                // stat(2): blocks of 512 bytes, those that were written.
                files.insert((file.dev(), file.ino()), file.blocks() * 512);
            }
        }
    }
    files.into_iter().filter(|(file, _)| Some(*file) != log).map(|(_, bytes)| bytes).sum()
}

fn is_in_memory(descriptor: &DirEntry) -> bool {
    let Ok(link) = std::fs::read_link(descriptor.path()) else { return false };
    let link = link.as_os_str().as_bytes();
    if link.starts_with(b"/memfd:") {
        return true;
    }
    // Sockets and pipes have no path, and most servers have many of them.
    link.starts_with(b"/") && is_of_memory(&descriptor.path()) && is_written(descriptor)
}

/// Whether the file system of a file is in memory.
fn is_of_memory(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: statfs is plain data that the call fills; the path is a C string.
    unsafe {
        let mut system: libc::statfs = std::mem::zeroed();
        let done = libc::statfs(path.as_ptr(), &raw mut system) == 0;
        done && IN_MEMORY.contains(&(system.f_type as u64 & 0xffff_ffff))
    }
}

/// Whether a descriptor may write, by `/proc/PID/fdinfo/N` (proc_pid_fdinfo(5)).
fn is_written(descriptor: &DirEntry) -> bool {
    let path = descriptor.path();
    let Some(process) = path.parent().and_then(Path::parent) else { return false };
    let text = std::fs::read_to_string(process.join("fdinfo").join(descriptor.file_name()));
    let flags = text.ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
        i32::from_str_radix(line.trim(), 8).ok()
    });
    flags.is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
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
        let held = || held_bytes([own, own].into_iter(), None);
        let before = held();
        // SAFETY: the name is a C string; the descriptor that comes back is nobody else's.
        let mut file =
            unsafe { File::from_raw_fd(libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC)) };
        file.write_all(&vec![1; 3 << 20]).unwrap();
        let _other = file.try_clone().unwrap();
        assert_eq!(held(), before + (3 << 20));
        // A file with a name, where this machine has a file system in memory.
        let name = format!("/dev/shm/pippin-held-{own}");
        if let Ok(mut named) = File::create(&name) {
            std::fs::remove_file(&name).unwrap();
            named.write_all(&vec![1; 2 << 20]).unwrap();
            assert_eq!(held(), before + (5 << 20));
        }
    }
}
