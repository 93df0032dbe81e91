//! `/proc/net/sockstat`: how many sockets there are in which state.

/// TCP sockets of this network namespace (proc_pid_net(5); the kernel's `sockstat_seq_show`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpSockets {
    /// In use: every state but TIME_WAIT.
    pub in_use: Option<u64>,
    /// Without an owner: the process is gone, the connection is not.
    pub orphaned: Option<u64>,
    /// In TIME_WAIT; each holds a (source address, source port, destination) for a minute.
    pub time_wait: Option<u64>,
    /// Allocated.
    pub allocated: Option<u64>,
}

/// Reads the line `TCP:` of `/proc/net/sockstat`, which is pairs of name and number.
#[must_use]
pub fn parse_sockstat(text: &str) -> TcpSockets {
    let line = text.lines().find_map(|line| line.strip_prefix("TCP:")).unwrap_or_default();
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let value = |name: &str| {
        words.chunks_exact(2).find(|pair| pair[0] == name).and_then(|pair| pair[1].parse().ok())
    };
    TcpSockets {
        in_use: value("inuse"),
        orphaned: value("orphan"),
        time_wait: value("tw"),
        allocated: value("alloc"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_file_is_read() {
        let text =
            "sockets: used 171\nTCP: inuse 9 orphan 1 tw 1234 alloc 12 mem 2\nUDP: inuse 2 mem 1\n";
        let expected = TcpSockets {
            in_use: Some(9),
            orphaned: Some(1),
            time_wait: Some(1234),
            allocated: Some(12),
        };
        assert_eq!(parse_sockstat(text), expected);
    }

    #[test]
    fn what_is_not_there_is_unknown() {
        assert_eq!(parse_sockstat("UDP: inuse 2\n"), TcpSockets::default());
        assert_eq!(parse_sockstat("TCP: inuse many\n").in_use, None);
    }
}
