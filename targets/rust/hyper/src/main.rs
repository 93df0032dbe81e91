//! Pippin's workloads on hyper's HTTP/1 server, with hyper-util's client and deadpool-postgres. With
//! PROTOCOL=h3 on h3, which is hyper's sibling for HTTP/3.

mod app;
mod proxy;
mod quic;
mod users;

use std::env;
use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use app::App;

/// Any failure of the database or the upstream.
type HandlerError = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if let Ok(workers) = env::var("WORKERS") {
        runtime.worker_threads(workers.parse()?);
    }
    runtime.enable_all().build()?.block_on(serve())
}

/// Serves until SIGTERM, then lets the requests under way finish.
async fn serve() -> Result<(), Box<dyn Error>> {
    let app = Arc::new(App::from_env()?);
    let address = SocketAddr::new(env::var("HOST")?.parse()?, env::var("PORT")?.parse()?);
    let mut terminate = signal(SignalKind::terminate())?;
    if env::var("PROTOCOL").is_ok_and(|protocol| protocol == "h3") {
        return quic::serve(app, address, terminate).await;
    }
    let listener = TcpListener::bind(address).await?;
    let connections = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // One connection that could not be accepted is no reason to stop.
                let Ok((stream, _)) = accepted else { continue };
                let app = Arc::clone(&app);
                let service = service_fn(move |request| Arc::clone(&app).answer(request));
                let connection = http.serve_connection(TokioIo::new(stream), service);
                let connection = connections.watch(connection);
                tokio::spawn(async move {
                    // What fails here is the peer's: it went away or sent no HTTP.
                    let _ = connection.await;
                });
            }
            _ = terminate.recv() => break,
        }
    }
    drop(listener);
    tokio::select! {
        () = connections.shutdown() => {}
        () = tokio::time::sleep(Duration::from_secs(5)) => {}
    }
    Ok(())
}
