//! Which table a workload reads: its columns, its rows, and what the lab writes when it changes a row.
use pippin_model::workload::{Proof, Source, Workload};
use serde_json::{Map, Value};

/// A table of the lab's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TableKind {
    /// Ten users with name and email.
    #[default]
    Users,
    /// Twelve messages: markup, quotes, ampersands and several scripts.
    Messages,
    /// A thousand products of ten categories, which targets list, add to, change and remove.
    Products,
}

/// How many products there are at first, with the numbers from 1 on.
pub const PRODUCTS: i32 = 1_000;

/// What a product is filed under at first: `c0` to `c9`.
const CATEGORIES: i32 = 10;

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

/// The column that is a number.
const PRICE: &str = "price";

/// How the texts begin that the lab writes into messages: so that each change moves a row.
const BEGINNINGS: [&str; 10] = ["a", "k", "t", "Z", "é", "Ω", "美", "🎈", "<i>", "\"&amp;\""];

impl TableKind {
    /// What a workload reads.
    #[must_use]
    pub fn from_workload(workload: &Workload) -> Self {
        match workload.answer.from {
            Some(Source::Messages) => Self::Messages,
            _ if workload.proofs.contains(&Proof::Stored) => Self::Products,
            _ => Self::Users,
        }
    }

    /// The name of the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Messages => "messages",
            Self::Products => "products",
        }
    }

    /// The columns after `id`: texts, but for the price of a product.
    #[must_use]
    pub const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Users => &["name", "email"],
            Self::Messages => &["text"],
            Self::Products => &["name", "category", PRICE],
        }
    }

    /// The column that the lab changes.
    #[must_use]
    pub const fn changes(self) -> &'static str {
        match self {
            Self::Users => "name",
            Self::Messages => "text",
            Self::Products => PRICE,
        }
    }

    /// The type of a column in SQL.
    #[must_use]
    pub fn sql_type(self, column: &str) -> &'static str {
        if column == PRICE { "integer" } else { "text" }
    }

    /// The rows that nobody but the lab may change, as a condition in SQL.
    #[must_use]
    pub fn own_rows(self) -> String {
        match self {
            Self::Users | Self::Messages => "true".into(),
            Self::Products => format!("id BETWEEN 1 AND {PRODUCTS}"),
        }
    }

    /// The statements that let targets do what the workload asks for, and nothing else.
    #[must_use]
    pub const fn grants(self) -> &'static str {
        match self {
            Self::Users => "GRANT SELECT ON users TO PUBLIC",
            Self::Messages => "GRANT SELECT ON messages TO PUBLIC",
            Self::Products => {
                "GRANT SELECT, INSERT, UPDATE, DELETE ON products TO PUBLIC; GRANT USAGE, SELECT ON SEQUENCE products_id_seq TO PUBLIC"
            }
        }
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
            Self::Products => (random % 1_000_000).to_string(),
        }
    }

    /// A row, as the lab writes it.
    #[must_use]
    pub fn row<'a>(self, id: i32, texts: impl IntoIterator<Item = &'a str>) -> Value {
        let id = ("id".to_string(), Value::from(id));
        let texts = self.columns().iter().zip(texts);
        let texts = texts.map(|(key, text)| (key.to_string(), self.value(key, text)));
        Value::Object(std::iter::once(id).chain(texts).collect::<Map<_, _>>())
    }

    /// A value of a column, as the workload's JSON has it.
    #[must_use]
    pub fn value(self, column: &str, text: &str) -> Value {
        match text.parse::<i32>() {
            Ok(number) if column == PRICE => number.into(),
            _ => text.into(),
        }
    }

    /// The rows of a new table, in the order of their numbers.
    #[must_use]
    pub fn first_rows(self) -> Value {
        let row = |(id, texts): (i32, Vec<String>)| self.row(id, texts.iter().map(String::as_str));
        (1..).zip(self.texts()).map(row).collect()
    }

    fn texts(self) -> Vec<Vec<String>> {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        match self {
            Self::Users => USERS.iter().map(|texts| owned(texts)).collect(),
            Self::Messages => MESSAGES.iter().map(|texts| owned(texts)).collect(),
            Self::Products => (1..=PRODUCTS)
                .map(|id| {
                    let category = format!("c{}", id % CATEGORIES);
                    vec![format!("product {id:04}"), category, (100 + id).to_string()]
                })
                .collect(),
        }
    }

    /// What the table holds, and how it is found, as SQL.
    fn definition(self) -> &'static str {
        match self {
            Self::Users => {
                "CREATE TABLE users (id integer PRIMARY KEY, name text NOT NULL, email text NOT NULL);"
            }
            Self::Messages => "CREATE TABLE messages (id integer PRIMARY KEY, text text NOT NULL);",
            Self::Products => {
                "CREATE TABLE products (id integer GENERATED BY DEFAULT AS IDENTITY (START WITH 1001) PRIMARY KEY, name text NOT NULL UNIQUE, category text NOT NULL, price integer NOT NULL); CREATE INDEX ON products (category, id);"
            }
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
        let mut sql =
            format!("{} COMMENT ON TABLE {name} IS '{}';", self.definition(), self.comment());
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
        let products = TableKind::Products.first_rows();
        let seventh =
            serde_json::json!({"id": 7, "name": "product 0007", "category": "c7", "price": 107});
        assert_eq!((products.as_array().unwrap().len(), &products[6]), (1_000, &seventh));
        assert!(TableKind::Products.sql().contains("VALUES (7, 'product 0007', 'c7', '107');"));
    }
}
