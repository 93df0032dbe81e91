//! What WebSocket asks of a server (RFC 6455), and the echo or the broadcast of the workload.
use pippin_engine::blocking::Stream;
use pippin_engine::websocket::client::{Client, Message};
use pippin_model::load::{Protocol, Request};
use pippin_model::workload::draw::Draw;
use pippin_reference::monotonic_ns;
use std::time::Duration;

use super::{Subject, Verdict};

/// Lengths on both sides of every limit of the framing (RFC 6455 section 5.2); the workload's own
/// length is tried too.
const LENGTHS: [usize; 7] = [0, 1, 125, 126, 1_000, 65_535, 65_536];
/// Fragments of a message. None is empty: servers may refuse empty ones, because a flood of them
/// costs its sender nothing (Bandit does).
const FRAGMENTS: [usize; 2] = [1, 3];
/// A server may consent a moment before it takes a connection in, and a load waits as long.
const TAKEN_IN: Duration = Duration::from_millis(100);
/// A close that follows the rules (section 7.4.1).
const NORMAL: u16 = 1000;

/// Messages that nobody could foresee come back as they were sent: of every length, as text and as
/// binary, whole and in fragments, on one connection.
///
/// # Errors
/// The first that came back otherwise.
pub fn echo(subject: &mut Subject<'_>) -> Verdict {
    let own = subject.workload.message.map_or(0, |message| message.bytes as usize);
    let mut draw = Draw::new(monotonic_ns());
    let mut client = open(subject)?;
    for length in LENGTHS.into_iter().chain([own]) {
        for (is_text, fragments) in [true, false]
            .into_iter()
            .flat_map(|is_text| FRAGMENTS.into_iter().map(move |fragments| (is_text, fragments)))
            .filter(|(_, fragments)| *fragments <= length.max(1))
        {
            let sent = Message { is_text, payload: payload(length, is_text, &mut draw) };
            let what = || {
                let kind = if is_text { "text" } else { "binary message" };
                format!("a {kind} of {length} bytes in {fragments} frame(s)")
            };
            client.stream_mut().allow(subject.limit);
            client
                .send_in_fragments(&sent, fragments)
                .and_then(|()| client.receive())
                .map_err(|error| format!("{}: {error}", what()))
                .and_then(|got| {
                    differs(&sent, &got).map_or(Ok(()), |why| Err(format!("{}: {why}", what())))
                })?;
        }
    }
    Ok(())
}

/// Messages of every connection come to all of them, in their order and once; those that have left
/// are no obstacle.
///
/// # Errors
/// The first that did not come, or came otherwise.
pub fn broadcast(subject: &mut Subject<'_>, receivers: u32) -> Verdict {
    let message = subject.workload.message;
    let (length, is_text) = message.map_or((64, true), |one| (one.bytes as usize, !one.binary));
    let mut draw = Draw::new(monotonic_ns());
    let open_all = |count| (0..count).map(|_| open(subject)).collect::<Result<Vec<_>, _>>();
    let mut clients = open_all(receivers + 1)?;
    std::thread::sleep(TAKEN_IN);
    let mut round = |clients: &mut [Client<Stream>]| -> Verdict {
        for sender in 0..clients.len() {
            let sent: Vec<Message> = (0..2)
                .map(|_| Message { is_text, payload: payload(length, is_text, &mut draw) })
                .collect();
            clients.iter_mut().for_each(|client| client.stream_mut().allow(subject.limit));
            for one in &sent {
                clients[sender].send(one).map_err(|error| error.to_string())?;
            }
            for (receiver, client) in clients.iter_mut().enumerate() {
                // A message that came twice stands in the place of the next one.
                for one in &sent {
                    client
                        .receive()
                        .map_err(|error| error.to_string())
                        .and_then(|got| differs(one, &got).map_or(Ok(()), Err))
                        .map_err(|why| {
                            format!(
                                "a message of connection {} at connection {} of {}: {why}",
                                sender + 1,
                                receiver + 1,
                                receivers + 1
                            )
                        })?;
                }
            }
        }
        Ok(())
    };
    round(&mut clients)?;
    // One leaves in order, and one without a word.
    if let Some(mut first) = clients.pop() {
        first.stream_mut().allow(subject.limit);
        first.close().map_err(|error| format!("one connection leaves: {error}"))?;
    }
    let mut others = open_all(1)?;
    drop(others.pop());
    round(&mut clients).map_err(|why| format!("after one connection has left, {why}"))
}

