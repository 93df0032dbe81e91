//! The inputs to begin with: the hostile servers of `pippin-reference`, the files of this
//! repository, and the files in `corpus/NAME` of this crate. Put every input that broke something
//! there, so that it is always tried again.
use pippin_testing::frames;
use pippin_testing::hostile::{Act, Does, On, Over, Speaks, behaviours};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The inputs that are kept for a target, sorted by name; empty if it has no folder.
///
/// # Errors
/// If one cannot be read.
pub fn kept(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    if folder.exists() { files(&folder, |_| true) } else { Ok(Vec::new()) }
}

/// The contents of all files in and below a folder whose names match.
///
/// # Errors
/// If one cannot be read.
pub fn files(folder: &Path, is_right: impl Fn(&str) -> bool + Copy) -> io::Result<Vec<Vec<u8>>> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(files(&path, is_right)?);
        } else if is_right(name) {
            found.push(fs::read(&path)?);
        }
    }
    Ok(found)
}

/// Everything that hostile servers of this protocol send, each as one input after `before`.
#[must_use]
pub fn sent(speaks: Speaks, in_handshake: bool, before: &[u8]) -> Vec<Vec<u8>> {
    behaviours()
        .filter(|one| one.speaks == speaks && (one.over == Over::Handshake) == in_handshake)
        .filter_map(|one| match one.does {
            Does::Answer(pieces) => Some(pieces.concat()),
            Does::Script(script) => Some(script.iter().flat_map(|act| bytes_of(*act)).collect()),
            Does::Refuse | Does::NeverAccept => None,
        })
        .map(|bytes: Vec<u8>| [before, &bytes].concat())
        .collect()
}

/// How often endless bytes are repeated in an input.
const ENDLESS: usize = 3;

fn bytes_of(act: Act) -> Vec<u8> {
    match act {
        Act::Send(bytes) | Act::Drip(bytes) | Act::Bare(bytes) => bytes.to_vec(),
        Act::Many(count, bytes) => bytes.repeat(count.min(40)),
        Act::Endless(_, bytes) => bytes.repeat(ENDLESS),
        Act::Frame(frame) => {
            let stream = match frame.stream {
                On::Asked => 1,
                On::Number(number) => number,
            };
            frames::frame(frame.kind, frame.flags, stream, frame.payload)
        }
        _ => Vec::new(),
    }
}
