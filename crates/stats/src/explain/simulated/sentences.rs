//! Sentences of explanations that no cause of `causes` makes. Each is said of a record of which it is
//! true, and not of one that differs in one respect.
use pippin_model::example::ExampleTrial;
use pippin_model::example::run::calibration;
use pippin_model::host::usage::{Role, RoleUse};
use pippin_model::result::ErrorKind;
use pippin_model::result::histogram::Histogram;
use pippin_model::schedule::Schedule;
use pippin_model::text::units::Spread;
use pippin_model::trial::TrialRecord;
use pippin_model::trial::instructions::Instructions;
use pippin_model::workload::Service;

use super::servers::{answers_only, in_turn, lock, pool, write_lock};
use super::world::{MS, SECOND, Truth};
use super::{Context, Limit, explained};

fn behind(services: &'static [Service]) -> Context<'static> {
    Context { services, ..Context::default() }
}

fn database() -> Context<'static> {
    behind(&[Service::Postgres])
}

fn upstream() -> Context<'static> {
    behind(&[Service::Upstream])
}

/// This sentence is said of the one record, and no sentence with these words of it is said of the other.
#[track_caller]
fn says_in(context: &Context, sentence: &str, words: &str, is: &TrialRecord, is_not: &TrialRecord) {
    assert!(sentence.contains(words), "{words}");
    let (text, other) = (explained(is, context).text, explained(is_not, context).text);
    assert!(text.contains(sentence), "{text}");
    assert!(!other.contains(words), "{other}");
}

#[track_caller]
fn says(sentence: &str, words: &str, is: &TrialRecord, is_not: &TrialRecord) {
    says_in(&Context::default(), sentence, words, is, is_not);
}

fn hello() -> ExampleTrial {
    ExampleTrial::hello()
}

/// A target and its services that keep so many processors busy, of one each.
fn beside_services(target: f64, services: f64) -> TrialRecord {
    let mut record = hello().target_cores(target, 1).build();
    let usage = record.usage.as_mut().unwrap();
    let cpu_ns = Some((services * usage.duration_ns as f64) as u64);
    let used = RoleUse { cores: Some(services), cpu_ns, ..RoleUse::default() };
    usage.roles.insert(Role::Services, used);
    record
}

/// Most of ten short connections wait to be accepted.
fn accepting() -> TrialRecord {
    let short = hello().requests_per_connection(1).completed(6_000);
    let mut record = short.target_cores(0.05, 1).build();
    record.usage.as_mut().unwrap().listen_queue = Some((9.2, 10));
    record.load.as_mut().unwrap().measured.connections.reconnects = 6_000;
    record
}

/// So many users, who think for a second after each answer.
fn thinking(server: Truth, users: u64) -> TrialRecord {
    let mut record = Truth { think_ns: SECOND, ..server }.closed(users);
    let think = Spread { mean_ns: SECOND, jitter: 0.0 };
    record.spec.profile.schedule = Schedule::Closed { think: Some(think) };
    record
}

/// Whose processor time is unknown.
fn unseen() -> TrialRecord {
    TrialRecord { usage: None, ..hello().build() }
}

/// The place of a limit in [`each_limit`].
const fn place(limit: Limit) -> usize {
    match limit {
        Limit::NoResult => 0,
        Limit::Generator => 1,
        Limit::Processor { .. } => 2,
        Limit::Database => 3,
        Limit::AtATime { .. } => 4,
        Limit::Upstream => 5,
        Limit::Connections => 6,
        Limit::Accepting => 7,
        Limit::Waiting => 8,
        Limit::WrongAnswers => 9,
        Limit::NotSaturated => 10,
        Limit::Unknown => 11,
    }
}

/// A record of each limit.
fn each_limit() -> Vec<(TrialRecord, Context<'static>)> {
    let at = Context::default;
    vec![
        (answers_only(|_| false, MS).closed(10), at()),
        (hello().generator_busy(0.98).build(), at()),
        (hello().target_cores(0.98, 1).build(), at()),
        (beside_services(0.3, 0.7), database()),
        (pool(4, 20 * MS).closed(64), at()),
        (beside_services(0.3, 0.95), upstream()),
        (pool(4, 20 * MS).closed(4), at()),
        (accepting(), at()),
        (thinking(lock(20 * MS), 100), at()),
        (hello().error(ErrorKind::WrongStatus, 6_000).build(), at()),
        (ExampleTrial::open(10_000.0).build(), at()),
        (unseen(), at()),
    ]
}

