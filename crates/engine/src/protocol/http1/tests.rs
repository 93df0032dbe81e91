//! The decoder against answers cut at every byte, garbage, and heads on which two readers could
//! disagree.
use proptest::prelude::*;

use super::*;

const RULES: Rules = Rules { head_only: false, head_bytes: 4096, body_bytes: 1 << 20 };

#[derive(Debug, Default, PartialEq, Eq, Clone)]
struct Record {
    interim: Vec<u16>,
    heads: Vec<(u16, bool)>,
    body: Vec<u8>,
}

impl Sink for Record {
    fn interim(&mut self, status: u16) {
        self.interim.push(status);
    }
    fn head(&mut self, info: &HeadInfo, raw: &[u8]) {
        assert!(raw.ends_with(b"\r\n\r\n"));
        self.heads.push((info.status, info.keep_alive));
    }
    fn body(&mut self, piece: &[u8]) {
        assert!(!piece.is_empty());
        self.body.extend_from_slice(piece);
    }
}

/// Decodes pieces until one answer is complete: what was seen, whether it is complete, and the
/// bytes used.
fn decode(pieces: &[&[u8]], rules: &Rules) -> Result<(Record, bool, usize), DecodeError> {
    let (mut decoder, mut cache, mut seen) =
        (Decoder::new(), HeadCache::default(), Record::default());
    let mut used = 0;
    for piece in pieces {
        let step = decoder.decode(piece, rules, &mut cache, &mut seen)?;
        used += step.used;
        if step.complete {
            return Ok((seen, true, used));
        }
        assert_eq!(step.used, piece.len());
    }
    Ok((seen, false, used))
}

const ANSWERS: [(&str, u16, &str); 9] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!", 200, "Hello World!"),
    ("HTTP/1.1 200\r\ncontent-length:  3 \r\nX: y\r\n\r\nabc", 200, "abc"),
    ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, ""),
    ("HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n", 204, ""),
    ("HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n", 304, ""),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n7;a=\"b\"\r\n World!\r\n0\r\n\r\n",
        200,
        "Hello World!",
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n00C\r\nHello World!\r\n0\r\nDigest: x\r\nEmpty:\r\n\r\n",
        200,
        "Hello World!",
    ),
    (
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        200,
        "ok",
    ),
    ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", 200, "x"),
];

#[test]
fn every_answer_is_read_alike_wherever_it_is_cut() {
    for (text, status, body) in ANSWERS {
        let bytes = text.as_bytes();
        let whole = decode(&[bytes], &RULES).unwrap();
        assert_eq!(
            (whole.0.heads[0].0, whole.0.body.as_slice(), whole.1, whole.2),
            (status, body.as_bytes(), true, bytes.len()),
            "{text}"
        );
        for cut in 0..=bytes.len() {
            assert_eq!(
                decode(&[&bytes[..cut], &bytes[cut..]], &RULES).unwrap(),
                whole,
                "{text} cut at {cut}"
            );
            assert!(
                cut == bytes.len() || !decode(&[&bytes[..cut]], &RULES).unwrap().1,
                "{text} complete after {cut}"
            );
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single, &RULES).unwrap(), whole, "{text} byte by byte");
    }
}

#[test]
fn answers_in_one_piece_are_told_apart_and_surplus_is_left() {
    let both = [ANSWERS[0].0, ANSWERS[5].0, "surplus"].concat();
    let (mut decoder, mut cache, mut seen) =
        (Decoder::new(), HeadCache::default(), Record::default());
    let first = decoder.decode(both.as_bytes(), &RULES, &mut cache, &mut seen).unwrap();
    assert_eq!(first, Step { used: ANSWERS[0].0.len(), complete: true });
    let second =
        decoder.decode(&both.as_bytes()[first.used..], &RULES, &mut cache, &mut seen).unwrap();
    assert_eq!(second, Step { used: ANSWERS[5].0.len(), complete: true });
    assert_eq!(seen.body, b"Hello World!Hello World!");
    assert_eq!(
        decoder.decode(b"surplus", &RULES, &mut cache, &mut seen),
        Err(DecodeError::Malformed("does not start with HTTP/1."))
    );
}

#[test]
fn a_head_seen_before_means_the_same_again() {
    let (mut decoder, mut cache) = (Decoder::new(), HeadCache::default());
    let answers = [
        ANSWERS[0].0,
        ANSWERS[0].0,
        ANSWERS[5].0,
        ANSWERS[5].0,
        ANSWERS[2].0,
        ANSWERS[2].0,
        ANSWERS[0].0,
    ];
    for text in answers {
        let mut seen = Record::default();
        let step = decoder.decode(text.as_bytes(), &RULES, &mut cache, &mut seen).unwrap();
        assert_eq!(step, Step { used: text.len(), complete: true });
        assert_eq!(seen, decode(&[text.as_bytes()], &RULES).unwrap().0);
    }
    // HEAD and a smaller limit are rules of the request and not of the head.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";
    let rules = Rules { head_only: true, ..RULES };
    let mut seen = Record::default();
    assert_eq!(
        decoder.decode(head.as_bytes(), &rules, &mut cache, &mut seen).unwrap(),
        Step { used: head.len(), complete: true }
    );
    let rules = Rules { body_bytes: 11, ..RULES };
    assert!(matches!(
        decoder.decode(head.as_bytes(), &rules, &mut cache, &mut seen),
        Err(DecodeError::TooLarge(_))
    ));
}

