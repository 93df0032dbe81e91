//! Which table a workload reads: its columns, its rows, and what the lab writes when it changes a row.
use pippin_model::workload::{Source, Workload};
use serde_json::{Map, Value};

/// A table of the lab's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TableKind {
    /// Ten users with name and email.
    #[default]
    Users,
    /// Twelve messages: markup, quotes, ampersands and several scripts.
    Messages,
}

/// The ten users, as name and email.
const USERS: [[&str; 2]; 10] = [
    ["Ada Lovelace", "ada@example.org"],
    ["Grace Hopper", "grace@example.org"],
    ["Edsger Dijkstra", "edsger@example.org"],
    ["Barbara Liskov", "barbara@example.org"],
    ["Donald Knuth", "donald@example.org"],
    ["Frances Allen", "frances@example.org"],
    ["Tony Hoare", "tony@example.org"],
    ["Radia Perlman", "radia@example.org"],
    ["José Valim", "jose@example.org"],
    ["Joe Armstrong", "joe@example.org"],
];

/// The twelve messages. Their order by bytes is another one than that of their numbers. No character is
/// between U+E000 and U+FFFF: so UTF-8 bytes, code points and UTF-16 code units give the same order.
/// Each has a word of its own of six letters or more.
const MESSAGES: [[&str; 1]; 12] = [
    ["🎉 Release party at 18:00"],
    ["Zebra crossing <b>closed</b> today"],
    ["<script>document.title = \"taken\"</script>"],
    ["Jetzt kostet es nur 5 € & mehr"],
    ["It's Ada's \"analytical\" engine"],
    ["&lt; is how HTML writes a sign"],
    ["日本語のメッセージ: konnichiwa"],
    ["Ångström, ångström: two spellings"],
    ["1 < 2 && 3 > 2 by arithmetic"],
    ["mango & papaya; 'fresh'"],
    ["Привет, мир! </td></tr></table> greetings"],
    ["한국어 메시지 <!-- no comment --> ok"],
];

/// How the texts begin that the lab writes into messages: so that each change moves a row.
const BEGINNINGS: [&str; 10] = ["a", "k", "t", "Z", "é", "Ω", "美", "🎈", "<i>", "\"&amp;\""];

impl TableKind {
    /// What a workload reads.
    #[must_use]
    pub fn from_workload(workload: &Workload) -> Self {
        match workload.answer.from {
            Some(Source::Messages) => Self::Messages,
            _ => Self::Users,
        }
    }

    /// The name of the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Messages => "messages",
        }
    }

    /// The columns after `id`, all of them texts. The lab changes the first one.
    #[must_use]
    pub const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Users => &["name", "email"],
            Self::Messages => &["text"],
        }
    }

    /// The column that the lab changes.
    #[must_use]
    pub const fn changes(self) -> &'static str {
        self.columns()[0]
    }

    /// Whether the target sorts the rows, and not the database.
    #[must_use]
    pub const fn is_sorted_by_targets(self) -> bool {
        matches!(self, Self::Messages)
    }

    /// What the lab writes into a row, with a number that nobody can predict.
    #[must_use]
    pub fn changed(self, random: u64) -> String {
        match self {
            Self::Users => format!("User {random:016x}"),
            Self::Messages => {
                let begin = BEGINNINGS[(random % BEGINNINGS.len() as u64) as usize];
                format!("{begin} {random:016x} <i>new</i> & more")
            }
        }
    }

    /// A row, as the lab writes it.
    #[must_use]
    pub fn row<'a>(self, id: i32, texts: impl IntoIterator<Item = &'a str>) -> Value {
        let id = ("id".to_string(), Value::from(id));
        let texts =
            self.columns().iter().zip(texts).map(|(key, text)| (key.to_string(), text.into()));
        Value::Object(std::iter::once(id).chain(texts).collect::<Map<_, _>>())
    }

    /// The rows of a new table, in the order of their numbers.
    #[must_use]
    pub fn first_rows(self) -> Value {
        (1..).zip(self.texts()).map(|(id, texts)| self.row(id, texts.iter().copied())).collect()
    }

    fn texts(self) -> Vec<&'static [&'static str]> {
        match self {
            Self::Users => USERS.iter().map(<[_; 2]>::as_slice).collect(),
            Self::Messages => MESSAGES.iter().map(<[_; 1]>::as_slice).collect(),
        }
    }

    /// The comment by which Pippin recognises its own tables.
    #[must_use]
    pub fn comment(self) -> String {
        format!("made by Pippin for its workload {}", self.name())
    }

    /// The statements that make the table with its rows.
    #[must_use]
    pub fn sql(self) -> String {
        let name = self.name();
        let columns: String =
            self.columns().iter().map(|column| format!(", {column} text NOT NULL")).collect();
        let mut sql = format!(
            "CREATE TABLE {name} (id integer PRIMARY KEY{columns}); COMMENT ON TABLE {name} IS '{}';",
            self.comment()
        );
        for (id, texts) in (1..).zip(self.texts()) {
            let texts: String =
                texts.iter().map(|text| format!(", '{}'", text.replace('\'', "''"))).collect();
            sql.push_str(&format!("INSERT INTO {name} VALUES ({id}{texts});"));
        }
        sql
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::workload::draw::Draw;

    /// All texts that can meet in one page.
    fn texts() -> Vec<String> {
        let mut draw = Draw::new(7);
        let mut texts: Vec<String> = MESSAGES.iter().map(|[text]| text.to_string()).collect();
        for _ in 0..500 {
            texts.push(draw.marked(40));
            texts.push(TableKind::Messages.changed(draw.bits()));
        }
        texts
    }

    #[test]
    fn bytes_code_points_and_utf_16_give_one_order() {
        let mut by_bytes = texts();
        by_bytes.sort();
        let mut by_units = texts();
        by_units.sort_by_cached_key(|text| text.encode_utf16().collect::<Vec<_>>());
        assert_eq!(by_bytes, by_units);
        assert!(by_bytes.iter().flat_map(|text| text.chars()).any(|it| it > '\u{FFFF}'));
    }

    #[test]
    fn the_order_of_the_texts_is_not_that_of_the_numbers_and_not_that_of_a_language() {
        let mut sorted = MESSAGES;
        sorted.sort();
        let at = |text: &str| sorted.iter().position(|[it]| it.starts_with(text)).unwrap();
        assert_ne!(sorted, MESSAGES);
        // A language would put `Z` behind `m`, and `Å` before it.
        assert!(at("Zebra") < at("mango") && at("mango") < at("Ångström"));
    }

    #[test]
    fn rows_are_written_with_their_quotes() {
        let sql = TableKind::Messages.sql();
        assert!(sql.contains("VALUES (5, 'It''s Ada''s \"analytical\" engine');"), "{sql}");
        assert_eq!(TableKind::Users.first_rows()[6]["name"], "Tony Hoare");
        assert_eq!(TableKind::Messages.first_rows()[0]["id"], 1);
    }
}
