//! In which order answers come, and so to which request each belongs.

/// How an answer finds its request. It decides what a connection holds: a thread of the load has its
/// own code for each order (`worker::seats`).
pub trait Order {}

/// Answers come in the order of their requests (HTTP/1.1). All requests of a connection are one
/// user's, and the end of the connection can be the end of an answer.
pub struct InOrder;

/// Answers carry the tag of their request, and come in any order (HTTP/2, WebSocket). Each place of a
/// connection is a user of its own, whose number is the tag of its requests, and the protocol may send
/// bytes of its own.
pub struct ByTag;

impl Order for InOrder {}
impl Order for ByTag {}