#[test]
fn what_can_be_read_in_two_ways_is_rejected_wherever_it_is_cut() {
    let malformed = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 5 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\n Content-Length: 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\nContent-Length: 5\n\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nabcde",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX y: a\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: a\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        " HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nHello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nHello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nHello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nHello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;x\r\nHello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;\nHello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\rx",
    ];
    for text in malformed {
        let bytes = text.as_bytes();
        let end = |pieces: &[&[u8]]| decode(pieces, &RULES).expect_err(text);
        assert!(matches!(end(&[bytes]), DecodeError::Malformed(_)), "{text}");
        for cut in 0..=bytes.len() {
            assert!(
                matches!(end(&[&bytes[..cut], &bytes[cut..]]), DecodeError::Malformed(_)),
                "{text} cut at {cut}"
            );
        }
    }
}

#[test]
fn limits_hold_and_huge_numbers_do_not_overflow() {
    let many_headers = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(5_001));
    let long_head = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(5000));
    let endless_head = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(5000));
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(200);
    let chunked =
        |rest: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
    let cases = [
        many_headers,
        long_head,
        endless_head,
        interim,
        "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999999999999999\r\n\r\n".into(),
        chunked("100001\r\n"),
        chunked("ffffffffffffffff\r\n"),
        chunked("10000000000000000\r\n"),
        chunked("00000000000000005\r\n"),
        chunked(&format!("5;{}\r\n", "x".repeat(5000))),
        chunked(&format!("0\r\n{}\r\n", "A: b\r\n".repeat(2000))),
        chunked(&"1\r\nx\r\n".repeat((1 << 20) + 1)),
        format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat((1 << 20) + 1)),
    ];
    for text in cases {
        let bytes = text.as_bytes();
        assert!(matches!(decode(&[bytes], &RULES), Err(DecodeError::TooLarge(_))), "{:.80}", text);
        let pieces: Vec<&[u8]> = bytes.chunks(7).collect();
        assert!(matches!(decode(&pieces, &RULES), Err(DecodeError::TooLarge(_))), "{:.80}", text);
    }
}

/// How many there are is not limited, only their length.
#[test]
fn any_number_of_interim_answers_may_come() {
    let text = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)
        + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    for pieces in [vec![text.as_bytes()], text.as_bytes().chunks(5).collect()] {
        let (seen, _, _) = decode(&pieces, &RULES).unwrap();
        assert_eq!((seen.interim.len(), seen.body.as_slice()), (100, b"hi".as_slice()));
    }
}

#[test]
fn the_end_of_the_connection_is_told_apart() {
    let after = |text: &str| {
        let (mut decoder, mut cache, mut seen) =
            (Decoder::new(), HeadCache::default(), Record::default());
        decoder.decode(text.as_bytes(), &RULES, &mut cache, &mut seen).unwrap();
        decoder.eof()
    };
    assert_eq!(after(""), Eof::BeforeAnswer);
    assert_eq!(after("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"), Eof::BeforeAnswer);
    assert_eq!(after("HTTP/1.1 2"), Eof::InHead);
    assert_eq!(after("HTTP/1.1 100 Continue\r\n\r\n"), Eof::InHead);
    assert_eq!(after("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx"), Eof::InBody);
    assert_eq!(
        after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"),
        Eof::InBody
    );
    assert_eq!(after("HTTP/1.1 200 OK\r\n\r\n"), Eof::Complete);
    assert_eq!(after("HTTP/1.1 200 OK\r\n\r\nanything"), Eof::Complete);
}

#[test]
fn the_server_says_whether_it_closes() {
    let keeps = |head: &str| {
        decode(&[format!("{head}\r\nContent-Length: 0\r\n\r\n").as_bytes()], &RULES)
            .unwrap()
            .0
            .heads[0]
            .1
    };
    assert!(keeps("HTTP/1.1 200 OK"));
    assert!(keeps("HTTP/1.1 200 OK\r\nConnection: keep-alive"));
    assert!(!keeps("HTTP/1.1 200 OK\r\nConnection: Close"));
    assert!(!keeps("HTTP/1.1 200 OK\r\nConnection: x, close"));
    assert!(!keeps("HTTP/1.0 200 OK"));
    assert!(keeps("HTTP/1.0 200 OK\r\nConnection: Keep-Alive"));
}

