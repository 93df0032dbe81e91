//! The pages of a site. What they show of runs is drawn by the same functions as in `pippin serve`.
use maud::{Markup, html};
use pippin_model::run::{HistoryPoint, RunHeader, RunRecord};
use pippin_model::target::TargetId;
use pippin_report::history::{self, History};
use pippin_report::html as report;
use pippin_report::view::View;
use pippin_report::words;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

use super::SiteError;
use super::entry::{Board, Entry};
use super::files::Files;
use super::names;
use super::others::Other;
use crate::board::{self, Round};
use crate::list::leader;
use crate::{compare, leaderboard};

const INDEX: &str = "index.html";

/// A page before it has its place.
pub(super) struct Page {
    title: String,
    rules: String,
    about: String,
    body: Markup,
    /// The file of its preview.
    picture: Option<String>,
}

impl Page {
    /// The file of this name. `url` is the address of the site.
    pub(super) fn document(&self, name: &str, url: Option<&str>) -> String {
        let body = html! {
            header.bar { a href=(names::link(name, INDEX)) { "Pippin" } a href=(names::link(name, INDEX)) { "All boards and runs" } button.theme type="button" hidden { "Theme: automatic" } }
            (self.body)
        };
        let address = url.map(|url| report::Address {
            url: format!("{url}{name}"),
            picture: self.picture.as_ref().map(|picture| format!("{url}{picture}")),
        });
        let title = format!("{} · Pippin", self.title);
        report::document_of_site(&title, &self.rules, &body, &self.about, address)
    }
}

/// The page of a run.
pub(super) fn run(entry: &Entry, view: &View) -> Page {
    let own = names::run(&entry.id);
    let to = |name: &str| names::link(&own, name);
    let body = html! {
        p.hint.links {
            a href=(to(&names::record(&entry.id))) { "All raw figures" } ", for " code { "pippin verify" }
            @if let Some((plan, quick)) = &entry.board { " · " a href=(to(&names::board(plan, *quick))) { "All rounds" } }
            @if let Some(before) = &entry.before { " · " a href=(to(&names::comparison(before, &entry.id))) { "Compared with the round before" } }
            " · History of " @for target in &entry.measured { a href=(to(&names::history(target, 1))) { (target) } " " }
        }
        (report::run(view))
    };
    Page { picture: Some(names::preview(&entry.id)), ..of_view(view, body) }
}

fn of_view(view: &View, body: Markup) -> Page {
    Page {
        picture: None,
        title: view.run.title.clone(),
        rules: report::series_rules(view),
        about: report::about(view),
        body,
    }
}

/// The page of a run of somebody else.
fn other(other: &Other) -> Page {
    let own = names::other(&other.id);
    let body = html! {
        p.notice role="status" {
            "Somebody else measured this: it is on no board. All its figures follow from its raw slices (" code { "pippin verify" } "). That does not prove that the slices are true. "
            a href=(names::link(&own, &names::other_record(&other.id))) { "All raw figures" } "."
        }
        (report::run(&other.view))
    };
    of_view(&other.view, body)
}

/// Two rounds of a plan that follow each other.
pub(super) fn comparison(before: &RunRecord, after: &RunRecord) -> Page {
    let own = names::comparison(&before.header.id, &after.header.id);
    let runs = [before.clone(), after.clone()];
    let title = format!("{}: two rounds side by side", after.header.plan.title);
    Page {
        about: format!("{} compared with {}.", after.header.id, before.header.id),
        title,
        picture: None,
        rules: report::rules(1),
        body: compare::body(&html! {}, &runs, |run| names::link(&own, &names::run(run))),
    }
}

/// All pages that show several runs.
pub(super) struct Pages<'a> {
    pub entries: &'a [Entry],
    pub others: &'a [Other],
    pub url: Option<&'a str>,
}

