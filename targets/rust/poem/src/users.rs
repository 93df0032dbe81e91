//! Ten rows through deadpool-postgres and tokio-postgres.

use std::error::Error;

use deadpool_postgres::{Manager, Pool};
use serde::Serialize;
use tokio_postgres::{NoTls, Row};

#[derive(Serialize)]
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

/// A pool of at most `size` connections, each opened when it is first needed.
pub fn pool(url: &str, size: Option<&str>) -> Result<Pool, Box<dyn Error>> {
    let mut builder = Pool::builder(Manager::new(url.parse()?, NoTls));
    if let Some(size) = size {
        builder = builder.max_size(size.parse()?);
    }
    Ok(builder.build()?)
}

pub async fn query(pool: &Pool) -> Result<Vec<User>, Box<dyn Error + Send + Sync>> {
    let client = pool.get().await?;
    let statement = client.prepare_cached("SELECT id, name, email FROM users ORDER BY id").await?;
    let rows = client.query(&statement, &[]).await?;
    Ok(rows.into_iter().map(User::from).collect())
}
