//! Records give one result, from any number of agents.
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{ErrorKind, Measured, WindowHistograms};

use super::*;

/// One request: when it was sent (milliseconds of the load), how long it took, whether it failed.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    at_ms: u64,
    ns: u64,
    failed: bool,
}

/// About 7,000 requests over 5 s, with spans from 100 ns to an hour.
fn recorded() -> Vec<Recorded> {
    let mut state = 88_172_645_463_325_252_u64;
    (0..7_000)
        .map(|nth| {
            // Marsaglia's xorshift.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let ns = 100 << (state % 36);
            Recorded {
                at_ms: nth * 5_000 / 7_000,
                ns: ns + state % 97,
                failed: state.is_multiple_of(53),
            }
        })
        .collect()
}

fn count(measured: &mut Measured, one: &Recorded) {
    measured.requests.scheduled += 1;
    measured.requests.sent += 1;
    measured.bytes.received += one.ns % 1_000;
    if one.failed {
        measured.requests.failed += 1;
        *measured.errors.entry(ErrorKind::Timeout).or_default() += 1;
    } else {
        measured.requests.completed += 1;
        measured.requests.good += 1;
        measured.answered.completed += 1;
        measured.answered.good += 1;
        measured.status.add(200, 1);
        measured.stamps.kernel += 1;
    }
    let spans = &mut measured.spans;
    for span in [&mut spans.service_time, &mut spans.response_time, &mut spans.headers] {
        span.record(one.ns);
    }
    for span in [&mut spans.send_lag, &mut spans.own_lag, &mut spans.pick_up_lag] {
        span.record(one.ns / 1_000);
    }
}

/// The report of an agent that saw these requests.
fn load(seen: &[Recorded]) -> LoadResult {
    let mut measured = Measured { duration_ns: 5_000_000_000, ..Measured::default() };
    seen.iter().for_each(|one| count(&mut measured, one));
    let window = |second: u64| {
        let within = |one: &&Recorded| one.at_ms / 1_000 == second;
        let (mut response, mut send_lag) = (Histogram::new(), Histogram::new());
        let mut window = Window {
            from_ns: second as i64 * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ..Window::default()
        };
        for one in seen.iter().filter(within) {
            response.record(one.ns);
            send_lag.record(one.ns / 1_000);
            window.sent += 1;
            window.completed += u64::from(!one.failed);
            window.errors += u64::from(one.failed);
        }
        window.read(&response, &send_lag);
        window.histograms =
            Some(WindowHistograms { response: response.encode(), send_lag: send_lag.encode() });
        window
    };
    LoadResult {
        io: "epoll".into(),
        threads: 1,
        started_unix_ns: 1_795_000_000_000_000_000,
        started_ns: 900_000_000,
        measured_from_ns: 1_000_000_000,
        measured_to_ns: 6_000_000_000,
        warm_up: WarmUpResult::default(),
        phases: vec![Phase {
            name: "sustain".into(),
            from_ns: 100_000_000,
            measured: measured.clone(),
        }],
        measured,
        windows: (0..5).map(window).collect(),
        generator: GeneratorUse { cpu_ns: 5, cpu_ns_by_thread: vec![5], ..GeneratorUse::default() },
        tls: None,
        proxy: None,
        websocket: None,
        quic: None,
        network: None,
        interrupted: false,
        request_sample: None,
    }
}

/// The requests distributed to this many agents, each with its own clock, and merged again.
fn from(agents: usize) -> LoadResult {
    let all = recorded();
    let mut merged = Merged::default();
    for nth in 0..agents {
        let seen: Vec<Recorded> = all.iter().skip(nth).step_by(agents).copied().collect();
        let offset_ns = nth as i64 * 3_000_000_000;
        let mut load = load(&seen);
        for instant in [&mut load.started_ns, &mut load.measured_from_ns, &mut load.measured_to_ns]
        {
            *instant += offset_ns as u64;
        }
        merged.take(Slice { load, offset_ns }).unwrap();
    }
    assert_eq!(merged.slices(), agents);
    merged.load().unwrap()
}

#[test]
fn any_number_of_agents_gives_the_same_to_the_last_bucket() {
    let one = from(1);
    assert_eq!(one.measured.spans.service_time.count(), 7_000);
    for agents in [2, 3, 7] {
        let merged = from(agents);
        assert_eq!(merged.measured, one.measured, "{agents} agents");
        assert_eq!(merged.windows, one.windows, "{agents} agents");
        assert_eq!(merged.phases, one.phases, "{agents} agents");
        assert_eq!(
            (merged.started_ns, merged.measured_from_ns, merged.measured_to_ns),
            (one.started_ns, one.measured_from_ns, one.measured_to_ns),
            "instants are on one clock"
        );
        assert_eq!((merged.threads, merged.generator.cpu_ns), (agents as u32, 5 * agents as u64));
        assert!(merged.measured.requests.are_conserved());
    }
}

/// One agent of three stood still for 3 s: the merged own lag says so.
#[test]
fn a_stop_of_one_agent_is_in_the_own_lag_of_all() {
    let mut merged = Merged::default();
    for nth in 0..3 {
        let mut load = load(&[Recorded { at_ms: 1, ns: 1_000_000, failed: false }; 100]);
        if nth == 1 {
            load.measured.spans.own_lag.record(3_000_000_000);
        }
        merged.take(Slice { load, offset_ns: 0 }).unwrap();
    }
    let mut right = Histogram::new();
    right.record_n(1_000, 300);
    right.record(3_000_000_000);
    assert_eq!(merged.load().unwrap().measured.spans.own_lag.summary(), right.summary());
}

#[test]
fn who_measured_nothing_adds_nothing_and_nobody_is_no_result() {
    assert!(Merged::default().load().is_none());
    let mut with_nothing = Merged::default();
    for seen in [recorded(), Vec::new()] {
        with_nothing.take(Slice { load: load(&seen), offset_ns: 0 }).unwrap();
    }
    assert_eq!(with_nothing.load().unwrap().measured, from(1).measured);
}

#[test]
fn seconds_are_told_once_all_agents_have_told_theirs() {
    let second = |from: i64, completed| Window {
        from_ns: from * 1_000_000_000,
        completed,
        ..Window::default()
    };
    let completed = |windows: Vec<Window>| -> Vec<u64> {
        windows.iter().map(|window| window.completed).collect()
    };
    let mut seconds = Seconds::for_agents(2);
    assert_eq!(completed(seconds.take(second(-1, 1))), Vec::<u64>::new());
    assert_eq!(completed(seconds.take(second(0, 2))), Vec::<u64>::new());
    assert_eq!(completed(seconds.take(second(-1, 10))), [11]);
    // An agent that is silent for more than two seconds does not delay the others.
    assert_eq!(completed(seconds.take(second(1, 3))), Vec::<u64>::new());
    assert_eq!(completed(seconds.take(second(2, 4))), [2]);
    // A late second is not passed on again, but counts in the end.
    assert_eq!(completed(seconds.take(second(0, 100))), Vec::<u64>::new());
    let mut whole = seconds.whole();
    whole.sort_by_key(|window| window.from_ns);
    assert_eq!(completed(whole), [11, 102], "only those of both agents");
}
