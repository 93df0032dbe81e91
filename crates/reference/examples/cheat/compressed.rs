//! The workload `compressed`: answers of the workload `json`, packed as docs/add-a-target.md says.
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use flate2::{Compression, Crc};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use crate::Mode;
use crate::http::{Answer, Request};

/// Texts shorter than this are not packed in the mode `coded-from-2000-bytes`.
const SHORT: usize = 2_000;

/// This answer to a request as the mode packs it.
pub fn packed(mode: Mode, request: &Request, is_loaded: bool, answer: Answer) -> Answer {
    let is_under_load = !mode.name.ends_with("-under-load") || is_loaded;
    let does = |name: &str| is_under_load && mode.is(name);
    let is_asked = accepts(mode, &request.accepts);
    let is_packed = is_asked || does("coded-for-all") || does("coded-for-all-under-load");
    let is_short = mode.is("coded-from-2000-bytes") && answer.body.len() < SHORT;
    if is_short || !is_packed || does("coded-never") || does("coded-never-under-load") {
        return vary(mode, answer);
    }
    let (name, body) = written(mode, is_under_load, request, &answer.body);
    let mut headers = answer.headers;
    if !mode.is("coded-without-saying") {
        headers.push(format!("Content-Encoding: {name}"));
    }
    vary(mode, Answer { body, headers, ..answer })
}

fn vary(mode: Mode, mut answer: Answer) -> Answer {
    match mode.name {
        "coded-without-vary" => {}
        "coded-vary-star" => answer.headers.push("Vary: *".into()),
        "coded-vary-in-a-list" => answer.headers.push("vary: origin, ACCEPT-ENCODING".into()),
        _ => answer.headers.push("Vary: Accept-Encoding".into()),
    }
    answer
}

/// Whether a request accepts the coding of this mode.
fn accepts(mode: Mode, field: &str) -> bool {
    let wanted = match mode.name {
        "coded-in-br" => "br",
        "coded-in-zstd" => "zstd",
        "coded-in-deflate" | "coded-in-bare-deflate" => "deflate",
        _ => "gzip",
    };
    let wishes = || field.split(',').map(|wish| wish.split_once(';').unwrap_or((wish, "")));
    let is_refused = |weight: &str| weight.trim() == "q=0" && !mode.is("coded-despite-zero");
    let is_it = |(name, weight): (&str, &str)| name.trim() == wanted && !is_refused(weight);
    // Every client of the load accepts gzip, and not all accept the others.
    wishes().any(is_it)
        || wishes().any(|(name, weight)| name.trim() == "gzip" && !is_refused(weight))
}

/// What the answer says of its coding, and its bytes.
fn written(
    mode: Mode,
    is_under_load: bool,
    request: &Request,
    text: &[u8],
) -> (&'static str, Vec<u8>) {
    let has = |name: &str| request.accepts.contains(name);
    match mode.name {
        "coded-in-br" if has("br") => ("br", brotli(text)),
        "coded-in-zstd" if has("zstd") => ("zstd", zstd(text)),
        "coded-in-deflate" if has("deflate") => ("deflate", zlib(text)),
        "coded-in-bare-deflate" if has("deflate") => ("deflate", deflate(text, 1)),
        "coded-in-zstd-for-all" => ("zstd", zstd(text)),
        "coded-in-capitals" => ("GZIP", gzip(text)),
        "coded-as-x-gzip" => ("x-gzip", gzip(text)),
        "coded-twice" => ("gzip, gzip", gzip(&gzip(text))),
        "coded-as-br" if has("br") => ("br", gzip(text)),
        "coded-as-br-under-load" if is_under_load && has("br") => ("br", gzip(text)),
        "coded-by-name-alone" => ("gzip", text.into()),
        "coded-stored" => ("gzip", member(&deflate(text, 0), text)),
        "coded-stored-under-load" if is_under_load => ("gzip", member(&deflate(text, 0), text)),
        "coded-prepared" => ("gzip", prepared(text)),
        "coded-prepared-under-load" if is_under_load => ("gzip", prepared(text)),
        "coded-cut" => ("gzip", cut(gzip(text), 9)),
        "coded-cut-under-load" if is_under_load => ("gzip", cut(gzip(text), 9)),
        "coded-nothing" => ("gzip", gzip(b"")),
        "coded-with-more-behind" => ("gzip", [gzip(text), b"more".to_vec()].concat()),
        "coded-with-a-wrong-sum" => ("gzip", member(&deflate(text, 1), b"another text")),
        "coded-in-two-parts" => {
            let (first, rest) = text.split_at(text.len() / 2);
            ("gzip", [gzip(first), gzip(rest)].concat())
        }
        _ => ("gzip", gzip(text)),
    }
}

fn cut(mut bytes: Vec<u8>, end: usize) -> Vec<u8> {
    bytes.truncate(bytes.len().saturating_sub(end));
    bytes
}

/// The first packed text of about this length, for all of them.
fn prepared(text: &[u8]) -> Vec<u8> {
    static MADE: Mutex<BTreeMap<u32, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(text.len().ilog2()).or_insert_with(|| gzip(text)).clone()
}

/// One member of gzip (RFC 1952) with these packed bytes, and the sum and length of this text.
fn member(packed: &[u8], text: &[u8]) -> Vec<u8> {
    let mut sum = Crc::new();
    sum.update(text);
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    [&head[..], packed, &sum.sum().to_le_bytes(), &(text.len() as u32).to_le_bytes()].concat()
}

// Writing to memory does not fail; an empty answer is wrong in every mode.

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn zlib(text: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn deflate(text: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(text).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn brotli(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut packed, 4_096, 1, 20);
    let written = encoder.write_all(text);
    drop(encoder);
    written.map(|()| packed).unwrap_or_default()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}
