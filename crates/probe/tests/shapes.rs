//! Who is counted as the server, for the shapes in which servers run: a scripted server of each shape
//! says by the kernel's own account what it used, and what is counted from outside must be that,
//! within 3 %, or the gap must be said.
//!
//! All work is done between the first and the last sample, so that no result depends on time.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]
use pippin_model::host::usage::{Role, Usage};
use pippin_probe::sampler::Sampled;
use pippin_probe::server::{NoServer, Place, Servers, behind, of_processes};
use pippin_probe::{Roots, Sampler, Serving, usage_between};
use pippin_testing::patience::in_time;
use pippin_testing::shapes::{Done, Shape, scheduled_ns};
use pippin_testing::skipped::skip;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

pippin_testing::patient_tests!(
    one_process_that_serves,
    workers_share_a_socket_and_each_is_known,
    children_that_are_waited_for,
    java_is_found_by_its_mapped_address,
    of_two_servers_on_one_port_the_one_that_is_loaded_counts,
    an_application_behind_a_proxy_is_a_tier,
    a_server_that_hands_over_and_ends_is_followed,
    who_joins_with_a_socket_of_its_own_and_who_leaves,
    a_server_that_executes_itself_anew_is_the_same,
    a_worker_that_ends_after_each_request_counts,
    a_server_that_dies_is_dead_and_its_last_figure_stays,
    a_daemon_on_a_unix_socket_is_found_by_its_inode,
    another_child_of_a_supervisor_is_left_out,
    a_job_that_holds_the_socket_and_does_nothing_adds_nothing,
    a_job_that_holds_the_socket_and_works_is_left_out,
    a_worker_of_another_port_is_left_out,
    two_generations_that_serve_at_once_both_count,
    a_reload_by_another_user_is_followed,
    a_process_that_passes_connections_on_to_a_container_has_it_as_a_tier,
    a_server_whose_first_thread_ended_and_one_that_is_named_by_a_thread,
    odd_names_are_shown_in_one_line_and_count,
    a_server_in_another_network_namespace_is_here,
    the_quota_of_its_group_is_known_with_the_periods_in_which_it_waited,
    what_it_may_use_is_its_own,
);

/// Work of one row, in milliseconds: more than the ticks in which the kernel counts.
const WORK_MS: u64 = 800;
/// What is counted is right within this part.
const RIGHT: f64 = 0.03;

/// What was counted, and what is true.
#[derive(Debug)]
struct Account {
    usage: Usage,
    sampled: Sampled,
    truth_ns: u64,
}

impl Account {
    /// Counts what these servers use while the work is done, which returns the truth.
    fn count(place: Place, servers: Servers, work: impl FnOnce() -> u64) -> Self {
        let target = servers.processes.iter().map(|server| server.root).collect();
        let roots = Roots {
            roles: BTreeMap::from([(Role::Target, target)]),
            apart: servers.apart.clone(),
            serving: Some(Serving { place, servers, follows: true }),
            ..Roots::default()
        };
        let sampler = Sampler::start(roots, Duration::from_millis(50), None).unwrap();
        let truth_ns = work();
        let sampled = sampler.pause();
        let (first, last) = (&sampled.samples[0], sampled.samples.last().unwrap());
        let usage = usage_between(&sampled.samples, first.at_ns, last.at_ns).unwrap();
        Self { usage, sampled, truth_ns }
    }

    fn counted_ns(&self) -> u64 {
        self.usage.roles[&Role::Target].cpu_ns.unwrap()
    }

    #[track_caller]
    fn is_right(&self) -> &Self {
        let (counted, truth) = (self.counted_ns() as f64, self.truth_ns as f64);
        // What a server does besides, as to accept and to close, takes longer on a busy machine.
        in_time((counted / truth - 1.0).abs() <= RIGHT, || {
            format!("counted {counted}, used {truth}: {:?}", self.usage)
        });
        self
    }

    /// It is not more than the truth, and where something is missing, that is said.
    #[track_caller]
    fn is_right_or_says_the_gap(&self) -> &Self {
        let (counted, truth) = (self.counted_ns() as f64, self.truth_ns as f64);
        in_time(counted <= truth * (1.0 + RIGHT), || format!("counted {counted}, used {truth}"));
        let says = self.usage.unseen_ns.is_some_and(|ns| ns > 0) || self.usage.unbilled;
        assert!(
            says || counted >= truth * (1.0 - RIGHT),
            "counted {counted}, used {truth}: {:?}",
            self.usage
        );
        self
    }
}

