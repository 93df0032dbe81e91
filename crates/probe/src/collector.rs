//! Whether a process has a garbage collector, so that memory it no longer needs stays for a while.
use std::io::Read as _;

use crate::facts::{Facts, Living};
use crate::kernel_files::KernelFiles;

/// Programs that bring a collector, by the beginning of their file's name.
const PROGRAMS: [&str; 8] = ["java", "dotnet", "node", "bun", "deno", "beam", "ruby", "mono"];
/// Shared libraries that are one, by a part of their path.
const LIBRARIES: [&str; 8] = [
    "/libjvm.so",
    "/libcoreclr.so",
    "/libnode.so",
    "/libruby",
    "/libmono",
    "/libgc.so",
    "/libHSrts",
    "/libv8",
];
/// The name in the note that the Go linker puts on the first page of a program.
const GO_NOTE: &[u8] = b"Go\0\0";
const FIRST_PAGE: u64 = 4_096;

/// What is known of processes.
#[derive(Debug, Default)]
pub struct Collectors(Facts<Option<bool>>);

impl Collectors {
    /// Whether any of these processes has a collector; `None` without any, or if it is unknown of
    /// all of them.
    pub fn any(&mut self, files: &KernelFiles, living: &[Living]) -> Option<bool> {
        let is_final = |known: &Option<bool>| *known == Some(true);
        let all = self.0.look_up(living.iter(), is_final, |pid| collects(files, pid));
        all.into_iter().flatten().reduce(|a, b| a || b)
    }
}

/// Whether this process has a collector, by its program and its libraries; `None` if these cannot be
/// read. A collector that is linked into a program, except Go's, is not seen.
fn collects(files: &KernelFiles, pid: i32) -> Option<bool> {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = program.file_name()?.to_str()?.to_string();
    let libraries = files.text(&format!("proc/{pid}/maps"))?;
    let is_known = PROGRAMS.iter().any(|known| name.starts_with(known))
        || LIBRARIES.iter().any(|known| libraries.contains(known));
    Some(is_known || is_go(pid))
}

fn is_go(pid: i32) -> bool {
    let mut page = Vec::new();
    let read = std::fs::File::open(format!("/proc/{pid}/exe"))
        .and_then(|file| file.take(FIRST_PAGE).read_to_end(&mut page));
    read.is_ok() && page.windows(GO_NOTE.len()).any(|part| part == GO_NOTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_none_and_nobody_is_unknown() {
        let own = std::process::id() as i32;
        let files = KernelFiles::default();
        assert_eq!(
            Collectors::default().any(&files, &[Living::seen(&files, own, 1, 0)]),
            Some(false)
        );
        let nobody = [Living::seen(&files, i32::MAX - 1, 1, 0)];
        assert_eq!(Collectors::default().any(&files, &nobody), None);
        assert_eq!(Collectors::default().any(&files, &[]), None);
    }
}
