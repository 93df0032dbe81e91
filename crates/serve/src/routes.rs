//! Address to page. Everything is a GET. Reading the store and drawing happen on separate threads,
//! so that a big run does not delay other pages.
use axum::Router;
use axum::extract::{Extension, Path, Query, RawQuery, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use maud::{Markup, html};
use pippin_model::run::{RunRecord, RunState};
use pippin_report::exposition::MEDIA_TYPE;
use pippin_report::form::svg::Ground;
use pippin_report::form::{FORMS, Form};
use pippin_report::history::support_notes;
use pippin_report::html as report;
use pippin_report::view::View;
use pippin_store::Store;
use pippin_store::listing::RunFilter;
use serde::Deserialize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tower_http::compression::CompressionLayer;

use crate::connections::Peer;
use crate::failure::Failure;
use crate::guard::{Decision, Guard};
use crate::guesses::{Guesses, WINDOW};
use crate::history::Shown;
use crate::page::{number, page};
use crate::{board, compare, history, leaderboard, list, live, metrics};

type Shared = State<Arc<Store>>;
type Answer = Result<Response, Failure>;

/// How often the page of a run under way reloads, in seconds.
const LIVE_SECONDS: u32 = 3;
/// A page loads nothing from elsewhere and sends nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A page about a run under way may ask this server, and no other, for news.
const LIVE_POLICY: &str = "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// All pages.
pub fn router(store: Arc<Store>, guard: Guard) -> Router {
    Router::new()
        .route("/", get(runs))
        .route("/live", get(all_live))
        .route("/metrics", get(all_metrics))
        .route("/runs/{id}", get(run))
        .route("/runs/{id}/live", get(one_live))
        .route("/runs/{id}/export/{form}", get(export))
        .route("/runs/{id}/charts/{name}", get(chart))
        .route("/compare", get(side_by_side))
        .route("/history", get(over_time))
        .route("/leaderboard", get(over_plans))
        .fallback(|| async { Failure::not_found("There is no such page.") })
        .method_not_allowed_fallback(|| async {
            Failure::refused(StatusCode::METHOD_NOT_ALLOWED, "This server is read-only.")
        })
        .layer(middleware::from_fn_with_state(Door::new(guard), admit))
        .layer(CompressionLayer::new())
        .with_state(store)
}

/// Decides on each request.
#[derive(Debug, Clone)]
struct Door {
    guard: Guard,
    guesses: Arc<Mutex<Guesses>>,
}

impl Door {
    fn new(guard: Guard) -> Self {
        Self { guard, guesses: Arc::default() }
    }

    /// The decision, after checking whether the address may send a token at all. An address that
    /// sent too many wrong tokens is refused even with the right one. Otherwise trying would still
    /// find it.
    fn decide(&self, peer: Peer, request: &Request) -> Result<Decision, TooManyGuesses> {
        let decision = self.guard.decide(request.uri(), request.headers());
        if !self.guard.has_token()
            || matches!(decision, Decision::ForeignName | Decision::Unauthorised)
        {
            return Ok(decision);
        }
        let now = Instant::now();
        let mut guesses = self.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        if guesses.are_too_many(peer.0, now) {
            return Err(TooManyGuesses);
        }
        if decision == Decision::WrongToken {
            guesses.add(peer.0, now);
        }
        Ok(decision)
    }
}

/// An address sent too many wrong tokens.
struct TooManyGuesses;

async fn admit(
    State(door): State<Door>,
    Extension(peer): Extension<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match door.decide(peer, &request) {
        Ok(Decision::Allow) => next.run(request).await,
        Ok(Decision::AllowAndKeep(cookie)) => {
            let mut response = next.run(request).await;
            if let Ok(value) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(header::SET_COOKIE, value);
            }
            response
        }
        Ok(Decision::Unauthorised | Decision::WrongToken) => with_header(
            Failure::refused(
                StatusCode::UNAUTHORIZED,
                "This server needs its token: open it with ?token=... once.",
            ),
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer"),
        ),
        Ok(Decision::ForeignName) => {
            Failure::refused(StatusCode::FORBIDDEN, "This server answers as localhost only.")
                .into_response()
        }
        Err(TooManyGuesses) => with_header(
            Failure::refused(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many wrong tokens came from your address. Try again in a minute.",
            ),
            header::RETRY_AFTER,
            HeaderValue::from(WINDOW.as_secs()),
        ),
    };
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn with_header(failure: Failure, name: header::HeaderName, value: HeaderValue) -> Response {
    let mut response = failure.into_response();
    response.headers_mut().insert(name, value);
    response
}

/// Runs work that reads or draws on a separate thread.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(Failure::internal)?
}