fn start(kind: &str, arguments: &[&str]) -> Shape {
    Shape::start(kind, arguments).unwrap().unwrap()
}

fn at(address: SocketAddr) -> Place {
    Place::Addresses(vec![address])
}

/// What is counted of a shape while it answers four requests.
#[track_caller]
fn counted(mut shape: Shape) -> Account {
    let place = at(shape.address());
    let servers = behind(&place).unwrap();
    Account::count(place, servers, || four(|ms| shape.burn(ms).unwrap()))
}

fn four(mut burn: impl FnMut(u64) -> Done) -> u64 {
    (0..4).map(|_| burn(WORK_MS / 4).used_ns).sum()
}

fn one_process_that_serves() {
    counted(start("plain", &[])).is_right();
}

fn workers_share_a_socket_and_each_is_known() {
    let account = counted(start("workers", &["3"]));
    account.is_right();
    assert_eq!(account.usage.roles[&Role::Target].workers_ns.len(), 3);
}

fn children_that_are_waited_for() {
    let account = counted(start("forking", &[]));
    // The kernel bills children in ticks, user and system time apart.
    in_time(account.counted_ns().abs_diff(account.truth_ns) <= 4 * 20_000_000, || {
        format!("{account:?}")
    });
}

fn java_is_found_by_its_mapped_address() {
    let mut shape = start("plain", &["::ffff:127.0.0.1"]);
    let place = at(shape.address());
    let servers = behind(&place).unwrap();
    assert_eq!(servers.processes[0].pid, shape.pid());
    Account::count(place, servers, || four(|ms| shape.burn(ms).unwrap())).is_right();
}

fn of_two_servers_on_one_port_the_one_that_is_loaded_counts() {
    let mut shape = start("shared", &["0.0.0.0"]);
    let mut other = start("only_v6", &[&shape.port.to_string()]);
    let place = at(shape.address());
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        let v6 = SocketAddr::new("::1".parse().unwrap(), shape.port);
        other.burn_at(v6, 100).unwrap();
        four(|ms| shape.burn(ms).unwrap())
    });
    account.is_right();
    // A more specific address beside a wildcard.
    let special = start("shared", &["127.0.0.3", &shape.port.to_string()]);
    let to = |ip: &str| at(SocketAddr::new(ip.parse().unwrap(), shape.port));
    assert_eq!(behind(&to("127.0.0.3")).unwrap().processes[0].pid, special.pid());
    assert_eq!(behind(&to("127.0.0.4")).unwrap().processes[0].pid, shape.pid());
    assert_eq!(behind(&to("0.0.0.0")).unwrap().processes[0].pid, shape.pid());
}

/// Before it, there may be one connection more: the front's.
fn an_application_behind_a_proxy_is_a_tier() {
    for is_unix in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app").display().to_string();
        let app = start("application", &[path.as_str()][usize::from(!is_unix)..]);
        let upstream = if is_unix { path.clone() } else { app.port.to_string() };
        let account = counted(start("proxy", &[&upstream]));
        account.is_right();
        let [front, tier] = &account.usage.tiers[..] else {
            panic!("{is_unix}: {:?}", account.usage.tiers);
        };
        assert_eq!(tier.name, "app");
        let (front, tier) = (front.used.cpu_ns.unwrap() as f64, tier.used.cpu_ns.unwrap() as f64);
        assert!((0.05..0.2).contains(&(front / tier)), "a tenth: {front} of {tier}");
    }
}

fn a_server_that_hands_over_and_ends_is_followed() {
    let mut shape = start("hand_over", &[]);
    let place = at(shape.address());
    let first = shape.pid();
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        let before = four(|ms| shape.burn(ms).unwrap());
        assert_eq!(shape.go().unwrap().pid, first);
        before + four(|ms| shape.burn(ms).unwrap())
    });
    account.is_right_or_says_the_gap();
    assert_ne!(shape.pids.last(), Some(&first));
    assert_eq!(account.sampled.ended.len(), 1, "{:?}", account.sampled.ended);
    assert!(!account.sampled.is_over);
}

fn who_joins_with_a_socket_of_its_own_and_who_leaves() {
    let mut first = start("shared", &[]);
    let place = at(first.address());
    let mut second = None;
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        let before = four(|ms| first.burn(ms).unwrap());
        let joined = second.insert(start("shared", &["127.0.0.1", &first.port.to_string()]));
        first.kill();
        four(|ms| joined.burn(ms).unwrap());
        // All of it: it began after sampling did.
        before + scheduled_ns(joined.pid()).unwrap()
    });
    account.is_right_or_says_the_gap();
}

