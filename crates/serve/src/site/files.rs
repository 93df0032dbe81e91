//! The folder of a site. It holds a list of its files, so that a rebuild removes what is stale, and
//! nothing else.
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::SiteError;
use super::pages::Page;

/// The list of the files of a site.
const LIST: &str = "pippin-site.json";
const SITEMAP: &str = "sitemap.xml";

#[derive(Serialize, Deserialize)]
struct List {
    /// The form of this list.
    pippin_site: u32,
    files: BTreeSet<String>,
}

/// The files of a site that is being built.
pub(super) struct Files {
    folder: PathBuf,
    earlier: BTreeSet<String>,
    written: BTreeSet<String>,
    bytes: u64,
}

impl Files {
    /// Takes an empty folder, a new one, or that of a site. What begins with a dot (`.git`) is not
    /// looked at.
    pub(super) fn open(folder: &Path) -> Result<Self, SiteError> {
        let io = |source| SiteError::Io { path: folder.into(), source };
        let earlier = match fs::read(folder.join(LIST)) {
            Ok(list) => {
                serde_json::from_slice::<List>(&list)
                    .map_err(|_| SiteError::Foreign(folder.into()))?
                    .files
            }
            Err(_) if is_empty(folder).map_err(io)? => BTreeSet::new(),
            Err(_) => return Err(SiteError::Foreign(folder.into())),
        };
        let (written, bytes) = (BTreeSet::new(), 0);
        Ok(Self { folder: folder.into(), earlier, written, bytes })
    }

    /// Writes a file.
    pub(super) fn write(&mut self, name: &str, content: &[u8]) -> Result<(), SiteError> {
        let path = self.folder.join(name);
        let write = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&path, content)
        };
        write().map_err(|source| SiteError::Io { path: path.clone(), source })?;
        self.bytes += content.len() as u64;
        self.written.insert(name.into());
        Ok(())
    }

    /// Writes what programs and people read.
    pub(super) fn json(&mut self, name: &str, content: &impl Serialize) -> Result<(), SiteError> {
        let mut text = serde_json::to_vec_pretty(content)?;
        text.push(b'\n');
        self.write(name, &text)
    }

    /// Writes a page.
    pub(super) fn page(
        &mut self,
        name: &str,
        page: &Page,
        url: Option<&str>,
    ) -> Result<(), SiteError> {
        self.write(name, page.document(name, url).as_bytes())
    }

    /// Writes the list of files, and a map of all pages if the site's address is known; removes what
    /// is stale. Returns how many files there are, their bytes, and how many were removed.
    pub(super) fn finish(mut self, url: Option<&str>) -> Result<(usize, u64, usize), SiteError> {
        if let Some(url) = url {
            let map = sitemap(url, &self.written);
            self.write(SITEMAP, map.as_bytes())?;
        }
        let mut removed = 0;
        for name in self.earlier.difference(&self.written).filter(|name| is_inside(name)) {
            let path = self.folder.join(name);
            match fs::remove_file(&path) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(SiteError::Io { path, source }),
            }
            // A folder that is not empty stays.
            let mut above = path.parent().map(Path::to_path_buf);
            while let Some(folder) = above.filter(|it| *it != self.folder) {
                if fs::remove_dir(&folder).is_err() {
                    break;
                }
                above = folder.parent().map(Path::to_path_buf);
            }
        }
        let list = List { pippin_site: 1, files: self.written.clone() };
        self.json(LIST, &list)?;
        Ok((self.written.len(), self.bytes, removed))
    }
}

/// Whether a name of the list is one of a file below the folder. Anybody may have written the list.
fn is_inside(name: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != ".." && part != ".";
    name.split('/').all(is_plain) && !name.contains('\\')
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut all) => {
            Ok(all
                .all(|one| one.is_ok_and(|one| one.file_name().to_string_lossy().starts_with('.'))))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// All pages (sitemaps.org, protocol 0.9).
fn sitemap(url: &str, files: &BTreeSet<String>) -> String {
    let mut map = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for page in files.iter().filter(|name| name.ends_with(".html")) {
        let address = format!("{url}{page}").replace('&', "&amp;").replace('<', "&lt;");
        map.push_str(&format!("<url><loc>{address}</loc></url>\n"));
    }
    map + "</urlset>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_names_files_elsewhere_removes_none() {
        for odd in ["../a", "/a", "a/../../b", "a\\b", ""] {
            assert!(!is_inside(odd), "{odd}");
        }
        assert!(is_inside("history/c/nginx.html"));
    }
}
