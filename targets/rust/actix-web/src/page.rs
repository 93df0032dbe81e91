//! The rendered page: `templates/page.html` inside `templates/layout.html`.

use actix_web::error::{ErrorInternalServerError, ErrorNotFound};
use actix_web::web::{Html, Path};
use askama::Template;

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
        Self { n, items: items.collect() }
    }
}

pub async fn page(n: Path<String>) -> actix_web::Result<Html> {
    let n = n.parse().map_err(ErrorNotFound)?;
    Ok(Html::new(Page::new(n).render().map_err(ErrorInternalServerError)?))
}