#[test]
fn each_limit_has_a_record_here() {
    let all = each_limit();
    let places = all.iter().map(|(record, context)| place(explained(record, context).limit));
    assert_eq!(places.collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
}

/// Other programs and the hypervisor make the same signs as a slow target. Only whose work filled
/// its processors is known there.
#[test]
fn on_a_disturbed_host_no_limit_is_named_but_full_processors() {
    let silence = "Pippin does not say what limits it: other programs or the hypervisor used too much of this machine, and that looks the same.";
    for (mut record, context) in each_limit() {
        let calm = explained(&record, &context);
        assert!(!calm.text.contains(silence), "{}", calm.text);
        // Where the host was not seen, nobody can tell that it was disturbed.
        let Some(usage) = record.usage.as_mut() else { continue };
        usage.other_cores = Some(1.0);
        let beside_others = explained(&record, &context);
        let usage = record.usage.as_mut().unwrap();
        (usage.other_cores, usage.steal_cores) = (Some(0.0), Some(1.0));
        for found in [beside_others, explained(&record, &context)] {
            if matches!(calm.limit, Limit::Processor { .. }) {
                assert_eq!(found.limit, calm.limit);
            } else {
                assert_eq!(found.limit, Limit::Unknown);
                assert!(found.text.starts_with(silence), "{}", found.text);
            }
        }
    }
}

#[test]
fn of_nothing_measured_nothing_is_said() {
    let record = TrialRecord { load: None, ..hello().build() };
    let found = explained(&record, &Context::default());
    let wanted = (Limit::NoResult, "No result: no load was applied.");
    assert_eq!((found.limit, found.text.as_str()), wanted);
}

#[test]
fn wrong_answers_leave_nothing_to_say_about_the_others() {
    let wrong = |count| hello().error(ErrorKind::WrongStatus, count).build();
    let sentence = "2.0 % of the requests had no right answer, so nothing is said about what limits the others.";
    says(sentence, "no right answer", &wrong(6_000), &wrong(3_000));
    let allowed = Context { errors_allowed: 0.05, ..Context::default() };
    let text = explained(&wrong(6_000), &allowed).text;
    assert!(!text.contains("no right answer"), "{text}");
}

#[test]
fn the_generator_is_named_with_what_shows_it() {
    let busy = |share| hello().generator_busy(share).build();
    let sentence = "Limited by the load generator, not by the target: generator core 98.0 % busy over 30.0 s (limit 95 %).";
    says(sentence, "load generator", &busy(0.98), &busy(0.85));
    let under = |ceiling| {
        let ceiling = calibration(ceiling);
        let context = Context { calibration: Some(&ceiling), ..Context::default() };
        explained(&hello().build(), &context).text
    };
    let sentence = "Limited by the load generator, not by the target: 10,000 requests/s are 90.9 % of the 11,000 that this generator can reach (limit 90 %).";
    assert!(under(11_000.0).contains(sentence), "{}", under(11_000.0));
    assert!(!under(11_200.0).contains("load generator"), "{}", under(11_200.0));
}

#[test]
fn one_event_loop_on_four_processors_would_use_more_workers_and_a_lock_would_not() {
    let event_loop = hello().target_cores(1.01, 4).build();
    let mut locked = event_loop.clone();
    let usage = locked.usage.as_mut().unwrap();
    usage.roles.get_mut(&Role::Target).unwrap().busiest_threads = Some(vec![0.07; 14]);
    let sentence =
        "CPU-bound on 1.01 of its 4 processors: it does not use the others; more workers would.";
    says(sentence, "more workers would", &event_loop, &locked);
}

#[test]
fn full_processors_are_told_with_who_took_the_rest() {
    let filled = |cores: f64, given: u32, others: f64, stolen: f64| {
        let mut record = hello().target_cores(cores, given).build();
        let usage = record.usage.as_mut().unwrap();
        let each = (cores + others) / f64::from(given);
        usage.busy_by_cpu.extend((0..given).map(|cpu| (cpu, each)));
        (usage.other_cores, usage.stolen_by_cpu) = (Some(others), [(0, stolen)].into());
        record
    };
    says(
        "Its 2 processors are full: it used 0.90 of them, and other programs took 0.95.",
        "Its 2 processors are full",
        &filled(0.9, 2, 0.95, 0.0),
        &filled(0.9, 2, 0.5, 0.0),
    );
    says(
        "Its 1 processor is full: it used 0.50 of it, and the hypervisor took 0.10, and other programs took 0.35.",
        "Its 1 processor is full",
        &filled(0.5, 1, 0.35, 0.1),
        &filled(0.5, 1, 0.35, 0.0),
    );
}

#[test]
fn services_are_named_if_they_work_more_than_the_target_or_are_full() {
    let working = "Waiting for the database: services keep 0.70 cores busy, the target 0.30.";
    says_in(
        &database(),
        working,
        "Waiting for",
        &beside_services(0.3, 0.7),
        &beside_services(0.3, 0.4),
    );
    let busy = explained(&beside_services(0.8, 0.7), &database()).text;
    assert!(!busy.contains("Waiting for"), "{busy}");
    let full = "Waiting for the upstream, which is at the limit of its processors: services keep 0.95 cores busy, the target 0.30.";
    says_in(
        &upstream(),
        full,
        "Waiting for",
        &beside_services(0.3, 0.95),
        &beside_services(0.3, 0.85),
    );
}

#[test]
fn a_rate_that_is_not_kept_has_a_reason_only_where_requests_are_seen_to_wait() {
    let open = |unsent| ExampleTrial::open(10_000.0).unsent(unsent).build();
    says(
        "It does not keep up (sent 8,000 of 10,000 requests/s offered; 20.0 % of the requests were never sent (limit 1 %)) with 0.50 of its 1 processor busy; nothing measured shows why.",
        "does not keep up",
        &open(60_000),
        &open(0),
    );
    // Readers and writers at one lock, beyond what it lets pass.
    let (beyond, within) = (write_lock().open(2_500.0, 64, 10), write_lock().open(500.0, 64, 10));
    says("It does not keep up (", "does not keep up", &beyond, &within);
    let wait = "busy. Requests wait, and not for a processor: one takes 230 µs alone";
    says(wait, "Requests wait", &beyond, &within);
}

#[test]
fn a_server_that_keeps_up_may_let_requests_wait() {
    let (waits, prompt) = (in_turn(16).open(100.0, 16, 10), pool(1_000, MS).open(500.0, 64, 10));
    for record in [&waits, &prompt] {
        let text = explained(record, &Context::default()).text;
        assert!(text.starts_with("Not saturated: it keeps up with the offered load,"), "{text}");
    }
    let wait = "busy. Requests wait, and not for a processor: one takes";
    says(wait, "Requests wait", &waits, &prompt);
}

#[test]
fn of_users_who_think_only_a_request_alone_shows_whether_they_wait() {
    let (queue, prompt) = (thinking(lock(20 * MS), 100), thinking(pool(1_000, MS), 20));
    let got = "Its users, who think between requests, got ";
    says(got, got, &queue, &prompt);
    let wait = "busy. Requests wait, and not for a processor: one takes 20.0 ms alone";
    says(wait, "Requests wait", &queue, &prompt);
    let unknown = TrialRecord { single: None, ..queue.clone() };
    let silence = "busy; nothing measured shows whether they waited.";
    says(silence, "nothing measured shows", &unknown, &queue);
    assert_eq!(explained(&unknown, &Context::default()).limit, Limit::Unknown);
}

#[test]
fn connections_are_the_limit_only_beside_a_request_that_was_alone() {
    let alone = pool(4, 20 * MS).closed(4);
    let unknown = TrialRecord { single: None, ..alone.clone() };
    says(
        "Limited by the 4 connections: each waits 20.0 ms for its answer, and a request that is alone takes 20.0 ms. The target keeps 0.00 of its 1 processor busy.",
        "Limited by",
        &alone,
        &unknown,
    );
    says(
        "The target keeps 0.00 of its 1 processor busy, and a request takes 20.0 ms; nothing measured shows what limits it.",
        "nothing measured shows",
        &unknown,
        &alone,
    );
    let mut untimed = alone.clone();
    untimed.load.as_mut().unwrap().measured.spans.service_time = Histogram::new();
    says("No time of an answer is known, nor what limits it.", "No time", &untimed, &alone);
}

#[test]
fn costs_are_of_those_whose_work_was_counted() {
    let counted = |of| TrialRecord { instructions: Some(of), ..hello().build() };
    let known = Instructions { per_request: Some(7_530.0), ..Instructions::unknown("") };
    says(
        "CPU per request: target 50.0 µs, generator 40.0 µs. Instructions per request: 7,530.",
        "Instructions",
        &counted(known),
        &counted(Instructions::unknown("nobody counted")),
    );
    says(
        "CPU per request: target 50.0 µs, services 70.0 µs, generator 40.0 µs.",
        "services",
        &beside_services(0.5, 0.7),
        &hello().build(),
    );
}
