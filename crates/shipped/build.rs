//! Packs the tracked files of `targets/`, `workloads/` and `plans/` into one archive for
//! `src/archive.rs`, and the pages of `docs/` that messages name into another for `src/pages.rs`. A
//! package from crates.io does not have these folders, but the archives.
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::error::Error;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const FOLDERS: [&str; 3] = ["targets", "workloads", "plans"];

/// The pages of `docs/` that messages name.
const PAGES: [&str; 10] = include!("src/page_names.rs");

fn main() -> Result<(), Box<dyn Error>> {
    let root = manifest_folder()?.join("../..");
    let catalog = pack("catalog.tar.gz", || catalog_files(&root), &root)?;
    println!("cargo::rustc-env=PIPPIN_CATALOG_DIGEST={:016x}", fnv(&catalog));
    let pages = || Ok(PAGES.iter().map(|name| format!("docs/{name}.md").into()).collect());
    pack("pages.tar.gz", pages, &root)?;
    Ok(())
}

/// The folder of this crate. Asked when the script runs, because the script may have been compiled for
/// another checkout that shares its build folder.
fn manifest_folder() -> Result<PathBuf, env::VarError> {
    env::var("CARGO_MANIFEST_DIR").map(PathBuf::from)
}

/// Packs files into an archive of this name. In a package it is there already, beside this script.
/// Returns its content before it was compressed.
fn pack(
    name: &str,
    files: impl FnOnce() -> Result<Vec<PathBuf>, Box<dyn Error>>,
    root: &Path,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let beside = manifest_folder()?.join(name);
    let (bytes, packed) = match fs::read(&beside) {
        Ok(packed) => {
            // Only if it exists: a missing file would count as changed each time.
            println!("cargo::rerun-if-changed={}", beside.display());
            let mut bytes = Vec::new();
            GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes)?;
            (bytes, packed)
        }
        Err(_) => {
            let bytes = archive(&files()?, root)?;
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            packed.write_all(&bytes)?;
            (bytes, packed.finish()?)
        }
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join(name), packed)?;
    Ok(bytes)
}

/// The tracked files of the catalog.
fn catalog_files(root: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = tracked(root).unwrap_or_else(|| not_ignored(root));
    files.retain(|file| root.join(file).is_file());
    files.sort();
    if files.is_empty() {
        return Err(format!("{} has no targets/, workloads/ and plans/", root.display()).into());
    }
    // A test demands that each new target, workload or plan has a line in one of these pages.
    // Watching the folders themselves would rebuild whenever something is installed in them.
    for page in ["docs/plans.md", "docs/targets.md"] {
        println!("cargo::rerun-if-changed={}", root.join(page).display());
    }
    Ok(files)
}

/// The files as a tar archive.
fn archive(files: &[PathBuf], root: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = tar::Builder::new(Vec::new());
    // The same files give the same bytes, because owners and times are left out.
    archive.mode(tar::HeaderMode::Deterministic);
    for file in files {
        println!("cargo::rerun-if-changed={}", root.join(file).display());
        archive.append_path_with_name(root.join(file), file)?;
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
