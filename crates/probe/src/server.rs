//! Which processes of this machine serve an address: those that hold its listening sockets.
//!
//! | module | what it answers |
//! |---|---|
//! | [`elsewhere`] | which sockets of other network namespaces serve an address |
//! | [`roots`] | which trees serve a socket that these processes hold |
mod elsewhere;
pub mod roots;

use socket2::{Domain, SockAddr, Socket, Type};
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::roots::{Family, trees};
use crate::clock::ProcUnits;
use crate::descriptors::{Descriptors, holders};
use crate::kernel_files::KernelFiles;
use crate::listening::{Listener, Listeners, serving};
use crate::memory::field;
use crate::process_name::process_name;
use crate::process_table::{list_processes, read_process};
use crate::sample::RoleRoot;
use crate::unix_sockets;

/// A server process, the first of its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The root of its processes.
    pub root: RoleRoot,
    /// Its pid.
    pub pid: i32,
    /// When it started, clock ticks after boot; a later process with its number has another start.
    pub start_ticks: u64,
    /// Its name (`/proc/PID/comm`, proc_pid_comm(5)).
    pub name: String,
    /// The file to which it writes its log: standard error or output, if that is a file.
    pub log: Option<PathBuf>,
}

/// The processes that serve a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Servers {
    /// The first process of each tree; never empty when it was found.
    pub processes: Vec<Server>,
    /// Processes within these trees that do not belong to the server, with everything below them.
    pub apart: BTreeSet<i32>,
}

/// How long a child may hold the descriptors of its parent before it executes its program.
const MOMENT: Duration = Duration::from_millis(20);

/// Where connections go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// To TCP addresses.
    Addresses(Vec<SocketAddr>),
    /// By datagrams of UDP, to these addresses.
    Udp(Vec<SocketAddr>),
    /// To a unix socket.
    UnixSocket(PathBuf),
}

/// Why no process was found that serves a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoServer {
    /// The address does not belong to this machine.
    #[error("it runs on another machine")]
    Elsewhere,
    /// No socket that can be seen listens there.
    #[error("nothing on this machine listens there where it could be seen")]
    NobodyListens,
    /// The sockets may belong to other users, whose folders this process may not read.
    #[error("its process belongs to another user or is hidden")]
    Hidden,
    /// This process itself listens there.
    #[error("it is a part of the generator's own process")]
    Generator,
    /// Only a service manager holds the socket; it starts the server at the first connection.
    #[error("only a service manager listens there, and its service does not run yet")]
    NotStarted,
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(i32),
}

