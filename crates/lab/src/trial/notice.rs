//! Loads of one machine that have the same target learn of each other.
//!
//! Each load binds a datagram socket with an abstract name for each place that it loads (unix(7)).
//! The name has a digest of the place and the process. /proc/net/unix lists the names of others, and
//! whoever finds one of its own place sends it a message. So both know of each other, however short
//! one of the loads is. The kernel forgets a name when its process ends, so nothing is left behind,
//! and it keeps names for each network namespace, as it does loopback.
use pippin_model::load::LoadSpec;
use pippin_model::text::fnv::Fnv1a;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{Shutdown, SocketAddr as Address};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the kernel lists unix sockets.
const TABLE: &str = "/proc/net/unix";
/// How the names begin.
const PREFIX: &str = "pippin-load";
/// Places beyond this number are not posted: a load has one or two.
const MOST_PLACES: usize = 16;
/// Others beyond this number are not named.
const MOST_OTHERS: usize = 16;

/// What this process says of its load, until it is dropped.
#[derive(Debug, Default)]
pub struct Notice {
    posted: Vec<Posted>,
    others: BTreeSet<String>,
}

#[derive(Debug)]
struct Posted {
    place: String,
    digest: u64,
    socket: UnixDatagram,
}

/// Nobody can write to it any more, even where a child of this process still has a copy of the
/// socket: each copy lives until the child becomes another program.
impl Drop for Posted {
    fn drop(&mut self) {
        drop(self.socket.shutdown(Shutdown::Both));
    }
}

impl Notice {
    /// Says that this process loads these places from now on. Where the kernel has no such sockets,
    /// nothing is said.
    #[must_use]
    pub fn post(load: &LoadSpec) -> Self {
        Self::post_as(std::process::id(), load)
    }

    fn post_as(process: u32, load: &LoadSpec) -> Self {
        let places: BTreeSet<String> = match &load.unix_socket {
            Some(path) => [path.display().to_string()].into(),
            None => load.addresses.iter().map(Address::to_string).collect(),
        };
        let posted = places.into_iter().take(MOST_PLACES);
        let mut notice = Self {
            posted: posted.filter_map(|place| post(process, place)).collect(),
            ..Self::default()
        };
        // All names are bound by now: of two loads that begin at once, at least one sees the other.
        notice.meet(process, &std::fs::read_to_string(TABLE).unwrap_or_default());
        notice
    }

    /// Names the loads in the kernel's table that have a place of this one, and writes to them.
    fn meet(&mut self, process: u32, table: &str) {
        for line in table.lines() {
            let Some((_, name)) = line.split_once('@') else { continue };
            let Some(of) = read_name(name).filter(|of| of.process != process) else { continue };
            let same = self.posted.iter().find(|posted| posted.digest == of.digest);
            let Some((posted, to)) = same.zip(SocketAddr::from_abstract_name(name).ok()) else {
                continue;
            };
            match posted.socket.send_to_addr(&[0], &to) {
                // Whoever has many unread messages knows enough.
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // It ended since the table was read, or its name is held by a child of its process
                // that is yet to become another program.
                Err(_) => continue,
            }
            add(&mut self.others, of.process, &posted.place);
        }
    }

    /// The other loads of the same places since this was posted: `process 12: 127.0.0.1:80`.
    #[must_use]
    pub fn others(self) -> Vec<String> {
        let Self { posted, mut others } = self;
        for Posted { place, digest, socket } in &posted {
            loop {
                let from = match socket.recv_from(&mut [0]) {
                    Ok((_, from)) => from,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => break,
                };
                let name = from.as_abstract_name().and_then(|name| str::from_utf8(name).ok());
                if let Some(of) = name.and_then(read_name).filter(|of| of.digest == *digest) {
                    add(&mut others, of.process, place);
                }
            }
        }
        others.into_iter().collect()
    }
}

