//! A front that terminates TLS before another server and passes the bytes on as a test asks for. It
//! uses one thread for each connection.
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use pippin_reference::Error;
use pippin_reference::handle::lock;
use pippin_reference::socket;

/// The longest wait before the front checks whether it should stop.
const STOP_CHECK_MS: i32 = 20;

/// How the front behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrontBehaviour {
    /// Waits so long before it answers the first message of the handshake.
    pub handshake_delay: Duration,
    /// Reads the first message and never answers it.
    pub is_silent: bool,
    /// Closes the connection instead of answering the first message.
    pub hangs_up: bool,
    /// Writes at most this many bytes of ciphertext at a time.
    pub bytes_per_write: Option<usize>,
    /// Ends connections without close_notify.
    pub ends_rudely: bool,
    /// Writes bytes that are not TLS directly after each piece of an answer that has these bytes.
    pub speaks_plainly_behind: Option<&'static [u8]>,
    /// Changes its keys, and asks the client for new ones, after each answer (TLS 1.3).
    pub updates_keys: bool,
}

/// What the front saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrontAccount {
    /// Connections accepted.
    pub connections: u64,
    /// Handshakes done.
    pub handshakes: u64,
    /// How many of them resumed an earlier session.
    pub resumed: u64,
    /// Clients that ended with close_notify.
    pub goodbyes: u64,
    /// Bytes received, ciphertext.
    pub bytes_in: u64,
    /// Bytes sent, ciphertext.
    pub bytes_out: u64,
}

/// A running front; dropping it stops it.
#[derive(Debug)]
pub struct Front {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    backend: SocketAddr,
    config: Arc<ServerConfig>,
    manner: FrontBehaviour,
    stop: AtomicBool,
    account: Mutex<FrontAccount>,
}

impl Front {
    /// A front on a free loopback port before `backend`.
    ///
    /// # Errors
    /// If there is no free port, or no thread can be started.
    pub fn spawn(
        backend: SocketAddr,
        config: Arc<ServerConfig>,
        manner: FrontBehaviour,
    ) -> Result<Self, Error> {
        let listener = socket::listen(SocketAddr::from(([127, 0, 0, 1], 0)), false)?;
        let address = listener
            .local_addr()
            .map_err(|source| Error::System { action: "getsockname", source })?;
        let shared = Arc::new(Shared {
            backend,
            config,
            manner,
            stop: AtomicBool::new(false),
            account: Mutex::default(),
        });
        let of_acceptor = Arc::clone(&shared);
        let acceptor = std::thread::Builder::new()
            .spawn(move || accept_all(&listener, &of_acceptor))
            .map_err(|source| Error::System { action: "starting a thread", source })?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it saw so far.
    #[must_use]
    pub fn account(&self) -> FrontAccount {
        *lock(&self.shared.account)
    }

    /// Ends all connections and returns the final account.
    #[must_use]
    pub fn stop(mut self) -> FrontAccount {
        self.finish();
        self.account()
    }

    fn finish(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(acceptor) = self.acceptor.take() {
            // A panic there has been printed; the account shows what is missing.
            let _ = acceptor.join();
        }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.finish();
    }
}

fn accept_all(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    while !shared.stop.load(Ordering::Relaxed) {
        if !readable([listener.as_raw_fd()])[0] {
            continue;
        }
        let Ok((client, _)) = listener.accept() else { continue };
        lock(&shared.account).connections += 1;
        let of_connection = Arc::clone(shared);
        // Failed connections show in the account and at the client.
        threads.push(std::thread::spawn(move || drop(Connection::serve(client, &of_connection))));
        threads.retain(|thread| !thread.is_finished());
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// Waits a little for these descriptors. Returns which have something to read, or have ended.
fn readable<const N: usize>(descriptors: [i32; N]) -> [bool; N] {
    let mut polled = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the pointer and the count belong together.
    unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, STOP_CHECK_MS) };
    polled.map(|one| one.revents != 0)
}

/// A connection that is over, for whatever reason.
struct Over;

struct Connection<'a> {
    client: TcpStream,
    tls: ServerConnection,
    shared: &'a Shared,
}

impl<'a> Connection<'a> {
    fn serve(client: TcpStream, shared: &'a Shared) -> Result<(), Over> {
        let tls = ServerConnection::new(Arc::clone(&shared.config)).map_err(|_| Over)?;
        client.set_nonblocking(false).and_then(|()| client.set_nodelay(true)).map_err(|_| Over)?;
        let mut connection = Self { client, tls, shared };
        connection.handshake()?;
        let backend = TcpStream::connect(shared.backend).map_err(|_| Over)?;
        backend.set_nodelay(true).map_err(|_| Over)?;
        connection.pass_on(backend)
    }

