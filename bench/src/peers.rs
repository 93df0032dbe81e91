//! The tools that this bench knows, one in each file. To add one, write its file and a line in
//! [`ALL`].
mod ab;
mod floor;
mod fortio;
mod gcannon;
mod h2load;
mod hey;
mod k6;
mod oha;
mod pippin;
mod wrk;
mod zrk;

use crate::peer::Peer;
pub use pippin::Pippin;

/// All tools, in the order in which they take turns.
pub const ALL: &[&dyn Peer] = &[
    &floor::Floor { timed: false },
    &floor::Floor { timed: true },
    &pippin::Engine { io: "epoll" },
    &pippin::Engine { io: "io_uring" },
    &pippin::Pippin,
    &gcannon::Gcannon,
    &wrk::Wrk,
    &zrk::Zrk,
    &ab::Ab,
    &h2load::H2load,
    &oha::Oha,
    &hey::Hey,
    &fortio::Fortio,
    &k6::K6,
];
