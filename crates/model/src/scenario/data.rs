//! The sources of a user's values before its first step.
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;

use crate::text::bounded;
use crate::text::file::without_mark;
use crate::text::units::counted;
use crate::workload::draw::Draw;

/// A value that every walk begins with, or several from one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name. The columns of a file are named `name.column`.
    pub name: String,
    /// Its source.
    pub values: Values,
}

/// The source of a value. Random values depend on the seed of the load, the number of the user and
/// the number of its walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// A whole number, both ends included.
    Range {
        /// The least.
        from: u64,
        /// The greatest.
        to: u64,
    },
    /// One of these.
    OneOf(Vec<String>),
    /// This many lower-case letters and digits.
    Letters(u32),
    /// A row of a file.
    Rows(Rows),
}

/// The rows of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// The name of the file.
    pub file: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Whether rows are random; otherwise users take them in turn.
    pub random: bool,
    /// The number of rows.
    pub count: u64,
    /// SHA-256 over all cells, in hexadecimal.
    pub digest: String,
    /// The cells, row by row; empty in a record.
    #[serde(default, with = "shared", skip_serializing_if = "is_empty")]
    pub cells: Arc<Vec<String>>,
}

fn is_empty(cells: &Arc<Vec<String>>) -> bool {
    cells.is_empty()
}

/// Cells that copies of a load share.
mod shared {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub fn serialize<S: Serializer>(
        cells: &Arc<Vec<String>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        cells.as_ref().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<Vec<String>>, D::Error> {
        Vec::deserialize(deserializer).map(Arc::new)
    }
}

/// Identifies a walk: the user, and how often it has begun before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// The number of the user in the whole load.
    pub user: u64,
    /// The number of users of the whole load.
    pub users: u64,
    /// How often the user has begun before.
    pub nth: u64,
}

impl Walk {
    /// The random numbers of this walk. They do not depend on the number of threads and generators.
    #[must_use]
    pub const fn draw(&self, seed: u64) -> Draw {
        let mut users = Draw::new(seed ^ self.user.wrapping_mul(0xD1B5_4A32_D192_ED03));
        Draw::new(users.bits() ^ self.nth.wrapping_mul(0x8CB9_2BA7_2F3D_8DD7))
    }
}

impl Variable {
    /// The names of its values.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match &self.values {
            Values::Rows(rows) => {
                rows.columns.iter().map(|column| format!("{}.{column}", self.name)).collect()
            }
            _ => vec![self.name.clone()],
        }
    }

    /// The number of its values.
    #[must_use]
    pub const fn width(&self) -> usize {
        match &self.values {
            Values::Rows(rows) => rows.columns.len(),
            _ => 1,
        }
    }

    /// Writes the values of a walk into `places`, one for each name, and overwrites what was there.
    pub fn fill(&self, walk: Walk, draw: &mut Draw, places: &mut [String]) {
        places.iter_mut().for_each(String::clear);
        match &self.values {
            Values::Range { from, to } => {
                let count = (to - from).saturating_add(1);
                places[0].push_str(&(from + draw.below(count)).to_string());
            }
            Values::OneOf(texts) => {
                places[0].push_str(&texts[draw.below(texts.len() as u64) as usize]);
            }
            Values::Letters(count) => {
                const SIGNS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
                let mut sign = || char::from(SIGNS[draw.below(SIGNS.len() as u64) as usize]);
                places[0].extend((0..*count).map(|_| sign()));
            }
            Values::Rows(rows) => {
                let nth = if rows.random {
                    draw.below(rows.count)
                } else {
                    // Together, the users take one row after the other.
                    walk.user.wrapping_add(walk.nth.wrapping_mul(walk.users)) % rows.count
                };
                let from = nth as usize * rows.columns.len();
                let row = &rows.cells[from..from + rows.columns.len()];
                places.iter_mut().zip(row).for_each(|(place, cell)| place.push_str(cell));
            }
        }
    }

    /// All texts that can be the value of this name, if they are known.
    pub fn known_texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let (texts, nth, step): (&[String], _, _) = match &self.values {
            Values::OneOf(texts) if name == self.name => (texts, 0, 1),
            Values::Rows(rows) => {
                let column = self.names().iter().position(|known| known == name);
                let texts: &[String] = if column.is_some() { &rows.cells } else { &[] };
                (texts, column.unwrap_or_default(), rows.columns.len())
            }
            _ => (&[], 0, 1),
        };
        texts.iter().skip(nth).step_by(step.max(1)).map(String::as_str)
    }

    /// The form for records.
    #[must_use]
    pub fn for_record(&self) -> Self {
        let values = match &self.values {
            Values::Rows(rows) => Values::Rows(Rows { cells: Arc::default(), ..rows.clone() }),
            other => other.clone(),
        };
        Self { name: self.name.clone(), values }
    }
}

