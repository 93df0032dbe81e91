//! Who the processes of a server are connected to on this machine: by TCP and by unix sockets.
//!
//! The kernel names both ends of each connection (sock_diag(7)), and `/proc/PID/fd` says which
//! process holds an end. Connections to the place that is loaded are clients and are left out. A
//! connection that is shorter than a look may not be seen.
use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::descriptors::{Descriptors, holders};
use crate::kernel_files::KernelFiles;
use crate::listening::{self, INODE_AT, PEER_AT, PEER_PORT_AT, SOURCE_AT, SOURCE_PORT_AT};
use crate::server::{self, NoServer, Place, Servers, canonical};
use crate::sock_diag::{ALL_TCP, SockDiag, number};
use crate::unix_sockets::{self, UnixSocket};

/// The states ESTABLISHED, FIN_WAIT1, FIN_WAIT2 and CLOSE_WAIT (include/net/tcp_states.h).
const CONNECTED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8;
/// How long an ended connection waits (`TCP_TIMEWAIT_LEN`, include/net/tcp.h), and where a message
/// says how much of that is left, in milliseconds (`idiag_expires` of `struct inet_diag_msg`).
const TIME_WAIT: Duration = Duration::from_secs(60);
const EXPIRES_AT: usize = 52;
/// The state TIME_WAIT.
const ENDED: u32 = 1 << 6;

/// One end of a TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub local: SocketAddr,
    pub peer: SocketAddr,
}

/// What is behind the processes of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behind {
    /// Processes at the other end of their connections: the first of each tree.
    pub roots: BTreeSet<i32>,
    /// Processes within these trees that do not belong to them.
    pub apart: BTreeSet<i32>,
    /// Other ends on this machine whose processes belong to other users or are hidden.
    pub hidden: u32,
}

/// Looks for the other ends of a server's connections, again and again.
#[derive(Debug, Default)]
pub struct Connected {
    files: KernelFiles,
    /// Sockets that need not be looked at again.
    explained: HashSet<u32>,
    /// The processes for which that holds.
    members: BTreeSet<i32>,
    /// Who listens at the other ends.
    listeners: HashMap<SocketAddr, Result<Servers, NoServer>>,
}

/// One look at all sockets.
#[derive(Debug, Default, Clone)]
struct Sockets {
    tcp: HashMap<u32, End>,
    unix: HashMap<u32, UnixSocket>,
}

impl Connected {
    /// Looks once, and again at once while connections come and go and `goes_on` says so.
    /// `members` are all processes of the server, `roots` the first of each tree, and `served` is the
    /// place that is loaded.
    pub fn look(
        &mut self,
        members: &HashSet<i32>,
        roots: &BTreeSet<i32>,
        served: Option<&Place>,
        goes_on: impl Fn(&Behind) -> bool,
    ) -> Behind {
        if self.members != *roots {
            self.explained.clear();
            self.members.clone_from(roots);
        }
        let mut before = Sockets::read(served);
        let mut behind = Behind::default();
        let mut known = std::mem::take(&mut self.explained);
        while before.inodes().any(|inode| !known.contains(&inode)) {
            let held: HashSet<u32> = members
                .iter()
                .filter_map(|pid| Descriptors::read(&self.files, *pid))
                .flat_map(|descriptors| descriptors.sockets)
                .collect();
            // Short connections are in one of two looks around the moment in which they were held.
            let after = Sockets::read(served);
            behind = self.behind(&before.with(&after), &held, members);
            known = before.inodes().collect();
            before = after;
            if !goes_on(&behind) {
                break;
            }
        }
        self.explained = before.inodes().collect();
        behind
    }

    /// Who is at the other ends of the sockets that members held.
    fn behind(&mut self, sockets: &Sockets, held: &HashSet<u32>, members: &HashSet<i32>) -> Behind {
        let mut behind = Behind::default();
        let mut ends = self.of_tcp(sockets, held, &mut behind);
        ends.extend(self.of_unix(sockets, held, &mut behind));
        if !ends.is_empty() {
            let mut pids = holders(&self.files, &ends);
            pids.retain(|pid| !members.contains(pid));
            behind.roots.extend(server::family(&self.files).firsts(&pids));
        }
        behind
    }

