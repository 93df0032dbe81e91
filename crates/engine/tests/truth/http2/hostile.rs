//! Servers that break the rules: one error for each request concerned, no more memory than for right
//! ones, and no end of the load that comes too late.
use pippin_model::load_result::{ErrorKind, LoadResult};
use pippin_model::load_spec::IoChoice;
use pippin_reference::frames::kind::{CONTINUATION, DATA, HEADERS, PING, SETTINGS};
use pippin_reference::frames::{Connection, END_HEADERS, END_STREAM, OK, Server, frame};

use super::streams;
use crate::support::{closed_for, errors, on_each_loop, run};

on_each_loop!(
    endless_headers,
    a_block_that_grows_when_it_is_read,
    questions_without_end,
    answers_that_break_the_rules,
    an_answer_that_is_not_as_long_as_it_says,
);

/// Half a second of a load against a server that does this with the first request of each
/// connection.
fn suffer(io: IoChoice, script: fn(&mut Connection, u32) -> Option<()>) -> LoadResult {
    let server = Server::new(move |connection| {
        let stream = connection.request()?;
        script(connection, stream)?;
        connection.drain();
        None
    })
    .unwrap();
    let before = memory_kb();
    let result = run(&streams(closed_for(server.address, io, 2, 500), 4));
    assert!(memory_kb() < before + 100_000, "{before} kB before, {} kB after", memory_kb());
    assert_eq!(result.measured.requests.good, 0);
    assert!(result.measured.requests.failed >= 4, "{:?}", result.measured.requests);
    result
}

/// The most memory that this process ever had, in kB (VmHWM of proc_pid_status(5)).
fn memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn only(result: &LoadResult, kind: ErrorKind) {
    let errors = errors(result);
    assert!(errors.iter().any(|(other, _)| *other == kind), "{errors:?}");
    // The requests beside the one that failed have lost their connection.
    let others = |(other, _): &(ErrorKind, u64)| {
        *other == kind || *other == ErrorKind::CloseBeforeAnswer || *other == ErrorKind::CloseInBody
    };
    assert!(errors.iter().all(others), "{errors:?}");
}

/// CONTINUATION frames without end (CVE-2024-27316 and its like).
fn endless_headers(io: IoChoice) {
    let result = suffer(io, |connection, stream| {
        connection.send(&frame(HEADERS, 0, stream, OK))?;
        let piece = frame(CONTINUATION, 0, stream, &[0x88; 1_000]);
        (0..100_000).try_for_each(|_| connection.send(&piece))
    });
    only(&result, ErrorKind::TooLarge);
}

/// A block of 16 KB that names an entry of 4 KB with each byte: 60 MB if one keeps it.
fn a_block_that_grows_when_it_is_read(io: IoChoice) {
    let result = suffer(io, |connection, stream| {
        let mut block = OK.to_vec();
        block.extend([0x40, 1, b'a', 0x7f, 0xa1, 0x1e]);
        block.extend([b'v'; 4_000]);
        block.extend(vec![0xbe; 12_000]);
        connection.send(&frame(HEADERS, END_HEADERS, stream, &block))
    });
    only(&result, ErrorKind::TooLarge);
}

/// PING and SETTINGS without end, and nobody reads what comes back.
fn questions_without_end(io: IoChoice) {
    let result = suffer(io, |connection, _| {
        let row = [frame(PING, 0, 0, &[0; 8]), frame(SETTINGS, 0, 0, &[])].concat().repeat(500);
        (0..10_000).try_for_each(|_| connection.send(&row))
    });
    let errors = errors(&result);
    let is_known = |kind| matches!(kind, ErrorKind::TooLarge | ErrorKind::CloseBeforeAnswer);
    assert!(errors.iter().all(|(kind, _)| is_known(*kind)), "{errors:?}");
}

fn answers_that_break_the_rules(io: IoChoice) {
    let scripts: [fn(&mut Connection, u32) -> Option<()>; 4] = [
        |connection, stream| connection.send(&frame(DATA, END_STREAM, stream, b"no head")),
        |connection, _| connection.send(&frame(HEADERS, END_HEADERS, 2, OK)),
        |connection, stream| connection.send(&frame(HEADERS, END_HEADERS, stream, &[0xff; 9])),
        |connection, stream| connection.send(&frame(DATA, 0, stream, &[0; 20_000])),
    ];
    for script in scripts {
        only(&suffer(io, script), ErrorKind::Malformed);
    }
}

/// One stream is wrong, and the others go on (RFC 9113 section 8.1.1).
fn an_answer_that_is_not_as_long_as_it_says(io: IoChoice) {
    let server = Server::new(|connection| {
        loop {
            let stream = connection.request()?;
            if stream % 4 == 1 {
                // content-length: 9
                let head = [OK, &[0x0f, 0x0d, 1, b'9']].concat();
                connection.send(&frame(HEADERS, END_HEADERS, stream, &head))?;
                connection.send(&frame(DATA, END_STREAM, stream, b"hello"))?;
            } else {
                connection.answer(stream, b"hello")?;
            }
        }
    })
    .unwrap();
    let result = run(&streams(crate::support::closed(server.address, io, 1, 400), 5));
    assert_eq!(errors(&result), [(ErrorKind::Malformed, 200)]);
    assert_eq!(result.measured.requests.good, 200);
    assert_eq!(server.account.of(|account| &account.connections), 1);
    assert_eq!(server.account.of(|account| &account.resets), 200);
}
