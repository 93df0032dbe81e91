//! The pages of `docs/` that messages and help texts name, inside the binary: who installed only the
//! program can read them with `pippin help NAME`.
use flate2::read::GzDecoder;
use std::io::Read;

/// Their names, without folder and ending.
pub const NAMES: [&str; 10] = include!("page_names.rs");

/// The pages, as a tar archive compressed with gzip.
const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pages.tar.gz"));

/// The text of the page of this name, in Markdown; `None` if no such page is inside.
#[must_use]
pub fn named(name: &str) -> Option<String> {
    let wanted = format!("docs/{name}.md");
    let mut archive = tar::Archive::new(GzDecoder::new(ARCHIVE));
    let mut entries = archive.entries().ok()?.flatten();
    let mut page = entries.find(|entry| entry.path_bytes() == wanted.as_bytes())?;
    let mut text = String::new();
    page.read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_inside_as_it_is_in_the_folder_and_no_other_is() {
        for name in NAMES {
            let file = format!("{}/../../docs/{name}.md", env!("CARGO_MANIFEST_DIR"));
            assert_eq!(named(name).unwrap(), std::fs::read_to_string(file).unwrap(), "{name}");
        }
        assert_eq!((named("terminology"), named("../docs/gates"), named("")), (None, None, None));
    }
}
