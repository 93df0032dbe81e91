//! WebSocket.

use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use tokio::select;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};

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

/// Messages that may wait for a member; one that falls behind further misses some.
const OUTBOX_LENGTH: usize = 256;

/// Sends the messages of each member to all of them.
#[derive(Clone)]
pub struct Room(Sender<Message>);

impl Room {
    pub fn new() -> Self {
        Self(Sender::new(OUTBOX_LENGTH))
    }
}

/// Takes a WebSocket in. Whoever subscribes before the handshake misses nothing after it.
pub async fn broadcast(State(room): State<Room>, upgrade: WebSocketUpgrade) -> Response {
    let said = room.0.subscribe();
    upgrade.on_upgrade(|socket| stay(socket, room, said))
}

async fn stay(mut socket: WebSocket, room: Room, mut said: Receiver<Message>) {
    loop {
        select! {
            message = said.recv() => match message {
                Ok(message) => if socket.send(message).await.is_err() {
                    return;
                },
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            message = socket.recv() => match message {
                // It has a receiver: this member.
                Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => {
                    _ = room.0.send(message);
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}
