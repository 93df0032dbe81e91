//! Pippin's workloads on Poem, with askama, deadpool-postgres and reqwest.

mod device;
mod messages;
mod page;
mod proxy;
mod routes;
mod users;

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use poem::Server;
use poem::listener::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

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

/// Serves until SIGTERM, then gives the requests under way 5 s to finish.
async fn serve() -> Result<(), Box<dyn Error>> {
    let app = routes::routes()?;
    let address = format!("{}:{}", env::var("HOST")?, env::var("PORT")?);
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async move {
        terminate.recv().await;
    };
    Server::new(TcpListener::bind(address))
        .run_with_graceful_shutdown(app, stop, Some(Duration::from_secs(5)))
        .await?;
    Ok(())
}
