//! The rendered page: `templates/page.html` inside `templates/layout.html`.

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

pub fn render(n: u32) -> askama::Result<String> {
    let items = (1..=12).map(|id| Item {
        id,
        name: format!("Item {id} <of> page {n} & more"),
        price: u64::from(id) * u64::from(n),
    });
    let items = items.collect();
    Page { n, items }.render()
}
