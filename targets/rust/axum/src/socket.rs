//! WebSocket.

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;

/// Sends every message back as it came. axum answers pings and closes by itself.
pub async fn echo(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(serve)
}

async fn serve(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, Message::Text(_) | Message::Binary(_))
            && socket.send(message).await.is_err()
        {
            return;
        }
    }
}
