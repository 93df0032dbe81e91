//! The tools this bench knows, one a file.
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

/// All tools, in the order in which they take turns.
pub fn all() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(floor::Floor { timed: false }),
        Box::new(floor::Floor { timed: true }),
        Box::new(pippin::Engine { io: "epoll" }),
        Box::new(pippin::Engine { io: "io_uring" }),
        Box::new(pippin::Pippin),
        Box::new(gcannon::Gcannon),
        Box::new(wrk::Wrk),
        Box::new(zrk::Zrk),
        Box::new(ab::Ab),
        Box::new(h2load::H2load),
        Box::new(oha::Oha),
        Box::new(hey::Hey),
        Box::new(fortio::Fortio),
        Box::new(k6::K6),
    ]
}
