//! The body of a request, digested as it comes.

use actix_web::error::PayloadError;
use actix_web::web::{Bytes, Payload};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};

pub async fn upload(mut body: Payload) -> Result<String, PayloadError> {
    let (mut hash, mut length) = (Sha256::new(), 0);
    while let Some(piece) = body.next().await {
        let piece = piece?;
        length += piece.len();
        hash.update(&piece);
    }
    let digest = Bytes::copy_from_slice(&hash.finalize());
    Ok(format!("{length} {digest:x}"))
}
