//! A stream of server-sent events.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rocket::get;
use rocket::response::stream::{Event, EventStream};
use rocket::tokio::time::interval;

/// An event each 100 ms: its number, and the milliseconds since 1970.
#[get("/events")]
pub fn events() -> EventStream![] {
    EventStream! {
        let mut ticks = interval(Duration::from_millis(100));
        for n in 0..100 {
            ticks.tick().await;
            yield Event::data(format!("{n} {}", unix_ms()));
        }
    }
}

fn unix_ms() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis())
}