/// The address to which a connection really goes: `::ffff:127.0.0.1` is 127.0.0.1 (RFC 4291 section
/// 2.5.5.2), and the address for "all", which frameworks print, is the loopback (RFC 1122 section
/// 3.2.1.3, ip(7)).
#[must_use]
pub fn canonical(mut address: SocketAddr) -> SocketAddr {
    let ip = match address.ip().to_canonical() {
        IpAddr::V4(all) if all.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(all) if all.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    // Keeps the scope of an address of IPv6.
    if ip != address.ip() {
        address.set_ip(ip);
    }
    address
}

/// The processes that serve a place.
///
/// # Errors
/// If there are none, or none that this process can see.
pub fn behind(place: &Place) -> Result<Servers, NoServer> {
    let files = KernelFiles::default();
    match place {
        Place::Addresses(addresses) => of_sockets(&files, &inodes(&files, addresses)?),
        Place::Udp(addresses) => of_sockets(&files, &bound(addresses)?),
        Place::UnixSocket(path) => {
            let inodes: BTreeSet<u32> = unix_sockets::listening_at(path).into_iter().collect();
            if inodes.is_empty() { hinted(&files, path) } else { of_sockets(&files, &inodes) }
        }
    }
}

/// The TCP sockets that serve at least one of these addresses.
fn inodes(files: &KernelFiles, addresses: &[SocketAddr]) -> Result<BTreeSet<u32>, NoServer> {
    let mut listeners = Listeners::open().map_err(|_| NoServer::Hidden)?;
    let own = |address| serving_inodes(&mut listeners, address);
    sockets(addresses, own, |address| elsewhere::inodes(files, address))
}

/// The UDP sockets of this network namespace to which datagrams to these addresses come.
fn bound(addresses: &[SocketAddr]) -> Result<BTreeSet<u32>, NoServer> {
    let all = Listeners::open().and_then(|mut sockets| sockets.bound_to_udp());
    let all = all.map_err(|_| NoServer::Hidden)?;
    let own = |address: SocketAddr| {
        let of_port = all.iter().filter(|(port, _)| *port == address.port());
        inodes_of(serving(of_port.map(|(_, socket)| *socket).collect(), address.ip()))
    };
    sockets(addresses, own, |_| None::<BTreeSet<u32>>)
}

/// The sockets of these addresses: `own` finds those of an address of this network namespace, and
/// `elsewhere` those of an address that another one of this machine has.
fn sockets<Others: IntoIterator<Item = u32>>(
    addresses: &[SocketAddr],
    mut own: impl FnMut(SocketAddr) -> Vec<u32>,
    elsewhere: impl Fn(SocketAddr) -> Option<Others>,
) -> Result<BTreeSet<u32>, NoServer> {
    let (mut inodes, mut is_here) = (BTreeSet::new(), false);
    for address in addresses.iter().copied().map(canonical) {
        if is_own(address) {
            is_here = true;
            inodes.extend(own(address));
        } else if let Some(others) = elsewhere(address) {
            is_here = true;
            inodes.extend(others);
        }
    }
    match (inodes.is_empty(), is_here) {
        (false, _) => Ok(inodes),
        (true, true) => Err(NoServer::NobodyListens),
        (true, false) => Err(NoServer::Elsewhere),
    }
}

/// The sockets that serve at least one of these addresses, as far as this network namespace has them.
#[must_use]
pub fn listening_inodes(addresses: &[SocketAddr]) -> BTreeSet<u32> {
    let Ok(mut listeners) = Listeners::open() else { return BTreeSet::new() };
    addresses
        .iter()
        .flat_map(|address| serving_inodes(&mut listeners, canonical(*address)))
        .collect()
}

/// The addresses of this network namespace at which something listens on this port; empty if the
/// kernel does not tell.
#[must_use]
pub fn listening_on(port: u16) -> BTreeSet<SocketAddr> {
    let Ok(mut listeners) = Listeners::open() else { return BTreeSet::new() };
    let of_port = listeners.of_port(port);
    of_port.into_iter().map(|listener| SocketAddr::new(listener.address, port)).collect()
}

fn serving_inodes(listeners: &mut Listeners, address: SocketAddr) -> Vec<u32> {
    inodes_of(serving(listeners.of_port(address.port()), address.ip()))
}

fn inodes_of(sockets: Vec<Listener>) -> Vec<u32> {
    sockets.into_iter().map(|socket| socket.inode).collect()
}

/// The processes that serve the unix socket with this inode.
///
/// # Errors
/// If there are none, or none that this process can see.
pub(crate) fn of_unix_socket(files: &KernelFiles, inode: u32) -> Result<Servers, NoServer> {
    of_sockets(files, &BTreeSet::from([inode]))
}

/// The trees of the processes that hold one of these sockets.
fn of_sockets(files: &KernelFiles, inodes: &BTreeSet<u32>) -> Result<Servers, NoServer> {
    let mut holders = holders(files, inodes);
    if holders.len() > 1 {
        // A child holds everything of its parent for a moment, until it executes its program.
        std::thread::sleep(MOMENT);
        let later = crate::descriptors::holders(files, inodes);
        holders.retain(|pid| later.contains(pid));
    }
    if holders.is_empty() {
        return Err(NoServer::Hidden);
    }
    let own = std::process::id() as i32;
    let family = family(files);
    let trees = trees(&family, &holders, own, &mut |pid| Descriptors::read(files, pid));
    let processes: Vec<Server> = trees.roots.iter().filter_map(|pid| server(files, *pid)).collect();
    if !processes.is_empty() {
        return Ok(Servers { processes, apart: trees.apart });
    }
    Err(if holders.iter().all(|pid| *pid == own) {
        NoServer::Generator
    } else {
        NoServer::NotStarted
    })
}

/// All processes and their parents.
pub(crate) fn family(files: &KernelFiles) -> Family {
    let units = ProcUnits::of_this_host();
    let read = |pid| read_process(files, units, pid).map(|process| (pid, process.parent));
    Family::from_parents(list_processes(files).into_iter().filter_map(read))
}

/// The addresses at which a process or one below it listens, and whether one of them is where a
/// connection to `address` comes; empty if the kernel does not tell.
#[must_use]
pub fn listening_below(root: i32, address: SocketAddr) -> (BTreeSet<SocketAddr>, bool) {
    let Ok(mut listeners) = Listeners::open() else { return (BTreeSet::new(), false) };
    let files = KernelFiles::default();
    let below = family(&files).below(root);
    let held = |pid: &i32| Descriptors::read(&files, *pid).map(|held| held.sockets);
    let sockets: HashSet<u32> = below.iter().filter_map(held).flatten().collect();
    let serves = serving_inodes(&mut listeners, canonical(address));
    let all = listeners.all().unwrap_or_default().into_iter();
    let of_tree = all.filter(|(_, listener)| sockets.contains(&listener.inode));
    let places = of_tree.map(|(port, listener)| SocketAddr::new(listener.address, port));
    (places.collect(), serves.iter().any(|inode| sockets.contains(inode)))
}

/// The processes that hold a listening socket of this address and are not below `root`, with their
/// names; empty if the kernel does not tell, or if their descriptors are not readable.
#[must_use]
pub fn strangers(address: SocketAddr, root: i32) -> Vec<(i32, String)> {
    let Ok(mut listeners) = Listeners::open() else { return Vec::new() };
    let files = KernelFiles::default();
    let family = family(&files);
    let is_stranger = |pid: &i32| *pid != root && !family.above(*pid).contains(&root);
    let inodes = serving_inodes(&mut listeners, canonical(address)).into_iter().collect();
    holders(&files, &inodes)
        .into_iter()
        .filter(is_stranger)
        .filter_map(|pid| Some((pid, process_name(&files, pid)?)))
        .collect()
}

/// The process that listens at this address although neither `root` nor anything below it does, and that
/// stands below another process of which `starts` holds; `None` where there is none, or the kernel does
/// not tell.
#[must_use]
pub fn held_for_another(
    address: SocketAddr,
    root: i32,
    starts: &dyn Fn(i32) -> bool,
) -> Option<(i32, String)> {
    let (_, serves) = listening_below(root, address);
    if serves {
        return None;
    }
    let family = family(&KernelFiles::default());
    let is_started = |(pid, _): &(i32, String)| family.above(*pid).into_iter().any(starts);
    strangers(address, root).into_iter().find(is_started)
}

/// The process that called listen(2) on a unix socket (SO_PEERCRED, unix(7)). It may have ended, or
/// have passed the socket on, and its number may be used again. So it is asked only where the
/// kernel does not name the socket: it is in another network namespace.
fn hinted(files: &KernelFiles, path: &Path) -> Result<Servers, NoServer> {
    let stream = connect(path).map_err(|_| NoServer::Hidden)?;
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = std::mem::size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both pointers are valid for the call, and the kernel writes no more than `length`
    // bytes.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    let holds_sockets =
        |pid| Descriptors::read(files, pid).is_some_and(|it| !it.sockets.is_empty());
    // 0 is a process of another namespace. 1 has passed the socket on to a service.
    if result < 0 || peer.pid <= 1 || !holds_sockets(peer.pid) {
        return Err(NoServer::Hidden);
    }
    of_processes(&[peer.pid])
}

/// A connection to a unix socket, which its server need not have accepted. Where the queue is full,
/// this fails with EAGAIN and does not wait for a place in it.
fn connect(path: &Path) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&SockAddr::unix(path)?)?;
    Ok(socket)
}

