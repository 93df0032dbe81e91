//! Items of the data file through serde.

use std::error::Error;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};

pub type Items = Arc<[Item]>;

#[derive(Serialize, Deserialize)]
pub struct Item {
    id: u32,
    name: String,
    category: String,
    price: u64,
    quantity: u64,
    active: bool,
    tags: Vec<String>,
    rating: Rating,
}

#[derive(Serialize, Deserialize)]
struct Rating {
    score: f64,
    count: u32,
}

#[derive(Serialize)]
struct WithTotal<'a> {
    #[serde(flatten)]
    item: &'a Item,
    total: u64,
}

#[derive(Serialize)]
struct List<'a> {
    count: usize,
    items: Vec<WithTotal<'a>>,
}

#[derive(Deserialize)]
pub struct Factor {
    m: u64,
}

/// The items of the data file.
pub fn read(path: &str) -> Result<Items, Box<dyn Error>> {
    Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
}

/// The first `n`, each with its price times quantity times `m`.
fn list(items: &[Item], n: usize, m: u64) -> List<'_> {
    let items: Vec<_> = items
        .iter()
        .take(n)
        .map(|item| WithTotal { item, total: item.price * item.quantity * m })
        .collect();
    List { count: items.len(), items }
}

pub async fn items(
    State(items): State<Items>,
    Path(n): Path<usize>,
    Query(Factor { m }): Query<Factor>,
) -> impl IntoResponse {
    Json(list(&items, n, m)).into_response()
}
