//! The workloads that need nothing but the router and the clock.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header::ContentType;
use actix_web::web::Path;

const DEVICE_BODY: [u8; 1024] = [b'x'; 1024];

fn plain(body: impl actix_web::body::MessageBody + 'static) -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::plaintext()).body(body)
}

pub async fn hello() -> HttpResponse {
    plain("Hello World!")
}

pub async fn hola(name: Path<String>) -> HttpResponse {
    plain(format!("Hola {name}"))
}

/// Waits 95 to 105 ms; a sleeping task holds no thread.
pub async fn device() -> HttpResponse {
    let wait = Duration::from_micros(rand::random_range(95_000..105_000));
    tokio::time::sleep(wait).await;
    plain(&DEVICE_BODY[..])
}
