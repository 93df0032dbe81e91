//! Serves a store until it is killed: `cargo run -p pippin-serve --example serve_store -- FILE
//! PORT`. The browser check uses it.
#![allow(clippy::print_stdout, clippy::print_stderr)] // an example, not a part of the program
use pippin_serve::Server;
use pippin_store::Store;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, port] = arguments.as_slice() else {
        return Err("name the file of the store and a port".into());
    };
    let server =
        Server::bind(Store::open(Path::new(file))?, ([127, 0, 0, 1], port.parse()?).into(), None)?;
    println!("http://{}", server.address());
    Ok(server.run(&AtomicBool::new(false))?)
}
