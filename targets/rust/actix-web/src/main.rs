//! Pippin's workloads on actix-web, with askama, deadpool-postgres and awc.

mod events;
mod items;
mod messages;
mod page;
mod plain;
mod products;
mod proxy;
mod upload;
mod users;

use std::env;
use std::error::Error;

use actix_files::Files;
use actix_web::middleware::Compress;
use actix_web::{App, HttpServer, web};

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = (env::var("HOST")?, env::var("PORT")?.parse()?);
    let pool = match env::var("DATABASE_URL") {
        Ok(url) => Some(users::pool(&url, env::var("DATABASE_POOL").ok().as_deref())?),
        Err(_) => None,
    };
    let upstream = env::var("UPSTREAM_URL").ok();
    let items = match env::var("ITEMS_FILE") {
        Ok(path) => Some(web::Data::new(items::read(&path)?)),
        Err(_) => None,
    };

    let folder = env::var("STATIC_FOLDER").ok();

    // Called once in each worker. The routes that need a service are there only when the service
    // is.
    let app = move || {
        let (pool, upstream, items) = (pool.clone(), upstream.clone(), items.clone());
        let folder = folder.clone();
        App::new()
            .route("/", web::get().to(plain::hello))
            .route("/", web::head().to(plain::hello))
            .route("/hola/{name}", web::get().to(plain::hola))
            .route("/hola/{name}", web::head().to(plain::hola))
            .route("/page/{n}", web::get().to(page::page))
            .route("/device", web::get().to(plain::device))
            .route("/events", web::get().to(events::events))
            .route("/upload", web::post().to(upload::upload))
            .configure(move |services| {
                if let Some(pool) = pool {
                    services.app_data(web::Data::new(pool));
                    services.route("/api/users/", web::get().to(users::users));
                    services.route("/messages", web::get().to(messages::messages));
                    services.configure(products::routes);
                }
                if let Some(items) = items {
                    services.app_data(items);
                    // Packed for clients that accept a coding, of this route alone.
                    let list = web::resource("/json/{n}").wrap(Compress::default());
                    services.service(list.route(web::get().to(items::items)));
                }
                if let Some(folder) = folder {
                    services.service(Files::new("/static", folder));
                }
                if let Some(base) = upstream {
                    services.app_data(web::Data::new(proxy::Upstream::new(&base)));
                    services.route("/api/proxy/", web::get().to(proxy::proxy));
                }
            })
    };

    let mut server = HttpServer::new(app);
    if let Ok(workers) = env::var("WORKERS") {
        server = server.workers(workers.parse()?);
    }
    server.bind(address)?.run().await?;
    Ok(())
}