impl Rows {
    /// Reads a file: CSV with names in the first line (RFC 4180), or one JSON object on each line
    /// if the ending of its name says so.
    ///
    /// # Errors
    /// If it cannot be read, has no row, or a line is wrong. The message names file and line.
    pub fn read(path: &Path, random: bool) -> Result<Self, String> {
        let text = bounded::text(path, bounded::DATA)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let read = if ["jsonl", "ndjson"].contains(&ending) { json_lines } else { csv };
        let at = |(line, why): (u64, String)| format!("{}:{line}: {why}", path.display());
        let (columns, cells) = read(without_mark(&text)).map_err(at)?;
        check_names(&columns).map_err(|why| at((1, why)))?;
        if cells.is_empty() {
            return Err(at((1, "there is no row below the names".into())));
        }
        let mut hash = Sha256::new();
        for text in columns.iter().chain(&cells) {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        Ok(Self {
            file: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            random,
            count: (cells.len() / columns.len()) as u64,
            digest: hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect(),
            columns,
            cells: Arc::new(cells),
        })
    }
}

/// Checks that each column has a valid name of its own.
fn check_names(columns: &[String]) -> Result<(), String> {
    for (nth, name) in columns.iter().enumerate() {
        if super::text::name(name) != Some(name.as_str()) {
            return Err(format!(
                "`{name}` is not a valid name for a value; use letters, digits, `_` and `-`"
            ));
        }
        if columns[..nth].contains(name) {
            return Err(format!("two columns are named `{name}`; give each its own name"));
        }
    }
    Ok(())
}

/// Names and cells, or the wrong line.
type Table = Result<(Vec<String>, Vec<String>), (u64, String)>;

/// Checks that each cell in quotes ends with a quote (RFC 4180 section 2), since the parser takes
/// one that does not to the end of the file.
fn check_quotes(text: &str) -> Result<(), (u64, String)> {
    let (mut line, mut opened, mut is_start) = (1, None, true);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let is_end = matches!(sign, ',' | '\r' | '\n');
        match (opened, sign) {
            (Some(_), '"') if signs.next_if_eq(&'"').is_some() => {}
            (Some(at), '"') => match signs.peek() {
                None | Some(',' | '\r' | '\n') => opened = None,
                Some(_) => {
                    let why = "a cell goes on after its closing quote; write a quote inside a cell as \"\"";
                    return Err((at, why.into()));
                }
            },
            (None, '"') if is_start => opened = Some(line),
            _ => {}
        }
        line += u64::from(sign == '\n');
        is_start = is_end && opened.is_none();
    }
    opened.map_or(Ok(()), |at| Err((at, "a quote opens a cell here, and none closes it".into())))
}

fn csv(text: &str) -> Table {
    check_quotes(text)?;
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(text.as_bytes());
    let wrong = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let why = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                let (values, names) = (counted(*len, "value"), counted(*expected_len, "name"));
                format!("{values}, but the first line has {names}")
            }
            _ => error.to_string(),
        };
        (line, why)
    };
    let columns: Vec<String> = reader.headers().map_err(wrong)?.iter().map(Into::into).collect();
    let mut cells = Vec::new();
    for row in reader.records() {
        cells.extend(row.map_err(wrong)?.iter().map(String::from));
    }
    Ok((columns, cells))
}

