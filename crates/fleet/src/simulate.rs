//! Many agents in one process that send the same messages as real ones but no load. They show what
//! a fleet of this size costs its coordinator and its NATS server.
use pippin_engine::Gate;
use pippin_model::host::fingerprint::Fingerprint;
use pippin_model::load::{LoadSpec, Part};
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{
    GeneratorUse, LoadResult, Measured, Phase, StampCounts, WarmUpResult, Window, WindowHistograms,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::actor::live;
use crate::agent::{Agent, Assignment, Work, WorkEvent, Worker};
use crate::clock::Clock;
use crate::error::FleetError;
use crate::fleet::{boot, on_this_thread, peer};
use crate::message::{Hello, Prepare, SliceResult};
use crate::nats::Nats;

const SECOND_NS: u64 = 1_000_000_000;
/// Response times of a simulated device: 100 ms +-5 % and a tail. They fill as many buckets as
/// measured ones do.
const MEDIAN_NS: f64 = 100e6;

/// Runs this many agents until `stop` is set.
///
/// # Errors
/// If the server cannot be used.
pub fn simulate(nats: &Nats, agents: usize, stop: &AtomicBool) -> Result<(), FleetError> {
    // A real fingerprint takes half a second.
    let host =
        Fingerprint { hostname: Some("nowhere".into()), cpus: 2, ..pippin_probe::fingerprint() };
    let hello = Hello {
        tags: vec!["simulated".into()],
        host,
        boot: boot(),
        processors: 2,
        ceiling_per_s: None,
        claimed_by: None,
        is_probe: false,
    };
    let made = Rc::default();
    on_this_thread(async {
        let local = tokio::task::LocalSet::new();
        let all =
            (0..agents).map(|number| one(nats, number, hello.clone(), Rc::clone(&made), stop));
        let outcomes = local.run_until(futures_util::future::join_all(all)).await;
        outcomes.into_iter().collect()
    })
}

async fn one(
    nats: &Nats,
    number: usize,
    hello: Hello,
    made: Rc<Made>,
    stop: &AtomicBool,
) -> Result<(), FleetError> {
    let me = peer(format!("simulated-{number:05}"))?;
    let clock = Clock::of_this_process();
    let mut connection = nats.connect(&me.name).await?;
    let (tell, mut told) = unbounded_channel();
    let mut agent = Agent::new((me, hello), clock, Pretends(made), tell, (stop, &|_| ()));
    let subjects = agent.subjects();
    live(&mut connection, &subjects, &mut agent, &mut told, clock).await
}

/// Reports invented seconds.
struct Pretends(Rc<Made>);

/// What all agents share, because inventing it must not cost more than reporting it. A result takes
/// about 8 MB of memory, which this process does not have for each of 1,000 agents.
#[derive(Default)]
struct Made {
    /// The key is the seed, the devices of an agent and the second.
    seconds: RefCell<HashMap<(u64, u64, u64), Rc<Second>>>,
    /// The last result, and what it was made from.
    result: RefCell<Option<(Lived, Rc<str>)>>,
}

/// What an agent has lived through; agents with the same have the same result.
#[derive(Clone, PartialEq)]
struct Lived {
    load: LoadSpec,
    devices: u64,
    start_ns: u64,
    /// How many seconds it has reported, fewer than the load has if it was stopped.
    seconds: u64,
}

impl Made {
    fn second(&self, key: (u64, u64, u64)) -> Rc<Second> {
        let mut all = self.seconds.borrow_mut();
        Rc::clone(all.entry(key).or_insert_with(|| Rc::new(second_of(key))))
    }

    /// The result as JSON.
    fn result(&self, lived: Lived) -> Rc<str> {
        if let Some((same, text)) = &*self.result.borrow()
            && *same == lived
        {
            return Rc::clone(text);
        }
        let result = result_of(&lived, self);
        let text: Rc<str> = serde_json::to_string(&result).unwrap_or_default().into();
        *self.result.borrow_mut() = Some((lived, Rc::clone(&text)));
        text
    }
}

/// An invented second.
struct Second {
    window: Window,
    response: Histogram,
    send_lag: Histogram,
}

impl Worker for Pretends {
    fn allows(&self, work: &Work) -> Result<(), String> {
        match work {
            Work::Slice(_) => Ok(()),
            Work::Run(_) => Err("it is simulated".into()),
        }
    }

    fn begin(&self, assignment: Assignment) {
        assignment.gate.reach();
        let made = Rc::clone(&self.0);
        tokio::task::spawn_local(async move {
            let Assignment { work, gate, stop, tell, .. } = assignment;
            let Work::Slice(slice) = work else { return };
            let lived = pretend(&slice, (&gate, &stop, &tell), &made).await;
            drop(tell.send(WorkEvent::Text(slice.trial, made.result(lived).to_string())));
            drop(tell.send(WorkEvent::Over(slice.trial)));
        });
    }
}

async fn pretend(
    slice: &Prepare,
    (gate, stop, tell): (&Gate, &AtomicBool, &UnboundedSender<WorkEvent>),
    made: &Made,
) -> Lived {
    let start_ns = loop {
        match gate.start() {
            Some(start_ns) => break start_ns,
            None if stop.load(Ordering::Relaxed) => break pippin_probe::clock::monotonic_ns(),
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let devices = slice.load.slice.share(slice.load.connections.count.into());
    // Agents differ in their part only, which does not matter when the number of devices is known.
    let load = LoadSpec { slice: Part::default(), ..slice.load.clone() };
    let mut lived = Lived { load, devices, start_ns, seconds: 0 };
    let [up, sustain, down] = phases(&slice.load);
    for second in 0..(up + sustain + down) / SECOND_NS {
        let due = start_ns + (second + 1) * SECOND_NS;
        let left = due.saturating_sub(pippin_probe::clock::monotonic_ns());
        tokio::time::sleep(Duration::from_nanos(left)).await;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        lived.seconds += 1;
        let window = window_of(&lived, second, made);
        drop(tell.send(WorkEvent::Second(slice.trial, Box::new(window))));
    }
    lived
}

fn window_of(lived: &Lived, second: u64, made: &Made) -> Window {
    let [up, ..] = phases(&lived.load);
    let made = made.second((lived.load.seed, lived.devices, second));
    Window { from_ns: (second * SECOND_NS) as i64 - up as i64, ..made.window.clone() }
}

fn result_of(lived: &Lived, made: &Made) -> SliceResult {
    let Lived { load: spec, devices, start_ns, seconds } = lived;
    let [up, sustain, down] = phases(spec);
    let mut load = nothing_yet(*start_ns, [up, sustain]);
    load.interrupted = *seconds < (up + sustain + down) / SECOND_NS;
    for second in 0..*seconds {
        load.windows.push(Window { histograms: None, ..window_of(lived, second, made) });
        add(&mut load.measured, &made.second((spec.seed, *devices, second)), *devices);
    }
    let measured = load.measured.clone();
    for (phase, length) in load.phases.iter_mut().zip([up, sustain, down]) {
        phase.measured = Measured { duration_ns: length, ..measured.clone() };
    }
    let (load, start_ns) = (Some(load), Some(*start_ns));
    SliceResult { load, start_ns, failure: None, caveats: Vec::new(), found: None }
}

fn phases(load: &LoadSpec) -> [u64; 3] {
    let phases = load.schedule.phases();
    phases.map_or([0, 10 * SECOND_NS, 0], |phases| phases.map(|(_, length_ns)| length_ns))
}

fn nothing_yet(start_ns: u64, [up, sustain]: [u64; 2]) -> LoadResult {
    let phase =
        |name: &str, from_ns| Phase { name: name.into(), from_ns, measured: Measured::default() };
    LoadResult {
        io: "simulated".into(),
        threads: 2,
        started_unix_ns: Clock::default().unix_ns(),
        started_ns: start_ns,
        measured_from_ns: start_ns + up,
        measured_to_ns: start_ns + up + sustain,
        warm_up: WarmUpResult::default(),
        measured: Measured { duration_ns: sustain, ..Measured::default() },
        phases: vec![phase("ramp_up", 0), phase("sustain", up), phase("ramp_down", up + sustain)],
        windows: Vec::new(),
        generator: GeneratorUse { cpu_ns_by_thread: vec![0, 0], ..GeneratorUse::default() },
        tls: None,
        proxy: None,
        websocket: None,
        quic: None,
        network: None,
        interrupted: false,
        request_sample: None,
    }
}

/// One second of this many devices, each with one request.
fn second_of((seed, devices, second): (u64, u64, u64)) -> Second {
    let (mut response, mut send_lag) = (Histogram::new(), Histogram::new());
    let mut state = (seed ^ second).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    // More draws than buckets but fewer than devices: each draw stands for several devices.
    let draws = devices.clamp(1, 2_000);
    for _ in 0..draws {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let tail = if unit > 0.99 { (unit - 0.99) * 400.0 } else { 0.0 };
        response.record_n((MEDIAN_NS * (0.95 + unit / 10.0 + tail)) as u64, devices / draws);
        send_lag.record_n((50e3 * unit) as u64, devices / draws);
    }
    let count = response.count();
    let mut window = Window {
        duration_ns: SECOND_NS,
        sent: count,
        completed: count,
        good: count,
        live_connections: devices,
        bytes_in: count * 1_100,
        bytes_out: count * 80,
        ..Window::default()
    };
    window.read(&response, &send_lag);
    window.histograms =
        Some(WindowHistograms { response: response.encode(), send_lag: send_lag.encode() });
    Second { window, response, send_lag }
}

fn add(measured: &mut Measured, second: &Second, devices: u64) {
    let count = second.response.count();
    let requests = &mut measured.requests;
    for counted in
        [&mut requests.scheduled, &mut requests.sent, &mut requests.completed, &mut requests.good]
    {
        *counted += count;
    }
    measured.answered.completed += count;
    measured.answered.good += count;
    measured.status.add(200, count);
    measured.stamps.merge(&StampCounts { kernel: count, ..StampCounts::default() });
    (measured.connections.asked, measured.connections.peak) = (devices, devices);
    let spans = &mut measured.spans;
    for span in [&mut spans.response_time, &mut spans.service_time, &mut spans.headers] {
        span.merge(&second.response);
    }
    for span in [&mut spans.send_lag, &mut spans.own_lag, &mut spans.pick_up_lag] {
        span.merge(&second.send_lag);
    }
}
