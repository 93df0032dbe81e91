//! HTTP/3 by h3 over quinn, with the same handlers.

use std::env;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use h3::server::{Connection, RequestResolver};
use http_body_util::BodyExt;
use hyper::body::Bytes;
use hyper::header::CONTENT_LENGTH;
use hyper::{Method, Response};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, Incoming, ServerConfig};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::signal::unix::Signal;
use tokio::sync::watch;

use crate::HandlerError;
use crate::app::App;

/// Serves until SIGTERM, then lets the requests under way finish.
pub async fn serve(
    app: Arc<App>,
    address: SocketAddr,
    mut terminate: Signal,
) -> Result<(), Box<dyn Error>> {
    let endpoint = Endpoint::server(config()?, address)?;
    let (leave, leaving) = watch::channel(());
    loop {
        tokio::select! {
            incoming = endpoint.accept() => {
                let Some(incoming) = incoming else { break };
                let (app, leaving) = (Arc::clone(&app), leaving.clone());
                tokio::spawn(async move {
                    // What fails here is the peer's: it went away or sent no HTTP.
                    let _ = serve_connection(incoming, app, leaving).await;
                });
            }
            _ = terminate.recv() => break,
        }
    }
    // Connections that come from now on are refused, and those there are hear of the end.
    endpoint.set_server_config(None);
    leave.send_replace(());
    tokio::select! {
        () = endpoint.wait_idle() => {}
        () = tokio::time::sleep(Duration::from_secs(5)) => {}
    }
    Ok(())
}

fn config() -> Result<ServerConfig, Box<dyn Error>> {
    let chain = CertificateDer::pem_file_iter(env::var("TLS_CERTIFICATE")?)?;
    let key = PrivateKeyDer::from_pem_file(env::var("TLS_KEY")?)?;
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain.collect::<Result<_, _>>()?, key)?;
    tls.alpn_protocols = vec!["h3".into()];
    Ok(ServerConfig::with_crypto(Arc::new(
        QuicServerConfig::try_from(tls)?,
    )))
}

async fn serve_connection(
    incoming: Incoming,
    app: Arc<App>,
    mut leaving: watch::Receiver<()>,
) -> Result<(), HandlerError> {
    let mut connection = Connection::new(h3_quinn::Connection::new(incoming.await?)).await?;
    loop {
        tokio::select! {
            resolver = connection.accept() => {
                let Some(resolver) = resolver? else { return Ok(()) };
                let app = Arc::clone(&app);
                tokio::spawn(async move {
                    let _ = answer(resolver, app).await;
                });
            }
            _ = leaving.changed() => break,
        }
    }
    connection.shutdown(0).await?;
    // It ends when the answers under way are complete.
    while connection.accept().await?.is_some() {}
    Ok(())
}

async fn answer(
    resolver: RequestResolver<h3_quinn::Connection, Bytes>,
    app: Arc<App>,
) -> Result<(), HandlerError> {
    let (request, mut stream) = resolver.resolve_request().await?;
    let is_head = request.method() == Method::HEAD;
    let (mut head, body) = app.answer(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    head.headers.insert(CONTENT_LENGTH, body.len().into());
    stream.send_response(Response::from_parts(head, ())).await?;
    if !is_head {
        stream.send_data(body).await?;
    }
    stream.finish().await?;
    Ok(())
}