fn add(others: &mut BTreeSet<String>, process: u32, place: &str) {
    if others.len() < MOST_OTHERS {
        others.insert(format!("process {process}: {place}"));
    }
}

/// Binds the name of a place.
fn post(process: u32, place: String) -> Option<Posted> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // A name has room for 107 bytes, and a path may be longer.
    let digest = Fnv1a::default().with(place.as_bytes()).finish();
    let nth = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{PREFIX}/{digest:016x}/{process}/{nth}");
    let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name).ok()?).ok()?;
    socket.set_nonblocking(true).ok()?;
    Some(Posted { place, digest, socket })
}

/// Whose name it is.
struct Name {
    digest: u64,
    process: u32,
}

fn read_name(name: &str) -> Option<Name> {
    let mut parts = name.strip_prefix(PREFIX)?.strip_prefix('/')?.split('/');
    let digest = u64::from_str_radix(parts.next()?, 16).ok()?;
    Some(Name { digest, process: parts.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn load_to(addresses: &[&str]) -> LoadSpec {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        LoadSpec { addresses, ..LoadSpec::default() }
    }

    #[test]
    fn loads_of_one_place_name_each_other_and_others_do_not() {
        // Documentation addresses (RFC 5737): nobody loads them.
        let first = Notice::post_as(11, &load_to(&["192.0.2.1:81", "192.0.2.1:82"]));
        let elsewhere = Notice::post_as(12, &load_to(&["192.0.2.1:83"]));
        let own = Notice::post_as(11, &load_to(&["192.0.2.1:81"]));
        let second = Notice::post_as(13, &load_to(&["192.0.2.1:82"]));
        assert_eq!(second.others(), ["process 11: 192.0.2.1:82"]);
        // The second has ended, and the first still knows.
        let third = Notice::post_as(14, &load_to(&["192.0.2.1:82"]));
        let named = ["process 13: 192.0.2.1:82", "process 14: 192.0.2.1:82"];
        assert_eq!(first.others(), named);
        assert_eq!(third.others(), ["process 11: 192.0.2.1:82"]);
        assert_eq!((elsewhere.others(), own.others()), (vec![], vec![]));
        assert_eq!(Notice::post_as(15, &load_to(&["192.0.2.1:82"])).others(), Vec::<String>::new());
    }

    #[test]
    fn a_load_that_ended_is_not_named_while_a_copy_of_its_socket_lives() {
        let load = load_to(&["192.0.2.3:80"]);
        let ended = Notice::post_as(31, &load);
        // As a child has it that was forked and has not become another program yet.
        let copy = ended.posted[0].socket.try_clone().unwrap();
        drop(ended);
        assert_eq!(Notice::post_as(32, &load).others(), Vec::<String>::new());
        drop(copy);
    }

    #[test]
    fn a_unix_socket_is_a_place_however_long_its_path_is() {
        let path = PathBuf::from(format!("/nowhere/{}", "a".repeat(90)));
        let load = LoadSpec { unix_socket: Some(path.clone()), ..LoadSpec::default() };
        let (first, second) = (Notice::post_as(21, &load), Notice::post_as(22, &load));
        assert_eq!(first.others(), [format!("process 22: {}", path.display())]);
        assert_eq!(second.others().len(), 1);
    }

    #[test]
    fn many_who_come_and_go_are_no_endless_list() {
        let load = load_to(&["192.0.2.2:80"]);
        let first = Notice::post_as(1, &load);
        for process in 2..100 {
            drop(Notice::post_as(process, &load));
        }
        let others = first.others();
        assert!((1..=MOST_OTHERS).contains(&others.len()), "{others:?}");
    }

    #[test]
    fn names_of_other_programs_are_passed_over() {
        for name in ["", "pippin-load", "pippin-load/x/1/0", "pippin-load/1f/y/0", "other/1f/1/0"] {
            assert!(read_name(name).is_none(), "{name}");
        }
    }
}
