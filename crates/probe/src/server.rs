//! Which processes of this machine serve an address: those that hold its listening sockets.
use socket2::{Domain, SockAddr, Socket, Type};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use crate::clock::ProcUnits;
use crate::kernel_files::KernelFiles;
use crate::listening::{Listener, Listeners};
use crate::process_table::{list_processes, read_process};
use crate::sample::RoleRoot;

/// A server process, the first of its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The root of its processes.
    pub root: RoleRoot,
    /// Its pid.
    pub pid: i32,
    /// Its name (`/proc/PID/comm`, proc_pid_comm(5)).
    pub name: String,
    /// The file to which it writes its log: standard error or output, if that is a file.
    pub log: Option<PathBuf>,
}

/// Why no process was found that serves an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoServer {
    /// The address does not belong to this machine.
    #[error("it runs on another machine")]
    Elsewhere,
    /// No socket of this network namespace listens there.
    #[error("nothing on this machine listens on port {0} where it could be seen")]
    NobodyListens(u16),
    /// The sockets may belong to other users, whose folders this process may not read.
    #[error("its process belongs to another user or is hidden")]
    Hidden,
    /// This process itself listens there.
    #[error("it is a part of the generator's own process")]
    Generator,
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(i32),
}

/// The first process of each tree that listens on one of these addresses.
///
/// # Errors
/// If there is none, or none that this process can see.
pub fn behind(addresses: &[SocketAddr]) -> Result<Vec<Server>, NoServer> {
    let is_here = |address: &&SocketAddr| is_own(address.ip());
    let here: Vec<&SocketAddr> = addresses.iter().filter(is_here).collect();
    let first = here.first().ok_or(NoServer::Elsewhere)?;
    let mut listeners = Listeners::open().map_err(|_| NoServer::Hidden)?;
    let inodes: BTreeSet<u32> =
        here.iter().flat_map(|address| inodes(&mut listeners, address)).collect();
    if inodes.is_empty() {
        return Err(NoServer::NobodyListens(first.port()));
    }
    let files = KernelFiles::default();
    let owners = owners(&files, &inodes);
    if owners.is_empty() {
        return Err(NoServer::Hidden);
    }
    let own = std::process::id() as i32;
    let servers: Vec<Server> = firsts(&files, &owners)
        .into_iter()
        .filter(|&pid| pid != own)
        .filter_map(|pid| server(&files, pid))
        .collect();
    if servers.is_empty() { Err(NoServer::Generator) } else { Ok(servers) }
}

/// The processes that hold a listening socket of this address and are not below `root`, with their
/// names; empty if the kernel does not tell, or if their descriptors are not readable.
#[must_use]
pub fn strangers(address: SocketAddr, root: i32) -> Vec<(i32, String)> {
    let Ok(mut listeners) = Listeners::open() else { return Vec::new() };
    let files = KernelFiles::default();
    let is_stranger = |pid: &i32| *pid != root && !ancestors(&files, *pid).contains(&root);
    owners(&files, &inodes(&mut listeners, &address))
        .into_iter()
        .filter(is_stranger)
        .filter_map(|pid| Some((pid, files.line(&format!("proc/{pid}/comm"))?)))
        .collect()
}

/// The inodes of the sockets that listen on this address.
fn inodes(listeners: &mut Listeners, address: &SocketAddr) -> BTreeSet<u32> {
    let of_port = listeners.of_port(address.port());
    let serving = of_port.into_iter().filter(|listener| serves(listener, address.ip()));
    serving.map(|listener| listener.inode).collect()
}

/// The process that listens on a unix socket: the one that called listen(2) (SO_PEERCRED, unix(7)).
///
/// # Errors
/// If none listens there, its queue is full, or the kernel does not tell which one.
pub fn behind_unix_socket(path: &Path) -> Result<Vec<Server>, NoServer> {
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
    // 0 is a process of another namespace. 1 has passed the socket on to a service.
    if result < 0 || peer.pid <= 1 {
        return Err(NoServer::Hidden);
    }
    if peer.pid == std::process::id() as i32 {
        return Err(NoServer::Generator);
    }
    of_process(peer.pid).map(|server| vec![server])
}

/// A connection to a unix socket, which its server need not have accepted. Where the queue is full,
/// this fails with EAGAIN and does not wait for a place in it.
fn connect(path: &Path) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&SockAddr::unix(path)?)?;
    Ok(socket)
}

/// The server that begins with this process.
///
/// # Errors
/// If there is no such process, or it is this one.
pub fn of_process(pid: i32) -> Result<Server, NoServer> {
    if pid == std::process::id() as i32 {
        return Err(NoServer::Generator);
    }
    server(&KernelFiles::default(), pid).ok_or(NoServer::NoProcess(pid))
}

/// Whether packets to this address stay on this machine: a socket can only be bound to the
/// machine's own addresses (ip(7)).
fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// A socket on all addresses serves each of them; one on all of IPv6 serves IPv4 too (ipv6(7),
/// `IPV6_V6ONLY`).
fn serves(listener: &Listener, address: IpAddr) -> bool {
    listener.address == address || listener.address.is_unspecified()
}

