//! The report of a run as one HTML page. It loads nothing from elsewhere, reads well on a
//! telephone, prints, and works without its script (which adds sorting, a choice of theme, and
//! saving of charts).
//!
//! | module | what it writes |
//! |---|---|
//! | `answer` | the answer, and whether it can be trusted |
//! | `headline`, `bar` | the ranked table, and the bar of a row |
//! | `choice` | which of its rows are shown, and in which groups |
//! | `figures` | charts with alternative text and data tables |
//! | `scan` | a parameter over its values |
//! | `stages` | stages of loads that change by plan |
//! | `walks` | steps of scenarios |
//! | `remarks` | verdicts with evidence, failures, explanations |
//! | `events` | streams of server-sent events |
//! | `explained` | what a profiler saw of the targets |
//! | `life` | starts, memory and end of the targets |
//! | `conformance` | answers at the edges of HTTP/1.1 |
//! | `facts` | host, versions, plan, manifests, how figures were taken |
//! | `theme` | colours of the charts on dark ground |
mod answer;
mod bar;
mod choice;
pub mod conformance;
mod events;
mod explained;
pub(crate) mod facts;
pub(crate) mod figures;
mod headline;
mod life;
mod remarks;
mod scan;
mod slowest;
mod stages;
mod theme;
mod tiers;
mod walks;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pippin_model::run::RunState;
use pippin_model::target::TargetId;
use pippin_model::text::printable::{is_printable, printable};
use pippin_model::text::units::counted;

use crate::chart;
use crate::form::{Form, Write};
use crate::view::{self, View};
use crate::words;

/// The style sheet of every page.
pub const STYLE: &str = include_str!("html/style.css");
/// The script of every page.
pub const SCRIPT: &str = include_str!("html/script.js");
/// The script that filters the rows of a ranked table, for pages that have one.
const ROWS_SCRIPT: &str = include_str!("html/rows.js");
const ROWS_MARK: &str = "filter rows";
/// uPlot, as its authors publish it (`vendor/uplot/README.md`), and the script that uses it.
const PLOT_SCRIPTS: [&str; 2] =
    [include_str!("../vendor/uplot/uPlot.iife.min.js"), include_str!("html/plots.js")];
/// uPlot's licence, which must be part of every copy.
const PLOT_LICENCE: &str = include_str!("../vendor/uplot/LICENSE");
const PLOT_STYLE: &str = include_str!("../vendor/uplot/uPlot.min.css");
/// Text that marks pages with interactive charts, or pages in which such charts may appear later.
const PLOT_MARK: &str = "class=\"plot-data\"";
const LIVE_MARK: &str = "data-live=";
/// Two bars of different lengths, the sign of a comparison.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect y='2' width='16' height='5' fill='%230073c0'/%3E%3Crect y='9' width='9' height='5' fill='%23bd5508'/%3E%3C/svg%3E";

/// A page may fetch nothing, whatever it contains. Saving a chart needs `img-src`.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";

/// This form.
pub const FORM: Form = Form {
    name: "html",
    about: "The page",
    media_type: "text/html; charset=utf-8",
    extension: "html",
    write: Write::View(|view| Ok(page(view).into_bytes())),
};

/// The page of a run.
#[must_use]
pub fn page(view: &View) -> String {
    let page = Page { policy: Some(POLICY), about: Some(about(view)), address: None };
    let title = format!("{} · Pippin", view.run.title);
    whole(&title, &theme::series_rules(view), &run(view), &page).into_string()
}

pub use figures::figure;
pub use headline::badge;
pub use theme::{rules, series_rules};

/// What a page is about, for those who are shown a link to it: the answer, and whether it can be
/// trusted.
#[must_use]
pub fn about(view: &View) -> String {
    let answer = match view::answer::line(view) {
        line if line.is_empty() => view.conclusion.clone(),
        line => format!("{line}."),
    };
    format!("{answer} {}", view.trust.words())
}

/// A page that is kept as a file. A policy inside the page forbids it to fetch anything.
pub(crate) fn document(title: &str, rules: &str, body: &Markup) -> Markup {
    whole(title, rules, body, &Page { policy: Some(POLICY), ..Page::default() })
}

/// Where a page of a site is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The page.
    pub url: String,
    /// The picture that previews of links to it show.
    pub picture: Option<String>,
}

/// A page of a site that is kept as files: what it is about, and its address where that is known.
#[must_use]
pub fn document_of_site(
    title: &str,
    rules: &str,
    body: &Markup,
    about: &str,
    address: Option<Address>,
) -> String {
    let page = Page { policy: Some(POLICY), about: Some(about.into()), address };
    whole(title, rules, body, &page).into_string()
}

/// A page that a server sends. The server sends the policy as a header. `rules` are extra style
/// rules.
#[must_use]
pub fn document_served(title: &str, rules: &str, body: &Markup) -> Markup {
    whole(title, rules, body, &Page::default())
}

/// What the head of a page holds besides its title.
#[derive(Debug, Default)]
struct Page {
    /// The policy of a page that no server sends.
    policy: Option<&'static str>,
    /// For those who are shown a link to it.
    about: Option<String>,
    /// Where it is on the web.
    address: Option<Address>,
}

