//! The engine against every server of `pippin_testing::hostile`, on both event loops, over TCP
//! and over TLS: each row of that table says what must be counted.
//!
//! Rows run beside each other, so that nothing here is asserted about times: a request times out
//! only where no answer ever comes. With `PIPPIN_HOSTILE=all` (`make test-hostile`) each row also
//! meets crowds: many connections, rows of requests, a constant rate.
//!
//! Rust's own harness makes tests of functions; this one makes them of rows.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "a test speaks to whoever runs it")]

mod crowds;
mod memory;
#[path = "../truth/support.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the truth tests")]
mod support;

use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use libtest_mimic::{Arguments, Trial};
use pippin_model::load::{BodyCheck, IoChoice, Limits, LoadSpec, Protocol, Timeouts};
use pippin_model::result::{ErrorKind, LoadResult};
use pippin_testing::hostile::{
    BODY, BODY_BYTES, Behaviour, Counted, HEAD_BYTES, Over, REQUESTS, Server, Speaks, behaviours,
    spawn, spawn_secured,
};
use pippin_testing::tls::{Authority, Certified};

use support::{MS, closed, get, run, trusting};

/// Rows wait more than they work.
const AT_ONCE: usize = 8;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let cases: Vec<Case> = behaviours().flat_map(cases).collect();
    let has_crowds = std::env::var("PIPPIN_HOSTILE").is_ok_and(|which| which == "all");
    let crowds = cases.iter().filter(|_| has_crowds).flat_map(|case| crowds::trials(*case));
    let crowds: Vec<Trial> = crowds.collect();
    let rows = cases.iter().map(|case| {
        trial(case.name(), {
            let case = *case;
            move || case.check()
        })
    });
    let trials = rows.chain(crowds).collect();
    let before = memory::peak_kb();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if conclusion.has_failed() || !memory::is_bounded(before) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn trial(name: String, check: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        check();
        Ok(())
    })
}

/// A row of the table on one event loop, over TCP or TLS.
#[derive(Clone, Copy)]
struct Case {
    behaviour: Behaviour,
    io: IoChoice,
    carrier: Carrier,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Tcp,
    /// The server speaks TLS too, up to the point that the row is about.
    Tls,
    /// Only the client speaks it.
    BareTls,
}

fn cases(behaviour: Behaviour) -> Vec<Case> {
    let carriers: &[Carrier] = match behaviour.over {
        Over::Both => &[Carrier::Tcp, Carrier::Tls],
        Over::Tcp => &[Carrier::Tcp],
        Over::Tls => &[Carrier::Tls],
        Over::Handshake => &[Carrier::BareTls],
    };
    let on = |io| carriers.iter().map(move |carrier| Case { behaviour, io, carrier: *carrier });
    [IoChoice::Epoll, IoChoice::IoUring].into_iter().flat_map(on).collect()
}

static AUTHORITY: LazyLock<Authority> = LazyLock::new(Authority::new);
/// Servers of HTTP/1.1 and of HTTP/2.
static CONFIGS: LazyLock<[Arc<rustls::ServerConfig>; 2]> = LazyLock::new(|| {
    ["http/1.1", "h2"]
        .map(|name| AUTHORITY.server(&Certified { alpn: vec![name], ..Certified::default() }))
});

impl Case {
    fn name(&self) -> String {
        let io = if self.io == IoChoice::Epoll { "epoll" } else { "io_uring" };
        let carrier = if self.carrier == Carrier::Tcp { "tcp" } else { "tls" };
        format!("{carrier}::{io}::{}", self.behaviour.name)
    }

    fn serve(&self) -> Server {
        if self.carrier != Carrier::Tls {
            return spawn(&self.behaviour).unwrap();
        }
        let alpn = usize::from(self.behaviour.speaks == Speaks::Http2);
        spawn_secured(&self.behaviour, Arc::clone(&CONFIGS[alpn])).unwrap()
    }

    /// As many requests as are counted, one after the other. Patience ends soon only where it must
    /// end.
    fn load(&self, server: &Server) -> LoadSpec {
        let Behaviour { speaks, counted, .. } = self.behaviour;
        // The kernel's part of a connection must be over by then.
        let patience = |must_end, ms: u64| if must_end { ms * MS } else { 20_000 * MS };
        LoadSpec {
            tls: (self.carrier != Carrier::Tcp).then(|| trusting(&AUTHORITY)),
            protocol: match speaks {
                Speaks::Http1 => Protocol::Http1,
                Speaks::Http2 => Protocol::Http2,
            },
            requests: vec![get(BodyCheck::Exact(BODY.to_vec()))].into(),
            limits: Limits { head_bytes: HEAD_BYTES, body_bytes: BODY_BYTES },
            timeouts: Timeouts {
                connect_ns: patience(counted.needs_late_connections(), 500),
                request_ns: patience(counted.needs_late_answers(), 100),
                ..Timeouts::default()
            },
            ..closed(server.address(), self.io, 1, REQUESTS)
        }
    }

    fn check(&self) {
        let server = self.serve();
        let result = run(&self.load(&server));
        self.check_counts(&result);
        self.check_connections(&result);
    }

    fn check_counts(&self, result: &LoadResult) {
        let counted = self.behaviour.counted;
        let requests = result.measured.requests;
        let errors: Vec<(&str, u64)> =
            result.measured.errors.iter().map(|(kind, count)| (kind.name(), *count)).collect();
        let seen = format!("{requests:?} {errors:?} {:?}", result.tls);
        assert_eq!(requests.scheduled, REQUESTS, "{seen}");
        let (good, completed, sent) = match counted {
            Counted::Good => (REQUESTS, REQUESTS, REQUESTS),
            Counted::Wrong(_) => (0, REQUESTS, REQUESTS),
            Counted::Fails(_) => (0, 0, REQUESTS),
            Counted::Either(_) => (0, 0, requests.sent),
            Counted::Unsent(_) | Counted::LateHandshake => (0, 0, 0),
        };
        assert_eq!(
            (requests.good, requests.completed, requests.sent),
            (good, completed, sent),
            "{seen}"
        );
        assert_eq!(result.measured.errors_total(), REQUESTS - good, "{seen}");
        // Surplus bytes are not body.
        if counted == Counted::Good || is_surplus(counted) {
            assert!(result.measured.bytes.body <= REQUESTS * BODY.len() as u64, "{seen}");
        }
        assert!(errors.iter().all(|(kind, _)| counted.kinds().contains(kind)), "{seen}");
    }

    /// After a failure over HTTP/1.1 nothing on its connection can be trusted, nor behind surplus
    /// bytes: the next request goes over a new one.
    fn check_connections(&self, result: &LoadResult) {
        let Behaviour { speaks, counted, .. } = self.behaviour;
        let connections = result.measured.connections;
        let is_lost = matches!(counted, Counted::Fails(_)) || is_surplus(counted);
        if speaks == Speaks::Http1 && is_lost {
            assert!(connections.opened >= REQUESTS, "{connections:?}");
        }
        // Why there is no connection is said.
        if counted.kinds() == [ErrorKind::Tls.name()] {
            let failures = &result.tls.as_ref().unwrap().failures;
            assert!(failures.values().sum::<u64>() >= REQUESTS, "{failures:?}");
            assert!(failures.keys().all(|why| !why.is_empty()), "{failures:?}");
        }
    }
}

/// Whether the answer is complete, and more bytes than its own come with it.
fn is_surplus(counted: Counted) -> bool {
    counted == Counted::Wrong(ErrorKind::Malformed.name())
}
