//! Products: listed, read, added, changed and removed.

use std::fmt::Display;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
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
    fn is_valid(&self) -> bool {
        let is_text = |text: &str| (1..=100).contains(&text.chars().count());
        is_text(&self.name) && is_text(&self.category) && (0..=1_000_000).contains(&self.price)
    }
}

#[derive(Deserialize)]
struct Filter {
    category: Option<String>,
    page: Option<u32>,
}

/// A status and its reason.
type Refusal = (StatusCode, String);

fn failed(error: impl Display) -> Refusal {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

fn unprocessable(reason: impl Display) -> Refusal {
    (StatusCode::UNPROCESSABLE_ENTITY, reason.to_string())
}

fn no_product() -> Refusal {
    (StatusCode::NOT_FOUND, "there is no such product".into())
}

fn refusal(error: tokio_postgres::Error) -> Refusal {
    match error.code() {
        Some(&SqlState::UNIQUE_VIOLATION) => (StatusCode::CONFLICT, "the name is taken".into()),
        _ => failed(error),
    }
}

fn checked(body: Result<Json<Input>, JsonRejection>) -> Result<Input, Refusal> {
    match body {
        Ok(Json(input)) if input.is_valid() => Ok(input),
        Ok(_) => Err(unprocessable("a text or the price is out of bounds")),
        Err(error) => Err(unprocessable(error)),
    }
}

fn checked_id(id: Result<Path<i32>, PathRejection>) -> Result<i32, Refusal> {
    id.map(|Path(id)| id).map_err(|_| no_product())
}

async fn rows(
    pool: &Pool,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Product>, Refusal> {
    let client = pool.get().await.map_err(failed)?;
    let statement = client.prepare_cached(sql).await.map_err(failed)?;
    let rows = client.query(&statement, values).await.map_err(refusal)?;
    Ok(rows.into_iter().map(Product::from).collect())
}

async fn one(
    pool: &Pool,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Json<Product>, Refusal> {
    rows(pool, sql, values).await?.pop().map(Json).ok_or_else(no_product)
}

async fn list(
    State(pool): State<Pool>,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Result<Json<Vec<Product>>, Refusal> {
    let Query(filter) = filter.map_err(unprocessable)?;
    let page = filter.page.unwrap_or(1).checked_sub(1);
    let skipped = i64::from(page.ok_or_else(|| unprocessable("pages begin at 1"))?) * 20;
    let list = match filter.category {
        None => rows(&pool, LIST, &[&skipped]).await?,
        Some(category) => rows(&pool, LIST_OF, &[&skipped, &category]).await?,
    };
    Ok(Json(list))
}

async fn read(
    State(pool): State<Pool>,
    id: Result<Path<i32>, PathRejection>,
) -> Result<Json<Product>, Refusal> {
    one(&pool, FIND, &[&checked_id(id)?]).await
}

async fn create(
    State(pool): State<Pool>,
    body: Result<Json<Input>, JsonRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Input { name, category, price } = checked(body)?;
    let product = one(&pool, INSERT, &[&name, &category, &price]).await?;
    Ok((StatusCode::CREATED, [(LOCATION, format!("/products/{}", product.id))], product))
}

async fn change(
    State(pool): State<Pool>,
    id: Result<Path<i32>, PathRejection>,
    body: Result<Json<Input>, JsonRejection>,
) -> Result<Json<Product>, Refusal> {
    let (id, Input { name, category, price }) = (checked_id(id)?, checked(body)?);
    one(&pool, UPDATE, &[&name, &category, &price, &id]).await
}

async fn remove(
    State(pool): State<Pool>,
    id: Result<Path<i32>, PathRejection>,
) -> Result<StatusCode, Refusal> {
    let removed = one(&pool, DELETE, &[&checked_id(id)?]).await;
    removed.map(|_| StatusCode::NO_CONTENT)
}

pub fn routes() -> Router<Pool> {
    Router::new()
        .route("/products", get(list).post(create))
        .route("/products/{id}", get(read).put(change).delete(remove))
}