fn a_server_that_executes_itself_anew_is_the_same() {
    let mut shape = start("again", &[]);
    let (place, pid) = (at(shape.address()), shape.pid());
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        let before = scheduled_ns(pid).unwrap();
        four(|ms| shape.burn(ms).unwrap());
        shape.go().unwrap();
        four(|ms| shape.burn(ms).unwrap());
        scheduled_ns(pid).unwrap() - before
    });
    account.is_right();
    assert!(account.sampled.ended.is_empty(), "{:?}", account.sampled.ended);
}

fn a_worker_that_ends_after_each_request_counts() {
    let mut shape = start("orphaning", &[]);
    let place = at(shape.address());
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        (0..4)
            .map(|_| {
                let used = shape.burn(WORK_MS / 4).unwrap().used_ns;
                shape.go().unwrap();
                used
            })
            .sum()
    });
    // Ticks of four deaths, and the start of four workers.
    let (counted, truth) = (account.counted_ns(), account.truth_ns);
    in_time(counted.abs_diff(truth) <= 5 * 20_000_000, || format!("{counted} of {truth}"));
}

fn a_server_that_dies_is_dead_and_its_last_figure_stays() {
    let mut shape = start("plain", &[]);
    let place = at(shape.address());
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        let used = four(|ms| shape.burn(ms).unwrap());
        shape.kill();
        while behind(&place) != Err(NoServer::NobodyListens) {}
        // Three looks of a tenth of a second find nobody.
        std::thread::sleep(Duration::from_millis(3_000));
        used
    });
    account.is_right_or_says_the_gap();
    assert_eq!(account.sampled.ended[0].server.pid, shape.pid());
    assert!(account.sampled.is_over);
}

/// SO_PEERCRED names a process that has ended.
fn a_daemon_on_a_unix_socket_is_found_by_its_inode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut shape = start("daemon", &[&path.display().to_string()]);
    let place = Place::UnixSocket(path);
    let servers = behind(&place).unwrap();
    let pids: Vec<i32> = servers.processes.iter().map(|server| server.pid).collect();
    assert_eq!(pids, [shape.pid()]);
    Account::count(place, servers, || four(|ms| shape.burn(ms).unwrap())).is_right();
}

fn another_child_of_a_supervisor_is_left_out() {
    counted(start("supervisor", &[])).is_right();
}

fn a_job_that_holds_the_socket_and_does_nothing_adds_nothing() {
    counted(start("leak", &[])).is_right();
}

/// It works as much as the server does, and never accepts.
fn a_job_that_holds_the_socket_and_works_is_left_out() {
    let account = counted(start("busy_leak", &[]));
    account.is_right();
    let [job] = &account.sampled.left_out[..] else { panic!("{:?}", account.sampled.left_out) };
    assert!(job.used.len() > 2, "{job:?}");
}

/// As pm2 and the cluster of Node with two applications.
fn a_worker_of_another_port_is_left_out() {
    let mut shape = start("two_ports", &[]);
    let place = at(shape.address());
    let master = shape.pid();
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        let before = scheduled_ns(master).unwrap();
        four(|ms| shape.burn(ms).unwrap()) + scheduled_ns(master).unwrap() - before
    });
    account.is_right();
    assert_eq!(account.sampled.left_out.len(), 1, "{:?}", account.sampled.left_out);
}

/// The second one is started by the first, serves beside it, and goes on when that has ended.
fn two_generations_that_serve_at_once_both_count() {
    let mut shape = start("generations", &[]);
    let place = at(shape.address());
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        let first = shape.pid();
        let before = scheduled_ns(first).unwrap();
        four(|ms| shape.burn(ms).unwrap());
        shape.go().unwrap();
        four(|ms| shape.burn(ms).unwrap());
        let of_first = scheduled_ns(first).unwrap() - before;
        shape.kill();
        four(|ms| shape.burn(ms).unwrap());
        // All of the second one: it began after sampling did.
        of_first + scheduled_ns(*shape.pids.last().unwrap()).unwrap()
    });
    account.is_right_or_says_the_gap();
    assert_ne!(shape.pids.last(), Some(&shape.pid()));
    assert!(account.sampled.left_out.is_empty(), "{:?}", account.sampled.left_out);
    assert!(!account.sampled.is_over);
}