/// The server that consists of these processes and everything below them. The number of a thread
/// stands for its process.
///
/// # Errors
/// If there is no such process, or it is this one.
pub fn of_processes(pids: &[i32]) -> Result<Servers, NoServer> {
    let files = KernelFiles::default();
    let own = std::process::id() as i32;
    let family = family(&files);
    let own_line: BTreeSet<i32> = family.above(own).into_iter().collect();
    let mut servers = Servers::default();
    for pid in pids {
        let pid_of_process = process_of(&files, *pid).ok_or(NoServer::NoProcess(*pid))?;
        if pid_of_process == own {
            return Err(NoServer::Generator);
        }
        let server = server(&files, pid_of_process).ok_or(NoServer::NoProcess(*pid))?;
        // If a server started this process, this process is among its descendants.
        if own_line.contains(&server.pid) {
            let line = |child: &i32| *child == own || own_line.contains(child);
            servers.apart.extend(family.children(server.pid).filter(line));
        }
        servers.processes.push(server);
    }
    Ok(servers)
}

/// The process of a thread (`Tgid` in `/proc/PID/status`, proc_pid_status(5)).
fn process_of(files: &KernelFiles, thread: i32) -> Option<i32> {
    field(&files.text(&format!("proc/{thread}/status"))?, "Tgid")?.parse().ok()
}

