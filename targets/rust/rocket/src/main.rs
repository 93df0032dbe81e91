//! Pippin's workloads on Rocket, with its templates (Tera), its database pools and reqwest.

mod device;
mod events;
mod page;
mod proxy;
mod users;

use std::env;

use rocket::{Build, Rocket, get, launch, routes};
use rocket_dyn_templates::Template;

/// Address, port and workers are in ROCKET_*. The routes that need a service are there only when
/// the service is; Rocket matches a path that ends with a slash too.
#[launch]
fn rocket() -> Rocket<Build> {
    let mut rocket = rocket::build()
        .attach(Template::fairing())
        .mount("/", routes![hello, hola, page::page, device::device, events::events]);
    if let Ok(url) = env::var("DATABASE_URL") {
        rocket = users::attach(rocket, url);
    }
    if let Ok(base) = env::var("UPSTREAM_URL") {
        rocket = rocket.manage(proxy::Upstream::new(&base)).mount("/", routes![proxy::proxy]);
    }
    rocket
}

// A HEAD is answered by the route of GET.
#[get("/")]
fn hello() -> &'static str {
    "Hello World!"
}

#[get("/hola/<name>")]
fn hola(name: &str) -> String {
    format!("Hola {name}")
}