    /// Adds who listens at the other ends of TCP connections that members hold. Returns the other
    /// ends at which nobody listens: processes that connected to a member.
    fn of_tcp(
        &mut self,
        sockets: &Sockets,
        held: &HashSet<u32>,
        behind: &mut Behind,
    ) -> BTreeSet<u32> {
        let by_end: HashMap<End, u32> =
            sockets.tcp.iter().map(|(inode, end)| (*end, *inode)).collect();
        let mut others = BTreeSet::new();
        for (_, end) in sockets.tcp.iter().filter(|(inode, _)| held.contains(inode)) {
            let mirrored = by_end.get(&End { local: end.peer, peer: end.local });
            if mirrored.is_some_and(|inode| held.contains(inode)) {
                continue;
            }
            let listens = self
                .listeners
                .entry(end.peer)
                .or_insert_with(|| server::behind(&Place::Addresses(vec![end.peer])));
            match listens {
                Ok(servers) => behind.add(servers),
                Err(NoServer::Hidden) => behind.hidden += 1,
                // It connected to a member, from a port of its own.
                Err(_) => others.extend(mirrored),
            }
        }
        // A port that nobody listens on may get a listener later.
        self.listeners.retain(|_, listens| listens.is_ok());
        others
    }

    /// Adds who listens at the other ends of unix sockets that members hold. Returns the other ends at
    /// which nobody listens: processes that connected to a member.
    fn of_unix(
        &self,
        sockets: &Sockets,
        held: &HashSet<u32>,
        behind: &mut Behind,
    ) -> BTreeSet<u32> {
        let mut others = BTreeSet::new();
        for socket in sockets.unix.values().filter(|socket| held.contains(&socket.inode)) {
            let Some(peer) = socket.peer.filter(|peer| !held.contains(peer)) else { continue };
            let name = sockets.unix.get(&peer).and_then(|peer| peer.name.as_ref());
            let listening = |other: &&UnixSocket| other.listens && other.name.as_ref() == name;
            let listener = name.and_then(|_| sockets.unix.values().find(listening));
            match listener.map(|it| server::of_unix_socket(&self.files, it.inode)) {
                Some(Ok(servers)) => behind.add(&servers),
                Some(Err(NoServer::Hidden)) => behind.hidden += 1,
                Some(Err(_)) => {}
                None => {
                    others.insert(peer);
                }
            }
        }
        others
    }
}

impl Behind {
    fn add(&mut self, servers: &Servers) {
        self.roots.extend(servers.processes.iter().map(|server| server.pid));
        self.apart.extend(&servers.apart);
    }
}

impl Sockets {
    /// All connections of this network namespace but those to the place that is loaded; none of a
    /// kind that the kernel does not tell.
    fn read(served: Option<&Place>) -> Self {
        let path: Option<&PathBuf> = match served {
            Some(Place::UnixSocket(path)) => Some(path),
            _ => None,
        };
        let tcp = tcp().unwrap_or_default().into_iter();
        let tcp = tcp.filter(|(_, end)| !end.is_of_client(served));
        let mut unix = unix_sockets::all().unwrap_or_default();
        if let Some(path) = path {
            let names: Vec<Option<Vec<u8>>> = unix_sockets::listening_at(path)
                .iter()
                .filter_map(|inode| unix.iter().find(|it| it.inode == *inode))
                .map(|it| it.name.clone())
                .collect();
            unix.retain(|socket| socket.listens || !names.contains(&socket.name));
        }
        Self {
            tcp: tcp.collect(),
            unix: unix.into_iter().map(|socket| (socket.inode, socket)).collect(),
        }
    }

    /// These and those of another look.
    fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.tcp.extend(&other.tcp);
        both.unix.extend(other.unix.iter().map(|(inode, socket)| (*inode, socket.clone())));
        both
    }

    /// Of everything that is connected.
    fn inodes(&self) -> impl Iterator<Item = u32> + '_ {
        let unix = self.unix.values().filter(|socket| socket.peer.is_some());
        self.tcp.keys().copied().chain(unix.map(|socket| socket.inode))
    }
}

impl End {
    /// Whether it is an end of a connection to the place that is loaded.
    fn is_of_client(&self, served: Option<&Place>) -> bool {
        let Some(Place::Addresses(addresses)) = served else { return false };
        addresses.iter().any(|served| {
            let served = canonical(*served);
            served == self.local || served == self.peer || is_any(served, self.local)
        })
    }
}

/// Whether this is another address of the port that is loaded, at which clients of others come in.
fn is_any(served: SocketAddr, local: SocketAddr) -> bool {
    let is_loopback = |ip: IpAddr| ip.is_loopback();
    served.port() == local.port() && is_loopback(served.ip()) != is_loopback(local.ip())
}

