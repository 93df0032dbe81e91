//! What is left out at the start is left out of everything, and nothing else is.
use pippin_model::load::{IoChoice, LoadSpec, WarmUp};
use pippin_model::result::ErrorKind;
use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{MS, assert_takes, closed_for, errors, ms, on_each_loop, run};
use pippin_testing::patience::in_time;

on_each_loop!(a_fixed_warm_up, wrong_while_warming_up);

/// 2 users, answers after 5 ms, 300 ms of warm-up, 400 ms measured. The server answers what the
/// engine completed in both parts and what was under way at the end (2 at most).
fn a_fixed_warm_up(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello").delay(ms(5)))).unwrap();
    let result = run(&LoadSpec {
        warm_up: WarmUp::Fixed { duration_ns: 300 * MS },
        ..closed_for(server.address(), io, 2, 400)
    });
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!(account.requests, result.warm_up.completed + requests.completed + requests.censored);
    assert!(requests.censored <= 2, "{requests:?}");
    assert_takes("the warm-up in ms", result.warm_up.duration_ns as f64 / 1e6, 299.0, 330.0);
    assert_takes("the measured part in ms", result.measured.duration_ns as f64 / 1e6, 400.0, 430.0);
    assert_eq!(result.measured.duration_ns, result.measured_to_ns - result.measured_from_ns);
    assert!(result.windows.iter().any(|window| window.from_ns < 0), "the warm-up has windows too");
    assert_eq!(
        result.measured.connections.peak, 2,
        "connections opened in the warm-up are there all the same"
    );
}

/// The first 6 answers have a wrong status: the warm-up tells them by kind, and the measured part
/// has none.
fn wrong_while_warming_up(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        if request.number < 6 { Answer::new(503, b"cold") } else { Answer::ok(b"warm") }
    }))
    .unwrap();
    let result = run(&LoadSpec {
        warm_up: WarmUp::Fixed { duration_ns: 400 * MS },
        ..closed_for(server.address(), io, 2, 100)
    });
    in_time(result.warm_up.completed >= 6, || format!("{:?}", result.warm_up));
    let told: Vec<_> = result.warm_up.errors.iter().map(|(kind, n)| (*kind, *n)).collect();
    assert_eq!(told, [(ErrorKind::WrongStatus, 6)]);
    assert_eq!(errors(&result), []);
}
