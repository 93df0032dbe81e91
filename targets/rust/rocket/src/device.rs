//! A device that answers after a while.

use std::time::Duration;

use rocket::get;

const BODY: &str = {
    const BYTES: [u8; 1024] = [b'x'; 1024];
    match str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => panic!("ASCII is UTF-8"),
    }
};

/// Waits 95 to 105 ms; a sleeping task holds no thread.
#[get("/device")]
pub async fn device() -> &'static str {
    let wait = Duration::from_micros(rand::random_range(95_000..105_000));
    rocket::tokio::time::sleep(wait).await;
    BODY
}
