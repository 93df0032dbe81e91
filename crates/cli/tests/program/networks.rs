//! `--network`: a simulated network between load and server.
use super::support::pippin;
use pippin_testing::frames::{Connection, Server};
use pippin_testing::scripted::{Answer, Script, spawn};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Never sooner than the network lets them; how much later depends on who else uses the machine.
#[test]
fn answers_come_a_round_trip_later_over_each_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let old = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let new = Server::new(Connection::serve).unwrap();
    let urls = [
        (format!("http://{}/", old.address()), ["-c", "4"], vec![]),
        (format!("http://{}/", new.address), ["-c", "1"], vec!["--h2c", "--streams", "4"]),
    ];
    for (url, connections, protocol) in urls {
        let how = ["--network", "40ms,2%", "-d", "2s", "--warm-up", "none", "--no-store"];
        let load = |more: &[&str]| {
            let all = [&["load", url.as_str()], &connections[..], &protocol[..], &how, more];
            pippin(folder.path(), &all.concat())
        };
        let outcome = load(&["--quiet", "--json", "-"]);
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let json = json(&outcome.stdout);
        assert!(json["service_time"]["min_ns"].as_u64() >= Some(40_000_000), "{outcome}");
        let good = json["requests"]["good"].as_u64().unwrap();
        assert!(good > 20 && json["requests"]["failed"] == 0, "{outcome}");
        let packets = json["network"]["packets"].as_u64().unwrap();
        // Over HTTP/2 a segment carries the requests of several users.
        assert!(packets >= good / 4, "{outcome}");
        assert!(json["network"]["lost"].as_u64() < Some(packets / 4), "{outcome}");
        // The server's process is found all the same.
        assert!(json["server"]["processes"][0]["name"].is_string(), "{outcome}");
        load(&["-v"]).says(&["2 % lost)", "of them lost"]);
    }
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], why: &str| {
        let all = [&["load", "http://127.0.0.1:1/", "-n", "1"], arguments].concat();
        pippin(folder.path(), &all).is_a_user_error(&[why]);
    };
    refused(&["--network", "20"], "20");
    refused(&["--network", "20ms,80%"], "the loss must be from 0% to 50%");
    refused(&["--network", "20ms", "--unix-socket", "/x"], "cannot be used with");
    refused(&["--network", "20ms", "--source-ips", "127.0.0.2"], "cannot be used with");
}
