//! Products: listed, read, added, changed and removed.

use actix_web::error::{
    ErrorConflict, ErrorInternalServerError, ErrorNotFound, ErrorUnprocessableEntity,
};
use actix_web::http::header::LOCATION;
use actix_web::web::{self, Data, Json, JsonConfig, Path, Query, QueryConfig, ServiceConfig};
use actix_web::{HttpResponse, Result};
use deadpool_postgres::Pool;
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

const LIST: &str = "SELECT id, name, category, price FROM products ORDER BY id LIMIT 20 OFFSET $1";
const LIST_OF: &str = "SELECT id, name, category, price FROM products \
     WHERE category = $2 ORDER BY id LIMIT 20 OFFSET $1";
const FIND: &str = "SELECT id, name, category, price FROM products WHERE id = $1";
const INSERT: &str = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) \
     RETURNING id, name, category, price";
const UPDATE: &str = "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 \
     RETURNING id, name, category, price";
const DELETE: &str = "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price";

#[derive(Serialize)]
struct Product {
    id: i32,
    name: String,
    category: String,
    price: i32,
}

impl From<Row> for Product {
    fn from(row: Row) -> Self {
        Self { id: row.get(0), name: row.get(1), category: row.get(2), price: row.get(3) }
    }
}

/// What clients send.
#[derive(Deserialize)]
struct Input {
    name: String,
    category: String,
    price: i32,
}

impl Input {
    fn check(&self) -> Result<()> {
        let is_text = |text: &str| (1..=100).contains(&text.chars().count());
        if is_text(&self.name) && is_text(&self.category) && (0..=1_000_000).contains(&self.price) {
            return Ok(());
        }
        Err(ErrorUnprocessableEntity("a text or the price is out of bounds"))
    }
}

#[derive(Deserialize)]
struct Filter {
    category: Option<String>,
    page: Option<u32>,
}

async fn rows(pool: &Pool, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Product>> {
    let client = pool.get().await.map_err(ErrorInternalServerError)?;
    let statement = client.prepare_cached(sql).await.map_err(ErrorInternalServerError)?;
    let rows = client.query(&statement, values).await.map_err(|error| match error.code() {
        Some(&SqlState::UNIQUE_VIOLATION) => ErrorConflict("the name is taken"),
        _ => ErrorInternalServerError(error),
    })?;
    Ok(rows.into_iter().map(Product::from).collect())
}

async fn one(pool: &Pool, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Json<Product>> {
    let product = rows(pool, sql, values).await?.pop();
    product.map(Json).ok_or_else(|| ErrorNotFound("there is no such product"))
}

async fn list(pool: Data<Pool>, filter: Query<Filter>) -> Result<Json<Vec<Product>>> {
    let page = filter.page.unwrap_or(1).checked_sub(1);
    let skipped = i64::from(page.ok_or_else(|| ErrorUnprocessableEntity("pages begin at 1"))?) * 20;
    let list = match &filter.category {
        None => rows(&pool, LIST, &[&skipped]).await?,
        Some(category) => rows(&pool, LIST_OF, &[&skipped, category]).await?,
    };
    Ok(Json(list))
}

async fn read(pool: Data<Pool>, id: Path<i32>) -> Result<Json<Product>> {
    one(&pool, FIND, &[&*id]).await
}

async fn create(pool: Data<Pool>, input: Json<Input>) -> Result<HttpResponse> {
    input.check()?;
    let product = one(&pool, INSERT, &[&input.name, &input.category, &input.price]).await?;
    Ok(HttpResponse::Created()
        .insert_header((LOCATION, format!("/products/{}", product.id)))
        .json(product))
}

async fn change(pool: Data<Pool>, id: Path<i32>, input: Json<Input>) -> Result<Json<Product>> {
    input.check()?;
    one(&pool, UPDATE, &[&input.name, &input.category, &input.price, &*id]).await
}

async fn remove(pool: Data<Pool>, id: Path<i32>) -> Result<HttpResponse> {
    one(&pool, DELETE, &[&*id]).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// The routes. A body or a query that cannot be read would be 400 by default; an id that is no
/// number is 404.
pub fn routes(services: &mut ServiceConfig) {
    services.service(
        web::scope("/products")
            .app_data(
                JsonConfig::default().error_handler(|error, _| ErrorUnprocessableEntity(error)),
            )
            .app_data(
                QueryConfig::default().error_handler(|error, _| ErrorUnprocessableEntity(error)),
            )
            .service(web::resource("").get(list).post(create))
            .service(web::resource("/{id}").get(read).put(change).delete(remove)),
    );
}
