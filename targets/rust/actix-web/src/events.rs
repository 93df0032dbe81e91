//! A stream of server-sent events.
use std::convert::Infallible;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use actix_web::HttpResponse;
use actix_web::rt::time::interval;
use actix_web::web::Bytes;
use futures_util::stream;

/// An event each 100 ms: its number, and the milliseconds since 1970.
pub async fn events() -> HttpResponse {
    let ticks = interval(Duration::from_millis(100));
    let events = stream::unfold((0, ticks), |(n, mut ticks)| async move {
        if n == 100 {
            return None;
        }
        ticks.tick().await;
        let event = Bytes::from(format!("data: {n} {}\n\n", unix_ms()));
        Some((Ok::<_, Infallible>(event), (n + 1, ticks)))
    });
    HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(("Cache-Control", "no-store"))
        .streaming(events)
}

fn unix_ms() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis())
}