/// A ping between two messages is answered by a pong with its payload (section 5.5.2).
///
/// # Errors
/// What came instead.
pub fn ping(subject: &mut Subject<'_>) -> Verdict {
    let payload = monotonic_ns().to_string().into_bytes();
    let message = Message { is_text: true, payload: b"behind the ping".to_vec() };
    let (pongs, answer) =
        open(subject)?.ping(&payload, &message).map_err(|error| error.to_string())?;
    if let Some(why) = differs(&message, &answer) {
        return Err(format!("the message behind a ping: {why}"));
    }
    match pongs.as_slice() {
        [pong] if *pong == payload => Ok(()),
        [] => Err("a ping was not answered before the message behind it".into()),
        _ => Err(format!(
            "a ping was answered by {} pongs, or by one with another payload",
            pongs.len()
        )),
    }
}

/// A Close is answered by a Close with its code (section 5.5.1).
///
/// # Errors
/// What came instead.
pub fn close(subject: &mut Subject<'_>) -> Verdict {
    match open(subject)?.close() {
        Ok(NORMAL) => Ok(()),
        Ok(code) => Err(format!("a Close with code {NORMAL} was answered by one with code {code}")),
        Err(error) => Err(format!("a Close was not answered by a Close: {error}")),
    }
}

/// A WebSocket to the workload's path, with the whole limit for what it is used for.
fn open(subject: &Subject<'_>) -> Result<Client<Stream>, String> {
    let (way, sample) = (subject.way, subject.first()?);
    let stream = Stream::connect(way.place(), way.tls.as_ref(), Protocol::WebSocket, subject.limit)
        .map_err(|error| error.to_string())?;
    let request = Request {
        headers: sample.headers.clone(),
        ..Request::get(&sample.path, &way.address().to_string())
    };
    let mut client = Client::open(stream, &request)
        .map_err(|error| format!("no WebSocket at {}: {error}", sample.path))?;
    client.stream_mut().allow(subject.limit);
    Ok(client)
}

/// A text has characters of 1 to 4 bytes, as many as fit.
fn payload(length: usize, is_text: bool, draw: &mut Draw) -> Vec<u8> {
    if !is_text {
        return (0..length).map(|_| draw.bits() as u8).collect();
    }
    const LETTERS: [&str; 6] = ["a", "Z", "7", "ü", "€", "😀"];
    let mut text = Vec::with_capacity(length);
    while text.len() < length {
        let letter = LETTERS[draw.below(LETTERS.len() as u64) as usize].as_bytes();
        let letter = if text.len() + letter.len() > length { b"." } else { letter };
        text.extend_from_slice(letter);
    }
    text
}