    fn handshake(&mut self) -> Result<(), Over> {
        self.wait_for_client()?;
        std::thread::sleep(self.shared.manner.handshake_delay);
        if self.shared.manner.hangs_up {
            self.read()?;
            return Err(Over);
        }
        while self.shared.manner.is_silent {
            self.wait_for_client()?;
            let mut ignored = [0; 1024];
            if matches!(self.client.read(&mut ignored), Ok(0) | Err(_)) {
                return Err(Over);
            }
        }
        while self.tls.is_handshaking() {
            self.wait_for_client()?;
            self.read()?;
            self.write()?;
        }
        let mut account = lock(&self.shared.account);
        account.handshakes += 1;
        account.resumed += u64::from(self.tls.handshake_kind() == Some(HandshakeKind::Resumed));
        Ok(())
    }

    fn wait_for_client(&self) -> Result<(), Over> {
        while !self.shared.stop.load(Ordering::Relaxed) {
            if readable([self.client.as_raw_fd()])[0] {
                return Ok(());
            }
        }
        Err(Over)
    }

    /// Reads ciphertext, of which there must be some, or the client's end.
    fn read(&mut self) -> Result<(), Over> {
        let count = self.tls.read_tls(&mut self.client).map_err(|_| Over)?;
        lock(&self.shared.account).bytes_in += count as u64;
        let state = self.tls.process_new_packets().map_err(drop);
        if state.is_err() {
            // The alert.
            self.write()?;
        }
        if count == 0 { Err(Over) } else { state.map(drop).map_err(|()| Over) }
    }

    /// Writes all ciphertext there is.
    fn write(&mut self) -> Result<(), Over> {
        self.write_then(b"")
    }

    /// Writes what TLS has to say, with these bytes behind it in one packet.
    fn write_then(&mut self, behind: &[u8]) -> Result<(), Over> {
        let mut bytes = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut bytes).map_err(|_| Over)?;
        }
        bytes.extend_from_slice(behind);
        for piece in bytes.chunks(self.shared.manner.bytes_per_write.unwrap_or(usize::MAX)) {
            self.client.write_all(piece).map_err(|_| Over)?;
        }
        lock(&self.shared.account).bytes_out += bytes.len() as u64;
        Ok(())
    }

    /// Requests to the backend, answers to the client, until one of them ends.
    fn pass_on(&mut self, mut backend: TcpStream) -> Result<(), Over> {
        let mut buffer = vec![0; 16 * 1024];
        // The request may have come together with the end of the handshake.
        self.pass_requests(&mut backend, &mut buffer)?;
        while !self.shared.stop.load(Ordering::Relaxed) {
            let [from_client, from_backend] =
                readable([self.client.as_raw_fd(), backend.as_raw_fd()]);
            if from_client {
                self.read()?;
                self.pass_requests(&mut backend, &mut buffer)?;
            }
            if from_backend {
                match backend.read(&mut buffer) {
                    Ok(0) => return self.end(),
                    Ok(count) => self.pass_answer(&buffer[..count])?,
                    Err(_) => {
                        // If the backend's connection was reset, reset the client's too.
                        _ = socket::reset_on_close(self.client.as_fd());
                        return Err(Over);
                    }
                }
            }
        }
        Ok(())
    }

    fn pass_requests(&mut self, backend: &mut TcpStream, buffer: &mut [u8]) -> Result<(), Over> {
        loop {
            match self.tls.reader().read(buffer) {
                Ok(0) => {
                    lock(&self.shared.account).goodbyes += 1;
                    return Err(Over);
                }
                Ok(count) => backend.write_all(&buffer[..count]).map_err(|_| Over)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.write(),
                Err(_) => return Err(Over),
            }
        }
    }

    fn pass_answer(&mut self, answer: &[u8]) -> Result<(), Over> {
        self.tls.writer().write_all(answer).map_err(|_| Over)?;
        let is_in = |sought: &[u8]| answer.windows(sought.len()).any(|bytes| bytes == sought);
        self.write_then(if self.shared.manner.speaks_plainly_behind.is_some_and(is_in) {
            b"HTTP/1.1 400 Bad Request\r\n\r\n"
        } else {
            b""
        })?;
        if self.shared.manner.updates_keys {
            self.tls.refresh_traffic_keys().map_err(|_| Over)?;
            self.write()?;
        }
        Ok(())
    }

    /// The backend has closed, so close too. Wait a little for the client first, because its last
    /// bytes would turn the close into a reset.
    fn end(&mut self) -> Result<(), Over> {
        if !self.shared.manner.ends_rudely {
            self.tls.send_close_notify();
            self.write()?;
        }
        socket::finish_sending(self.client.as_fd());
        let until = Instant::now() + Duration::from_secs(1);
        while Instant::now() < until && !self.shared.stop.load(Ordering::Relaxed) {
            if readable([self.client.as_raw_fd()])[0] {
                self.read()?;
                let mut ignored = [0; 1024];
                if matches!(self.tls.reader().read(&mut ignored), Ok(0)) {
                    lock(&self.shared.account).goodbyes += 1;
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
