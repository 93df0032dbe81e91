//! Texts with placeholders, whose names were looked up once.
use pippin_model::scenario::text::{Encoding, Piece, Text};

/// A text that is filled with the values of a user.
#[derive(Debug)]
pub(crate) struct Filled(Vec<Part>);

#[derive(Debug)]
enum Part {
    Literal(Box<[u8]>),
    /// The value in this place.
    Value {
        place: usize,
        is_path: bool,
    },
}

impl Filled {
    /// `names` has the name of the value in each place.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn new(text: &str, names: &[String]) -> Result<Self, String> {
        let part = |piece: &Piece| match piece {
            Piece::Literal(text) => Ok(Part::Literal(text.as_bytes().into())),
            Piece::Value { name, is_path } => names
                .iter()
                .position(|known| known == name)
                .map(|place| Part::Value { place, is_path: *is_path })
                .ok_or_else(|| format!("no value is named `{name}`")),
        };
        Text::parse(text).pieces().iter().map(part).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a value comes first.
    pub fn begins_with_value(&self) -> bool {
        matches!(self.0.first(), Some(Part::Value { .. }))
    }

    /// Appends the text with these values.
    pub fn put(&self, values: &[String], encoding: Encoding, out: &mut Vec<u8>) {
        for part in &self.0 {
            match part {
                Part::Literal(text) => out.extend_from_slice(text),
                Part::Value { place, is_path } => encoding.put(&values[*place], *is_path, out),
            }
        }
    }

    /// The text with these values as they are.
    pub fn plain(&self, values: &[String]) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(values, Encoding::Plain, &mut out);
        out
    }
}
