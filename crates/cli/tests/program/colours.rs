//! Escape sequences reach only terminals that know them, and only those who want them.
use super::support::{Checkout, command};
use pippin_testing::scripted::{Answer, Script, spawn};
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};

/// Everything that the program writes on a terminal of 60 columns.
fn on_a_terminal(checkout: &Checkout, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let (mut ours, mut theirs) = (0, 0);
    let size = libc::winsize { ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 };
    let none = std::ptr::null_mut();
    // SAFETY: openpty(3) writes two descriptors, which are owned from here on.
    let (mut terminal, theirs) = unsafe {
        assert_eq!(
            libc::openpty(&raw mut ours, &raw mut theirs, none, std::ptr::null(), &raw const size),
            0
        );
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    };
    let mut command = command(checkout.path(), arguments);
    command.env_remove("CI").env_remove("NO_COLOR").envs(variables.iter().copied());
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // Only the child has the other end now, so that its end is seen.
    drop(command);
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    // A terminal that nobody has open any more gives EIO.
    while let Ok(count @ 1..) = terminal.read(&mut part) {
        bytes.extend_from_slice(&part[..count]);
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn no_escapes_for_a_dumb_terminal_or_without_colours() {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let checkout = Checkout::new();
    let url = format!("http://{}/", server.address());
    let dumb = [("TERM", "dumb")];
    let load = on_a_terminal(&checkout, &["load", &url, "-n", "50"], &dumb);
    assert!(load.contains(" requests/s") && !load.contains('\x1b'), "{load}");
    let report = |arguments: &[&str], variables: &[(&str, &str)]| {
        on_a_terminal(&checkout, &[&["report"], arguments].concat(), variables)
    };
    let known = ("TERM", "xterm-256color");
    let coloured = report(&[], &[known]);
    assert!(coloured.contains("\x1b["), "{coloured}");
    for (arguments, variables) in [
        (vec!["--no-color"], vec![known]),
        (vec![], vec![known, ("NO_COLOR", "1")]),
        (vec![], dumb.to_vec()),
        (vec!["--help", "--no-color"], vec![known]),
        (vec!["--help"], dumb.to_vec()),
    ] {
        let text = report(&arguments, &variables);
        assert!(text.len() > 200 && !text.contains('\x1b'), "{arguments:?} {variables:?}: {text}");
    }
    let widest = coloured.lines().map(|line| {
        let parts = line.trim_end().split('\x1b').enumerate();
        let plain = parts.map(|(place, part)| match part.split_once('m') {
            Some((_, rest)) if place > 0 => rest,
            _ => part,
        });
        plain.map(|part| part.chars().count()).sum::<usize>()
    });
    assert!(widest.max().unwrap() <= 60, "{coloured}");
}