fn differs(sent: &Message, got: &Message) -> Option<String> {
    if sent.is_text != got.is_text {
        let kind = if got.is_text { "a text" } else { "binary" };
        return Some(format!("came back as {kind}"));
    }
    let (sent, got) = (&sent.payload, &got.payload);
    (sent != got).then(|| {
        let same = sent.iter().zip(got).take_while(|(a, b)| a == b).count();
        format!("came back as {} bytes that differ from byte {same} on", got.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::way::Way;
    use crate::services::Services;
    use crate::verify::live::Live;
    use crate::verify::within;
    use pippin_model::workload::Workload;
    use pippin_testing::messages::{
        self, BINARY, CLOSE, Connection, FINAL, PING, Server, frame, text,
    };
    use pippin_testing::room::{Delivery, Said, room};
    use std::net::SocketAddr;
    use std::path::Path;

    /// Where an answer must come, on a busy machine too; and where none comes, so that the test
    /// waits.
    const LONG: Duration = Duration::from_secs(20);
    const SOON: Duration = Duration::from_millis(1_500);

    fn proved(
        address: SocketAddr,
        limit: Duration,
        proof: impl Fn(&mut Subject<'_>) -> Verdict,
    ) -> Verdict {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/ws-echo.toml");
        let workload = Workload::read(&path).unwrap();
        let way = Way::plain(address).with(workload.message.map(|message| message.messages()));
        let samples = workload.samples(1, 1);
        let (mut services, mut live) = (Services::default(), Live::default());
        proof(&mut Subject {
            way: &way,
            workload: &workload,
            samples: &samples,
            services: &mut services,
            live: &mut live,
            limit,
            closes: false,
        })
    }

    fn refused(
        script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static,
        limit: Duration,
        proof: impl Fn(&mut Subject<'_>) -> Verdict,
    ) -> String {
        proved(Server::new(script).unwrap().address, limit, proof).unwrap_err()
    }

    #[test]
    fn a_right_server_passes() {
        let address = messages::library().unwrap();
        for proof in [echo, ping, close] as [fn(&mut Subject<'_>) -> Verdict; 3] {
            assert_eq!(proved(address, LONG, proof), Ok(()));
        }
    }

    /// A proof of three receivers in this room.
    fn in_a_room(
        limit: Duration,
        script: impl Fn(Said<'_>) -> Vec<Delivery> + Send + Sync + 'static,
    ) -> Verdict {
        proved(room(script).unwrap().address, limit, |subject| broadcast(subject, 3))
    }

    #[test]
    fn a_room_passes_and_one_that_forgets_repeats_or_changes_does_not() {
        assert_eq!(in_a_room(LONG, |said| said.to_all()), Ok(()));
        let forgets = |said: Said<'_>| said.to_all().into_iter().skip(1).collect();
        let error = in_a_room(SOON, forgets).unwrap_err();
        assert!(
            error.contains("connection 1 at connection 1 of 4: the server did not answer in time"),
            "{error}"
        );
        let repeats = |said: Said<'_>| [said.to_all(), said.to_all()].concat();
        assert!(in_a_room(LONG, repeats).unwrap_err().contains("differ from byte"));
        let changes = |said: Said<'_>| {
            let changed = [said.payload, b"!"].concat();
            Said { payload: &changed, ..said }.to_all()
        };
        assert!(
            in_a_room(LONG, changes).unwrap_err().contains("65 bytes that differ from byte 64")
        );
    }

    #[test]
    fn what_is_no_echo_is_found() {
        let other = |connection: &mut Connection| connection.answer(|_| text(b"echo"));
        assert!(refused(other, LONG, echo).contains("came back as 4 bytes"));
        // Its client sends texts and binary messages; it answers all of them as binary.
        let kind =
            |connection: &mut Connection| connection.answer(|got| frame(FINAL | BINARY, got));
        assert!(
            refused(kind, LONG, echo)
                .contains("a text of 0 bytes in 1 frame(s): came back as binary")
        );
        // Each fragment is answered by itself.
        assert!(refused(|one| one.answer(text), LONG, echo).contains("came back as a text"));
        let deaf = |connection: &mut Connection| connection.drain();
        assert!(refused(deaf, SOON, echo).contains("the server did not answer in time"));
    }

    /// The hand-written server never answers a ping, and answers a Close only if told to.
    #[test]
    fn pings_and_closes_must_be_answered() {
        assert!(refused(|one| one.answer(text), SOON, ping).contains("a ping was not answered"));
        let silent = |connection: &mut Connection| {
            connection.drain();
            std::thread::sleep(Duration::from_secs(10));
            None
        };
        assert!(
            refused(silent, SOON, close)
                .contains("not answered by a Close: the server did not answer in time")
        );
        let other = |connection: &mut Connection| {
            connection.drain();
            connection.send(&frame(FINAL | CLOSE, &1001_u16.to_be_bytes()))
        };
        assert!(refused(other, LONG, close).contains("answered by one with code 1001"));
        let gone = |connection: &mut Connection| connection.drain();
        assert!(refused(gone, LONG, close).contains("without a Close frame"));
    }

    /// Each read is in time, and all of them together are not.
    #[test]
    fn a_server_that_sends_for_ever_and_answers_nothing_ends_no_later() {
        let pings = |connection: &mut Connection| -> Option<()> {
            loop {
                connection.send(&frame(FINAL | PING, b"tick"))?;
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        for proof in [echo, ping, close] as [fn(&mut Subject<'_>) -> Verdict; 3] {
            let error = within(LONG, move || refused(pings, SOON, proof));
            assert!(error.contains("the server did not answer in time"), "{error}");
        }
    }

    #[test]
    fn a_server_without_websocket_is_named() {
        let server = Server::raw(|connection| {
            connection.head()?;
            connection.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        });
        let error = proved(server.unwrap().address, LONG, echo).unwrap_err();
        assert!(error.contains("no WebSocket at /ws: the server answers 404"), "{error}");
    }
}
