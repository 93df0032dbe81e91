//! The tables through rocket_db_pools, deadpool-postgres and tokio-postgres.

use std::env;

use rocket::response::Debug;
use rocket::serde::Serialize;
use rocket::serde::json::Json;
use rocket::{Build, Rocket, get, routes};
use rocket_db_pools::deadpool_postgres::tokio_postgres::{Error, Row};
use rocket_db_pools::{Config, Connection, Database, deadpool_postgres};
use rocket_dyn_templates::{Template, context};

#[derive(Database)]
#[database("users")]
pub struct Users(deadpool_postgres::Pool);

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
pub struct User {
    id: i32,
    name: String,
    email: String,
}

impl From<Row> for User {
    fn from(row: Row) -> Self {
        Self { id: row.get("id"), name: row.get("name"), email: row.get("email") }
    }
}

/// A pool of DATABASE_POOL connections, each opened when it is first needed, and the route.
pub fn attach(rocket: Rocket<Build>, url: String) -> Rocket<Build> {
    let pool = env::var("DATABASE_POOL").ok().and_then(|size| size.parse().ok());
    let config = Config {
        url,
        max_connections: pool.unwrap_or(10),
        connect_timeout: 5,
        ..Config::default()
    };
    let figment = rocket.figment().clone().merge(("databases.users", config));
    rocket.configure(figment).attach(Users::init()).mount("/", routes![users, messages])
}

#[get("/api/users")]
async fn users(database: Connection<Users>) -> Result<Json<Vec<User>>, Debug<Error>> {
    let statement =
        database.prepare_cached("SELECT id, name, email FROM users ORDER BY id").await?;
    let rows = database.query(&statement, &[]).await?;
    Ok(Json(rows.into_iter().map(User::from).collect()))
}

/// A message: a row of the table, or the one that a request adds, which has the number 0.
#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Message {
    id: i32,
    text: String,
}

/// The rows and an added one, in the order of their texts: Rust compares bytes.
#[get("/messages?<add>")]
async fn messages(database: Connection<Users>, add: String) -> Result<Template, Debug<Error>> {
    let statement = database.prepare_cached("SELECT id, text FROM messages").await?;
    let rows = database.query(&statement, &[]).await?;
    let message = |row: &Row| Message { id: row.get("id"), text: row.get("text") };
    let mut messages: Vec<Message> = rows.iter().map(message).collect();
    messages.push(Message { id: 0, text: add });
    messages.sort_unstable_by(|a, b| a.text.cmp(&b.text));
    Ok(Template::render("messages", context! { messages }))
}
