//! The rendered page: `templates/page.html.tera` inside `templates/layout.html.tera`.

use rocket::get;
use rocket::serde::Serialize;
use rocket_dyn_templates::{Template, context};

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Item {
    id: u32,
    name: String,
    price: u64,
}

#[get("/page/<n>")]
pub fn page(n: u32) -> Template {
    let items = (1..=12).map(|id| Item {
        id,
        name: format!("Item {id} <of> page {n} & more"),
        price: u64::from(id) * u64::from(n),
    });
    let items: Vec<_> = items.collect();
    Template::render("page", context! { n, items })
}
