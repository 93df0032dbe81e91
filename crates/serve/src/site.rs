//! `pippin site`: the runs of a store as a folder of files, which any web server can show. The same runs
//! always give the same bytes.
//!
//! | module | what it holds |
//! |---|---|
//! | `clean` | what a site shows of a run: nothing that may be a secret |
//! | `files` | the folder: what is in it, and what is stale |
//! | `names` | the names of files, and links between them |
//! | `entry` | what lists show of a run |
//! | `pages` | the pages |
//! | `badge` | badges in the form of shields.io |
//! | `others` | runs of others, which are verified first |
mod badge;
mod clean;
mod entry;
mod files;
mod names;
mod others;
mod pages;

use pippin_model::request::secrets::Public;
use pippin_model::run::{RunHeader, RunRecord, RunState};
use pippin_report::form::{png, record};
use pippin_report::view::View;
use pippin_store::{Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use entry::{Board, Entry};
use files::Files;
use pages::Pages;

/// Why a site was not built.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The folder holds something else.
    #[error(
        "{} is not empty, and no site of Pippin's: it was not changed; name a new or empty folder", .0.display()
    )]
    Foreign(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run of somebody else does not agree with its slices.
    #[error("{} is not taken in. {words}", path.display())]
    NotVerified {
        /// Its file.
        path: PathBuf,
        /// What does not agree.
        words: String,
    },
    /// A run of somebody else cannot be shown.
    #[error("{} is not taken in: {why}", path.display())]
    Refused {
        /// Its file.
        path: PathBuf,
        /// Why not, and what to do.
        why: String,
    },
    /// Something cannot be written as JSON. No run is known to cause this.
    #[error("{0}")]
    Encoding(#[from] serde_json::Error),
    /// A preview cannot be drawn. No run is known to cause this.
    #[error("a preview cannot be drawn: {0}")]
    Picture(String),
    /// What ships with Pippin cannot be found.
    #[error("{0}")]
    Public(String),
}

/// Which parts of a run are public, because they ship with Pippin.
pub type PublicOf<'a> = &'a dyn Fn(&RunHeader) -> Result<Public, String>;

/// What a site is made from.
pub struct Site<'a> {
    /// The store.
    pub store: &'a Store,
    /// Which parts of a run are public.
    pub public: PublicOf<'a>,
    /// The address under which it will be found, with `/` at its end; `None` if it is not known.
    pub url: Option<String>,
}

/// What was built.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Built {
    /// Runs of the store.
    pub runs: usize,
    /// Runs of others.
    pub others: usize,
    /// Files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Files of an earlier build that were removed.
    pub removed: usize,
    /// Runs that are left out, each with the reason.
    pub left_out: Vec<String>,
}

impl Site<'_> {
    /// Builds the site of these runs in a folder, and of the files `added`, which hold runs of others.
    /// Those that were added before stay.
    ///
    /// # Errors
    /// If the folder holds something else, or a file is not what it claims to be. The site is then as
    /// it was.
    pub fn build(
        &self,
        folder: &Path,
        runs: &[String],
        added: &[PathBuf],
    ) -> Result<Built, SiteError> {
        let mut files = Files::open(folder)?;
        // Before anything is written: a run that is refused leaves the site as it was.
        let others = others::all(folder, added, self.public)?;
        let mut built = Built { others: others.len(), ..Built::default() };
        let entries = self.runs(runs, &mut files, &mut built)?;
        let pages = Pages { entries: &entries, others: &others, url: self.url.as_deref() };
        pages.write_others(&mut files)?;
        pages.write_boards(&mut files)?;
        self.histories(&pages, &mut files)?;
        badge::write(&entries, &mut files)?;
        pages.write_index(&mut files)?;
        (built.files, built.bytes, built.removed) = files.finish(self.url.as_deref())?;
        Ok(built)
    }

    /// Writes the page and the record of each run, and the comparison with the round before it.
    fn runs(
        &self,
        ids: &[String],
        files: &mut Files,
        built: &mut Built,
    ) -> Result<Vec<Entry>, SiteError> {
        let mut headers: Vec<RunHeader> = Vec::new();
        for id in ids.iter().collect::<BTreeSet<_>>() {
            headers.push(self.store.header(id)?);
        }
        headers.sort_by(|a, b| (a.started_unix_ns, &a.id).cmp(&(b.started_unix_ns, &b.id)));
        let mut rounds: BTreeMap<Board, RunRecord> = BTreeMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        for header in headers {
            let record = self.store.load(&header.id)?;
            let record = match self.shown(record)? {
                Ok(record) => record,
                Err(why) => {
                    built.left_out.push(format!("{}: {why}", header.id));
                    continue;
                }
            };
            let view = View::of(&record);
            let mut entry = Entry::from_record(&record, &view);
            if let Some(before) = entry.board.as_ref().and_then(|board| rounds.get(board)) {
                let id = &before.header.id;
                let path = names::comparison(id, &entry.id);
                files.page(&path, &pages::comparison(before, &record), self.url.as_deref())?;
                entry.before = Some(id.clone());
            }
            files.write(&names::record(&entry.id), &record::render(&record, &view)?)?;
            files.page(&names::run(&entry.id), &pages::run(&entry, &view), self.url.as_deref())?;
            // Previews need whole addresses.
            if self.url.is_some() {
                let picture = png::preview(&view).map_err(SiteError::Picture)?;
                files.write(&names::preview(&entry.id), &picture)?;
            }
            rounds.extend(entry.board.clone().map(|board| (board, record)));
            entries.push(entry);
        }
        built.runs = entries.len();
        Ok(entries)
    }

    /// What is shown of a run, or why it is left out.
    fn shown(&self, record: RunRecord) -> Result<Result<RunRecord, String>, SiteError> {
        if record.state == RunState::Running {
            return Ok(Err("it is still under way".into()));
        }
        if !names::is_file_name(&record.header.id) {
            return Ok(Err("its name cannot be that of a file".into()));
        }
        let public = (self.public)(&record.header).map_err(SiteError::Public)?;
        Ok(clean::record(record, &public))
    }

    fn histories(&self, pages: &Pages<'_>, files: &mut Files) -> Result<(), SiteError> {
        let shown: BTreeSet<&str> = pages.entries.iter().map(|entry| entry.id.as_str()).collect();
        for target in pages.targets() {
            let mut points = self.store.history(&target)?;
            points.retain(|point| shown.contains(point.run.as_str()));
            let newest = points.last().map(|point| self.store.header(&point.run)).transpose()?;
            pages.write_history(&target, &points, newest.as_ref(), files)?;
        }
        Ok(())
    }
}
