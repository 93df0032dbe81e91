//! A server by other hands than ours: the crate `tungstenite`. It knows nothing of what Pippin
//! thinks WebSocket is.
use pippin_model::load::websocket::Messages;
use pippin_model::load::{IoChoice, LoadSpec};
use pippin_testing::messages;

use super::{message, messages as over_websocket};
use crate::support::{closed, errors, on_each_loop, run};

on_each_loop!(texts_of_any_size, binary_messages_of_any_size);

/// Lengths on both sides of every limit of the framing.
const LENGTHS: [usize; 9] = [0, 1, 15, 17, 125, 126, 65_535, 65_536, 1_000_000];

fn of_any_size(io: IoChoice, binary: bool) {
    let requests: Vec<_> =
        LENGTHS.iter().map(|length| message(Messages::payload(*length))).collect();
    let address = messages::library().unwrap();
    let spec = over_websocket(closed(address, io, 1, 90));
    let result = run(&LoadSpec {
        requests: requests.into(),
        messages: Some(Messages { binary, numbered: true, broadcast: false }),
        ..spec
    });
    assert_eq!((result.measured.requests.good, errors(&result)), (90, vec![]));
    assert_eq!(result.measured.bytes.body, 10 * LENGTHS.iter().sum::<usize>() as u64);
}

fn texts_of_any_size(io: IoChoice) {
    of_any_size(io, false);
}

fn binary_messages_of_any_size(io: IoChoice) {
    of_any_size(io, true);
}