/// One end of a TCP connection of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The inode by which `/proc/PID/fd` names its socket.
    pub inode: u32,
    /// Its own address.
    pub local: SocketAddr,
    /// The address of the other end.
    pub peer: SocketAddr,
}

/// The TCP connections of this network namespace.
///
/// # Errors
/// If the kernel does not tell.
pub fn connections() -> std::io::Result<Vec<Connection>> {
    let one = |(inode, End { local, peer })| Connection { inode, local, peer };
    Ok(tcp()?.into_iter().map(one).collect())
}

/// The connected TCP sockets of this network namespace by inode.
fn tcp() -> std::io::Result<HashMap<u32, End>> {
    let mut all = HashMap::new();
    let mut diag = SockDiag::open()?;
    diag.dump(ALL_TCP, &every_family(CONNECTED), |message| {
        // A connection that its process has closed has no inode.
        let inode = number(message, INODE_AT);
        all.extend(end(message).filter(|_| inode != 0).map(|end| (inode, end)));
    })?;
    Ok(all)
}

/// The ends of TCP connections of this network namespace that wait in TIME_WAIT, without those of
/// the place that is loaded, and how long ago each ended.
///
/// # Errors
/// If the kernel does not tell.
pub(crate) fn ended(served: Option<&Place>) -> std::io::Result<Vec<(End, Duration)>> {
    let mut all = Vec::new();
    SockDiag::open()?.dump(ALL_TCP, &every_family(ENDED), |message| {
        let left = Duration::from_millis(number(message, EXPIRES_AT).into());
        let end = end(message).filter(|end| !end.is_of_client(served));
        all.extend(end.map(|end| (end, TIME_WAIT.saturating_sub(left))));
    })?;
    Ok(all)
}

/// `struct inet_diag_req` for the sockets in these states. The kernel walks its whole table for each
/// request, with all that wait in TIME_WAIT: milliseconds behind a proxy with short connections. This
/// older request is answered for both families in one walk (`inet_diag_dump_compat`,
/// net/ipv4/inet_diag.c).
fn every_family(states: u32) -> Vec<u8> {
    let mut request = vec![libc::AF_INET as u8, 0, 0, 0];
    // `struct inet_diag_sockid`: any socket.
    request.extend([0; 48]);
    request.extend(states.to_ne_bytes());
    request.extend([0; 4]);
    request
}

fn end(message: &[u8]) -> Option<End> {
    let at = |address, port| {
        let ip = listening::address(message, address)?.to_canonical();
        Some(SocketAddr::new(ip, listening::port(message, port)?))
    };
    Some(End { local: at(SOURCE_AT, SOURCE_PORT_AT)?, peer: at(PEER_AT, PEER_PORT_AT)? })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::net::{TcpListener, TcpStream};
    use std::process::{Child, Command, Stdio};

    /// A child that listens on this address, and what it does then, in Python with the socket `s`.
    pub(crate) fn listener(ip: &str, then: &str) -> (Child, SocketAddr) {
        let script = format!(
            "import socket,sys\ns=socket.socket()\ns.bind(('{ip}',0))\ns.listen(99)\nprint(s.getsockname()[1],flush=True)\n{then}"
        );
        let mut child = Command::new("python3")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        (child, format!("{ip}:{}", port.trim()).parse().unwrap())
    }

    /// This process is the server; a child of it listens, and this process connects to it.
    #[test]
    fn who_listens_at_the_other_end_is_behind() {
        let (mut child, address) = listener("127.0.9.7", "c=s.accept()\nsys.stdin.read()");
        let connection = TcpStream::connect(address).unwrap();
        let own = std::process::id() as i32;
        let (members, roots) = (HashSet::from([own]), BTreeSet::from([own]));
        let child_pid = child.id() as i32;
        let mut connected = Connected::default();
        let found = connected.look(&members, &roots, None, |_| false);
        // As a client of the place that is loaded, it is no tier.
        let served = Place::Addresses(vec![address]);
        let as_client = Connected::default().look(&members, &roots, Some(&served), |_| false);
        drop(connection);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(found.roots.contains(&child_pid), "{found:?}");
        assert!(!as_client.roots.contains(&child_pid), "{as_client:?}");
    }

    #[test]
    fn both_ends_within_the_server_are_not_behind_it() {
        let listener = TcpListener::bind("127.0.9.8:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _accepted = listener.accept().unwrap();
        let own = std::process::id() as i32;
        let found =
            Connected::default()
                .look(&HashSet::from([own]), &BTreeSet::from([own]), None, |_| false);
        assert!(!found.roots.contains(&own), "{found:?}");
    }
}
