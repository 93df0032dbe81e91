//! The header of the PROXY protocol (haproxy.org, proxy-protocol.txt). It comes first on a
//! connection and tells the server where the connection comes from and goes to.
use std::net::{IpAddr, SocketAddr};

use pippin_model::load::ProxyHeader;

/// The twelve bytes with which version 2 begins (section 2.2).
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, command PROXY.
const PROXY: u8 = 0x21;
/// TCP over IPv4, TCP over IPv6.
const FAMILIES: [u8; 2] = [0x11, 0x21];

/// The header of a connection from `own` to `peer`, whose families are the same.
pub(crate) fn encode(version: ProxyHeader, own: SocketAddr, peer: SocketAddr) -> Vec<u8> {
    // An IPv4 address may be written as one of IPv6 (RFC 4291 section 2.5.5.2).
    let (from, to) = (own.ip().to_canonical(), peer.ip().to_canonical());
    let is_ipv6 = from.is_ipv6() || to.is_ipv6();
    match version {
        ProxyHeader::V1 => {
            let family = if is_ipv6 { "TCP6" } else { "TCP4" };
            format!("PROXY {family} {from} {to} {} {}\r\n", own.port(), peer.port()).into_bytes()
        }
        ProxyHeader::V2 => {
            let addresses = [octets(from), octets(to)].concat();
            let length = addresses.len() as u16 + 4;
            let mut header = SIGNATURE.to_vec();
            header.extend([PROXY, FAMILIES[usize::from(is_ipv6)]]);
            header.extend(length.to_be_bytes());
            header.extend(addresses);
            header.extend(own.port().to_be_bytes());
            header.extend(peer.port().to_be_bytes());
            header
        }
    }
}

fn octets(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(version: ProxyHeader, own: &str, peer: &str) -> Vec<u8> {
        encode(version, own.parse().unwrap(), peer.parse().unwrap())
    }

    #[test]
    fn version_1_is_a_line() {
        let line = header(ProxyHeader::V1, "192.168.0.1:56324", "192.168.0.11:443");
        assert_eq!(line, b"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n");
        let line = header(ProxyHeader::V1, "[::1]:5", "[fd00::2]:6");
        assert_eq!(line, b"PROXY TCP6 ::1 fd00::2 5 6\r\n");
        let line = header(ProxyHeader::V1, "[::ffff:127.0.0.1]:5", "[::ffff:127.0.0.2]:6");
        assert_eq!(line, b"PROXY TCP4 127.0.0.1 127.0.0.2 5 6\r\n");
    }

    #[test]
    fn version_2_is_binary() {
        let short = header(ProxyHeader::V2, "10.0.0.1:258", "10.0.0.2:80");
        let expected = [
            &[0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A][..],
            &[0x21, 0x11, 0, 12, 10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 0, 80],
        ];
        assert_eq!(short, expected.concat());
        let long = header(ProxyHeader::V2, "[::1]:1", "[::1]:2");
        assert_eq!((long.len(), &long[12..16]), (16 + 36, &[0x21, 0x21, 0, 36][..]));
    }
}
