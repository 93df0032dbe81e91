//! An HTTP proxy on the loopback that keeps what it was asked, and proxies that break the rules when
//! they are asked for a tunnel: a table with what a client must say of each.
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pippin_reference::handle::lock;

/// What a proxy does with a request for a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyBehaviour {
    /// Opens it, whatever the name of the server: all are on the loopback.
    Opens,
    /// Opens it after an interim answer, with a length that means nothing in a tunnel (RFC 9110
    /// section 9.3.6).
    OpensOddly,
    /// Says this and closes the connection.
    SaysAndCloses(&'static str),
    /// Says this and keeps the connection.
    SaysAndStays(&'static str),
    /// Sends header fields until the client hangs up.
    SaysWithoutEnd,
    /// Resets the connection.
    Resets,
}

/// A proxy. It stays as long as the process lives.
#[derive(Debug)]
pub struct Proxy {
    /// Where it listens.
    pub address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

/// The row of [`HOSTILE`] of a proxy that never answers.
pub const SILENT: &str = "is silent";

/// Manners that lead to no tunnel: what the proxy does, how, why the client says that there is
/// none, and what is shown of the proxy's answer.
pub const HOSTILE: [(&str, ProxyBehaviour, &str, &str); 10] = [
    (
        "wants credentials",
        ProxyBehaviour::SaysAndStays(
            "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 9\r\n\r\nwho is it",
        ),
        "the proxy refused CONNECT with status 407",
        "407 Proxy Authentication Required",
    ),
    (
        "forbids the port",
        ProxyBehaviour::SaysAndCloses("HTTP/1.0 403 Forbidden\r\n\r\n<h1>no</h1>"),
        "the proxy refused CONNECT with status 403",
        "403 Forbidden",
    ),
    (
        "does not reach the server",
        ProxyBehaviour::SaysAndCloses("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"),
        "the proxy refused CONNECT with status 502",
        "502 Bad Gateway",
    ),
    (
        "switches to another protocol",
        ProxyBehaviour::SaysAndStays("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        "the proxy refused CONNECT with status 101",
        "101 Switching Protocols",
    ),
    (
        "speaks something else",
        ProxyBehaviour::SaysAndStays("SSH-2.0-OpenSSH_9.2\r\n"),
        "the proxy's answer to CONNECT is not HTTP/1.1",
        "SSH-2.0-OpenSSH_9.2",
    ),
    (
        "sends a head without an end",
        ProxyBehaviour::SaysWithoutEnd,
        "the head of the proxy's answer to CONNECT is beyond the limit",
        "200 OK",
    ),
    (
        "speaks for the server, before the client did",
        ProxyBehaviour::SaysAndStays(
            "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        ),
        "the proxy sent bytes behind its answer to CONNECT, before the server was sent any",
        "HTTP/1.1 200 OK",
    ),
    (
        "closes without a word",
        ProxyBehaviour::SaysAndCloses(""),
        "the proxy closed the connection without a whole answer to CONNECT",
        "",
    ),
    (
        "closes within the head",
        ProxyBehaviour::SaysAndCloses("HTTP/1.1 200 OK\r\nVia: "),
        "the proxy closed the connection without a whole answer to CONNECT",
        "200 OK",
    ),
    (SILENT, ProxyBehaviour::SaysAndStays(""), "the proxy did not answer CONNECT in time", ""),
];

impl Proxy {
    /// # Errors
    /// If nothing can listen.
    pub fn start(manner: ProxyBehaviour) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, heads) = (listener.local_addr()?, Arc::default());
        let keeper = Arc::clone(&heads);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let keeper = Arc::clone(&keeper);
                std::thread::spawn(move || serve(client, manner, &keeper));
            }
        });
        Ok(Self { address, heads })
    }

    /// The heads of all requests since the last call, in order.
    #[must_use]
    pub fn taken(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.heads))
    }
}

/// A head, or an error where the connection ends before.
fn head(from: &mut impl Read) -> io::Result<String> {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        from.read_exact(&mut byte)?;
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

fn serve(
    mut client: TcpStream,
    manner: ProxyBehaviour,
    heads: &Mutex<Vec<String>>,
) -> io::Result<()> {
    client.set_nodelay(true)?;
    let asked = head(&mut client)?;
    lock(heads).push(asked.clone());
    match asked.strip_prefix("CONNECT ") {
        Some(rest) => tunnel(client, manner, rest.split(' ').next().unwrap_or_default()),
        None => pass_on(client, asked, heads),
    }
}

/// A server on the loopback, whatever its name is.
fn reach(authority: &str) -> io::Result<TcpStream> {
    let port = authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(80_u16);
    let server = TcpStream::connect(("127.0.0.1", port))?;
    server.set_nodelay(true)?;
    Ok(server)
}

fn tunnel(mut client: TcpStream, manner: ProxyBehaviour, authority: &str) -> io::Result<()> {
    match manner {
        ProxyBehaviour::Opens => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?
        }
        ProxyBehaviour::OpensOddly => client.write_all(
            b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\n",
        )?,
        ProxyBehaviour::SaysAndCloses(text) => return client.write_all(text.as_bytes()),
        ProxyBehaviour::SaysAndStays(text) => {
            client.write_all(text.as_bytes())?;
            return client.read(&mut [0]).map(drop);
        }
        ProxyBehaviour::SaysWithoutEnd => {
            client.write_all(b"HTTP/1.1 200 OK\r\n")?;
            loop {
                client.write_all(b"X-Field: of a head that goes on\r\n")?;
            }
        }
        ProxyBehaviour::Resets => {
            // Closing with a linger of no time resets (socket(7)).
            return socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO));
        }
    }
    let server = reach(authority)?;
    let (mut upstream, mut from_client) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let copied = io::copy(&mut from_client, &mut upstream);
        let _ = upstream.shutdown(Shutdown::Both);
        copied
    });
    let mut downstream = server;
    let copied = io::copy(&mut downstream, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    copied.map(drop)
}

/// Reads requests without bodies, and sends them on in origin form. Credentials are for the proxy
/// alone.
fn pass_on(mut client: TcpStream, mut asked: String, heads: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut server: Option<TcpStream> = None;
    loop {
        let bad = io::ErrorKind::InvalidData;
        let (line, fields) = asked.split_once("\r\n").ok_or(bad)?;
        let mut words = line.split(' ');
        let (Some(method), Some(url)) = (words.next(), words.next()) else {
            return Err(bad.into());
        };
        let Some(rest) = url.strip_prefix("http://") else {
            return client.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let fields: String = fields
            .split_inclusive("\r\n")
            .filter(|field| !field.to_ascii_lowercase().starts_with("proxy-authorization:"))
            .collect();
        let upstream = match &mut server {
            Some(server) => server,
            none => none.insert(reach(authority)?),
        };
        upstream.write_all(format!("{method} {path} HTTP/1.1\r\n{fields}").as_bytes())?;
        let answer = head(upstream)?;
        let length = answer
            .lines()
            .filter_map(|field| field.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse().ok())
            .unwrap_or(0);
        let mut whole = answer.into_bytes();
        let begin = whole.len();
        whole.resize(begin + length, 0);
        upstream.read_exact(&mut whole[begin..])?;
        client.write_all(&whole)?;
        asked = head(&mut client)?;
        lock(heads).push(asked.clone());
    }
}
