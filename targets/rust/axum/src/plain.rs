//! The workloads that need nothing but the router and the clock.

use std::time::Duration;

use axum::extract::Path;

const DEVICE_BODY: &str = {
    const BYTES: [u8; 1024] = [b'x'; 1024];
    match str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => panic!("ASCII is UTF-8"),
    }
};

pub async fn hello() -> &'static str {
    "Hello World!"
}

pub async fn hola(Path(name): Path<String>) -> String {
    format!("Hola {name}")
}

/// Waits 95 to 105 ms; a sleeping task holds no thread.
pub async fn device() -> &'static str {
    let wait = Duration::from_micros(rand::random_range(95_000..105_000));
    tokio::time::sleep(wait).await;
    DEVICE_BODY
}