async fn runs(State(store): Shared, Query(filter): Query<list::Filter>) -> Answer {
    apart(move || {
        let refused = |message| Failure::refused(StatusCode::BAD_REQUEST, message);
        let asked = filter.for_store().map_err(refused)?;
        let page_number = number(&filter.page).map_err(refused)?;
        let live = store.live_runs();
        let under_way = if live.is_empty() {
            html! {}
        } else {
            live::asked_anew("/live", &live::several(&live))
        };
        let rules = if live.is_empty() { String::new() } else { live_rules() };
        let shown = store.page(&asked, (page_number - 1) * list::PER_PAGE, list::PER_PAGE)?;
        let body = list::body(&shown, &filter, page_number, &store.choices()?, &live, &under_way);
        Ok(with_news(!live.is_empty(), page("Runs", &rules, &body).into_response()))
    })
    .await
}

fn live_rules() -> String {
    format!("{}{}", report::rules(1), live::STYLE)
}

/// Allows a page to ask for news of runs under way.
fn with_news(is_live: bool, mut response: Response) -> Response {
    if is_live {
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(LIVE_POLICY));
    }
    response
}

/// The parts that change each second. They are empty once no run is under way.
fn fragment(content: Option<Markup>) -> Response {
    content.map_or_else(
        || StatusCode::NO_CONTENT.into_response(),
        |content| Html(content.into_string()).into_response(),
    )
}

async fn all_live(State(store): Shared) -> Answer {
    apart(move || {
        let live = store.live_runs();
        Ok(fragment((!live.is_empty()).then(|| live::several(&live))))
    })
    .await
}

async fn all_metrics(State(store): Shared) -> Answer {
    apart(move || {
        let head = [(header::CONTENT_TYPE, MEDIA_TYPE)];
        Ok((head, metrics::render(&store.live_runs())).into_response())
    })
    .await
}

/// The number of finished trials on the page around it.
#[derive(Debug, Default, Deserialize)]
struct FinishedTrials {
    #[serde(default)]
    seen: u64,
}

async fn one_live(
    State(store): Shared,
    Path(id): Path<String>,
    Query(FinishedTrials { seen }): Query<FinishedTrials>,
) -> Answer {
    apart(move || Ok(fragment(store.live_run(&id).map(|live| live::one(&live, seen))))).await
}

async fn run(State(store): Shared, Path(id): Path<String>) -> Answer {
    apart(move || {
        let record = store.load(&id)?;
        let view = View::of(&record);
        let live = store.live_run(&view.run.id);
        let body = html! {
            @if let Some(live) = &live {
                @let seen = record.trials.len() as u64;
                (live::asked_anew(&format!("/runs/{}/live?seen={seen}", view.run.id), &live::one(live, seen)))
            }
            p.hint.links {
                "Save as " @for form in whole_run() { a href=(format!("/runs/{}/export/{}", view.run.id, form.name)) { (form.name) } " " }
                " · History of " @for row in view.measured() { a href=(history::address_of(&row.target.to_string())) { (row.target) } " " }
            }
            (report::run(&view))
        };
        let rules = format!("{}{}", report::series_rules(&view), if live.is_some() { live::STYLE } else { "" });
        let mut response = with_news(live.is_some(), page(&view.run.title, &rules, &body).into_response());
        // Another machine makes the run, so only its finished trials are known here.
        if record.state == RunState::Running && live.is_none() {
            response.headers_mut().insert(header::REFRESH, HeaderValue::from(LIVE_SECONDS));
        }
        Ok(response)
    })
    .await
}

/// The forms that hold a whole run.
fn whole_run() -> impl Iterator<Item = &'static Form> {
    FORMS.into_iter().filter(|form| !form.is_chart())
}

async fn export(State(store): Shared, Path((id, name)): Path<(String, String)>) -> Answer {
    apart(move || {
        let form = whole_run().find(|form| form.name == name).ok_or_else(|| {
            let names: Vec<&str> = whole_run().map(|form| form.name).collect();
            Failure::not_found(format!(
                "There is no form `{name}`; there are {}.",
                names.join(", ")
            ))
        })?;
        let record = store.load(&id)?;
        let file = format!("attachment; filename=\"{}.{}\"", record.header.id, form.extension);
        let head =
            [(header::CONTENT_TYPE, form.media_type.into()), (header::CONTENT_DISPOSITION, file)];
        Ok((head, form.render(&record, None)?).into_response())
    })
    .await
}

