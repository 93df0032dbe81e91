//! The routes; those that need a service answer 404 where the service is not there.

use std::env;
use std::error::Error;

use deadpool_postgres::Pool;
use percent_encoding::percent_decode_str;
use warp::http::StatusCode;
use warp::reply::{Reply, Response};
use warp::{Filter, Rejection, path};

use crate::messages::Added;
use crate::proxy::Upstream;
use crate::{device, messages, page, users};

/// Any failure of a template, the database or the upstream: a 500 with its text.
fn failed(error: impl ToString) -> Response {
    warp::reply::with_status(error.to_string(), StatusCode::INTERNAL_SERVER_ERROR).into_response()
}

pub fn routes() -> Result<impl Filter<Extract: Reply, Error = Rejection> + Clone, Box<dyn Error>> {
    let pool = match env::var("DATABASE_URL") {
        Ok(url) => Some(users::pool(&url, env::var("DATABASE_POOL").ok().as_deref())?),
        Err(_) => None,
    };
    let upstream = env::var("UPSTREAM_URL").ok().map(|base| Upstream::new(&base));

    let hello = path::end().map(|| "Hello World!");
    // warp gives the parts of a path as they were sent.
    let hola = warp::path!("hola" / String)
        .map(|name: String| format!("Hola {}", percent_decode_str(&name).decode_utf8_lossy()));
    let page = warp::path!("page" / u32).map(|n| match page::render(n) {
        Ok(page) => warp::reply::html(page).into_response(),
        Err(error) => failed(error),
    });
    let device = warp::path!("device").then(|| async {
        device::wait().await;
        device::BODY
    });
    let messages = warp::path!("messages").and(warp::query()).and(given(pool.clone())).then(
        |added: Added, pool: Pool| async move {
            match messages::render(&pool, added).await {
                Ok(page) => warp::reply::html(page).into_response(),
                Err(error) => failed(error),
            }
        },
    );
    let users = warp::path!("api" / "users").and(given(pool)).then(|pool: Pool| async move {
        match users::query(&pool).await {
            Ok(users) => warp::reply::json(&users).into_response(),
            Err(error) => failed(error),
        }
    });
    let proxy =
        warp::path!("api" / "proxy").and(given(upstream)).then(|upstream: Upstream| async move {
            match upstream.ask().await {
                Ok((status, body)) => {
                    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
                    warp::reply::with_status(body, status).into_response()
                }
                Err(error) => failed(error),
            }
        });
    let all = hello.or(hola).or(page).or(device).or(users).or(messages).or(proxy);
    // warp answers a HEAD only where it is asked to; hyper leaves the body away.
    let method = warp::get().or(warp::head()).unify();
    Ok(method.and(all))
}

/// Gives the service to a handler, or lets no request through to it.
fn given<T: Clone + Send + Sync + 'static>(
    service: Option<T>,
) -> impl Filter<Extract = (T,), Error = Rejection> + Clone {
    warp::any().and_then(move || {
        let service = service.clone();
        async move { service.ok_or_else(warp::reject::not_found) }
    })
}
