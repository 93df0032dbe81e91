//! Requests as header blocks (RFC 7541). Nothing in them varies but perhaps eight characters, so
//! each is rendered once in each of three forms, and a connection chooses one. Text with characters
//! that vary is never shortened, so that others can be put in their place.
//!
//! Fields that all requests of the load have in common are kept in the server's dynamic table, as
//! every browser does: the first request of a connection writes them out, and later ones name them
//! by their index. Their order is the same on each connection, and so are the indices.
use super::literals::{put_number, put_string};
use super::table::{ENTRY_BYTES, STATIC};
use super::{TABLE_BYTES, table::Pair};

/// A header field: its name, in lower case, and its value.
pub(crate) type Field = (String, String);

/// The header block of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// For the first request of a connection.
    pub first: Vec<u8>,
    /// For the requests behind it.
    pub later: Vec<u8>,
    /// For connections whose server wants no dynamic table.
    pub plain: Vec<u8>,
    /// How far before the end of each of these the characters begin that are drawn for each request
    /// ([`crate::request::drawn`]); `None` if there are none.
    pub drawn: Option<[usize; 3]>,
}

/// Empties the dynamic table and keeps it so (section 6.3).
pub(crate) const NO_TABLE: u8 = 0x20;

/// The fields of a request, and what of them is drawn anew each time.
pub(crate) type ExpectedHead<'a> = (Vec<Field>, Option<&'a str>);

/// Writes the requests of a load.
pub(crate) fn blocks(requests: &[ExpectedHead<'_>]) -> Vec<Block> {
    let kept = kept(requests);
    requests.iter().map(|(fields, drawn)| block(fields, *drawn, &kept)).collect()
}

fn block(fields: &[Field], drawn: Option<&str>, kept: &[Field]) -> Block {
    let mut block = Block::default();
    // Pseudo-header fields go before all others (RFC 9113 section 8.3).
    for is_wanted in [is_pseudo, is_regular] {
        for (place, field) in kept.iter().enumerate().filter(|(_, field)| is_wanted(field)) {
            literal(&mut block.first, field, true, None);
            // Indices count from the field that was kept last.
            put_number(&mut block.later, 0x80, 7, STATIC.len() + kept.len() - place);
        }
        for field in fields.iter().filter(|field| is_wanted(field)) {
            if !kept.contains(field) {
                plain(&mut block.first, field, drawn);
                plain(&mut block.later, field, drawn);
            }
            plain(&mut block.plain, field, drawn);
        }
    }
    let before_the_end = |bytes: &[u8]| {
        let at = memchr::memmem::find(bytes, drawn?.as_bytes())?;
        Some(bytes.len() - at)
    };
    block.drawn = before_the_end(&block.first)
        .zip(before_the_end(&block.later))
        .zip(before_the_end(&block.plain))
        .map(|((first, later), plain)| [first, later, plain]);
    block
}

fn is_pseudo((name, _): &Field) -> bool {
    name.starts_with(':')
}

fn is_regular(field: &Field) -> bool {
    !is_pseudo(field)
}

/// The fields that all requests have in common, once each, pseudo-header fields first, as many as
/// find room.
fn kept(requests: &[ExpectedHead<'_>]) -> Vec<Field> {
    let mut room = TABLE_BYTES;
    let mut kept: Vec<Field> = Vec::new();
    for field in requests.first().iter().flat_map(|(fields, _)| fields) {
        let size = field.0.len() + field.1.len() + ENTRY_BYTES;
        let is_common = requests.iter().all(|(fields, drawn)| {
            fields.iter().filter(|other| *other == field).count() == 1 && !varies(field, *drawn)
        });
        if is_common && find(field).is_none() && size <= room && kept.len() < MOST_KEPT {
            room -= size;
            kept.push(field.clone());
        }
    }
    kept.sort_by_key(is_regular);
    kept
}

/// How many indices after the static table fit into one byte.
const MOST_KEPT: usize = 64;

/// The index of a whole field in the static table.
fn find(field: &Field) -> Option<usize> {
    let wanted: Pair<'_> = (field.0.as_bytes(), field.1.as_bytes());
    STATIC.iter().position(|entry| *entry == wanted).map(|place| place + 1)
}

/// Whether a part of the value is drawn for each request.
fn varies((_, value): &Field, drawn: Option<&str>) -> bool {
    drawn.is_some_and(|drawn| value.contains(drawn))
}

/// A field that is not to be kept.
fn plain(out: &mut Vec<u8>, field: &Field, drawn: Option<&str>) {
    match find(field) {
        Some(index) => put_number(out, 0x80, 7, index),
        None => literal(out, field, false, drawn),
    }
}

/// A field written out (section 6.2).
fn literal(out: &mut Vec<u8>, field: &Field, is_kept: bool, drawn: Option<&str>) {
    let (name, value) = field;
    let (pattern, prefix) = if is_kept { (0x40, 6) } else { (0, 4) };
    match STATIC.iter().position(|(known, _)| *known == name.as_bytes()) {
        Some(place) => put_number(out, pattern, prefix, place + 1),
        None => {
            out.push(pattern);
            put_string(out, 0, 7, name.as_bytes(), false);
        }
    }
    put_string(out, 0, 7, value.as_bytes(), varies(field, drawn));
}
