//! Pippin's workloads on warp, with askama, deadpool-postgres and reqwest.

mod device;
mod messages;
mod page;
mod proxy;
mod routes;
mod users;

use std::env;
use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;

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

async fn serve() -> Result<(), Box<dyn Error>> {
    let address = SocketAddr::new(env::var("HOST")?.parse()?, env::var("PORT")?.parse()?);
    let mut terminate = signal(SignalKind::terminate())?;
    warp::serve(routes::routes()?)
        .bind(address)
        .await
        .graceful(async move {
            terminate.recv().await;
        })
        .run()
        .await;
    Ok(())
}
