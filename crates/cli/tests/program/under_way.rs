//! `pippin serve` during a run of another process.
use super::support::{Checkout, plan, until};
use pippin_model::run::live::LiveRun;
use pippin_serve::Server;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Serves the runs of a checkout until dropped.
struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Serving {
    fn start(checkout: &Checkout) -> Self {
        let server = Server::bind(checkout.store(), "127.0.0.1:0".parse().unwrap(), None).unwrap();
        let (address, stop) = (server.address(), Arc::new(AtomicBool::new(false)));
        let seen = Arc::clone(&stop);
        Self { address, stop, thread: Some(std::thread::spawn(move || server.run(&seen).unwrap())) }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(std::thread::JoinHandle::join));
    }
}

/// A plan of two targets, each measured for this long.
fn two_targets(seconds: u32) -> Checkout {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_cheat("other", "right", &["hello"]);
    let profile = format!(
        "kind = \"closed\"\nconnections = 2\nduration = \"{seconds}s\"\nwarm_up = \"none\"\n"
    );
    checkout.write("plans/two.toml", &plan("hello", &["test/it", "test/other"], &profile));
    checkout
}

/// Waits until the first target has been loaded for this many seconds.
fn wait_for_seconds(checkout: &Checkout, seconds: usize) -> LiveRun {
    let store = checkout.store();
    let measured =
        |live: &LiveRun| live.trial.as_ref().is_some_and(|trial| trial.seconds.len() >= seconds);
    assert!(
        until(|| store.live_runs().iter().any(measured)),
        "nothing is told: {:?}",
        store.live_runs()
    );
    store.live_runs().remove(0)
}

#[test]
fn a_run_is_shown_while_another_process_makes_it() {
    let checkout = two_targets(10);
    let run = checkout.start(&["run", "two", "--install", "--quiet"]);
    let live = wait_for_seconds(&checkout, 2);
    let (now, next) = (live.trial.clone().unwrap().target, live.queued[0].target.clone());
    assert_ne!(now, next);

    let serving = Serving::start(&checkout);
    let list = serving.get("/");
    assert!(
        list.contains("data-live=\"/live\"")
            && list.contains(&format!("/runs/{}", live.run))
            && list.contains("trial 1 of 2")
            && list.contains("<span class=\"sub\">under way</span>"),
        "{list}"
    );
    let page = serving.get(&format!("/runs/{}", live.run));
    let head = page.split("\r\n\r\n").next().unwrap().to_lowercase();
    assert!(
        head.contains("default-src 'none'; connect-src 'self'; ") && !head.contains("refresh:"),
        "{head}"
    );
    let address = format!("/runs/{}/live?seen=0", live.run);
    assert!(page.contains(&format!("data-live=\"{address}\"")));

    let first = serving.get(&address);
    for part in [
        &format!("<strong>{now}</strong>"),
        "2 connections",
        "trial 1 of 2",
        " left",
        "CPU of the target",
        "CPU of the generator",
        "Errors",
        "class=\"bar\"",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(first.contains("To come") && first.contains(&next.to_string()), "{first}");
    assert!(!first.contains("<html"), "a part of a page");
    let metrics = serving.get("/metrics");
    for part in [
        "text/plain; version=0.0.4",
        "pippin_live_runs 1",
        &format!("pippin_live_requests_per_second{{run=\"{}\",target=\"{now}\"}} ", live.run),
        "stage=\"measuring\"} 1",
        "role=\"target\"} ",
    ] {
        assert!(metrics.contains(part), "{part}: {metrics}");
    }
    // A second later there is another figure, without a new page.
    assert!(until(|| serving.get(&address).matches("class=\"bar\"").count()
        > first.matches("class=\"bar\"").count()));
    // The second target is measured, the first one is shown as finished.
    let second = format!("<strong>{next}</strong>");
    assert!(until(|| serving.get(&address).contains(&second)), "{}", serving.get(&address));
    let told = serving.get(&address);
    assert!(
        told.contains("Finished")
            && told.contains("Show the report with 1 more finished trial")
            && !told.contains("To come"),
        "{told}"
    );

    run.press_ctrl_c();
    run.finish();
    assert!(serving.get(&address).starts_with("HTTP/1.1 204"));
    assert!(serving.get("/live").starts_with("HTTP/1.1 204"));
    assert!(serving.get("/metrics").ends_with("pippin_live_runs 0\n"));
    assert!(
        !serving.get("/").contains("data-live")
            && !serving.get(&format!("/runs/{}", live.run)).contains("data-live")
    );
    assert_eq!(
        std::fs::read_dir(checkout.path().join(".pippin/pippin.db-live")).unwrap().count(),
        0,
        "nothing is left of it"
    );
}

#[test]
fn a_run_that_was_killed_is_not_under_way() {
    let checkout = two_targets(30);
    let run = checkout.start(&["run", "two", "--install", "--quiet"]);
    let live = wait_for_seconds(&checkout, 1);
    run.signal(libc::SIGKILL);
    run.finish();
    checkout.is_soon_left_by_all();
    assert_eq!(checkout.store().live_runs(), []);
    let page = Serving::start(&checkout).get(&format!("/runs/{}", live.run));
    assert!(
        page.contains("Pippin was killed in this run") && !page.contains("data-live"),
        "{page}"
    );
    // The next run removes leftovers.
    checkout.add_plan("short", "hello", &["test/it"]);
    checkout.pippin(&["run", "short", "--install"]);
    assert_eq!(
        std::fs::read_dir(checkout.path().join(".pippin/pippin.db-live")).unwrap().count(),
        0
    );
}
