//! Connections of this machine that were too short to be seen while they were open.
//!
//! The kernel keeps each ended connection for a minute, in TIME_WAIT (RFC 9293, section 3.6), and no
//! longer knows whose it was. So it shows that somebody got many short connections, and not who
//! opened them. A server that opens one for each request does that. How long each still waits tells
//! when it ended, so nothing needs to be known from before: a pair of ports is used again after a
//! second where both are on this machine (tcp_tw_reuse, tcp(7)).
use pippin_model::host::usage::Passing;
use std::collections::{BTreeMap, HashSet};
use std::net::SocketAddr;
use std::time::Duration;

use crate::connected::ended;
use crate::server::{self, Place};

/// A place that got fewer is not named.
const LEAST: u64 = 100;

/// Who got many connections that ended within the last `within`, at most a minute, without those to
/// the place that is loaded. `known` are processes that have a role: what they got is no news. Empty
/// if the kernel does not tell.
#[must_use]
pub fn passing(served: Option<&Place>, within: Duration, known: &HashSet<i32>) -> Vec<Passing> {
    // In the order of addresses, so that a record of one run reads as that of another.
    let mut counts: BTreeMap<SocketAddr, u64> = BTreeMap::new();
    for (end, ago) in ended(served).unwrap_or_default() {
        // Either end may have been the one that listened.
        for at in [end.local, end.peer].into_iter().filter(|_| ago <= within) {
            *counts.entry(at).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count >= LEAST);
    let named = counts.into_iter().filter_map(|(at, connections)| {
        let servers = server::behind(&Place::Addresses(vec![at])).ok()?;
        let first = servers.processes.iter().find(|one| !known.contains(&one.pid))?;
        Some(Passing { name: first.name.clone(), pid: first.pid, at, connections })
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connected::tests::listener;
    use pippin_testing::patience::in_time;
    use std::io::Read as _;
    use std::net::TcpStream;
    use std::time::Instant;

    pippin_testing::patient_tests!(who_got_many_short_connections_is_named);

    /// A child listens and closes first, and this process connects to it.
    fn who_got_many_short_connections_is_named() {
        let (mut child, at) = listener("127.0.9.8", "while 1: s.accept()[0].close()");
        let connect = |times: u64| {
            for _ in 0..times {
                let mut nothing = [0];
                assert_eq!(TcpStream::connect(at).unwrap().read(&mut nothing).unwrap(), 0);
            }
        };
        const MINUTE: Duration = Duration::from_secs(60);
        let of = |served: Option<&Place>, within, known: &[i32]| {
            let known = known.iter().copied().collect();
            passing(served, within, &known).into_iter().find(|one| one.at == at)
        };
        let began = Instant::now();
        connect(LEAST - 1);
        assert_eq!(of(None, MINUTE, &[]), None, "one too few");
        connect(1);
        // The last one ends when its end was acknowledged, which the kernel may put off.
        let found = (0..1_000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            of(None, MINUTE, &[])
        });
        let took = began.elapsed();
        in_time(took < MINUTE, || format!("the kernel forgets the first one after {took:?}"));
        let found = found.unwrap();
        assert_eq!((found.pid, found.connections), (child.id() as i32, LEAST));
        assert!(found.name.starts_with("python"), "{found:?}");
        assert_eq!(of(None, MINUTE, &[found.pid]), None, "it has a role");
        assert_eq!(of(Some(&Place::Addresses(vec![at])), MINUTE, &[]), None, "it is loaded");
        // The kernel counts in milliseconds, and all of them are older than that.
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(of(None, Duration::from_millis(10), &[]), None, "they ended before");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(of(None, MINUTE, &[]), None, "nobody listens there now");
    }
}
