//! Servers in processes of their own that share a port (SO_REUSEPORT, socket(7)), as workers of nginx
//! do. A process is this program again, told by its environment to serve.
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};

const PORT: &str = "PIPPIN_WIRE_SERVER_PORT";
const CLOSES: &str = "PIPPIN_WIRE_SERVER_CLOSES";

/// Server processes, until this is dropped.
pub struct Processes {
    children: Vec<Child>,
    address: SocketAddr,
    /// Holds the port until all processes listen.
    _port: OwnedFd,
}

impl Processes {
    /// Starts so many. `closes`: each ends the connection behind its answer.
    pub fn start(count: usize, closes: bool) -> Self {
        let (port, address) = bound(0).unwrap();
        let child = |_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.env(PORT, address.port().to_string()).stdout(Stdio::piped());
            if closes {
                command.env(CLOSES, "1");
            }
            let mut child = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            child
        };
        Self { children: (0..count).map(child).collect(), address, _port: port }
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Serves for ever if the environment says so.
pub fn serve_if_asked() {
    let Some(port) = std::env::var(PORT).ok().and_then(|port| port.parse().ok()) else { return };
    let closes = std::env::var_os(CLOSES).is_some();
    let (socket, _) = bound(port).unwrap();
    // SAFETY: no pointers.
    assert_eq!(unsafe { libc::listen(socket.as_raw_fd(), 1_024) }, 0);
    let listener = TcpListener::from(socket);
    println!("ready");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || answer(stream, closes));
    }
}

fn answer(mut stream: TcpStream, closes: bool) -> io::Result<()> {
    let (mut input, mut held) = ([0; 4_096], Vec::new());
    stream.set_nodelay(true)?;
    loop {
        let length = stream.read(&mut input)?;
        if length == 0 {
            return Ok(());
        }
        held.extend_from_slice(&input[..length]);
        if !held.ends_with(b"\r\n\r\n") {
            continue;
        }
        held.clear();
        if closes {
            return stream.write_all(
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
            );
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")?;
    }
}

/// A socket that shares this port of the loopback with others; 0 lets the kernel choose one.
fn bound(port: u16) -> io::Result<(OwnedFd, SocketAddr)> {
    let checked = |result: i32| {
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
    };
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(std::net::Ipv4Addr::LOCALHOST).to_be() },
        sin_zero: [0; 8],
    };
    let on = 1_i32;
    // SAFETY: each pointer and its length belong together, and the new descriptor is nobody else's.
    let socket = unsafe {
        let fd = checked(libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0))?;
        let socket = OwnedFd::from_raw_fd(fd);
        let (value, length) = ((&raw const on).cast(), size_of_val(&on) as libc::socklen_t);
        checked(libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, value, length))?;
        let length = size_of_val(&address) as libc::socklen_t;
        checked(libc::bind(fd, (&raw const address).cast(), length))?;
        socket
    };
    let listener = TcpListener::from(socket.try_clone()?);
    Ok((socket, listener.local_addr()?))
}
