//! The tiers of a loaded server: a bar of their processor time, and a table.
use maud::{Markup, html};

use super::figures::data;
use crate::chart::DataTable;
use crate::chart::palette::FEWEST;
use crate::view::View;
use crate::view::load::{LoadView, ServerView, TierView};
use crate::words;

/// The section of the tiers; nothing if there is only one, or if targets of a catalog were measured.
pub fn section(view: &View) -> Markup {
    let with_tiers: Vec<(&LoadView, &ServerView)> = view
        .loads
        .iter()
        .filter_map(|load| Some((load, load.server.as_ref()?)))
        .filter(|(_, server)| server.tiers.len() > 1)
        .collect();
    html! {
        @if let Some((_, server)) = with_tiers.last() {
            section id="tiers" {
                h2 { "Who did the work" }
                p.hint { "Processor time of each tier of the server in the last load." }
                (bar(server))
                (data(&table(server)))
            }
        }
    }
}

/// Each tier as a part of the whole. The table has the figures, so the bar is hidden from readers
/// aloud.
fn bar(server: &ServerView) -> Markup {
    let all: f64 = server.tiers.iter().filter_map(|tier| tier.cores).sum();
    let part = |tier: &TierView| 100.0 * tier.cores.unwrap_or(0.0) / all;
    html! {
        @if all > 0.0 {
            svg.tiers viewBox="0 0 100 6" preserveAspectRatio="none" width="100%" height="24" aria-hidden="true" {
                @for (nth, (from, tier)) in starts(server, part).into_iter().enumerate() {
                    rect x=(format!("{from:.2}")) y="0" height="6" width=(format!("{:.2}", part(tier)))
                        style=(format!("fill:{}", shade(nth))) { title { (tier.name) } }
                }
            }
            p.hint aria-hidden="true" {
                @for (nth, tier) in server.tiers.iter().enumerate() {
                    svg width="12" height="12" { rect width="12" height="12" style=(format!("fill:{}", shade(nth))) {} }
                    (format!(" {} {:.0} % ", tier.name, part(tier)))
                }
            }
        }
    }
}

/// The colour of the part at this place, as in the charts.
fn shade(nth: usize) -> String {
    format!("var(--s{})", nth % FEWEST)
}

/// Where the part of each tier begins.
fn starts(server: &ServerView, part: impl Fn(&TierView) -> f64) -> Vec<(f64, &TierView)> {
    let mut from = 0.0;
    let place = |tier| {
        let start = from;
        from += part(tier);
        (start, tier)
    };
    server.tiers.iter().map(place).collect()
}

fn table(server: &ServerView) -> DataTable {
    let titles = ["tier", "processors", "CPU per request", "memory", "processes"];
    let cells = server.tiers.iter().map(|tier| {
        vec![
            tier.name.clone(),
            tier.cores.map_or("-".into(), |cores| format!("{cores:.2}")),
            words::ns_f(tier.cpu_per_request_ns),
            tier.max_memory_bytes.map_or("-".into(), pippin_model::text::units::format_bytes),
            tier.processes.map_or("-".into(), |number| number.to_string()),
        ]
    });
    DataTable { columns: titles.map(Into::into).to_vec(), rows: cells.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tier_has_its_part_of_the_bar_and_its_name() {
        let tier = |name: &str, cores| TierView {
            name: name.into(),
            cores: Some(cores),
            cpu_per_request_ns: None,
            max_memory_bytes: None,
            processes: Some(1),
        };
        let server = ServerView {
            processes: Vec::new(),
            unmeasured: None,
            cores: Some(0.8),
            cpu_per_request_ns: None,
            max_memory_bytes: None,
            tiers: vec![tier("nginx", 0.08), tier("node", 0.4), tier("postgres", 0.32)],
            unseen_ns: None,
            runtimes: Vec::new(),
        };
        let page = bar(&server).into_string();
        for expected in [
            r#"x="0.00" y="0" height="6" width="10.00""#,
            r#"x="10.00" y="0" height="6" width="50.00""#,
            r#"x="60.00" y="0" height="6" width="40.00""#,
            " nginx 10 % ",
            " node 50 % ",
            " postgres 40 % ",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
