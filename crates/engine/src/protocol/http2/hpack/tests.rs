use super::encode::{Field, blocks};
use super::*;
use proptest::prelude::*;

fn owned(name: &[u8], value: &[u8]) -> Field {
    (String::from_utf8_lossy(name).into(), String::from_utf8_lossy(value).into())
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Field>, BadBlock> {
    let mut fields = Vec::new();
    decoder.decode(block, |name, value| fields.push(owned(name, value)))?;
    Ok(fields)
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn fields(of: &[(&str, &str)]) -> Vec<Field> {
    of.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

/// RFC 7541 appendix C.4: three requests on one connection, with Huffman's code.
#[test]
fn the_requests_of_the_rfc() {
    let mut decoder = Decoder::new();
    let common = [(":method", "GET"), (":scheme", "http"), (":path", "/")];
    let authority = (":authority", "www.example.com");
    let first = decode(&mut decoder, &bytes("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"));
    assert_eq!(first, Ok(fields(&[common.as_slice(), &[authority]].concat())));
    let second = decode(&mut decoder, &bytes("8286 84be 5886 a8eb 1064 9cbf"));
    let cache = ("cache-control", "no-cache");
    assert_eq!(second, Ok(fields(&[common.as_slice(), &[authority, cache]].concat())));
    let third =
        decode(&mut decoder, &bytes("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"));
    let expected = [
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/index.html"),
        authority,
        ("custom-key", "custom-value"),
    ];
    assert_eq!(third, Ok(fields(&expected)));
}

/// RFC 7541 appendix C.5, in a table of 256 bytes: entries are evicted.
#[test]
fn the_responses_of_the_rfc() {
    let mut decoder = Decoder::new();
    let resize = [&[0x3f, 0xe1, 0x01][..], &bytes("4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d")].concat();
    let date = ("date", "Mon, 21 Oct 2013 20:13:21 GMT");
    let rest = [("cache-control", "private"), date, ("location", "https://www.example.com")];
    let first = decode(&mut decoder, &resize);
    assert_eq!(first, Ok(fields(&[&[(":status", "302")], rest.as_slice()].concat())));
    // The new status drives the oldest entry out, which is the old one.
    let second = decode(&mut decoder, &bytes("4803 3330 37c1 c0bf"));
    assert_eq!(second, Ok(fields(&[&[(":status", "307")], rest.as_slice()].concat())));
    assert_eq!(decode(&mut decoder, &[0xc2]), Err(BadBlock));
}

#[test]
fn what_breaks_the_rules_is_refused() {
    for block in [
        // No index 0, none behind the table.
        &[0x80][..],
        &[0xbe],
        &[0x7e, 0x00],
        // A number without end, and one too large.
        &[0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        // Strings longer than the block, and a literal that ends early.
        &[0x40, 0x05, b'a'],
        &[0x40],
        &[0x41],
        // The table larger than allowed, or resized behind a field.
        &[0x3f, 0xe2, 0x1f],
        &[0x82, 0x20],
    ] {
        assert_eq!(decode(&mut Decoder::new(), block), Err(BadBlock), "{block:?}");
    }
}

/// All three forms of a request say the same, and the indices of the later ones are right.
#[test]
fn all_forms_of_a_request_are_the_same_request() {
    let request = |path: &str, extra: &[(&str, &str)]| {
        let mut all = fields(&[
            (":method", "GET"),
            (":scheme", "http"),
            (":authority", "127.0.0.1:8080"),
            (":path", path),
        ]);
        all.extend(fields(&[("accept", "*/*"), ("x-a", "1"), ("x-a", "1")]));
        all.extend(fields(extra));
        all
    };
    let requests = [request("/one", &[]), request("/two", &[("x-b", "2")]), request("/three", &[])];
    let sorted = |mut all: Vec<Field>| {
        all.sort();
        all
    };
    let asked = requests.clone().map(|fields| (fields, None));
    let blocks = blocks(&asked);
    for first in 0..requests.len() {
        let mut decoder = Decoder::new();
        let decoded = decode(&mut decoder, &blocks[first].first).unwrap();
        assert_eq!(sorted(decoded), sorted(requests[first].clone()));
        for (block, request) in blocks.iter().zip(&requests) {
            let later = decode(&mut decoder, &block.later).unwrap();
            let pseudo = later.iter().take_while(|(name, _)| name.starts_with(':')).count();
            assert_eq!(pseudo, 4, "{later:?}");
            assert_eq!(sorted(later), sorted(request.clone()));
            assert_eq!(decode(&mut Decoder::new(), &block.plain).unwrap(), *request);
        }
    }
    // One request alone is kept whole: a byte for each field.
    let users = || fields(&[(":method", "GET"), (":path", "/users")]);
    let alone = super::encode::blocks(&[(users(), None)]);
    assert_eq!(alone[0].later, [62 | 0x80, 0x82]);
}

/// What is drawn for each request can be put in its place in all forms: it is written out, as it
/// is, and kept in no table.
#[test]
fn a_part_that_is_drawn_stands_in_each_form_as_it_is() {
    let name = "abcdefgh";
    let request =
        fields(&[(":method", "GET"), (":path", "/hola/Jo%20abcdefgh"), ("accept", "*/*")]);
    let asked = [(request.clone(), Some(name)), (request.clone(), Some(name))];
    let block = blocks(&asked).remove(0);
    let from_the_end = block.drawn.unwrap();
    let mut decoder = Decoder::new();
    for (form, from_the_end) in [&block.first, &block.later].into_iter().zip(from_the_end) {
        let mut other = form.clone();
        let at = other.len() - from_the_end;
        other[at..at + name.len()].copy_from_slice(b"zyxwvuts");
        let mut decoded = decode(&mut decoder, &other).unwrap();
        decoded.sort();
        let mut expected = fields(&[(":path", "/hola/Jo%20zyxwvuts"), ("accept", "*/*")]);
        expected.insert(0, (":method".into(), "GET".into()));
        assert_eq!(decoded, expected);
    }
    assert_eq!(decode(&mut Decoder::new(), &block.plain).unwrap(), request);
    assert_eq!(&block.plain[block.plain.len() - from_the_end[2]..][..8], name.as_bytes());
}

/// The fields of a block, which need not be decoded if they are those of the last one.
fn remembered(
    decoder: &mut Decoder,
    last: &mut Vec<Field>,
    block: &[u8],
) -> Result<(Vec<Field>, bool), BadBlock> {
    let repeats = decoder.repeats(block);
    if !repeats {
        *last = decode(decoder, block)?;
    }
    Ok((last.clone(), repeats))
}

/// Which of these blocks are known again; all have the fields that a decoder without memory finds.
fn known_again(blocks: &[Vec<u8>]) -> Vec<bool> {
    let (mut plain, mut decoder, mut last) = (Decoder::new(), Decoder::new(), Vec::new());
    let each = |block: &Vec<u8>| {
        let (fields, repeats) = remembered(&mut decoder, &mut last, block).unwrap();
        assert_eq!(Ok(fields), decode(&mut plain, block));
        repeats
    };
    blocks.iter().map(each).collect()
}

/// A block is kept once a second one has its length, and known from the third on, whether it adds
/// to the table each time (as nginx does) or only names what is there (as Go does).
#[test]
fn a_block_that_comes_again_is_known() {
    let adds = bytes("88 48 03 3330 32 61 02 4d6f");
    assert_eq!(known_again(&vec![adds.clone(); 200]).iter().filter(|is| **is).count(), 198);
    let (first, later) = (bytes("88 40 01 61 01 62"), bytes("88 be"));
    let blocks = [vec![first], vec![later.clone(); 4], vec![adds], vec![later; 3]].concat();
    let expected = [false, false, false, true, true, false, false, false, true];
    assert_eq!(known_again(&blocks), expected);
}

/// A block that came before, after the table has changed, and bytes that change what they name.
#[test]
fn a_block_that_means_something_else_by_now_is_not_known() {
    let (one, other, names) =
        (bytes("40 01 61 01 62"), bytes("40 01 61 01 63"), bytes("88 88 88 88 be"));
    let blocks = [&one, &names, &names, &other, &names].map(Clone::clone);
    assert_eq!(known_again(&blocks), [false, false, true, false, false]);
    for differs in ["40 01 61 01 62 be", "40 01 61 01 62 7e 01 63", "20 88"] {
        assert_eq!(known_again(&vec![bytes(differs); 9]), [false; 9], "{differs}");
    }
}

/// However often a block came again, the next one finds the table that decoding all would have
/// made: before it is full, when it is full to the last byte, and after that. The fields take 34
/// and 94 bytes of it, and the table holds 4,096, or 64 = 31 + 33 after `3f 21`.
#[test]
fn repeats_leave_the_table_that_decoding_them_would() {
    let long = [&bytes("40 01 62 3d")[..], &[b'y'; 61]].concat();
    let both = [&bytes("40 01 61 01 78")[..], &long].concat();
    for (sizes, adds) in [(&[][..], &both), (&[], &long), (&[0x3f, 0x21], &both)] {
        for times in [1, 2, 3, 31, 32, 33, 34, 43, 44, 45, 46, 300] {
            let (mut plain, mut decoder, mut last) = (Decoder::new(), Decoder::new(), Vec::new());
            let mut known = 0;
            for block in [vec![sizes.to_vec()], vec![adds.clone(); times], vec![vec![]]].concat() {
                known += usize::from(remembered(&mut decoder, &mut last, &block).unwrap().1);
                decode(&mut plain, &block).unwrap();
            }
            assert_eq!(known, times.saturating_sub(2));
            let all = |decoder: &Decoder| -> Vec<Field> {
                (0..).map_while(|at| decoder.table.get(at)).map(|(a, b)| owned(a, b)).collect()
            };
            assert_eq!(all(&decoder), all(&plain), "{times} times");
        }
    }
}

/// Blocks that all differ cost copies only for a while.
#[test]
fn a_connection_without_repetition_stops_keeping_blocks() {
    let block = |nth: u8| [&bytes("88 00 01 61 01")[..], &[nth]].concat();
    let mut blocks: Vec<Vec<u8>> = (0..40).map(block).collect();
    blocks.extend(vec![block(0); 5]);
    assert_eq!(known_again(&blocks), [false; 45]);
}

/// Blocks that refer to the table, add to it and resize it, some of them several times in a row.
fn blocks_of_a_server() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let indexed = prop_oneof![Just(0x88_u8), 0xbe_u8..0xc2].prop_map(|index| vec![index]);
    let literal = (prop_oneof![Just(0x40_u8), Just(0), Just(0x58), Just(0x7e)], b'a'..b'd')
        .prop_map(|(first, value)| match first {
            0x58 | 0x7e => vec![first, 1, value],
            _ => vec![first, 1, b'n', 1, value],
        });
    let resize = Just(vec![0x3f, 0x20]);
    let parts = prop_oneof![4 => indexed, 4 => literal, 1 => resize];
    let block = proptest::collection::vec(parts, 0..4).prop_map(|parts| parts.concat());
    let row = (block, 1_usize..5).prop_map(|(block, times)| vec![block; times]);
    proptest::collection::vec(row, 0..12).prop_map(|rows| rows.concat())
}

proptest! {
    #[test]
    fn what_is_known_again_is_what_would_be_decoded(blocks in blocks_of_a_server()) {
        let (mut plain, mut decoder, mut last) = (Decoder::new(), Decoder::new(), Vec::new());
        for block in &blocks {
            let fields = remembered(&mut decoder, &mut last, block).map(|(fields, _)| fields);
            let expected = decode(&mut plain, block);
            prop_assert_eq!(&fields, &expected);
            if expected.is_err() {
                break;
            }
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(blocks: Vec<Vec<u8>>) {
        let mut decoder = Decoder::new();
        for block in blocks {
            let mut size = 0;
            let result = decoder.decode(&block, |name, value| size += name.len() + value.len());
            // A byte names at most a whole table.
            prop_assert!(size <= block.len() * TABLE_BYTES);
            if result.is_err() {
                break;
            }
        }
    }
}
