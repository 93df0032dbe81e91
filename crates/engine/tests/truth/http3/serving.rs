//! How servers of QUIC are run, by `quinn`.
use pippin_testing::tls::{Authority, Certified};
use quinn::crypto::rustls::QuicServerConfig;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

/// How a server uses QUIC.
#[derive(Clone, Copy)]
pub(super) struct Setup {
    /// Each client must prove its address first.
    pub asks_again: bool,
    /// There are new keys with each answer.
    pub updates_keys: bool,
    pub transport: fn(&mut quinn::TransportConfig),
    pub endpoint: fn(&mut quinn::EndpointConfig),
}

impl Default for Setup {
    fn default() -> Self {
        Self { asks_again: false, updates_keys: false, transport: |_| {}, endpoint: |_| {} }
    }
}

impl Setup {
    pub fn with_transport(transport: fn(&mut quinn::TransportConfig)) -> Self {
        Self { transport, ..Self::default() }
    }

    pub fn with_endpoint(endpoint: fn(&mut quinn::EndpointConfig)) -> Self {
        Self { endpoint, ..Self::default() }
    }
}

/// The server's side of QUIC.
fn config(authority: &Authority, setup: Setup) -> quinn::ServerConfig {
    let certified = Certified { alpn: vec!["h3"], ..Certified::default() };
    let tls = QuicServerConfig::try_from(authority.server(&certified)).unwrap();
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(tls));
    // Several connections come from one test.
    config.migration(false);
    let mut transport = quinn::TransportConfig::default();
    (setup.transport)(&mut transport);
    config.transport_config(Arc::new(transport));
    config
}

/// A server that does this with each connection, until the room is dropped.
pub(super) fn listening<Served: Future<Output = ()> + Send + 'static>(
    authority: &Authority,
    setup: Setup,
    serve: impl Fn(quinn::Connection) -> Served + Send + Sync + 'static,
) -> (SocketAddr, Room) {
    let (config, serve) = (config(authority, setup), Arc::new(serve));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let room = Room::run(async move {
        let runtime = Arc::new(quinn::TokioRuntime);
        let mut endpoint = quinn::EndpointConfig::default();
        (setup.endpoint)(&mut endpoint);
        let endpoint = quinn::Endpoint::new(endpoint, Some(config), socket, runtime).unwrap();
        while let Some(incoming) = endpoint.accept().await {
            if setup.asks_again && !incoming.remote_address_validated() {
                let _ = incoming.retry();
                continue;
            }
            let serve = Arc::clone(&serve);
            tokio::spawn(async move {
                if let Ok(connection) = incoming.await {
                    serve(connection).await;
                }
            });
        }
    });
    (address, room)
}

/// What runs a server, in a thread of its own, until it is dropped.
pub(super) struct Room {
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Room {
    fn run(server: impl Future<Output = ()> + Send + 'static) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.spawn(server);
            let _ = runtime.block_on(stopped);
            runtime.shutdown_background();
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
