//! A server of HTTP/3 by the crates `h3` and `quinn`, for tests of the program: it answers every request with
//! `Hello World`.
//!
//!     http3_server CERTIFICATE KEY [ADDRESS]     files in PEM form; prints its address
#![allow(clippy::unwrap_used, reason = "a server of tests that cannot start has failed")]
#![allow(clippy::print_stdout, reason = "its address is what it prints")]
use bytes::Bytes;
use quinn::crypto::rustls::QuicServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::sync::Arc;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let (certificate, key, address) = match &files[..] {
        [certificate, key] => (certificate, key, "127.0.0.1:0"),
        [certificate, key, address] => (certificate, key, address.as_str()),
        _ => panic!("http3_server CERTIFICATE KEY [ADDRESS]"),
    };
    let chain = CertificateDer::pem_file_iter(certificate).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    tls.alpn_protocols = vec!["h3".into()];
    let config =
        quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let endpoint = quinn::Endpoint::server(config, address.parse().unwrap()).unwrap();
        println!("{}", endpoint.local_addr().unwrap());
        while let Some(incoming) = endpoint.accept().await {
            tokio::spawn(async move {
                if let Ok(connection) = incoming.await {
                    let _ = serve(connection).await;
                }
            });
        }
    });
}

async fn serve(connection: quinn::Connection) -> Result<(), h3::error::ConnectionError> {
    let connection = h3_quinn::Connection::new(connection);
    let mut connection = h3::server::Connection::<_, Bytes>::new(connection).await?;
    while let Some(resolver) = connection.accept().await? {
        tokio::spawn(async move {
            let (_, mut stream) = resolver.resolve_request().await?;
            let head = http::Response::builder().header("content-type", "text/plain");
            stream.send_response(head.body(()).unwrap_or_default()).await?;
            stream.send_data(Bytes::from_static(b"Hello World")).await?;
            stream.finish().await
        });
    }
    Ok(())
}
