//! Runs of others. Each is verified every time the site is built; its record in the site is where the
//! next build finds it.
use pippin_model::text::bounded;
use pippin_report::form::record;
use pippin_report::verify::verify;
use pippin_report::view::View;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{PublicOf, SiteError, clean, names};

/// A run of somebody else.
pub(super) struct Other {
    pub id: String,
    pub view: View,
    /// Its record, as the site shows it.
    pub record: Vec<u8>,
}

/// Those that a site has, and those that are added to it.
pub(super) fn all(
    folder: &Path,
    added: &[PathBuf],
    public: PublicOf<'_>,
) -> Result<Vec<Other>, SiteError> {
    let mut found: BTreeMap<String, Other> = BTreeMap::new();
    for path in kept(folder)?.iter().chain(added) {
        let other = read(path, public)?;
        if let Some(known) = found.get(&other.id).filter(|known| known.record != other.record) {
            let why = format!("another run of somebody else is called {} too", known.id);
            return Err(SiteError::Refused { path: path.clone(), why });
        }
        found.insert(other.id.clone(), other);
    }
    Ok(found.into_values().collect())
}

/// The files of those that a site has.
fn kept(folder: &Path) -> Result<Vec<PathBuf>, SiteError> {
    let folder = folder.join("others");
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| SiteError::Io { path: folder.clone(), source })?.path();
        if path.to_string_lossy().ends_with(".record.json") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path, public: PublicOf<'_>) -> Result<Other, SiteError> {
    let refused = |why: String| SiteError::Refused { path: path.into(), why };
    let text = bounded::text(path, bounded::DATA)
        .map_err(|source| SiteError::Io { path: path.into(), source })?;
    let verified = verify(&text).map_err(|error| refused(error.to_string()))?;
    if !verified.disagreements.is_empty() {
        let words = verified.words();
        return Err(SiteError::NotVerified { path: path.into(), words });
    }
    let id = verified.record.header.id.clone();
    if !names::is_file_name(&id) {
        return Err(refused("its name cannot be that of a file".into()));
    }
    let public = public(&verified.record.header).map_err(SiteError::Public)?;
    let cleaned = clean::record(verified.record, &public).map_err(refused)?;
    let view = View::of(&cleaned);
    let record = record::render(&cleaned, &view)?;
    Ok(Other { id, view, record })
}
