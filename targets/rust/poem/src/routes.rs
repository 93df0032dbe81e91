//! The routes; those that need a service are there only when the service is.

use std::env;
use std::error::Error;

use deadpool_postgres::Pool;
use poem::error::InternalServerError;
use poem::http::StatusCode;
use poem::web::{Data, Html, Json, Path, Query};
use poem::{EndpointExt, Result, Route, get, handler};

use crate::messages::Added;
use crate::proxy::Upstream;
use crate::users::User;
use crate::{device, messages, page, users};

pub fn routes() -> Result<Route, Box<dyn Error>> {
    // A HEAD is answered by the handler of GET.
    let mut routes = Route::new()
        .at("/", get(hello))
        .at("/hola/:name", get(hola))
        .at("/page/:n", get(page_handler))
        .at("/device", get(device_handler));
    if let Ok(url) = env::var("DATABASE_URL") {
        let pool = users::pool(&url, env::var("DATABASE_POOL").ok().as_deref())?;
        routes = routes
            .at("/api/users/", get(users_handler).data(pool.clone()))
            .at("/messages", get(messages_handler).data(pool));
    }
    if let Ok(base) = env::var("UPSTREAM_URL") {
        routes = routes.at("/api/proxy/", get(proxy_handler).data(Upstream::new(&base)));
    }
    Ok(routes)
}

#[handler]
fn hello() -> &'static str {
    "Hello World!"
}

#[handler]
fn hola(Path(name): Path<String>) -> String {
    format!("Hola {name}")
}

#[handler]
fn page_handler(Path(n): Path<u32>) -> Result<Html<String>> {
    Ok(Html(page::render(n).map_err(InternalServerError)?))
}

#[handler]
async fn device_handler() -> &'static str {
    device::wait().await;
    device::BODY
}

#[handler]
async fn users_handler(Data(pool): Data<&Pool>) -> Result<Json<Vec<User>>> {
    let failed = |error: Box<dyn Error + Send + Sync>| {
        poem::Error::from_string(error.to_string(), StatusCode::INTERNAL_SERVER_ERROR)
    };
    Ok(Json(users::query(pool).await.map_err(failed)?))
}

#[handler]
async fn messages_handler(
    Data(pool): Data<&Pool>,
    Query(added): Query<Added>,
) -> Result<Html<String>> {
    let failed = |error: Box<dyn Error + Send + Sync>| {
        poem::Error::from_string(error.to_string(), StatusCode::INTERNAL_SERVER_ERROR)
    };
    Ok(Html(messages::render(pool, added).await.map_err(failed)?))
}

#[handler]
async fn proxy_handler(Data(upstream): Data<&Upstream>) -> Result<(StatusCode, String)> {
    let (status, body) = upstream.ask().await.map_err(InternalServerError)?;
    Ok((StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY), body))
}