/// `throughput.svg`, `throughput.png`; on dark ground with `?dark`.
async fn chart(
    State(store): Shared,
    Path((id, file)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Answer {
    apart(move || {
        let (name, extension) = file.rsplit_once('.').unwrap_or((&file, "svg"));
        let form = FORMS
            .into_iter()
            .find(|form| form.is_chart() && form.extension == extension)
            .ok_or_else(|| Failure::not_found("There is no such chart."))?;
        let ground = if query.as_deref() == Some("dark") { Ground::Dark } else { Ground::Light };
        let drawn = form.render(&store.load(&id)?, Some((name, ground)))?;
        Ok(([(header::CONTENT_TYPE, form.media_type)], drawn).into_response())
    })
    .await
}

/// `?run=...&run=...`, as the list sends it.
async fn side_by_side(State(store): Shared, Query(asked): Query<Vec<(String, String)>>) -> Answer {
    apart(move || {
        let chosen: Vec<String> = asked
            .into_iter()
            .filter(|(key, value)| key == "run" && !value.trim().is_empty())
            .map(|(_, value)| value.trim().to_string())
            .collect();
        if chosen.len() > compare::MOST {
            return Err(Failure::refused(
                StatusCode::BAD_REQUEST,
                format!("At most {} runs are compared at once; {} were chosen.", compare::MOST, chosen.len()),
            ));
        }
        let newest = store.page(&RunFilter::default(), 0, list::PER_PAGE)?.runs;
        let newest: Vec<String> = newest.into_iter().map(|run| run.summary.id).collect();
        let form = compare::form(&newest, &chosen);
        let body = if chosen.len() < 2 {
            html! { main id="main" { h1 { "Side by side" } p { "Choose two or more runs; all are compared with the first." } (form) } }
        } else {
            let runs: Vec<RunRecord> =
                chosen.iter().map(|run| store.load(run)).collect::<Result<_, _>>()?;
            compare::body(&form, &runs, |run| format!("/runs/{run}"))
        };
        Ok(page("Side by side", &report::rules(1), &body).into_response())
    })
    .await
}

/// The host whose runs the leaderboard shows, and the plan if it is that of one.
#[derive(Debug, Default, Deserialize)]
struct Where {
    #[serde(default)]
    host: String,
    #[serde(default)]
    plan: String,
    /// `true` for the quick form of the plan.
    #[serde(default)]
    quick: bool,
}

async fn over_plans(State(store): Shared, Query(asked): Query<Where>) -> Answer {
    apart(move || {
        let host = asked.host.trim();
        let only = (!host.is_empty()).then_some(host);
        if !asked.plan.is_empty() {
            let most = board::ROUNDS as u64 + 1;
            let rounds = store.rounds(&asked.plan, asked.quick, only, most)?;
            let Some(newest) = rounds.first() else {
                return Err(Failure::not_found(
                    "No run of this plan has a result. The leaderboard lists the plans that have.",
                ));
            };
            let title = board::title(newest);
            return Ok(page(&title, "", &leaderboard::board(&rounds)).into_response());
        }
        let plans = store.newest_by_plan(only)?;
        let body = leaderboard::body(&plans, &store.choices()?.hosts, host);
        Ok(page("Leaderboard", "", &body).into_response())
    })
    .await
}

/// The target to show, and which page of its histories.
#[derive(Debug, Default, Deserialize)]
struct Whose {
    #[serde(default)]
    target: String,
    #[serde(default)]
    page: String,
}

async fn over_time(State(store): Shared, Query(asked): Query<Whose>) -> Answer {
    apart(move || {
        let target = asked.target.trim();
        let page_number = number(&asked.page)
            .map_err(|message| Failure::refused(StatusCode::BAD_REQUEST, message))?;
        if target.is_empty() {
            let body = history::choose(&store.targets()?);
            return Ok(page("History", "", &body).into_response());
        }
        let points = store.history(target)?;
        let newest = points.last().map(|point| store.header(&point.run)).transpose()?;
        let notes = newest.map_or_else(Vec::new, |run| support_notes(&run, target));
        let shown = Shown::from_points(&points, page_number);
        let digests = store.digests_of(target, shown.run_ids())?;
        let lives = store.lives_of(target, shown.run_ids())?;
        let names = store.choices()?.targets;
        let body = history::body(target, &shown.with(&digests, &lives), &notes, &names);
        Ok(page("History", &report::rules(2), &body).into_response())
    })
    .await
}
