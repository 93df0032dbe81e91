//! What a profiler saw of the targets, beside the figures of the run.
use maud::{Markup, PreEscaped, html};
use pippin_model::trial::explained::Explained;

use crate::flame;
use crate::view::View;
use crate::words;

/// The number of functions that are named in words.
const HOTTEST: usize = 5;

pub fn section(view: &View) -> Markup {
    let Some(first) = view.explained.first() else { return html! {} };
    html! {
        section id="explained" {
            h2 { "Where the processor time goes" }
            p.hint {
                "Each target was loaded once more under " code { "perf" } ": samples of its stacks by the processor's clock, then counts of its system calls. Nothing of this is in the figures above. "
                @if !first.has_hardware_counters { "This machine has no hardware counters, as most virtual machines: instructions and cache misses cannot be told." }
            }
            div.scroll tabindex="0" role="region" aria-label="Calls of the kernel, scrolls sideways" { (table(view)) }
            @for one in &view.explained { (graph(one)) }
            @for (from, to) in pairs(view) { (difference(from, to)) }
        }
    }
}

fn table(view: &View) -> Markup {
    html! {
        table {
            thead { tr { th scope="col" { "Target" } th.number scope="col" { "System calls per request" } th.number scope="col" { "Context switches per request" } th.number scope="col" { "CPU per request" } th.number scope="col" { "while sampled" } th.number scope="col" { "while counted" } } }
            tbody { @for one in &view.explained { tr {
                th scope="row" { (one.target) }
                td.number { (words::count(one.syscalls_per_request)) }
                td.number { (words::count(one.switches_per_request)) }
                td.number { (words::ns_f(undisturbed_ns(view, one))) }
                td.number { (words::ns_f(one.cpu_per_request_ns)) }
                td.number { (words::ns_f(one.cpu_per_request_counted_ns)) }
            } } }
        }
    }
}

/// CPU time of a request in the run itself.
fn undisturbed_ns(view: &View, one: &Explained) -> Option<f64> {
    let row = view.rows.iter().find(|row| row.target == one.target)?;
    row.cpu_s_per_million.map(|figure| figure.median * 1e3)
}

fn graph(one: &Explained) -> Markup {
    let hottest: Vec<String> = one
        .hottest(HOTTEST)
        .into_iter()
        .map(|(name, share)| format!("{name} {}", words::percent(share)))
        .collect();
    html! {
        h3 { (one.target) }
        @if let Some(failure) = &one.failure { p.notice { "Not complete: " (failure) } }
        @if let Some(svg) = flame::graph(&one.target.to_string(), &one.stacks) {
            p { (words::whole(one.samples)) " samples. Most of them in " (hottest.join(", ")) "." }
            figure.flame tabindex="0" role="region" aria-label=(format!("Flame graph of {}, scrolls sideways", one.target)) { (PreEscaped(svg)) }
        } @else if one.failure.is_none() {
            p { "No samples: the target used too little processor time." }
        }
    }
}

fn difference(from: &Explained, to: &Explained) -> Markup {
    let title = format!("{} compared with {}", to.target, from.target);
    html! {
        @if let Some(svg) = flame::difference(&title, &from.stacks, &to.stacks) {
            h3 { (title) }
            p.hint { "Red frames have a greater share of the samples than in " (from.target) ", blue ones a smaller one." }
            figure.flame tabindex="0" role="region" aria-label=(format!("Flame graph of the difference: {title}, scrolls sideways")) { (PreEscaped(svg)) }
        }
    }
}

/// Pairs of targets of one language, because their functions have the same names: each target with
/// the first.
fn pairs(view: &View) -> Vec<(&Explained, &Explained)> {
    let all = &view.explained;
    all.iter()
        .enumerate()
        .filter_map(|(place, to)| {
            let is_alike = |from: &&Explained| {
                from.target.language == to.target.language && !to.target.is_own()
            };
            Some((all[..place].iter().find(is_alike)?, to))
        })
        .collect()
}
