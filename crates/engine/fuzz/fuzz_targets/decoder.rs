//! Any bytes in any pieces: the decoder rejects them or reads them, never panics, keeps no more
//! than its limits allow, and comes to the same result as for the same bytes in one piece.
#![no_main]
use libfuzzer_sys::fuzz_target;
use pippin_engine::http1::{DecodeError, Decoder, HeadCache, HeadInfo, Rules, Sink};

#[derive(Default, PartialEq, Debug)]
struct Seen {
    interim: Vec<u16>,
    heads: Vec<HeadInfo>,
    body: Vec<u8>,
}

impl Sink for Seen {
    fn interim(&mut self, status: u16) {
        self.interim.push(status);
    }
    fn head(&mut self, info: &HeadInfo, raw: &[u8]) {
        assert!(raw.len() <= 512 && raw.ends_with(b"\r\n\r\n"));
        self.heads.push(*info);
    }
    fn body(&mut self, piece: &[u8]) {
        assert!(!piece.is_empty());
        self.body.extend_from_slice(piece);
    }
}

/// Reads answers until the bytes end or are rejected: what was seen, how many answers were
/// complete, and whether they were rejected.
fn read(bytes: &[u8], size: usize, head_only: bool) -> (Seen, usize, bool) {
    let rules = Rules { head_only, head_bytes: 512, body_bytes: 4096 };
    let (mut decoder, mut cache, mut seen) = (Decoder::new(), HeadCache::default(), Seen::default());
    let mut complete = 0;
    for mut piece in bytes.chunks(size) {
        while !piece.is_empty() {
            match decoder.decode(piece, &rules, &mut cache, &mut seen) {
                Err(DecodeError::Malformed(_) | DecodeError::TooLarge(_)) => return (seen, complete, true),
                Ok(step) => {
                    assert!(step.used <= piece.len() && (step.complete || step.used == piece.len()));
                    assert!(step.used > 0 || step.complete);
                    complete += usize::from(step.complete);
                    piece = &piece[step.used..];
                }
            }
            assert!(decoder.body_bytes() <= rules.body_bytes);
        }
    }
    (seen, complete, false)
}

fuzz_target!(|data: &[u8]| {
    let [size, flags, bytes @ ..] = data else { return };
    let head_only = flags & 1 == 1;
    let whole = read(bytes, bytes.len().max(1), head_only);
    let pieces = read(bytes, usize::from(*size).max(1), head_only);
    assert_eq!((&whole.0.heads, &whole.0.interim, whole.1, whole.2), (&pieces.0.heads, &pieces.0.interim, pieces.1, pieces.2));
    // What is rejected inside a body may have been handed out in part before.
    if !whole.2 {
        assert_eq!(whole.0.body, pieces.0.body);
    }
});