/// The processes that hold one of these sockets (`/proc/PID/fd`, proc_pid_fd(5)).
fn owners(files: &KernelFiles, inodes: &BTreeSet<u32>) -> BTreeSet<i32> {
    if inodes.is_empty() {
        return BTreeSet::new();
    }
    let names: BTreeSet<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let holds = |pid: &i32| {
        let Ok(entries) = std::fs::read_dir(files.path(&format!("proc/{pid}/fd"))) else {
            return false;
        };
        entries.flatten().any(|entry| {
            let target = std::fs::read_link(entry.path());
            target.is_ok_and(|target| target.to_str().is_some_and(|name| names.contains(name)))
        })
    };
    list_processes(files).into_iter().filter(holds).collect()
}

/// The processes that have no ancestor among them.
fn firsts(files: &KernelFiles, owners: &BTreeSet<i32>) -> Vec<i32> {
    let is_first = |pid: &i32| !ancestors(files, *pid).iter().any(|above| owners.contains(above));
    owners.iter().copied().filter(is_first).collect()
}

/// The parent of a process, its parent and so on.
fn ancestors(files: &KernelFiles, pid: i32) -> Vec<i32> {
    let parent = |pid: &i32| {
        let process = read_process(files, ProcUnits::of_this_host(), *pid)?;
        (process.parent > 0).then_some(process.parent)
    };
    std::iter::successors(parent(&pid), parent).collect()
}

fn server(files: &KernelFiles, pid: i32) -> Option<Server> {
    let name = files.line(&format!("proc/{pid}/comm"))?;
    // If a server started this generator, the generator is among its descendants.
    let is_above = ancestors(files, std::process::id() as i32).contains(&pid);
    let root = if is_above { RoleRoot::Process(pid) } else { RoleRoot::Tree(pid) };
    Some(Server { root, pid, name, log: log(files, pid) })
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
    use std::time::{Duration, Instant};

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

    #[test]
    fn this_process_is_not_its_own_target() {
        // No other test gets a port of this address.
        let listener = TcpListener::bind("127.0.9.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(behind(&[address]), Err(NoServer::Generator));
        drop(listener);
        eventually(|| behind(&[address]) == Err(NoServer::NobodyListens(address.port())));
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

    /// The kernel queues one connection (listen(2)), and lets the next one wait.
    #[test]
    fn a_socket_whose_queue_is_full_hides_its_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        listener.bind(&SockAddr::unix(&path).unwrap()).unwrap();
        listener.listen(0).unwrap();
        // This connection is not accepted, and tells who listens.
        let first = connect(&path).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(behind_unix_socket(&path)));
        let second = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(second, Err(NoServer::Hidden));
        drop(first);
    }

    #[test]
    fn a_socket_of_this_process_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(behind_unix_socket(&path), Err(NoServer::Generator));
    }

    #[test]
    fn other_machines_are_not_searched() {
        // No machine has an address of TEST-NET-1 (RFC 5737).
        assert_eq!(behind(&["192.0.2.1:80".parse().unwrap()]), Err(NoServer::Elsewhere));
    }

    #[test]
    fn a_process_is_found_by_its_number_with_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let file = std::fs::File::create(&log).unwrap();
        let mut child = Command::new("sleep").arg("60").stderr(file).spawn().unwrap();
        let found = of_process(child.id() as i32);
        child.kill().unwrap();
        child.wait().unwrap();
        let found = found.unwrap();
        assert_eq!(found.log, Some(log));
        assert_eq!(found.root, RoleRoot::Tree(found.pid));
        assert_eq!(of_process(i32::MAX - 1), Err(NoServer::NoProcess(i32::MAX - 1)));
    }

    #[test]
    fn only_the_first_of_a_tree_counts() {
        let root = tempfile::tempdir().unwrap();
        for (pid, parent) in [(10, 1), (11, 10), (12, 11), (20, 1)] {
            let folder = root.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&folder).unwrap();
            let stat =
                format!("{pid} (x) S {parent} 1 1 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 100 0 10 0\n");
            std::fs::write(folder.join("stat"), stat).unwrap();
        }
        let files = KernelFiles::below(root.path());
        assert_eq!(ancestors(&files, 12), [11, 10, 1]);
        assert_eq!(firsts(&files, &BTreeSet::from([10, 12, 20])), [10, 20]);
    }

    #[test]
    fn a_socket_on_all_addresses_serves_each() {
        let on = |address: &str| Listener {
            address: address.parse().unwrap(),
            inode: 1,
            waiting: 0,
            backlog: 0,
        };
        let local: IpAddr = [127, 0, 0, 1].into();
        assert!(serves(&on("127.0.0.1"), local));
        assert!(serves(&on("0.0.0.0"), local));
        assert!(serves(&on("::"), local));
        assert!(!serves(&on("127.0.0.2"), local));
    }
}