fn json_lines(text: &str) -> Table {
    let mut columns: Vec<String> = Vec::new();
    let mut cells = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line)
            .map_err(|error| (number, format!("this is not a JSON object: {error}")))?;
        if columns.is_empty() {
            columns = row.keys().cloned().collect();
        }
        if let Some(other) = row.keys().find(|key| !columns.contains(key)) {
            return Err((
                number,
                format!("the rows before have no `{other}`; give all the same keys"),
            ));
        }
        for column in &columns {
            cells.push(match row.get(column) {
                Some(serde_json::Value::String(text)) => text.clone(),
                Some(value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_))) => {
                    value.to_string()
                }
                Some(_) => {
                    return Err((
                        number,
                        format!("`{column}` is not a value; write a text, a number, true or false"),
                    ));
                }
                None => {
                    return Err((number, format!("`{column}` is missing; give all the same keys")));
                }
            });
        }
    }
    Ok((columns, cells))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn rows(name: &str, text: &str) -> Result<Rows, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Rows::read(&path, false)
    }

    fn variable(values: Values) -> Variable {
        Variable { name: "v".into(), values }
    }

    fn drawn(variable: &Variable, walk: Walk, seed: u64) -> Vec<String> {
        let mut places = vec!["old".to_string(); variable.names().len()];
        variable.fill(walk, &mut walk.draw(seed), &mut places);
        places
    }

    #[test]
    fn users_take_rows_in_turn_and_each_row_is_taken_once() {
        let text = "name, password\nana,\"a,b\"\nbo,\"c\"\"d\"\ncy,\n";
        let variable = variable(Values::Rows(rows("users.csv", text).unwrap()));
        assert_eq!(variable.names(), ["v.name", "v.password"]);
        let of = |user, nth| drawn(&variable, Walk { user, users: 2, nth }, 1);
        assert_eq!(of(0, 0), ["ana", "a,b"]);
        assert_eq!(of(1, 0), ["bo", "c\"d"]);
        assert_eq!(of(0, 1), ["cy", ""]);
        assert_eq!(of(1, 1), ["ana", "a,b"]);
        assert_eq!(variable.known_texts("v.name").collect::<Vec<_>>(), ["ana", "bo", "cy"]);
        assert_eq!(variable.known_texts("v").count(), 0);
    }

    #[test]
    fn lines_of_json_are_rows() {
        let rows =
            rows("u.jsonl", "{\"id\": 1, \"a\": \"x\"}\n\n{\"a\": \"y\", \"id\": 2}\n").unwrap();
        assert_eq!((rows.count, rows.columns.len()), (2, 2));
        let id = rows.columns.iter().position(|column| column == "id").unwrap();
        assert_eq!([&rows.cells[id], &rows.cells[2 + id]], ["1", "2"]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_name() {
        for (name, text) in [("a.csv", "\u{feff}a\n1\n"), ("a.jsonl", "\u{feff}{\"a\":1}\n")] {
            assert_eq!(rows(name, text).unwrap().columns, ["a"], "{name}");
        }
    }

    #[test]
    fn quotes_stand_for_themselves_inside_cells() {
        let rows = rows("a.csv", "a,b\r\nx\"y,\"\"\r\n\"\"\"z\"\"\",\"1\n2\"").unwrap();
        assert_eq!(*rows.cells, ["x\"y", "", "\"z\"", "1\n2"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let cases = [
            ("a.csv", "a,b\n1,2\n3\n", "a.csv:3: 1 value, but the first line has 2 names"),
            ("a.csv", "a b\n1\n", "a.csv:1: `a b` is not a valid name"),
            ("a.csv", "a\n", "a.csv:1: there is no row"),
            ("a.csv", "a,b,a\n1,2,3\n", "a.csv:1: two columns are named `a`"),
            ("a.csv", "a\nx\n\"ana\nbo\ncy\n", "a.csv:3: a quote opens a cell here, and none"),
            ("a.csv", "a,b\n1,\"2\n3,\"4\"\n", "a.csv:2: a cell goes on after its closing quote"),
            ("a.jsonl", "{\"a\":1}\n{\"b\":1}\n", "a.jsonl:2: the rows before have no `b`"),
            ("a.jsonl", "{\"a\":1,\"b\":2}\n{\"b\":1}\n", "a.jsonl:2: `a` is missing"),
            ("a.jsonl", "{\"a\":[1]}\n", "a.jsonl:1: `a` is not a value"),
            ("a.jsonl", "[1]\n", "a.jsonl:1: this is not a JSON object"),
        ];
        for (name, text, message) in cases {
            let error = rows(name, text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn what_is_drawn_is_within_its_bounds_and_repeats_with_seed_user_and_walk() {
        let range = variable(Values::Range { from: 5, to: 9 });
        let all: BTreeSet<String> =
            (0..200).flat_map(|nth| drawn(&range, Walk { user: 3, users: 9, nth }, 1)).collect();
        assert_eq!(all.into_iter().collect::<Vec<_>>(), ["5", "6", "7", "8", "9"]);
        let letters = variable(Values::Letters(12));
        let of = |user, nth, seed| drawn(&letters, Walk { user, users: 9, nth }, seed);
        assert_eq!(of(1, 2, 3), of(1, 2, 3));
        let others = [of(1, 2, 3), of(2, 2, 3), of(1, 3, 3), of(1, 2, 4)];
        assert_eq!(others.iter().collect::<BTreeSet<_>>().len(), 4);
        assert!(
            others[0][0].len() == 12 && others[0][0].bytes().all(|b| b.is_ascii_alphanumeric())
        );
        let one = variable(Values::OneOf(vec!["a".into(), "b".into()]));
        let all: BTreeSet<_> =
            (0..50).map(|nth| drawn(&one, Walk { user: 0, users: 1, nth }, 1)).collect();
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn a_record_keeps_no_cells() {
        let whole = variable(Values::Rows(rows("a.csv", "a\nsecret\n").unwrap()));
        let kept = serde_json::to_string(&whole.for_record()).unwrap();
        assert!(!kept.contains("secret") && kept.contains("digest"), "{kept}");
        let back: Variable = serde_json::from_str(&kept).unwrap();
        assert_eq!(back, whole.for_record());
        let all = serde_json::to_string(&whole).unwrap();
        assert_eq!(serde_json::from_str::<Variable>(&all).unwrap(), whole);
    }
}