/// The workers of a server of an ordinary user are followed by others; this process may see them.
fn a_reload_by_another_user_is_followed() {
    // SAFETY: geteuid(2) cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return skip("a reload by another user", "only root may become another user");
    }
    let mut shape = start("reloading", &[]);
    let place = at(shape.address());
    let account = Account::count(place.clone(), behind(&place).unwrap(), || {
        let before = four(|ms| shape.burn(ms).unwrap());
        let old = shape.go().unwrap().pid;
        let after = four(|ms| shape.burn(ms).unwrap());
        assert_ne!(shape.pids.last(), Some(&old));
        before + after
    });
    // The kernel bills a worker that ended in ticks, user and system time apart.
    in_time(account.counted_ns().abs_diff(account.truth_ns) <= 3 * 20_000_000, || {
        format!("{account:?}")
    });
}

/// As docker-proxy before a container.
fn a_process_that_passes_connections_on_to_a_container_has_it_as_a_tier() {
    let Some(shape) = Shape::start("contained", &[]).unwrap() else {
        return skip("a proxy before a container", "no namespace or interface may be made here");
    };
    let account = counted(shape);
    account.is_right();
    let names: Vec<&str> = account.usage.tiers.iter().map(|tier| tier.name.as_str()).collect();
    assert_eq!(names, ["first", "app"], "{:?}", account.usage.tiers);
}

fn a_server_whose_first_thread_ended_and_one_that_is_named_by_a_thread() {
    let mut shape = start("threads", &[]);
    let threads: BTreeSet<i32> = std::fs::read_dir(format!("/proc/{}/task", shape.pid()))
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    let place = at(shape.address());
    let last = *threads.last().unwrap();
    assert_ne!(last, shape.pid());
    let servers = of_processes(&[last]).unwrap();
    assert_eq!(servers.processes[0].pid, shape.pid());
    assert_eq!(servers, behind(&place).unwrap());
    Account::count(place, servers, || four(|ms| shape.burn(ms).unwrap())).is_right();
}

fn odd_names_are_shown_in_one_line_and_count() {
    for (name, right) in [("a\\n(b) S 1", "(b) S 1"), ("", "unnamed")] {
        let mut shape = start("named", &[name]);
        let place = at(shape.address());
        let servers = behind(&place).unwrap();
        let shown = servers.processes[0].name.clone();
        assert!(shown.lines().count() == 1 && shown.ends_with(right), "{shown:?}");
        Account::count(place, servers, || four(|ms| shape.burn(ms).unwrap())).is_right();
    }
}

fn a_server_in_another_network_namespace_is_here() {
    let Some(mut shape) = Shape::start("lonely", &["10.213.77.5"]).unwrap() else {
        return skip("a server in another network namespace", "no namespace may be made here");
    };
    let place = at(SocketAddr::new("10.213.77.5".parse().unwrap(), shape.port));
    let servers = behind(&place).unwrap();
    assert_eq!(servers.processes[0].pid, shape.pid());
    Account::count(place, servers, || four(|ms| shape.burn_inside(ms).unwrap())).is_right();
    let nobody = at(SocketAddr::new("10.213.77.6".parse().unwrap(), shape.port));
    assert_eq!(behind(&nobody), Err(NoServer::Elsewhere));
}

fn the_quota_of_its_group_is_known_with_the_periods_in_which_it_waited() {
    let Some(shape) = Shape::start("limited", &[]).unwrap() else {
        return skip("a server with a quota", "no control group may be made here");
    };
    let groups = ["cpu/", ""].map(|above| {
        std::path::PathBuf::from(format!("/sys/fs/cgroup/{above}pippin-shape-{}", shape.pid()))
    });
    let account = counted(shape);
    for group in groups {
        // As long as its process is not gone, it is busy.
        while group.is_dir() && std::fs::remove_dir(&group).is_err() {}
    }
    account.is_right();
    let may_use = account.usage.may_use.clone().unwrap();
    assert_eq!(may_use.quota, Some(0.5), "{may_use:?}");
    assert!(may_use.throttled > 0 && may_use.periods >= may_use.throttled, "{may_use:?}");
}

fn what_it_may_use_is_its_own() {
    let account = counted(start("bound", &[]));
    account.is_right();
    let may_use = account.usage.may_use.clone().unwrap();
    assert_eq!(may_use.cpus.len(), 1, "{may_use:?}");
}
