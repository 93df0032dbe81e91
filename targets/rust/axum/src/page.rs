//! The rendered page: `templates/page.html` inside `templates/layout.html`.

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

use crate::error::HandlerError;

struct Item {
    id: u32,
    name: String,
    price: u64,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    n: u32,
    items: Vec<Item>,
}

impl Page {
    fn new(n: u32) -> Self {
        let items = (1..=12).map(|id| Item {
            id,
            name: format!("Item {id} <of> page {n} & more"),
            price: u64::from(id) * u64::from(n),
        });
        Self {
            n,
            items: items.collect(),
        }
    }
}

pub async fn page(Path(n): Path<String>) -> Result<Response, HandlerError> {
    let Ok(n) = n.parse() else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    Ok(Html(Page::new(n).render()?).into_response())
}
