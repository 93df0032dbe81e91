//! The same over TLS, by axum-server: HTTP/1.1 or HTTP/2, as each client agrees on by ALPN.

use std::error::Error;
use std::time::Duration;

use axum::Router;
use axum_server::Handle;
use axum_server::tls_rustls::{RustlsConfig, from_tcp_rustls};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// How long answers that are under way may take when the server is told to end.
const GRACE: Duration = Duration::from_secs(5);

pub async fn serve(
    app: Router,
    listener: TcpListener,
    certificate: &str,
    key: &str,
) -> Result<(), Box<dyn Error>> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = RustlsConfig::from_pem_file(certificate, key).await?;
    let mut terminate = signal(SignalKind::terminate())?;
    let handle = Handle::new();
    let ending = handle.clone();
    tokio::spawn(async move {
        terminate.recv().await;
        ending.graceful_shutdown(Some(GRACE));
    });
    from_tcp_rustls(listener.into_std()?, config)?
        .handle(handle)
        .serve(app.into_make_service())
        .await?;
    Ok(())
}
