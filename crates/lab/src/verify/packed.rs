//! Answers with a content coding: a quick look under load, and unpacking.
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use pippin_model::request::coding::{Accepted, Coding};
use ruzstd::decoding::StreamingDecoder;
use std::borrow::Cow;
use std::io::Read;

/// The longest body that is unpacked, in bytes. A longer one could take all of the memory.
const MOST_UNPACKED: u64 = 16 << 20;

/// How many bytes of an answer one packed byte must stand for. Items as JSON have about four to eight
/// at any level; blocks that are only stored have less than one.
const LEAST_PACKED: usize = 2;

/// What a quick look at an answer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// It is not packed, and need not be.
    Plain,
    /// It is packed as its request accepts; only unpacking shows the rest.
    Packed,
    /// No right answer to its request looks like this.
    Wrong,
}

/// A quick look at the answer to a request that accepts these codings, for every answer of a load.
/// From `coded_from` bytes on, an answer must be packed.
#[must_use]
pub fn seen(accepted: Accepted, coding: Coding, body: &[u8], coded_from: u64) -> Packing {
    let is_accepted = match look(coding, body) {
        Coding::Plain if must_be_packed(accepted, body, coded_from) => false,
        Coding::Plain => return Packing::Plain,
        // These two have no mark to know them by.
        Coding::Unseen => accepted.has(Coding::Brotli) || accepted.has(Coding::Deflate),
        coding => accepted.has(coding),
    };
    if is_accepted && !body.is_empty() { Packing::Packed } else { Packing::Wrong }
}

/// The coding that the head names or, where nobody looked at it, that the first bytes show.
fn look(coding: Coding, body: &[u8]) -> Coding {
    match (coding, body) {
        (Coding::Unseen, [0x1f, 0x8b, ..]) => Coding::Gzip,
        (Coding::Unseen, [0x28, 0xb5, 0x2f, 0xfd, ..]) => Coding::Zstd,
        (Coding::Unseen, body) if body.trim_ascii_start().starts_with(b"{") => Coding::Plain,
        (coding, _) => coding,
    }
}

/// Every target has gzip. A client that reads no more than others may get its answer as it is.
fn must_be_packed(accepted: Accepted, body: &[u8], coded_from: u64) -> bool {
    accepted.has(Coding::Gzip) && body.len() as u64 >= coded_from
}

/// An answer as it was before it was packed.
///
/// # Errors
/// What is wrong with its coding, for a request that accepts these and an answer that must be packed
/// if it has `coded_from` bytes.
pub fn opened(
    accepted: Accepted,
    coding: Coding,
    body: &[u8],
    coded_from: u64,
) -> Result<Cow<'_, [u8]>, String> {
    if coding == Coding::Plain {
        return match must_be_packed(accepted, body, coded_from) {
            true => Err(format!(
                "{} bytes without Content-Encoding, although the request accepts {accepted}",
                body.len()
            )),
            false => Ok(body.into()),
        };
    }
    let name = coding.name();
    if !accepted.has(coding) {
        return Err(format!("Content-Encoding {name}, but the request accepts {accepted}"));
    }
    let unpacked = unpacked(coding, body)
        .map_err(|why| format!("the answer says {name}, and cannot be unpacked: {why}"))?;
    let is_long = unpacked.len() as u64 >= coded_from;
    if is_long && body.len() * LEAST_PACKED > unpacked.len() {
        return Err(format!(
            "{} bytes of {name} for {} bytes: it is hardly packed; at most half as many are right",
            body.len(),
            unpacked.len()
        ));
    }
    Ok(unpacked.into())
}

/// Unpacks a whole body.
///
/// # Errors
/// If it is damaged, incomplete or too long, or has this coding in part only.
fn unpacked(coding: Coding, body: &[u8]) -> Result<Vec<u8>, String> {
    match coding {
        Coding::Gzip => whole(MultiGzDecoder::new(body)),
        // Many servers and all browsers know both forms: with a head, as RFC 9110 says, and without.
        Coding::Deflate => {
            let mut bare = body;
            whole_of(ZlibDecoder::new(body), |decoder| decoder.total_in() == body.len() as u64)
                .or_else(|_| whole(&mut DeflateDecoder::new(&mut bare)))
        }
        Coding::Brotli => brotli(body),
        Coding::Zstd => frames(body),
        Coding::Unseen | Coding::Plain | Coding::Other => Err("nobody knows this coding".into()),
    }
}

