//! A stream of server-sent events.
use std::convert::Infallible;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::response::sse::{Event, Sse};
use futures_util::stream::{self, Stream};
use tokio::time::interval;

/// An event each 100 ms: its number, and the milliseconds since 1970.
pub async fn events() -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let ticks = interval(Duration::from_millis(100));
    Sse::new(stream::unfold((0, ticks), |(n, mut ticks)| async move {
        if n == 100 {
            return None;
        }
        ticks.tick().await;
        let event = Event::default().data(format!("{n} {}", unix_ms()));
        Some((Ok(event), (n + 1, ticks)))
    }))
}

fn unix_ms() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis())
}
