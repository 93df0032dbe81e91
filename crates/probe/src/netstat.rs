//! TCP's counters: `/proc/net/netstat`, `/proc/net/snmp`, `/proc/net/dev`. They count for the
//! network namespace of the reader.

/// One counter of `/proc/net/netstat` or `/proc/net/snmp`, which hold pairs of lines: `Group: name
/// name ...`, then `Group: value value ...` (kernel `Documentation/networking/snmp_counter.rst`).
/// `None` if the kernel has no such counter.
///
/// `counter(text, "TcpExt", "ListenOverflows")`: connections dropped because a listen queue was
/// full; `counter(text, "Tcp", "RetransSegs")`: segments sent again.
#[must_use]
pub fn counter(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(':'));
    let (names, values) = (lines.next()?, lines.next()?);
    let position = names.split_ascii_whitespace().position(|candidate| candidate == name)?;
    values.split_ascii_whitespace().nth(position)?.parse().ok()
}

/// Connections of this network namespace that were dropped because a queue was full: that of connections
/// to accept, or that of half-open ones where no cookies are sent (kernel `tcp_conn_request`).
#[must_use]
pub fn listen_overflows(netstat: &str) -> Option<u64> {
    let half_open = counter(netstat, "TcpExt", "TCPReqQFullDrop").unwrap_or(0);
    Some(counter(netstat, "TcpExt", "ListenOverflows")? + half_open)
}

/// Bytes that an interface received since boot: the first column of its line in `/proc/net/dev`
/// (proc_pid_net(5)). On the loopback interface that is all it carried, because what is sent there
/// is received there.
#[must_use]
pub fn received_bytes(text: &str, interface: &str) -> Option<u64> {
    received(text, interface, 0)
}

/// Packets that an interface received since boot: the second column of its line in `/proc/net/dev`.
#[must_use]
pub fn received_packets(text: &str, interface: &str) -> Option<u64> {
    received(text, interface, 1)
}

/// A column of an interface's line in `/proc/net/dev`.
fn received(text: &str, interface: &str, column: usize) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, columns) = line.split_once(':')?;
        let is_it = name.trim() == interface;
        is_it.then(|| columns.split_ascii_whitespace().nth(column)?.parse().ok())?
    })
}

/// Packets dropped since boot because a processor's input queue was full
/// (`net.core.netdev_max_backlog`): the second column, hexadecimal, of `/proc/net/softnet_stat`,
/// over all processors. Loopback traffic passes through these queues.
#[must_use]
pub fn backlog_drops(softnet_stat: &str) -> Option<u64> {
    over_processors(softnet_stat, 1)
}

/// Packets that all processors have received since boot, on all interfaces of all network namespaces:
/// the first column, hexadecimal, of `/proc/net/softnet_stat`. Each processor's counter begins again at 0
/// after 2^32 packets.
#[must_use]
pub fn all_packets(softnet_stat: &str) -> Option<u64> {
    over_processors(softnet_stat, 0)
}

fn over_processors(softnet_stat: &str, column: usize) -> Option<u64> {
    let count =
        |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(column)?, 16).ok();
    let mut lines = softnet_stat.lines().map(count).peekable();
    lines.peek().is_some().then_some(())?;
    lines.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETSTAT: &str = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 17 19\nIpExt: InNoRoutes InOctets\nIpExt: 3 4242\n";
    const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 2 64\nTcp: RtoAlgorithm RtoMin RtoMax MaxConn RetransSegs\nTcp: 1 200 120000 -1 88\nUdp: InDatagrams\nUdp: 5\n";
    const DEV: &str = "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n    lo: 123456789    1000    0    0    0     0          0         0 123456789    1000\n  eth0:99 2 0 0 0 0 0 0 5 1\n";

    #[test]
    fn counters_are_found_by_group_and_name() {
        assert_eq!(counter(NETSTAT, "TcpExt", "ListenOverflows"), Some(17));
        assert_eq!(counter(NETSTAT, "IpExt", "InOctets"), Some(4242));
        assert_eq!(listen_overflows(NETSTAT), Some(17));
        let half_open = NETSTAT.replace("ListenDrops", "TCPReqQFullDrop");
        assert_eq!(listen_overflows(&half_open), Some(36));
        assert_eq!(listen_overflows(""), None);
        assert_eq!(counter(SNMP, "Tcp", "RetransSegs"), Some(88));
    }

    #[test]
    fn what_is_not_there_is_unknown() {
        assert_eq!(counter(NETSTAT, "TcpExt", "InOctets"), None);
        assert_eq!(counter(NETSTAT, "Tcp", "ListenOverflows"), None);
        assert_eq!(counter(SNMP, "Tcp", "MaxConn"), None, "-1 means no limit and is no count");
        assert_eq!(counter("TcpExt: A B\n", "TcpExt", "A"), None);
    }

    #[test]
    fn an_interface_is_found_by_its_whole_name() {
        assert_eq!(received_bytes(DEV, "lo"), Some(123_456_789));
        assert_eq!(received_bytes(DEV, "eth0"), Some(99));
        assert_eq!(received_bytes(DEV, "eth"), None);
        assert_eq!(
            (received_packets(DEV, "lo"), received_packets(DEV, "eth0")),
            (Some(1000), Some(2))
        );
    }

    #[test]
    fn drops_are_hexadecimal_and_summed_over_processors() {
        assert_eq!(
            backlog_drops("0004ff21 00000010 00000000\n000023aa 0000000a 00000001\n"),
            Some(26)
        );
        assert_eq!(all_packets("0000ff21 00000010\n000000ff 0000000a\n"), Some(0xff21 + 0xff));
        assert_eq!((all_packets(""), all_packets("x 0\n")), (None, None));
        assert_eq!(backlog_drops(""), None);
        assert_eq!(backlog_drops("0004ff21\n"), None);
    }
}
