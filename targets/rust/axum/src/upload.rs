//! The body of a request, digested as it comes.

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::BodyExt;
use sha2::{Digest, Sha256};

/// The limit of 2 MB is that of extractors which keep a body; this one does not.
pub async fn upload(mut body: Body) -> Result<String, StatusCode> {
    let (mut hash, mut length) = (Sha256::new(), 0);
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(|_| StatusCode::BAD_REQUEST)?.into_data() {
            length += data.len();
            hash.update(&data);
        }
    }
    let digest = Bytes::copy_from_slice(&hash.finalize());
    Ok(format!("{length} {digest:x}"))
}