#[test]
fn a_blocking_client_reads_whole_answers() {
    let read = |text: &str, head_only: bool| {
        client::read_response(&mut text.as_bytes(), &Rules { head_only, ..RULES })
    };
    let response = read(ANSWERS[5].0, false).unwrap();
    assert_eq!(
        (response.status, response.body.as_slice(), response.keep_alive),
        (200, b"Hello World!".as_slice(), true)
    );
    assert_eq!(response.header("transfer-encoding"), Some(b"chunked".as_slice()));
    assert_eq!(read(ANSWERS[7].0, false).unwrap().interim, [100, 103]);
    assert_eq!(read("HTTP/1.1 200 OK\r\n\r\nto the end", false).unwrap().body, b"to the end");
    assert!(read("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", true).unwrap().body.is_empty());
    for (text, message) in [
        ("", "before an answer"),
        ("HTTP/1.1 200", "inside the head"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx", "inside the body"),
    ] {
        assert!(read(text, false).unwrap_err().to_string().contains(message));
    }
    assert!(matches!(read("HTTP/1.1 204 OK\r\n\r\nxx", false), Err(client::ReadError::Surplus(2))));
}

/// An answer with known content, as bytes.
fn answer() -> impl Strategy<Value = (Vec<u8>, u16, Vec<u8>)> {
    let body = prop::collection::vec(any::<u8>(), 0..300);
    (200_u16..600, body, prop::collection::vec(1_usize..50, 0..10), "[a-z]{0,40}").prop_map(
        |(status, body, chunks, value)| {
            let mut bytes = format!("HTTP/1.1 {status} Reason\r\nX: {value}\r\n").into_bytes();
            let bodyless = status == 204 || status == 304;
            if chunks.is_empty() {
                bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
                if !bodyless {
                    bytes.extend(&body);
                }
            } else {
                bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                let mut rest = body.as_slice();
                for size in chunks.iter().cycle().take(if bodyless { 0 } else { 1000 }) {
                    let (chunk, after) = rest.split_at((*size).min(rest.len()));
                    bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
                    if chunk.is_empty() {
                        break;
                    }
                    bytes.extend(chunk);
                    bytes.extend(b"\r\n");
                    rest = after;
                }
                if !bodyless {
                    bytes.extend(b"\r\n");
                }
            }
            (bytes, status, if bodyless { vec![] } else { body })
        },
    )
}

proptest! {
    #[test]
    fn a_row_of_answers_in_any_pieces_is_read_right(answers in prop::collection::vec(answer(), 1..6), sizes in prop::collection::vec(1_usize..90, 1..40)) {
        let bytes: Vec<u8> = answers.iter().flat_map(|(bytes, ..)| bytes.clone()).collect();
        let (mut decoder, mut cache) = (Decoder::new(), HeadCache::default());
        let (mut seen, mut complete) = (Record::default(), vec![]);
        let mut rest = bytes.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (mut piece, after) = rest.split_at((*size).min(rest.len()));
            rest = after;
            while !piece.is_empty() {
                let step = decoder.decode(piece, &RULES, &mut cache, &mut seen).unwrap();
                piece = &piece[step.used..];
                if step.complete {
                    prop_assert_eq!(decoder.body_bytes(), seen.body.len() as u64);
                    complete.push((seen.heads[0].0, std::mem::take(&mut seen).body));
                }
            }
        }
        prop_assert_eq!(complete, answers.into_iter().map(|(_, status, body)| (status, body)).collect::<Vec<_>>());
    }

    #[test]
    fn garbage_is_rejected_or_read_but_never_panics_nor_grows(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..600),
            "HTTP/1\\.[01] [0-9]{1,4} [ -~\r\n]{0,300}".prop_map(String::into_bytes),
            "HTTP/1\\.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n[0-9a-fA-F;\r\n :x]{0,200}".prop_map(String::into_bytes),
        ],
        size in 1_usize..100,
    ) {
        let rules = Rules { head_bytes: 256, ..RULES };
        let (mut decoder, mut cache, mut seen) = (Decoder::new(), HeadCache::default(), Record::default());
        'all: for piece in bytes.chunks(size) {
            let mut piece = piece;
            loop {
                match decoder.decode(piece, &rules, &mut cache, &mut seen) {
                    Err(_) => break 'all,
                    Ok(step) => {
                        prop_assert!(step.used <= piece.len());
                        piece = &piece[step.used..];
                        if !step.complete || piece.is_empty() {
                            break;
                        }
                    }
                }
            }
        }
        prop_assert!(seen.body.len() <= bytes.len());
        decoder.eof();
        prop_assert!(!decoder.is_inside());
    }
}
