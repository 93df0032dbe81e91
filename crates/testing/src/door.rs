//! A door before another server: it listens on an address of any family, takes the header of the
//! PROXY protocol off each connection where there is one, and passes everything else on. So a
//! server that knows none of that can be reached in every way.
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use pippin_reference::handle::lock;

/// What each connection begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// No header.
    None,
    /// Version 1 of the PROXY protocol: a line of text.
    Line,
    /// Version 2: 16 bytes, the last two of which say how many follow.
    Bytes,
}

/// Who came through the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// The bytes of the header.
    pub header: Vec<u8>,
    /// Where the connection came from; `None` on a unix socket.
    pub from: Option<SocketAddr>,
}

type Visitors = Arc<Mutex<Vec<Visitor>>>;

/// A door. It stays open as long as the process lives.
#[derive(Debug)]
pub struct Door {
    /// Where it listens.
    pub address: SocketAddr,
    visitors: Visitors,
}

impl Door {
    /// Opens a door at `address`, for example `[::1]:0`, before the server `behind`.
    ///
    /// # Errors
    /// If nothing can listen there.
    pub fn open(address: &str, header: Header, behind: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let (address, visitors) = (listener.local_addr()?, Visitors::default());
        let seen = Arc::clone(&visitors);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let _ = stream.set_nodelay(true);
                admit(stream, header, behind, Arc::clone(&seen));
            }
        });
        Ok(Self { address, visitors })
    }

    /// Opens a door on a unix socket.
    ///
    /// # Errors
    /// If nothing can listen there.
    pub fn unix(path: &Path, behind: SocketAddr) -> io::Result<()> {
        let listener = UnixListener::bind(path)?;
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                admit(stream, Header::None, behind, Visitors::default());
            }
        });
        Ok(())
    }

    /// All whose header was read.
    #[must_use]
    pub fn visitors(&self) -> Vec<Visitor> {
        lock(&self.visitors).clone()
    }
}

/// A connection of either family.
trait Stream: Read + Write + Send + Sized + 'static {
    fn twin(&self) -> io::Result<Self>;
    fn end(&self);
    fn from(&self) -> Option<SocketAddr>;
}

impl Stream for TcpStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
    fn from(&self) -> Option<SocketAddr> {
        self.peer_addr().ok()
    }
}

impl Stream for UnixStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
    fn from(&self) -> Option<SocketAddr> {
        None
    }
}

/// Serves a connection on threads of its own.
fn admit(mut client: impl Stream, header: Header, behind: SocketAddr, visitors: Visitors) {
    std::thread::spawn(move || {
        let visitor = Visitor { header: read(&mut client, header)?, from: client.from() };
        lock(&visitors).push(visitor);
        pass_on(client, TcpStream::connect(behind)?)
    });
}

fn read(client: &mut impl Stream, header: Header) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let is_over = |bytes: &[u8]| match header {
        Header::None => true,
        Header::Line => bytes.ends_with(b"\r\n"),
        Header::Bytes => bytes.get(14..16).is_some_and(|length| {
            bytes.len() == 16 + usize::from(u16::from_be_bytes([length[0], length[1]]))
        }),
    };
    let begin: &[u8] = match header {
        Header::None => b"",
        Header::Line => b"PROXY ",
        Header::Bytes => b"\r\n\r\n\0\r\nQUIT\n",
    };
    while !is_over(&bytes) {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        bytes.push(byte[0]);
        // As real servers do, it hangs up at once on anything else.
        if !bytes.iter().zip(begin).all(|(one, right)| one == right) {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(bytes)
}

/// Copies in both directions until one side ends.
fn pass_on(mut client: impl Stream, mut server: TcpStream) -> io::Result<()> {
    server.set_nodelay(true)?;
    let (mut answers, mut back) = (server.twin()?, client.twin()?);
    std::thread::spawn(move || {
        let _ = io::copy(&mut answers, &mut back);
        back.end();
    });
    let copied = io::copy(&mut client, &mut server);
    server.end();
    copied.map(drop)
}