/// All frames of a body in zstd.
fn frames(mut body: &[u8]) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    while !body.is_empty() {
        let frame = StreamingDecoder::new(&mut body).map_err(|error| error.to_string())?;
        unpacked.extend(whole(frame)?);
    }
    Ok(unpacked)
}

/// A whole stream of Brotli. The reader of its crate would not say what follows the end.
fn brotli(body: &[u8]) -> Result<Vec<u8>, String> {
    let memory = StandardAlloc::default();
    let mut state = BrotliState::new(memory, memory, memory);
    let mut unpacked = Vec::new();
    let mut piece = [0; 16 << 10];
    let (mut left, mut read, mut total) = (body.len(), 0, 0);
    loop {
        let (mut room, mut made) = (piece.len(), 0);
        let result = BrotliDecompressStream(
            &mut left, &mut read, body, &mut room, &mut made, &mut piece, &mut total, &mut state,
        );
        unpacked.extend_from_slice(&piece[..made]);
        if unpacked.len() as u64 > MOST_UNPACKED {
            return Err(too_long());
        }
        match result {
            BrotliResult::ResultSuccess if left > 0 => return Err(more()),
            BrotliResult::ResultSuccess => return Ok(unpacked),
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::NeedsMoreInput => return Err("its end is missing".into()),
            BrotliResult::ResultFailure => return Err("it is no Brotli".into()),
        }
    }
}

fn more() -> String {
    "more bytes follow its end".into()
}

fn too_long() -> String {
    format!("it has more than {MOST_UNPACKED} bytes")
}

fn whole(decoder: impl Read) -> Result<Vec<u8>, String> {
    whole_of(decoder, |_| true)
}

