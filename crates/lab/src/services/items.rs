//! The data file of workloads whose answers are made of items: drawn anew for each start of a target,
//! so that nothing can be prepared before it.
use pippin_model::workload::draw::Draw;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::secret;
use crate::error::LabError;

/// How many items a file has.
const COUNT: u64 = 1_000;
/// The greatest price and quantity. With a factor of eight digits, a total stays below 2^53, which
/// the numbers of every language hold exactly.
const MOST_PRICE: u64 = 99_999;
const MOST_QUANTITY: u64 = 99;
const _: () = assert!(MOST_PRICE * MOST_QUANTITY * 99_999_999 < 1 << 53);

/// What follows some names: characters that JSON encoders write in different ways, or must escape.
const ENDINGS: [&str; 8] =
    ["", " \"Large\"", " 1/2", " <b>", " R&D", " a\\b", " \u{1F600}", " \u{2028}\t"];
const CATEGORIES: [&str; 5] = ["books", "café", "tools & parts", "音楽", "garden"];
const TAGS: [&str; 6] = ["new", "sale", "blue/green", "heavy", "größer", "fragile"];

/// One item.
#[derive(Debug)]
pub struct Item {
    /// All of its fields, as they stand in the file.
    pub fields: Map<String, Value>,
    /// Price times quantity.
    worth: u64,
}

impl Item {
    fn drawn(id: u64, draw: &mut Draw) -> Self {
        let (price, quantity) = (1 + draw.below(MOST_PRICE), 1 + draw.below(MOST_QUANTITY));
        let one_of = |texts: &[&'static str], draw: &mut Draw| {
            texts[draw.below(texts.len() as u64) as usize]
        };
        let ending = one_of(&ENDINGS, draw);
        let tags: Vec<&str> = (0..draw.below(4)).map(|_| one_of(&TAGS, draw)).collect();
        let item = json!({
            "id": id,
            "name": format!("{}{ending}", draw.name(30)),
            "category": one_of(&CATEGORIES, draw),
            "price": price,
            "quantity": quantity,
            "active": draw.below(2) == 0,
            "tags": tags,
            // Some are whole: 4.0, which some encoders write as 4.
            "rating": { "score": (1 + draw.below(50)) as f64 / 10.0, "count": draw.below(5_000) },
        });
        let Value::Object(fields) = item else { unreachable!("it is written as an object") };
        Self { fields, worth: price * quantity }
    }

    /// What an answer says as its `total`, for this factor.
    #[must_use]
    pub const fn total(&self, m: u64) -> u64 {
        self.worth * m
    }
}

/// The items of one file.
#[derive(Debug)]
pub struct Items {
    seed: u64,
    items: Vec<Item>,
}

impl Items {
    /// Those that belong to a seed.
    #[must_use]
    pub fn drawn(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        Self { seed, items: (1..=COUNT).map(|id| Item::drawn(id, &mut draw)).collect() }
    }

    /// From which the same items can be drawn again.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The first `n`, or all if there are fewer.
    #[must_use]
    pub fn first(&self, n: usize) -> &[Item] {
        &self.items[..n.min(self.items.len())]
    }

    fn text(&self) -> String {
        let fields: Vec<&Map<String, Value>> = self.items.iter().map(|item| &item.fields).collect();
        // Texts and numbers can always be written.
        serde_json::to_string(&fields).unwrap_or_default()
    }
}

/// The files of the targets that are up. They are removed when this is dropped.
#[derive(Debug)]
pub struct ItemsFiles {
    folder: PathBuf,
    chosen: usize,
    of_target: BTreeMap<usize, Arc<Items>>,
}

impl ItemsFiles {
    /// Files in this folder.
    ///
    /// # Errors
    /// If the folder has no absolute name, which a target in another folder needs.
    pub fn within(folder: &Path) -> Result<Self, LabError> {
        let folder = std::path::absolute(folder).map_err(LabError::io("find the data file"))?;
        Ok(Self { folder, chosen: 0, of_target: BTreeMap::new() })
    }

    /// Selects the target, counted from 0, for everything that follows.
    pub const fn choose(&mut self, target: usize) {
        self.chosen = target;
    }

    /// Draws items for the next start of the chosen target, and writes its file.
    ///
    /// # Errors
    /// If the kernel gives no random numbers, or the file cannot be written.
    pub fn renew(&mut self) -> Result<PathBuf, LabError> {
        let items = Items::drawn(secret::random("draw a data file")? as u64);
        let path = self.path(self.chosen);
        std::fs::write(&path, items.text())
            .map_err(LabError::io(format!("write {}", path.display())))?;
        self.of_target.insert(self.chosen, Arc::new(items));
        Ok(path)
    }

    /// The items of the chosen target.
    #[must_use]
    pub fn items(&self) -> Option<Arc<Items>> {
        self.of_target.get(&self.chosen).map(Arc::clone)
    }

    fn path(&self, target: usize) -> PathBuf {
        self.folder.join(format!("items-{target}.json"))
    }
}

impl Drop for ItemsFiles {
    fn drop(&mut self) {
        for target in self.of_target.keys() {
            let _ = std::fs::remove_file(self.path(*target));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_follow_from_their_seed_and_no_total_is_too_large_for_53_bits() {
        let items = Items::drawn(7);
        assert_eq!(items.text(), Items::drawn(7).text());
        assert_ne!(items.text(), Items::drawn(8).text());
        assert_eq!((items.first(50).len(), items.first(5_000).len()), (50, 1_000));
        assert!(items.first(1_000).iter().all(|item| item.total(99_999_999) < 1 << 53));
        let text = items.text();
        assert!(ENDINGS[1..].iter().all(|ending| {
            let escaped = serde_json::to_string(ending).unwrap();
            text.contains(escaped.trim_matches('"'))
        }));
        assert!(text.contains(".0,") || text.contains(".0}"), "a whole number with a point");
    }

    #[test]
    fn each_start_has_another_file_and_each_target_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = ItemsFiles::within(folder.path()).unwrap();
        assert!(files.items().is_none());
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        let path = files.renew().unwrap();
        let first = read(&path);
        assert_eq!(files.items().unwrap().text(), first);
        files.choose(1);
        let other = files.renew().unwrap();
        assert!(other != path && read(&other) != first);
        files.choose(0);
        assert_eq!(files.items().unwrap().text(), first);
        files.renew().unwrap();
        assert_ne!(read(&path), first);
        drop(files);
        assert!(!path.exists() && !other.exists());
    }
}
