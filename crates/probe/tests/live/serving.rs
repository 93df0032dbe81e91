//! Which process serves an address, with real processes.
use crate::forked::{fork, sleep_for_good, wait};
use pippin_probe::RoleRoot;
use pippin_probe::server::{NoServer, Place, behind};
use std::net::TcpListener;

#[test]
fn the_process_that_holds_the_listening_socket_is_found() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let other = std::net::SocketAddr::from(([127, 0, 0, 2], address.port()));
    let pid = fork(|| sleep_for_good());
    drop(listener);
    let found = behind(&Place::Addresses(vec![address]));
    let on_another_address = behind(&Place::Addresses(vec![other]));
    // SAFETY: our own child, which has not been waited for.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    assert!(wait(pid));
    let found = found.unwrap();
    // Other tests may fork right now, and their children then hold the socket too.
    assert!(
        found.processes.iter().any(|server| server.root == RoleRoot::Tree(pid)),
        "{found:?} of {pid}"
    );
    assert_eq!(on_another_address, Err(NoServer::NobodyListens));
}
