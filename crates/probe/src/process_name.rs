//! The name of a process, safe to show.
use pippin_model::text::printable::printable;

use crate::kernel_files::KernelFiles;

/// The name of a process (`/proc/PID/comm`, proc_pid_comm(5)); `None` if there is no such process. A
/// program may give itself any name: what cannot be shown is replaced, and a process without a name
/// is `unnamed`.
#[must_use]
pub fn process_name(files: &KernelFiles, pid: i32) -> Option<String> {
    let text = files.text(&format!("proc/{pid}/comm"))?;
    let name = text.strip_suffix('\n').unwrap_or(&text);
    let shown: String =
        printable(name).chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    Some(if shown.trim().is_empty() { "unnamed".into() } else { shown.trim().into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_files::captured;

    #[test]
    fn any_name_can_be_shown() {
        let (_root, files) = captured(&[
            ("proc/1/comm", "nginx\n"),
            ("proc/2/comm", "\n"),
            ("proc/3/comm", "a) S 1\n2 (b\n"),
            ("proc/4/comm", "\x1b[2Jx\n"),
        ]);
        let name = |pid| process_name(&files, pid);
        assert_eq!(name(1).unwrap(), "nginx");
        assert_eq!(name(2).unwrap(), "unnamed");
        assert_eq!(name(3).unwrap(), "a) S 1 2 (b");
        assert_eq!(name(4).unwrap(), "\u{fffd}[2Jx");
        assert_eq!(name(5), None);
    }
}
