//! The scripted server does what its scripts say, seen by a plain blocking client.
use super::{Account, Answer, OnConnect, Script, spawn};
use pippin_reference::Running;
use pippin_reference::monotonic_ns;
use rand::RngExt as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const PAUSE: Duration = Duration::from_millis(30);

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Waits until this holds, at most 20 s.
fn eventually(server: &Running<Account>, holds: impl Fn(&Account) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds(&server.account()) {
        assert!(Instant::now() < deadline, "{:?}", server.account());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends requests and reads until the server closes.
fn all_answers(address: SocketAddr, requests: usize) -> String {
    let mut stream = connect(address);
    stream.write_all(&REQUEST.repeat(requests)).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    answers
}

#[test]
fn closes_after_so_many_answers_with_and_without_a_word() {
    for as_said in [true, false] {
        let server = spawn(Script::always(Answer::ok(b"hi")).close_after(3, as_said)).unwrap();
        let answers = all_answers(server.address(), 3);
        assert_eq!(answers.matches("\r\n\r\nhi").count(), 3);
        assert_eq!(answers.matches("Connection: close").count(), usize::from(as_said));
        let account = server.stop().unwrap();
        assert_eq!(
            (account.requests, account.answers, account.closed_by_script, account.by_status[&200]),
            (3, 3, 1, 3)
        );
    }
}

#[test]
fn waits_add_up_and_are_booked() {
    let server = spawn(Script::always(
        Answer::ok(b"hi").delay(PAUSE).pause_in_head(PAUSE).pause_in_body(PAUSE).then_close(),
    ))
    .unwrap();
    let begin = Instant::now();
    all_answers(server.address(), 1);
    assert!(begin.elapsed() >= 3 * PAUSE);
    let exchange = server.stop().unwrap().exchanges[0];
    assert_eq!(exchange.scripted_wait_ns, 90_000_000);
    assert!(exchange.duration_ns().unwrap() >= 90_000_000);
}

#[test]
fn no_more_than_so_many_are_answered_a_second() {
    let server = spawn(Script::at_most(100.0, Answer::ok(b"hi").then_close())).unwrap();
    let begin = Instant::now();
    let address = server.address();
    std::thread::scope(|scope| {
        (0..11).for_each(|_| _ = scope.spawn(|| all_answers(address, 1)));
    });
    // The last of eleven has its place ten hundredths after the first.
    assert!(begin.elapsed() >= Duration::from_millis(100));
    let account = server.stop().unwrap();
    let waits: Vec<u64> = account.exchanges.iter().map(|one| one.scripted_wait_ns).collect();
    assert_eq!((waits.len(), waits[0]), (11, 0), "the first one waits for nobody");
}

#[test]
fn random_delays_follow_the_seed() {
    let waits = |seed| {
        let script = Script::each(|_, random| {
            Answer::ok(b"").delay(Duration::from_micros(random.random_range(1..1_000)))
        });
        let server = spawn(script.seed(seed).close_after(20, true)).unwrap();
        all_answers(server.address(), 20);
        server
            .stop()
            .unwrap()
            .exchanges
            .iter()
            .map(|exchange| exchange.scripted_wait_ns)
            .collect::<Vec<_>>()
    };
    assert_eq!(waits(3), waits(3));
    assert_ne!(waits(3), waits(4));
}

#[test]
fn a_stall_holds_everybody() {
    let server = spawn(
        Script::always(Answer::ok(b""))
            .close_after(1, true)
            .stall_at_request(2, Duration::from_millis(1_500)),
    )
    .unwrap();
    all_answers(server.address(), 1);
    all_answers(server.address(), 1);
    let before_ns = monotonic_ns();
    let held = connect(server.address());
    (&held).write_all(REQUEST).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let other_ns = monotonic_ns();
    all_answers(server.address(), 1);
    let answered_ns = monotonic_ns();
    let (from, to) = server.stop().unwrap().stall_ns.unwrap();
    assert!(to - from >= 1_500_000_000);
    assert!(
        before_ns <= from && other_ns < to && to <= answered_ns,
        "{before_ns}, stall from {from} to {to}, asked {other_ns}, answered {answered_ns}"
    );
}

#[test]
fn a_stall_can_be_set_by_time() {
    let server = spawn(
        Script::always(Answer::ok(b""))
            .close_after(1, true)
            .stall_after(Duration::from_millis(50), Duration::from_millis(100)),
    )
    .unwrap();
    all_answers(server.address(), 1);
    eventually(&server, |account| account.stall_ns.is_some());
    let account = server.stop().unwrap();
    let (from, _) = account.stall_ns.unwrap();
    assert!(from - account.exchanges[0].received_ns >= 50_000_000);
}

#[test]
fn resets_are_resets_and_closes_are_closes() {
    let reset = spawn(Script::always(Answer::reset())).unwrap();
    let mut stream = connect(reset.address());
    stream.write_all(REQUEST).unwrap();
    assert_eq!(stream.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let close = spawn(Script::always(Answer::close())).unwrap();
    assert_eq!(all_answers(close.address(), 1), "");
    let halfway =
        spawn(Script::always(Answer::ok(b"abc").declared_length(10).then_close())).unwrap();
    assert!(all_answers(halfway.address(), 1).ends_with("Content-Length: 10\r\n\r\nabc"));
    let accepted = spawn(Script::always(Answer::ok(b"")).on_connect(OnConnect::Reset)).unwrap();
    let mut stream = connect(accepted.address());
    let outcome = stream.write_all(REQUEST).and_then(|()| stream.read(&mut [0; 8]));
    assert!(matches!(
        outcome.unwrap_err().kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
    ));
}

#[test]
fn silence_lasts_and_ends_with_the_client() {
    let server = spawn(Script::always(Answer::silence())).unwrap();
    let mut stream = connect(server.address());
    stream.set_read_timeout(Some(Duration::from_millis(80))).unwrap();
    stream.write_all(REQUEST).unwrap();
    assert_eq!(stream.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(stream);
    eventually(&server, |account| account.requests == 1 && account.live_connections == 0);
    let account = server.stop().unwrap();
    assert_eq!((account.requests, account.answers, account.live_connections), (1, 0, 0));
}

#[test]
fn one_byte_at_a_time() {
    let server = spawn(Script::always(
        Answer::ok(b"hello").byte_by_byte(Duration::from_micros(100)).then_close(),
    ))
    .unwrap();
    assert!(all_answers(server.address(), 1).ends_with("\r\n\r\nhello"));
    let account = server.stop().unwrap();
    assert_eq!(account.exchanges[0].scripted_wait_ns, (account.bytes_out - 1) * 100_000);
}

#[test]
fn an_endless_body_goes_on_until_the_client_leaves_and_holds_nobody_up() {
    let server = spawn(Script::each(|request, _| match request.number {
        0 => Answer::ok(&[b'x'; 65_536]).endless(Duration::ZERO, true),
        _ => Answer::ok(b"hi").then_close(),
    }))
    .unwrap();
    let mut endless = connect(server.address());
    endless.write_all(REQUEST).unwrap();
    endless.read_exact(&mut vec![0; 1_000_000]).unwrap();
    assert!(all_answers(server.address(), 1).ends_with("hi"));
    drop(endless);
    eventually(&server, |account| account.live_connections == 0);
    assert_eq!(server.account().answers, 1);
}

#[test]
fn interim_answers_surplus_and_garbage() {
    let server = spawn(Script::always(
        Answer::ok(b"hi").interim(100).interim(103).surplus(b"more").then_close(),
    ))
    .unwrap();
    let answer = all_answers(server.address(), 1);
    assert!(
        answer.starts_with(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n"
        ) && answer.ends_with("himore"),
        "{answer}"
    );
    let garbage = spawn(Script::always(Answer::raw(b"\x00\x01garbage").then_close())).unwrap();
    assert_eq!(all_answers(garbage.address(), 1), "\x00\x01garbage");
}

#[test]
fn nonsense_from_the_client_is_counted_and_closed() {
    let server = spawn(Script::always(Answer::ok(b"hi"))).unwrap();
    let mut stream = connect(server.address());
    stream.write_all(b"nonsense\r\n\r\n").unwrap();
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    assert_eq!(server.stop().unwrap().bad_requests, 1);
}
