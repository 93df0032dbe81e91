//! The files that a command writes. Whether they can be written is asked before anything is
//! measured, so that a slip in a name does not cost a whole run.
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::exit::CliError;
use crate::output::say;
use crate::signals;

/// How often a named pipe is asked for its reader.
const LOOK: Duration = Duration::from_millis(20);

/// Writes a file as a whole. A named pipe waits for its reader; see [`create`].
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), CliError> {
    create(path)
        .and_then(|mut file| file.write_all(bytes.as_ref()))
        .map_err(CliError::io(format!("write {}", path.display())))
}

/// The first of several outlets that failed. The others that failed are said before, so that none of
/// them hides another one.
///
/// # Errors
/// If one failed.
pub fn all_written<const N: usize>(outlets: [Result<(), CliError>; N]) -> Result<(), CliError> {
    let mut failed = outlets.into_iter().filter_map(Result::err);
    let first = failed.next();
    failed.for_each(|error| say(format_args!("{error}")));
    first.map_or(Ok(()), Err)
}

/// Writes a file so that nobody ever sees a part of it: until all is written, its name has what it had
/// before, also if this process is killed. What is no regular file (a named pipe, a device) gets the
/// bytes as they come.
///
/// # Errors
/// If it cannot be written. Then it is as it was.
pub fn replace(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    let whole = |path: &Path, file: File| {
        let mut out = BufWriter::new(file);
        fill(&mut out)
            .and_then(|()| out.flush())
            .map_err(CliError::io(format!("write {}", path.display())))
    };
    let named = path.canonicalize().unwrap_or_else(|_| path.into());
    let failed = || CliError::io(format!("write {}", path.display()));
    if named.metadata().is_ok_and(|found| !found.is_file()) {
        return whole(path, create(path).map_err(failed())?);
    }
    let mut beside = named.clone().into_os_string();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = File::create(&beside)
        .map_err(failed())
        .and_then(|file| whole(path, file))
        .and_then(|()| std::fs::rename(&beside, &named).map_err(failed()));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Creates a file, or empties it. A named pipe waits until a program opens it for reading, or until
/// a signal ends this command: open(2) alone would wait on, because signals are caught.
///
/// # Errors
/// If that fails. `ErrorKind::Interrupted`: nobody reads the pipe, and a signal came.
pub fn create(path: &Path) -> io::Result<File> {
    if !path.metadata().is_ok_and(|found| found.file_type().is_fifo()) {
        return File::create(path);
    }
    loop {
        // fifo(7): without a reader, opening for writing fails with ENXIO where it may not wait.
        match OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path) {
            Ok(pipe) => return waiting(pipe),
            Err(error) if error.raw_os_error() != Some(libc::ENXIO) => return Err(error),
            Err(_) if signals::stops() > 0 => {
                return Err(io::Error::new(ErrorKind::Interrupted, "nobody reads this pipe"));
            }
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// Makes writes to the pipe wait for its reader.
fn waiting(pipe: File) -> io::Result<File> {
    // SAFETY: the descriptor is open, and F_SETFL takes flags (fcntl(2)).
    match unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(pipe),
    }
}

/// What has standard output for a file of this name.
const STDOUT_TOO: [&str; 3] = ["--json", "--timeseries", "--samples"];

/// Refuses a file that cannot be written. `flag` is the flag that names it. Nothing is left behind, and a
/// file that exists is not changed.
///
/// # Errors
/// If its folder does not exist, it is a folder itself, the system does not let it be written, or it is `-`
/// and the flag has no form for standard output.
pub fn must_be_writable(flag: &str, file: Option<&Path>) -> Result<(), CliError> {
    let Some(file) = file else { return Ok(()) };
    if file.as_os_str() == "-" {
        return match STDOUT_TOO.contains(&flag) {
            true => Ok(()),
            false => {
                Err(CliError::User(format!("{flag}: name a file, or /dev/stdout instead of `-`")))
            }
        };
    }
    let refuse = |why: String| Err(CliError::User(format!("{flag}: {why}")));
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return refuse(format!("there is no folder {}; make it first", folder.display()));
    }
    if file.is_dir() {
        return refuse(format!("{} is a folder; name a file", file.display()));
    }
    attempt(file).or_else(|error| refuse(format!("cannot write {}: {error}", file.display())))
}

/// Refuses that one file is named twice: what is written first would be lost, or what is read. Pipes and
/// devices may be.
///
/// # Errors
/// If two flags name one file.
pub fn must_differ(files: &[(&str, Option<&Path>)]) -> Result<(), CliError> {
    let named = files.iter().filter_map(|(flag, file)| {
        file.filter(|file| file.as_os_str() != "-").map(|file| (*flag, real(file)))
    });
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for (flag, file) in named {
        if let Some((other, _)) = seen.iter().find(|(_, known)| *known == file) {
            let both = if *other == flag {
                format!("{flag} twice")
            } else {
                format!("{other} and {flag}")
            };
            return Err(CliError::User(format!(
                "{both}: {} is one file; name another, because one would overwrite the other",
                file.display()
            )));
        }
        if file.metadata().map_or(true, |found| found.is_file()) {
            seen.push((flag, file));
        }
    }
    Ok(())
}

/// The name without links and dots. A file that does not exist yet has that of its folder.
fn real(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    file.canonicalize().unwrap_or_else(|_| {
        let folder = folder.unwrap_or_else(|| Path::new(".")).canonicalize();
        folder.ok().zip(file.file_name()).map_or_else(|| file.into(), |(at, name)| at.join(name))
    })
}

/// Opens the file for writing. One that did not exist is removed again.
fn attempt(file: &Path) -> io::Result<()> {
    match file.metadata() {
        // To open a pipe can wait for its reader.
        Ok(found) if !found.is_file() => Ok(()),
        Ok(_) => OpenOptions::new().write(true).open(file).map(drop),
        Err(_) => match OpenOptions::new().write(true).create_new(true).open(file) {
            Ok(_) => std::fs::remove_file(file),
            // A link to a file that does not exist yet.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(file: &Path) -> String {
        must_be_writable("--junit", Some(file))
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn what_cannot_be_written_is_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new.xml");
        assert_eq!(said(&new), "");
        assert!(!new.exists());
        std::fs::write(&new, "old").unwrap();
        assert_eq!(said(&new), "");
        assert_eq!(std::fs::read_to_string(&new).unwrap(), "old");
        assert!(said(folder.path()).ends_with(" is a folder; name a file"));
        assert!(said(&folder.path().join("no/x")).starts_with("--junit: there is no folder "));
        assert!(said(Path::new("/proc/pippin.xml")).starts_with("--junit: cannot write /proc/"));
        assert!(said(Path::new("-")).contains("/dev/stdout"));
        assert!(must_be_writable("--json", Some(Path::new("-"))).is_ok());
        assert_eq!(said(Path::new("/dev/null")), "");
    }

    #[test]
    fn one_file_is_not_named_twice() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.json"), folder.path().join("b.json"));
        let dotted = folder.path().join("./a.json");
        let both = |one: &Path, other: &Path| {
            must_differ(&[("--json", Some(one)), ("--junit", None), ("--html", Some(other))])
        };
        let error = both(&file, &dotted).unwrap_err().to_string();
        assert!(error.starts_with("--json and --html: ") && error.contains("a.json"), "{error}");
        assert!(both(&file, &link).is_ok());
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(both(&file, &link).is_err());
        assert!(both(Path::new("/dev/null"), Path::new("/dev/null")).is_ok());
        assert!(both(Path::new("-"), &file).is_ok());
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_or_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.csv");
        let link = folder.path().join("link.csv");
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let fails = replace(&link, |out| {
            out.write_all(&[b'x'; 100_000])?;
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
            Err(io::Error::other("no more"))
        });
        assert!(fails.is_err_and(|error| error.to_string().contains("link.csv")));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside");
    }
}
