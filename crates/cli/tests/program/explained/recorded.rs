//! Recordings of runs: compressed JSON, without the names of the machine's folders.
use super::super::support::{Checkout, cheat};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use pippin_model::run::RunRecord;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const ENDING: &str = ".json.gz";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/explained")
}

/// The names of all recordings.
pub fn names() -> BTreeSet<String> {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name());
    files.map(|name| name.to_str().unwrap().strip_suffix(ENDING).unwrap().to_string()).collect()
}

/// A recording.
pub fn read(name: &str) -> RunRecord {
    let file = File::open(folder().join(format!("{name}{ENDING}"))).unwrap();
    serde_json::from_reader(GzDecoder::new(file)).unwrap()
}

/// Keeps a run as the recording of this name.
pub fn keep(name: &str, record: &RunRecord, checkout: &Checkout) {
    let text = serde_json::to_string(&record.for_record()).unwrap();
    let text = text
        .replace(&checkout.path().display().to_string(), "/checkout")
        .replace(&checkout.marker(), "checkout")
        .replace(&cheat().display().to_string(), "/cheat");
    let hostname = record.header.host.hostname.iter();
    let text = hostname.fold(text, |text, name| text.replace(&format!("{name:?}"), "\"host\""));
    fs::create_dir_all(folder()).unwrap();
    let file = File::create(folder().join(format!("{name}{ENDING}"))).unwrap();
    let mut encoder = GzEncoder::new(file, Compression::best());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap();
}