/// Whether packets to this address stay in this network namespace: a socket can only be bound to
/// its own addresses (ip(7)).
fn is_own(mut address: SocketAddr) -> bool {
    address.set_port(0);
    UdpSocket::bind(address).is_ok()
}

fn server(files: &KernelFiles, pid: i32) -> Option<Server> {
    let process = read_process(files, ProcUnits::of_this_host(), pid)?;
    Some(Server {
        root: RoleRoot::Tree(pid),
        pid,
        start_ticks: process.start_ticks,
        name: process_name(files, pid)?,
        log: log(files, pid),
    })
}

fn log(files: &KernelFiles, pid: i32) -> Option<PathBuf> {
    [2, 1].into_iter().find_map(|descriptor| {
        let path = std::fs::read_link(files.path(&format!("proc/{pid}/fd/{descriptor}"))).ok()?;
        path.is_file().then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::process::Command;
    use std::time::Instant;

    /// Waits until this holds, at most 20 s: children that other tests begin to start have all
    /// descriptors of this process for a moment, its sockets among them.
    #[track_caller]
    fn eventually(holds: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !holds() {
            assert!(Instant::now() < deadline, "it never came about");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn at(address: SocketAddr) -> Result<Servers, NoServer> {
        behind(&Place::Addresses(vec![address]))
    }

    #[test]
    fn this_process_is_not_its_own_target() {
        // No other test gets a port of this address.
        let listener = TcpListener::bind("127.0.9.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(at(address), Err(NoServer::Generator));
        drop(listener);
        eventually(|| at(address) == Err(NoServer::NobodyListens));
    }

    #[test]
    fn who_listens_and_is_not_below_the_root_is_a_stranger() {
        let listener = TcpListener::bind("127.0.9.2:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = std::process::id() as i32;
        let pids =
            || -> Vec<i32> { strangers(address, i32::MAX).iter().map(|(pid, _)| *pid).collect() };
        eventually(|| strangers(address, own).is_empty() && pids() == [own]);
        drop(listener);
        eventually(|| pids().is_empty());
    }

    #[test]
    fn a_socket_of_this_process_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(behind(&Place::UnixSocket(path.clone())), Err(NoServer::Generator));
    }

    #[test]
    fn other_machines_are_not_searched() {
        // No machine has an address of TEST-NET-1 (RFC 5737).
        assert_eq!(at("192.0.2.1:80".parse().unwrap()), Err(NoServer::Elsewhere));
    }

    #[test]
    fn a_tree_is_asked_where_it_listens() {
        let own = std::process::id() as i32;
        let listener = TcpListener::bind("127.0.9.7:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (places, serves) = listening_below(own, address);
        assert!(places.contains(&address) && serves, "{places:?}");
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        // A child holds everything of its parent until it executes its program.
        eventually(|| listening_below(child.id() as i32, address) == (BTreeSet::new(), false));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_is_found_by_its_number_with_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let file = std::fs::File::create(&log).unwrap();
        let mut child = Command::new("sleep").arg("60").stderr(file).spawn().unwrap();
        let found = of_processes(&[child.id() as i32]);
        child.kill().unwrap();
        child.wait().unwrap();
        let found = found.unwrap().processes.remove(0);
        assert_eq!(found.log, Some(log));
        assert_eq!(found.root, RoleRoot::Tree(found.pid));
        assert_eq!(of_processes(&[i32::MAX - 1]), Err(NoServer::NoProcess(i32::MAX - 1)));
    }

    #[test]
    fn a_thread_stands_for_its_process_and_a_parent_leaves_this_process_out() {
        let files = KernelFiles::default();
        let thread = std::thread::spawn(|| {
            // SAFETY: gettid(2) cannot fail.
            unsafe { libc::gettid() }
        });
        let own = std::process::id() as i32;
        let number = thread.join().unwrap();
        // The thread may have ended by now, and then has no number.
        assert!(process_of(&files, number).is_none_or(|pid| pid == own));
        assert_eq!(process_of(&files, own), Some(own));
        // SAFETY: getppid(2) cannot fail.
        let above = unsafe { libc::getppid() };
        let found = of_processes(&[above]).unwrap();
        assert!(found.apart.contains(&own), "{found:?}");
    }

    #[test]
    fn addresses_are_those_to_which_connections_go() {
        for (from, to) in [
            ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("[::ffff:0.0.0.0]:80", "127.0.0.1:80"),
            ("192.0.2.1:80", "192.0.2.1:80"),
        ] {
            assert_eq!(canonical(from.parse().unwrap()), to.parse().unwrap());
        }
    }
}