impl Pages<'_> {
    /// The rounds of each board, the newest first.
    fn boards(&self) -> BTreeMap<&Board, Vec<&Entry>> {
        let mut boards: BTreeMap<&Board, Vec<&Entry>> = BTreeMap::new();
        for entry in self.entries.iter().rev() {
            if let Some(board) = &entry.board {
                boards.entry(board).or_default().push(entry);
            }
        }
        boards
    }

    /// All targets that have a result.
    pub(super) fn targets(&self) -> BTreeSet<String> {
        self.entries.iter().flat_map(|entry| entry.measured.iter().cloned()).collect()
    }

    pub(super) fn write_others(&self, files: &mut Files) -> Result<(), SiteError> {
        for one in self.others {
            files.write(&names::other_record(&one.id), &one.record)?;
            files.page(&names::other(&one.id), &other(one), self.url)?;
        }
        Ok(())
    }

    pub(super) fn write_boards(&self, files: &mut Files) -> Result<(), SiteError> {
        for ((plan, quick), rounds) in self.boards() {
            files.page(
                &names::board(plan, *quick),
                &self.board(plan, *quick, &rounds),
                self.url,
            )?;
        }
        Ok(())
    }

    fn board(&self, plan: &str, quick: bool, rounds: &[&Entry]) -> Page {
        let own = names::board(plan, quick);
        let newest = rounds[0];
        let before = |id: &str| rounds.iter().find(|round| round.id == id)?.before.as_deref();
        let links = leaderboard::Links {
            run: &|run| names::link(&own, &names::run(run)),
            target: &|target| self.history_of(&own, target),
            change: &|earlier, id| {
                let page = names::comparison(earlier, id);
                (before(id) == Some(earlier)).then(|| names::link(&own, &page))
            },
        };
        let more = html! { "Earlier rounds are in the list of " a href=(names::link(&own, INDEX)) { "all runs" } "." };
        let rounds: Vec<Round> = rounds
            .iter()
            .map(|round| Round { run: round.leader(), version: Some(round.version.clone()) })
            .collect();
        Page {
            about: newest.digest.trust.clone(),
            title: board::title(&newest.leader()),
            picture: None,
            rules: String::new(),
            body: board::body(&rounds, &links, &more),
        }
    }

    /// The history of a target, or the beginning of the list for one that never had a result.
    fn history_of(&self, own: &str, target: &str) -> String {
        let has_one = self.entries.iter().any(|entry| entry.measured.iter().any(|it| it == target));
        let name = if has_one { names::history(target, 1) } else { INDEX.into() };
        names::link(own, &name)
    }

    /// What this finds in each run, by run.
    fn by_run<T: Clone>(&self, find: impl Fn(&Entry) -> Option<&T>) -> BTreeMap<String, T> {
        let of_run = |entry: &Entry| Some((entry.id.clone(), find(entry)?.clone()));
        self.entries.iter().filter_map(of_run).collect()
    }

    pub(super) fn write_history(
        &self,
        target: &str,
        points: &[HistoryPoint],
        newest: Option<&RunHeader>,
        files: &mut Files,
    ) -> Result<(), SiteError> {
        let is_it = |id: &TargetId| id.to_string() == target;
        let digests = self.by_run(|run| run.digest.targets.iter().find(|one| is_it(&one.target)));
        let lives = self.by_run(|run| run.lives.iter().find(|one| is_it(&one.target)));
        let whole: Vec<History> = history::from_points(points)
            .into_iter()
            .map(|one| one.with(&digests, &lives))
            .collect();
        let notes = newest.map_or_else(Vec::new, |run| history::support_notes(run, target));
        let last = whole.iter().map(History::pages).max().unwrap_or(1);
        for number in 1..=last {
            let own = names::history(target, number);
            let shown: Vec<History> = whole.iter().filter_map(|it| it.page(number)).collect();
            let to = |number: usize| names::link(&own, &names::history(target, number));
            let title = format!("History of {target}");
            let body = html! {
                main id="main" {
                    h1 { (title) }
                    @if last > 1 { p.hint { "Page " (number) " of " (last) ". " @if number > 1 { a href=(to(number - 1)) { "Newer" } " " } @if number < last { a href=(to(number + 1)) { "Older" } } } }
                    (history::support(target, &notes))
                    (history::plans(&shown, |run| html! { a href=(names::link(&own, &names::run(run))) { (run) } }))
                }
            };
            let about = format!("{target} over {} trials.", points.len());
            let page = Page { title, rules: report::rules(2), about, body, picture: None };
            files.page(&own, &page, self.url)?;
        }
        Ok(())
    }

    pub(super) fn write_index(&self, files: &mut Files) -> Result<(), SiteError> {
        files.page(INDEX, &self.index(), self.url)?;
        files.json("index.json", &self.as_json())
    }

    fn index(&self) -> Page {
        let boards = self.boards();
        let newest: Vec<_> = boards.values().map(|rounds| rounds[0].leader()).collect();
        let links = leaderboard::Links {
            run: &|run| names::run(run),
            target: &|target| self.history_of(INDEX, target),
            change: &|_, _| None,
        };
        let body = html! {
            main id="main" {
                h1 { "Benchmarks" }
                @if !boards.is_empty() {
                    h2 id="boards" { "Boards" }
                    ul { @for ((plan, quick), rounds) in &boards { li {
                        a href=(names::board(plan, *quick)) { (rounds[0].title) @if *quick { " (quick)" } }
                        ", " (rounds.len()) @if rounds.len() == 1 { " round. " } @else { " rounds. " }
                        (rounds[0].digest.trust)
                    } } }
                    (leaderboard::table(&newest, &links))
                }
                h2 id="runs" { "All runs" }
                (self.runs())
                @if !self.others.is_empty() {
                    h2 id="others" { "Runs of others" }
                    p.hint { "Somebody else measured these. All their figures follow from their raw slices; that does not prove that the slices are true. They are on no board." }
                    ul { @for one in self.others { li { a href=(names::other(&one.id)) { (one.view.run.title) } ", " (words::time(one.view.run.started_unix_ns)) ". " (one.view.trust.words()) } } }
                }
            }
            footer { p { "Made by Pippin. These pages load nothing from elsewhere. " a href="index.json" { "The list as JSON" } "; each run has all its raw figures, which " code { "pippin verify" } " checks." } }
        };
        let about = format!("{} boards and {} runs.", boards.len(), self.entries.len());
        Page { title: "Benchmarks".into(), picture: None, rules: String::new(), about, body }
    }

    fn runs(&self) -> Markup {
        html! {
            @if self.entries.is_empty() { p { "There is none yet." } }
            @else {
                div.scroll tabindex="0" role="region" aria-label="All runs, scrolls sideways" {
                    table.sortable.runs {
                        thead { tr { th scope="col" { "Run" } th scope="col" { "Verdict" } th scope="col" { "Fastest" } th.wide scope="col" { "Load" } th.number.wide scope="col" { "Targets" } th scope="col" { "Started" } th.wide scope="col" { "Host" } } }
                        tbody { @for entry in self.entries.iter().rev() { tr {
                            th.wrap scope="row" { a href=(names::run(&entry.id)) { (entry.title) } @if entry.quick { " " span.tag { "quick" } } }
                            td { @match entry.digest.worst { Some(worst) => (report::badge(worst)), None => (words::UNKNOWN) } }
                            td { (leader(Some(&entry.digest))) }
                            td.wrap.wide { (entry.digest.load) }
                            td.number.wide { (entry.measured.len()) }
                            td data-value=(entry.started_unix_ns / 1_000_000) { (words::time(entry.started_unix_ns)) }
                            td.wide { (entry.host.as_deref().unwrap_or(words::UNKNOWN)) }
                        } } }
                    }
                }
            }
        }
    }

    /// The list for programs.
    fn as_json(&self) -> Value {
        let run = |entry: &Entry| {
            json!({
                "id": entry.id,
                "plan": entry.plan,
                "title": entry.title,
                "quick": entry.quick,
                "started_unix_ns": entry.started_unix_ns,
                "host": entry.host,
                "page": names::run(&entry.id),
                "record": names::record(&entry.id),
                "digest": entry.digest,
            })
        };
        let other = |one: &Other| {
            json!({
                "id": one.id,
                "title": one.view.run.title,
                "started_unix_ns": one.view.run.started_unix_ns,
                "page": names::other(&one.id),
                "record": names::other_record(&one.id),
            })
        };
        let runs: Vec<Value> = self.entries.iter().rev().map(run).collect();
        let others: Vec<Value> = self.others.iter().map(other).collect();
        json!({ "runs": runs, "others": others })
    }
}
