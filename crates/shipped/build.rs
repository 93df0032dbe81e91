//! Packs the tracked files of `targets/`, `workloads/` and `plans/` into one archive for
//! `src/lib.rs`. A package from crates.io does not have these folders, but the archive.
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::error::Error;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const FOLDERS: [&str; 3] = ["targets", "workloads", "plans"];

/// The archive in a package, beside this script.
const PACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/catalog.tar.gz");

fn main() -> Result<(), Box<dyn Error>> {
    let (bytes, packed) = match fs::read(PACKED) {
        Ok(packed) => {
            // Only if it exists: a missing file would count as changed each time.
            println!("cargo::rerun-if-changed={PACKED}");
            let mut bytes = Vec::new();
            GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes)?;
            (bytes, packed)
        }
        Err(_) => {
            let bytes = archive()?;
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            packed.write_all(&bytes)?;
            (bytes, packed.finish()?)
        }
    };
    println!("cargo::rustc-env=PIPPIN_CATALOG_DIGEST={:016x}", fnv(&bytes));
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join("catalog.tar.gz"), packed)?;
    Ok(())
}

/// The files as a tar archive.
fn archive() -> Result<Vec<u8>, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = tracked(&root).unwrap_or_else(|| not_ignored(&root));
    files.retain(|file| root.join(file).is_file());
    files.sort();
    if files.is_empty() {
        return Err(format!("{} has no targets/, workloads/ and plans/", root.display()).into());
    }
    let mut archive = tar::Builder::new(Vec::new());
    // The same files give the same bytes, because owners and times are left out.
    archive.mode(tar::HeaderMode::Deterministic);
    for file in &files {
        println!("cargo::rerun-if-changed={}", root.join(file).display());
        archive.append_path_with_name(root.join(file), file)?;
    }
    // A test demands that each new target, workload or plan has a line in one of these pages.
    // Watching the folders themselves would rebuild whenever something is installed in them.
    for page in ["docs/plans.md", "docs/targets.md"] {
        println!("cargo::rerun-if-changed={}", root.join(page).display());
    }
    Ok(archive.into_inner()?)
}

/// The files that git tracks; `None` without git or its records.
fn tracked(root: &Path) -> Option<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["ls-files", "-z", "--"]).args(FOLDERS);
    let output = git.output().ok().filter(|output| output.status.success())?;
    let names = String::from_utf8(output.stdout).ok()?;
    let files: Vec<PathBuf> =
        names.split('\0').filter(|name| !name.is_empty()).map(Into::into).collect();
    (!files.is_empty()).then_some(files)
}

/// For an archive of the source: every file that no `.gitignore` matches.
fn not_ignored(root: &Path) -> Vec<PathBuf> {
    let walk = |folder: &str| {
        ignore::WalkBuilder::new(root.join(folder)).hidden(false).require_git(false).build()
    };
    FOLDERS
        .into_iter()
        .flat_map(walk)
        .flatten()
        .filter_map(|entry| entry.path().strip_prefix(root).ok().map(Path::to_path_buf))
        .collect()
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv).
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
