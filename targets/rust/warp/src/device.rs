//! A device that answers after a while.

use std::time::Duration;

pub const BODY: &str = {
    const BYTES: [u8; 1024] = [b'x'; 1024];
    match str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => panic!("ASCII is UTF-8"),
    }
};

/// Waits 95 to 105 ms; a sleeping task holds no thread.
pub async fn wait() {
    let wait = Duration::from_micros(rand::random_range(95_000..105_000));
    tokio::time::sleep(wait).await;
}
