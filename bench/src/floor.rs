//! A bare epoll client: the minimum cost of a closed loop. It counts bytes and parses nothing.
use clap::Args;
use pippin_model::result::histogram::Histogram;
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::figures::Figures;

/// The arguments of the child process.
#[derive(Debug, Args)]
pub struct FloorArguments {
    #[arg(long)]
    address: SocketAddr,
    #[arg(long)]
    connections: usize,
    #[arg(long)]
    seconds: u64,
    #[arg(long, default_value_t = 1)]
    pipeline: usize,
    /// One connection for each request.
    #[arg(long)]
    close: bool,
    /// Take the time of every request (with pipelining: of every batch).
    #[arg(long)]
    timed: bool,
}

/// Drives the server and prints its figures.
pub fn run(arguments: &FloorArguments) -> Result<(), String> {
    let figures = Floor::new(arguments)
        .and_then(Floor::drive)
        .map_err(|error| format!("the floor client: {error}"))?;
    println!("{}", serde_json::to_string(&figures).map_err(|error| error.to_string())?);
    Ok(())
}

struct Connection {
    stream: TcpStream,
    /// Remaining bytes of the answers to the current batch.
    missing: usize,
    /// Only used while a connection is being opened.
    sent: bool,
    sent_at: Instant,
}

struct Floor<'a> {
    arguments: &'a FloorArguments,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    /// The requests that are sent at once.
    batch: Vec<u8>,
    /// The number of bytes that answer them.
    batch_answer_bytes: usize,
    completed: u64,
    syscalls: u64,
    times: Option<Histogram>,
}

impl<'a> Floor<'a> {
    fn new(arguments: &'a FloorArguments) -> std::io::Result<Self> {
        // SAFETY: no pointers are passed; the descriptor is checked and belongs to nobody else.
        let epoll = unsafe {
            let fd = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            if fd < 0 {
                return Err(std::io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        let close = if arguments.close { "Connection: close\r\n" } else { "" };
        let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n{close}\r\n", arguments.address);
        let answer_bytes = answer_bytes(arguments.address, &request)?;
        Ok(Self {
            arguments,
            epoll,
            connections: Vec::with_capacity(arguments.connections),
            batch: request.repeat(arguments.pipeline).into_bytes(),
            batch_answer_bytes: answer_bytes * arguments.pipeline,
            completed: 0,
            syscalls: 0,
            times: arguments.timed.then(Histogram::new),
        })
    }

    fn drive(mut self) -> std::io::Result<Figures> {
        for index in 0..self.arguments.connections {
            let connection = self.connect(index)?;
            self.connections.push(connection);
        }
        let deadline = Instant::now() + Duration::from_secs(self.arguments.seconds);
        let mut buffer = vec![0_u8; 64 * 1024];
        let mut events: Vec<libc::epoll_event> = Vec::with_capacity(512);
        while Instant::now() < deadline {
            events.clear();
            // SAFETY: the vector has room for 512 events, and the kernel says how many it wrote.
            let count =
                unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), 512, 100) };
            self.syscalls += 1;
            // SAFETY: see above; an error counts as none.
            unsafe { events.set_len(count.max(0) as usize) };
            for event in &events {
                self.on_event(*event, &mut buffer)?;
            }
        }
        let quantile = |q| self.times.as_ref().and_then(|times| times.quantile_ns(q));
        Ok(Figures {
            completed: Some(self.completed),
            errors: Some(0),
            p50_ns: quantile(0.5),
            p90_ns: quantile(0.9),
            p95_ns: quantile(0.95),
            p99_ns: quantile(0.99),
            max_ns: quantile(1.0),
            syscalls: Some(self.syscalls),
            ..Figures::default()
        })
    }

    /// With keep-alive, the connection is open and its first batch sent; otherwise it is being
    /// opened.
    fn connect(&mut self, index: usize) -> std::io::Result<Connection> {
        let interest =
            if self.arguments.close { libc::EPOLLIN | libc::EPOLLOUT } else { libc::EPOLLIN };
        let stream: TcpStream = if self.arguments.close {
            let socket = Socket::new(
                Domain::for_address(self.arguments.address),
                Type::STREAM.nonblocking(),
                None,
            )?;
            match socket.connect(&self.arguments.address.into()) {
                Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
                _ => socket.into(),
            }
        } else {
            let stream = TcpStream::connect(self.arguments.address)?;
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            (&stream).write_all(&self.batch)?;
            stream
        };
        let mut event =
            libc::epoll_event { events: (interest | libc::EPOLLET) as u32, u64: index as u64 };
        // SAFETY: both descriptors are open and `event` outlives the call.
        if unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                stream.as_raw_fd(),
                &raw mut event,
            )
        } < 0
        {
            return Err(std::io::Error::last_os_error());
        }
        self.syscalls += 3;
        Ok(Connection {
            stream,
            missing: self.batch_answer_bytes,
            sent: !self.arguments.close,
            sent_at: Instant::now(),
        })
    }

    fn on_event(&mut self, event: libc::epoll_event, buffer: &mut [u8]) -> std::io::Result<()> {
        let index = event.u64 as usize;
        if !self.connections[index].sent && event.events & libc::EPOLLOUT as u32 != 0 {
            self.send(index)?;
        }
        loop {
            self.syscalls += 1;
            match (&self.connections[index].stream).read(buffer) {
                Ok(0) if self.arguments.close => {
                    self.count(index);
                    self.connections[index] = self.connect(index)?;
                    return Ok(());
                }
                Ok(0) => {
                    return Err(std::io::Error::new(
                        ErrorKind::UnexpectedEof,
                        "the server closed a connection",
                    ));
                }
                Ok(count) => {
                    let connection = &mut self.connections[index];
                    connection.missing = connection.missing.saturating_sub(count);
                    if connection.missing == 0 && !self.arguments.close {
                        self.count(index);
                        self.connections[index].missing = self.batch_answer_bytes;
                        self.send(index)?;
                        return Ok(());
                    }
                    if count == buffer.len() || self.arguments.close {
                        continue;
                    }
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn send(&mut self, index: usize) -> std::io::Result<()> {
        self.syscalls += 1;
        self.connections[index].sent = true;
        if self.times.is_some() {
            self.connections[index].sent_at = Instant::now();
        }
        (&self.connections[index].stream).write_all(&self.batch)
    }

    fn count(&mut self, index: usize) {
        self.completed += self.arguments.pipeline as u64;
        if let Some(times) = &mut self.times {
            times.record(self.connections[index].sent_at.elapsed().as_nanos() as u64);
        }
    }
}

/// The length of the server's answer, requested once on a separate connection.
fn answer_bytes(address: SocketAddr, request: &str) -> std::io::Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request.as_bytes())?;
    let mut buffer = vec![0; 1 << 20];
    let mut length = 0;
    loop {
        let count = stream.read(&mut buffer[length..])?;
        if count == 0 {
            return Err(std::io::Error::new(
                ErrorKind::UnexpectedEof,
                "the server closed before its answer was complete",
            ));
        }
        length += count;
        let text = String::from_utf8_lossy(&buffer[..length]);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let declared = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .and_then(|value| value.parse::<usize>().ok());
        if declared.is_some_and(|declared| body.len() >= declared) {
            return Ok(length);
        }
    }
}