/// All that a decoder gives, up to a limit; then `is_all` says whether it has read everything.
fn whole_of<R: Read>(decoder: R, is_all: impl Fn(&R) -> bool) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    let mut limited = decoder.take(MOST_UNPACKED + 1);
    limited.read_to_end(&mut unpacked).map_err(|error| error.to_string())?;
    if unpacked.len() as u64 > MOST_UNPACKED {
        return Err(too_long());
    }
    if is_all(limited.get_ref()) { Ok(unpacked) } else { Err(more()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;

    const FROM: u64 = 1_000;

    fn text() -> Vec<u8> {
        let line = |nth: u32| format!("{{\"id\": {nth}, \"total\": {}}}", nth.wrapping_mul(40_503));
        (0..200).map(line).collect::<String>().into_bytes()
    }

    fn gzip(text: &[u8], level: u32) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// `Hello World! ` eighty times and a line end, by the reference encoder of Brotli.
    const BROTLI: &[u8] = include_bytes!("packed/hello.br");

    fn hello() -> Vec<u8> {
        ["Hello World! ".repeat(80).as_bytes(), b"\n"].concat()
    }

    fn all() -> Accepted {
        Accepted::of_field("gzip, deflate, br, zstd")
    }

    #[test]
    fn every_coding_is_unpacked_whole_and_nothing_else_passes() {
        for (coding, packed, text) in [
            (Coding::Gzip, gzip(&text(), 6), text()),
            (Coding::Deflate, zlib(&text()), text()),
            (Coding::Deflate, deflate(&text()), text()),
            (Coding::Zstd, zstd(&text()), text()),
            (Coding::Brotli, BROTLI.to_vec(), hello()),
        ] {
            let open = |body: &[u8]| opened(all(), coding, body, FROM).map(Cow::into_owned);
            assert_eq!(open(&packed), Ok(text), "{coding:?}");
            for cut in [0, 1, packed.len() / 2, packed.len() - 1] {
                assert!(open(&packed[..cut]).is_err() || cut == 0, "{coding:?}, {cut} bytes");
            }
            let said = open(b"{\"count\": 1}").unwrap_err();
            assert!(said.contains("and cannot be unpacked"), "{said}");
            if coding != Coding::Deflate {
                assert!(open(&[&packed[..], b"more"].concat()).is_err(), "{coding:?}");
            }
        }
        // Both may be in parts (RFC 1952 section 2.2, RFC 8878 section 3).
        let (first, second) = (text(), b"{}".repeat(2_000));
        for (coding, packed) in [
            (Coding::Gzip, [gzip(&first, 6), gzip(&second, 6)].concat()),
            (Coding::Zstd, [zstd(&first), zstd(&second)].concat()),
        ] {
            let both = opened(all(), coding, &packed, FROM).unwrap();
            assert_eq!(both, [&first[..], &second].concat());
        }
    }

    #[test]
    fn a_coding_is_one_that_the_request_accepts_and_makes_the_answer_shorter() {
        let (text, packed) = (text(), gzip(&text(), 6));
        let open = |accepted: &str, coding, body: &[u8]| {
            opened(Accepted::of_field(accepted), coding, body, FROM).err().unwrap_or_default()
        };
        assert_eq!(open("gzip", Coding::Gzip, &packed), "");
        let said = open("br, zstd", Coding::Gzip, &packed);
        assert_eq!(said, "Content-Encoding gzip, but the request accepts br, zstd");
        let said = open("", Coding::Gzip, &packed);
        assert_eq!(said, "Content-Encoding gzip, but the request accepts no coding");
        let said = open("gzip", Coding::Plain, &text);
        assert!(said.ends_with("without Content-Encoding, although the request accepts gzip"));
        assert_eq!(open("br", Coding::Plain, &text), "", "nobody must have Brotli");
        assert_eq!(open("gzip", Coding::Plain, &text[..999]), "");
        let said = open("gzip", Coding::Gzip, &gzip(&text, 0));
        assert!(said.contains("it is hardly packed"), "{said}");
        assert_eq!(open("gzip", Coding::Gzip, &gzip(b"{}", 0)), "", "short ones may be longer");
        assert!(open("gzip", Coding::Other, &packed).contains("another coding"));
    }

    #[test]
    fn what_would_fill_the_memory_is_refused() {
        let said = opened(all(), Coding::Gzip, &gzip(&vec![b' '; 17 << 20], 9), FROM).unwrap_err();
        assert!(said.contains("it has more than 16777216 bytes"), "{said}");
    }

    #[test]
    fn a_quick_look_knows_codings_by_their_first_bytes_or_by_the_head() {
        let (text, packed) = (text(), gzip(&text(), 6));
        let look = |accepted: &str, coding, body: &[u8]| {
            seen(Accepted::of_field(accepted), coding, body, FROM)
        };
        for (accepted, coding, body, is) in [
            ("gzip", Coding::Unseen, &packed[..], Packing::Packed),
            ("gzip", Coding::Gzip, &packed, Packing::Packed),
            ("br", Coding::Unseen, &packed, Packing::Wrong),
            ("", Coding::Unseen, &packed, Packing::Wrong),
            ("gzip", Coding::Unseen, &text, Packing::Wrong),
            ("gzip", Coding::Plain, &text, Packing::Wrong),
            ("gzip", Coding::Unseen, &text[..999], Packing::Plain),
            ("", Coding::Unseen, &text, Packing::Plain),
            ("gzip", Coding::Unseen, b"", Packing::Wrong),
            ("gzip, br", Coding::Unseen, b"", Packing::Wrong),
            ("gzip, br", Coding::Unseen, BROTLI, Packing::Packed),
            ("gzip, zstd", Coding::Unseen, BROTLI, Packing::Wrong),
            ("gzip, zstd", Coding::Unseen, &zstd(&text), Packing::Packed),
            ("gzip", Coding::Unseen, &zstd(&text), Packing::Wrong),
            ("gzip", Coding::Other, &packed, Packing::Wrong),
        ] {
            assert_eq!(look(accepted, coding, body), is, "{accepted:?} {coding:?}");
        }
    }
}
