//! The observer that is not Pippin: a packet capture on the loopback, with the kernel's own time
//! stamps. It shares no code with the engine.
pub mod capture;
pub mod exchanges;
mod stream;
