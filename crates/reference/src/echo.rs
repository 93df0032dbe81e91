//! The echo: what follows the last slash of the path, between two fixed texts. So answers hang on
//! their requests, and a client must check each.
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

use crate::account::Account;
use crate::error::Error;
use crate::handle::Running;
use crate::request::{Method, Persistence, Request};
use crate::server::{self, Reply, Service, Ticket};

/// What stands before and behind the echo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// Before it.
    pub before: String,
    /// Behind it.
    pub behind: String,
}

/// Serves on a free loopback port and a thread of its own.
///
/// # Errors
/// If there is no free port, or no thread can be started.
pub fn spawn(config: Config) -> Result<Running<Account>, Error> {
    Running::spawn(1, move |listener, accounts, stop| {
        let mut service = Echo { config };
        server::run(listener.as_fd(), &mut service, &accounts[0], &|| !stop.load(Ordering::Relaxed))
    })
}

struct Echo {
    config: Config,
}

impl Service for Echo {
    const WAITS: bool = false;

    fn answer(&mut self, request: &Request<'_>, _: &mut Account, out: &mut Vec<u8>) -> Reply {
        let Config { before, behind } = &self.config;
        let name = request.target.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let length = before.len() + name.len() + behind.len();
        let closes = request.persistence == Persistence::Close;
        let connection = if closes { "Connection: close\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n{connection}\r\n"
        );
        out.extend_from_slice(head.as_bytes());
        if request.method != Method::Head {
            [before.as_bytes(), name, behind.as_bytes()]
                .into_iter()
                .for_each(|part| out.extend_from_slice(part));
        }
        Reply::Now
    }

    /// Nothing waits.
    fn answer_after_wait(&mut self, _: &Ticket, _: &mut Vec<u8>) {}
}

#[cfg(test)]
mod tests {
    use super::{Config, spawn};
    use std::io::{Read, Write};
    use std::net::TcpStream;

    #[test]
    fn the_end_of_the_path_comes_back() {
        let config = Config { before: "Hola ".into(), behind: "!".into() };
        let server = spawn(config).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"GET /a/Ana HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(
            text.contains("Content-Length: 9\r\n") && text.ends_with("\r\n\r\nHola Ana!"),
            "{text}"
        );
    }
}
