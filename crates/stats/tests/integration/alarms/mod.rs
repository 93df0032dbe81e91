//! How often `pippin ci` raises a false alarm, and how soon it finds a change: comparisons of a server
//! with itself on recorded noise, decided by the code of `pippin ci`.
//!
//! A small part with a fixed seed runs with all tests. `make alarms` makes 2,600 comparisons without a
//! change, 200 with 5 % and 200 with 10 % more CPU time for a request, and prints the table that
//! docs/ci.md quotes. A comparison draws starts from one recorded series, two in a row, with all their
//! rounds. Both sides are the same program, so which of them is the base is drawn too.
#![allow(clippy::print_stdout)] // the table, for readers of the output
mod comparison;
pub mod recorded;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::time::Duration;

use comparison::{Comparisons, End};
use recorded::Series;

const ENV: &str = "PIPPIN_ALARMS";

/// What is compared: how much more CPU time a request takes, and the time within which that is to be
/// found.
const CHANGES: [(f64, u64); 3] = [(0.0, 600), (0.05, 240), (0.10, 90)];

fn ends(series: &[Series], more: f64, count: usize) -> Vec<End> {
    let comparisons = Comparisons::new(series, more);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_127);
    (0..count).map(|_| comparisons.one(&mut random)).collect()
}

fn count(ends: &[End], is: impl Fn(&End) -> bool) -> usize {
    ends.iter().filter(|end| is(end)).count()
}

fn failed(ends: &[End]) -> usize {
    count(ends, |end| end.failed.is_some())
}

fn undecided(ends: &[End]) -> usize {
    count(ends, |end| end.failed.is_none() && !end.passed)
}

fn in_time(ends: &[End], within_s: u64) -> usize {
    count(ends, |end| end.failed.is_some() && end.took <= Duration::from_secs(within_s))
}

fn row(name: &str, (more, within_s): (f64, u64), ends: &[End]) {
    let mut seconds: Vec<u64> = ends.iter().map(|end| end.took.as_secs()).collect();
    seconds.sort_unstable();
    let (median, most) =
        (seconds[seconds.len() / 2], seconds[(seconds.len() * 95).div_ceil(100) - 1]);
    println!(
        "| {name} | +{:.0} % | {} | {} | {} within {within_s} s | {} | {median} s | {most} s |",
        more * 100.0,
        ends.len(),
        failed(ends),
        in_time(ends, within_s),
        undecided(ends)
    );
}

/// Which changes were open at the end of those that are undecided, and why.
fn open(name: &str, ends: &[End]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for end in ends.iter().filter(|end| end.failed.is_none()) {
        let open = end.open.iter().map(|(gate, doubt)| format!("{gate}: {doubt:?}"));
        let words: Vec<String> = open.collect();
        if !words.is_empty() {
            *counts.entry(words.join(", ")).or_default() += 1;
        }
    }
    counts.into_iter().for_each(|(words, count)| println!("{name}: {count} open by {words}"));
}

/// The table for docs/ci.md: each series by itself, then all of them.
fn whole(series: &[Series]) {
    println!("| noise | CPU time | comparisons | failed | in time | undecided | median | 95 % |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let mut all = CHANGES.map(|_| Vec::new());
    for one in series {
        for (of_all, (more, within_s)) in all.iter_mut().zip(CHANGES) {
            let number = if more == 0.0 { 2_600_usize.div_ceil(series.len()) } else { 200 };
            let found = ends(std::slice::from_ref(one), more, number);
            row(&format!("{}, {}", one.server, one.beside), (more, within_s), &found);
            open("", &found);
            of_all.extend(found);
        }
    }
    for (found, change) in all.iter().zip(CHANGES) {
        row("all", change, found);
    }
    assert!(failed(&all[0]) <= 3, "{} alarms of {}", failed(&all[0]), all[0].len());
}

#[test]
fn a_server_compared_with_itself_raises_no_alarm_and_a_change_is_found() {
    let series = recorded::all();
    if std::env::var_os(ENV).is_some() {
        return whole(&series);
    }
    let equal = ends(&series, 0.0, 200);
    row("all", CHANGES[0], &equal);
    assert_eq!(failed(&equal), 0, "alarms");
    // The scatter of its starts is the least.
    let of_nginx = &series[..1];
    assert_eq!(of_nginx[0].server, "nginx");
    assert_eq!(undecided(&ends(of_nginx, 0.0, 20)), 0);
    for (more, within_s) in CHANGES.into_iter().skip(1) {
        let found = ends(of_nginx, more, 20);
        row("nginx", (more, within_s), &found);
        assert!(in_time(&found, 240) >= 19, "{more}: {} of 20", in_time(&found, 240));
    }
}