/// Builds the page without control characters. A view has none, but other pages also show text of
/// others: names of runs, lines of progress.
fn whole(title: &str, rules: &str, body: &Markup, page: &Page) -> Markup {
    let has_odd = !body.0.chars().chain(title.chars()).all(is_printable);
    let body = if has_odd { &PreEscaped(printable(&body.0)) } else { body };
    let title = printable(title);
    let has_plots = body.0.contains(PLOT_MARK) || body.0.contains(LIVE_MARK);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                @if let Some(policy) = page.policy { meta http-equiv="Content-Security-Policy" content=(policy); }
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href=(ICON);
                @if let Some(about) = page.about.as_deref().map(printable) {
                    meta name="description" content=(about);
                    meta property="og:title" content=(title);
                    meta property="og:description" content=(about);
                }
                @if let Some(Address { url, picture }) = &page.address {
                    meta property="og:url" content=(url);
                    link rel="canonical" href=(url);
                    @if let Some(picture) = picture {
                        meta property="og:image" content=(picture);
                        meta name="twitter:card" content="summary_large_image";
                    }
                }
                style { (PreEscaped(STYLE)) @if has_plots { (PreEscaped(PLOT_STYLE)) } (PreEscaped(rules)) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                (body)
                @if has_plots {
                    script { (PreEscaped(format!("/* uPlot\n{PLOT_LICENCE}*/\n"))) @for script in PLOT_SCRIPTS { (PreEscaped(script)) "\n" } }
                }
                script { (PreEscaped(SCRIPT)) }
                @if body.0.contains(ROWS_MARK) { script { (PreEscaped(ROWS_SCRIPT)) } }
            }
        }
    }
}

/// The body of a run's page.
#[must_use]
pub fn run(view: &View) -> Markup {
    let charts = chart::all(view);
    let main = html! {
        main id="main" {
            (state(view))
            (answer::section(view))
            (headline::section(view))
            (figures::render(&charts, &figures::HEADLINE))
            (scan::section(view, &charts))
            (figures::overload(view, &charts))
            (events::section(view))
            (tiers::section(view))
            (stages::section(view))
            (walks::section(view))
            (slowest::section(view))
            (remarks::verdicts(view))
            (remarks::without_result(view))
            (remarks::explanations(view))
            (life::section(view, &charts))
            (explained::section(view))
            (figures::section(view, &charts))
            (figures::published(view, &charts))
            (figures::cost(view, &charts))
            (conformance::section(view))
            (facts::section(view))
        }
    };
    html! {
        (header(view))
        (contents(&main))
        (main)
        footer { p { "Made by Pippin " (view.run.pippin_version) ". This page is complete and loads nothing from elsewhere." } }
    }
}

/// A text with what stands between backticks set as code.
fn with_code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! { @for (place, part) in parts.into_iter().enumerate() { @if place % 2 == 1 { code { (part) } } @else { (part) } } }
}

/// A target's name that breaks after its language, not within a word.
fn breakable(target: &TargetId) -> Markup {
    let name = target.to_string();
    let (language, rest) = name.split_once('/').unwrap_or(("", &name));
    html! { @if !language.is_empty() { (language) "/" wbr; } (rest) }
}

fn header(view: &View) -> Markup {
    let run = &view.run;
    let ended = run.ended_unix_ns.map(|end| words::length(end.saturating_sub(run.started_unix_ns)));
    html! {
        header.top {
            div.title {
                h1 { (run.title) @if run.quick { " " span.tag { "quick form" } } }
                p.meta {
                    span { (run.load) }
                    @if let Some(cpu) = &view.host.cpu_model { span { (cpu) ", " (counted(u64::from(view.host.cpus), "processor")) } }
                    @if let Some(kernel) = &view.host.kernel { span.wide { "Linux " (kernel) } }
                    span { (words::time(run.started_unix_ns)) }
                    @if let Some(ended) = ended { span.wide { (counted(run.trials, "trial")) " in " (ended) } }
                    @else { span.wide { (counted(run.trials, "trial")) } }
                    span.wide { "run " code { (run.id) } }
                }
                @let labels = run.labels.in_a_line();
                @if !labels.is_empty() { p.meta { span { (labels) } } }
                @if let Some(note) = &run.labels.note { p.meta { span { (note) } } }
            }
            button.theme type="button" hidden { "Theme: automatic" }
        }
    }
}

/// The parts of a page that its list of contents names, if the page has them.
const PARTS: [(&str, &str); 17] = [
    ("results", "Results"),
    ("scan", "Scan"),
    ("stages", "Stages"),
    ("scenario", "Steps"),
    ("verdicts", "Verdicts"),
    ("missing", "Without a result"),
    ("overload", "Beyond the capacity"),
    ("events", "Server-sent events"),
    ("explanations", "Explanations"),
    ("life", "Life"),
    ("explained", "Where the time goes"),
    ("charts", "Charts"),
    ("published", "Published figures"),
    ("cost", "Cost"),
    ("host", "Host"),
    ("plan", "Plan and targets"),
    ("method", "How figures were taken"),
];

fn contents(main: &Markup) -> Markup {
    let found =
        PARTS.into_iter().filter(|(id, _)| main.0.contains(&format!("<section id=\"{id}\"")));
    html! { nav aria-label="Contents" { ul { @for (id, name) in found { li { a href=(format!("#{id}")) { (name) } } } } } }
}

fn state(view: &View) -> Markup {
    let text = match view.run.state {
        RunState::Finished => return html! {},
        RunState::Running => "This run is still under way: only finished results are shown.",
        RunState::Killed => "Pippin was killed in this run: only finished results are shown.",
        RunState::Interrupted => "This run was interrupted: only finished results are shown.",
        RunState::Failed => "The lab itself failed in this run: only finished results are shown.",
    };
    html! { p.notice role="status" { (text) } }
}
