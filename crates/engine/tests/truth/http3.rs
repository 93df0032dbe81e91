//! HTTP/3: every figure has its right value over QUIC.
//!
//! | module | what it has |
//! |---|---|
//! | [`library`] | a server by other hands than ours (the crates `h3` and `quinn`) |
//! | [`raw`] | a server that sends whatever bytes it is told to, over `quinn` |
//! | [`answers`] | loads against right answers |
//! | [`breaches`] | servers that break the rules, or go away |
//! | [`client`] | the blocking client, with which proofs ask |
mod answers;
mod breaches;
mod client;
mod library;
mod raw;

use pippin_model::load::{Connections, LoadSpec, Protocol};
use pippin_testing::tls::{Authority, Certified};
use quinn::crypto::rustls::QuicServerConfig;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use crate::support::trusting;

/// This load over HTTP/3, with this number of streams on each connection.
fn streams(spec: LoadSpec, streams: u32, authority: &Authority) -> LoadSpec {
    LoadSpec {
        protocol: Protocol::Http3,
        tls: Some(trusting(authority)),
        connections: Connections { streams, ..spec.connections },
        ..spec
    }
}

/// The server's side of QUIC.
fn config(authority: &Authority) -> quinn::ServerConfig {
    let certified = Certified { alpn: vec!["h3"], ..Certified::default() };
    let tls = QuicServerConfig::try_from(authority.server(&certified)).unwrap();
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(tls));
    // Several connections come from one test.
    config.migration(false);
    config
}

/// A server that does this with each connection, until the room is dropped.
fn listening<Served: Future<Output = ()> + Send + 'static>(
    authority: &Authority,
    serve: impl Fn(quinn::Connection) -> Served + Send + Sync + 'static,
) -> (SocketAddr, Room) {
    let (config, serve) = (config(authority), Arc::new(serve));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let room = Room::run(async move {
        let runtime = Arc::new(quinn::TokioRuntime);
        let endpoint = quinn::EndpointConfig::default();
        let endpoint = quinn::Endpoint::new(endpoint, Some(config), socket, runtime).unwrap();
        while let Some(incoming) = endpoint.accept().await {
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
struct Room {
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
