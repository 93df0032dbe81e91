//! Listening sockets in other network namespaces of this machine: containers, and servers that were
//! started with `ip netns exec` or `unshare`.
//!
//! sock_diag(7) shows the sockets of the caller's own namespace. `/proc/PID/net` shows those of a
//! process's namespace (proc_pid_net(5)), and needs no rights beyond seeing the process.
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::kernel_files::KernelFiles;
use crate::listening::{Listener, serving};
use crate::process_table::list_processes;

/// The state LISTEN in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// The inodes of the sockets that serve this address in another namespace that has the address;
/// `None` if no visible namespace has it.
pub fn inodes(files: &KernelFiles, address: SocketAddr) -> Option<BTreeSet<u32>> {
    let with_it = |pid: &i32| own_addresses(files, *pid).contains(&address.ip().to_canonical());
    let mut inodes = None;
    for pid in one_of_each(files).into_iter().filter(with_it) {
        let known: &mut BTreeSet<u32> = inodes.get_or_insert_default();
        let serving = serving(of_port(files, pid, address.port()), address.ip());
        known.extend(serving.iter().map(|listener| listener.inode));
    }
    inodes
}

/// A process of each network namespace except the caller's own.
fn one_of_each(files: &KernelFiles) -> Vec<i32> {
    let namespace = |of: &str| std::fs::read_link(files.path(&format!("proc/{of}/ns/net"))).ok();
    let own = namespace("self");
    let mut first = BTreeMap::new();
    for pid in list_processes(files) {
        if let Some(namespace) = namespace(&pid.to_string()).filter(|it| own.as_ref() != Some(it)) {
            first.entry(namespace).or_insert(pid);
        }
    }
    first.into_values().collect()
}

/// The addresses of the namespace of a process, without the loopback's, which every namespace has.
fn own_addresses(files: &KernelFiles, pid: i32) -> BTreeSet<IpAddr> {
    let text = |name: &str| files.text(&format!("proc/{pid}/net/{name}")).unwrap_or_default();
    let mut all = local_v4(&text("fib_trie"));
    all.extend(local_v6(&text("if_inet6")));
    all.retain(|address| !address.is_loopback());
    all
}

/// The local addresses in `/proc/net/fib_trie`: a line with the address, then one of its kind.
fn local_v4(text: &str) -> BTreeSet<IpAddr> {
    let mut last: Option<Ipv4Addr> = None;
    let mut all = BTreeSet::new();
    for line in text.lines() {
        if let Some(address) = line.trim_start().strip_prefix("|-- ") {
            last = address.trim().parse().ok();
        } else if line.contains("/32 host LOCAL") {
            all.extend(last.map(IpAddr::from));
        }
    }
    all
}

/// The first column of `/proc/net/if_inet6`: 32 hexadecimal digits.
fn local_v6(text: &str) -> BTreeSet<IpAddr> {
    let first = |line: &str| u128::from_str_radix(line.split_ascii_whitespace().next()?, 16).ok();
    text.lines().filter_map(first).map(|bits| IpAddr::from(Ipv6Addr::from(bits))).collect()
}

fn of_port(files: &KernelFiles, pid: i32, port: u16) -> Vec<Listener> {
    let of = |name: &str| {
        let text = files.text(&format!("proc/{pid}/net/{name}")).unwrap_or_default();
        text.lines().filter_map(listener).collect::<Vec<_>>()
    };
    let all = of("tcp").into_iter().chain(of("tcp6"));
    all.filter(|(at, _)| *at == port).map(|(_, listener)| listener).collect()
}

/// A listening socket in a line of `/proc/net/tcp` or `tcp6` (proc_pid_net(5)). Addresses are words
/// in the processor's byte order. Whether a socket of IPv6 refuses IPv4 is not in it.
fn listener(line: &str) -> Option<(u16, Listener)> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (address, port) = fields.get(1)?.split_once(':')?;
    let words: Vec<u32> = (0..address.len() / 8)
        .map(|word| u32::from_str_radix(address.get(word * 8..word * 8 + 8)?, 16).ok())
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let address = match (<[u8; 4]>::try_from(&bytes[..]), <[u8; 16]>::try_from(&bytes[..])) {
        (Ok(four), _) => IpAddr::from(four),
        (_, Ok(sixteen)) => IpAddr::from(sixteen),
        _ => return None,
    };
    let listener = Listener {
        address,
        is_v6_only: false,
        interface: 0,
        inode: fields.get(9)?.parse().ok()?,
        waiting: 0,
        backlog: 0,
        dropped: None,
    };
    (fields.get(3) == Some(&LISTEN))
        .then(|| Some((u16::from_str_radix(port, 16).ok()?, listener)))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_files::captured;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 100 0 0 10 0\n   1: 0200000A:1F90 0100000A:1234 01 00000000:00000000 00:00000000 00000000     0        0 4243 1 0\n";
    const TRIE: &str = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.0\n        /24 link UNICAST\n     |-- 10.0.0.2\n        /32 host LOCAL\n     |-- 127.0.0.1\n        /32 host LOCAL\n";

    #[test]
    fn a_server_in_another_namespace_is_found_by_its_address() {
        let (root, files) = captured(&[
            ("proc/7/net/tcp", TCP),
            ("proc/7/net/fib_trie", TRIE),
            ("proc/7/ns/none", ""),
            ("proc/8/ns/none", ""),
            ("proc/self/ns/none", ""),
        ]);
        for (pid, namespace) in [("7", "net:[2]"), ("8", "net:[1]"), ("self", "net:[1]")] {
            let link = root.path().join(format!("proc/{pid}/ns/net"));
            std::os::unix::fs::symlink(namespace, link).unwrap();
        }
        let found = |address: &str| inodes(&files, address.parse().unwrap());
        assert_eq!(found("10.0.0.2:8080"), Some(BTreeSet::from([4242])));
        assert_eq!(found("10.0.0.2:8081"), Some(BTreeSet::new()));
        assert_eq!(found("10.0.0.3:8080"), None);
        assert_eq!(found("127.0.0.1:8080"), None, "each namespace has its own loopback");
    }

    #[test]
    fn addresses_of_ipv6_are_words_in_the_processors_byte_order() {
        let line = "0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 9 1";
        let (port, found) = listener(line).unwrap();
        assert_eq!((port, found.inode), (80, 9));
        if cfg!(target_endian = "little") {
            assert_eq!(found.address, IpAddr::from(Ipv6Addr::LOCALHOST));
        }
        let locals = local_v6("fe800000000000000000000000000001 02 40 20 80 eth0\n");
        assert_eq!(locals, BTreeSet::from(["fe80::1".parse().unwrap()]));
    }
}
