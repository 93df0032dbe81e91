//! Pippin's workloads on axum, with askama, deadpool-postgres and reqwest.

mod error;
mod events;
mod items;
mod messages;
mod page;
mod plain;
mod products;
mod proxy;
mod socket;
mod tls;
mod upload;
mod users;

use std::env;
use std::error::Error;
use std::process::ExitCode;

use axum::Router;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tower_http::compression::CompressionLayer;
use tower_http::services::ServeDir;

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
    let app = router()?;
    let listener = TcpListener::bind((env::var("HOST")?, env::var("PORT")?.parse()?)).await?;
    if let Ok(certificate) = env::var("TLS_CERTIFICATE") {
        return tls::serve(app, listener, &certificate, &env::var("TLS_KEY")?).await;
    }
    let mut terminate = signal(SignalKind::terminate())?;
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            terminate.recv().await;
        })
        .await?;
    Ok(())
}

/// The routes; those that need a service are there only when the service is.
fn router() -> Result<Router, Box<dyn Error>> {
    let mut app = Router::new()
        .route("/", get(plain::hello))
        .route("/hola/{name}", get(plain::hola))
        .route("/page/{n}", get(page::page))
        .route("/device", get(plain::device))
        .route("/events", get(events::events))
        .route("/upload", post(upload::upload))
        .route("/ws", get(socket::echo))
        .merge(
            Router::new()
                .route("/broadcast", get(socket::broadcast))
                .with_state(socket::Room::new()),
        );
    if let Ok(url) = env::var("DATABASE_URL") {
        let pool = users::pool(&url, env::var("DATABASE_POOL").ok().as_deref())?;
        app = app.merge(
            Router::new()
                .route("/api/users/", get(users::users))
                .route("/messages", get(messages::messages))
                .merge(products::routes())
                .with_state(pool),
        );
    }
    if let Ok(path) = env::var("ITEMS_FILE") {
        let items = items::read(&path)?;
        app = app.merge(
            Router::new()
                .route("/json/{n}", get(items::items))
                // For clients that accept a coding, of this route alone.
                .layer(CompressionLayer::new())
                .with_state(items),
        );
    }
    if let Ok(folder) = env::var("STATIC_FOLDER") {
        app = app.nest_service("/static", ServeDir::new(folder));
    }
    if let Ok(base) = env::var("UPSTREAM_URL") {
        let upstream = proxy::Upstream::new(&base);
        app = app.merge(
            Router::new()
                .route("/api/proxy/", get(proxy::proxy))
                .with_state(upstream),
        );
    }
    Ok(app)
}
