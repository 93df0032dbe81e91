//! What no walk of the workload asks for: lists without a page, the longest names, and all that must be
//! refused.
use serde_json::{Value, json};

use super::{Asked, Auditor, Flaw, parsed};
use crate::verify::http::Answer;

/// The category of what must be refused.
const REFUSED: &str = "refused";

/// A request of nobody's walk, whose answer nobody counts.
const NO_STEP: usize = usize::MAX;

impl Auditor {
    /// Each step of each walk, and the edges of what may be asked.
    pub(super) fn whole(&mut self) -> Result<(), Flaw> {
        for _ in 0..self.round() {
            self.step()?;
        }
        self.lists()?;
        self.longest()?;
        self.refusals()
    }

    /// A request with the headers that the walks send by this method.
    fn plain(&self, method: &str, target: &str, body: &str) -> Asked {
        let alike = self.steps.requests.iter().find(|request| request.method == method);
        let headers = alike.map(|request| request.headers.clone()).unwrap_or_default();
        Asked { method: method.into(), target: target.into(), headers, body: body.into() }
    }

    /// Asks for something that no walk asks for, and compares the answer with the table.
    fn edge(
        &mut self,
        (method, target, body): (&str, &str, &str),
        status: u16,
    ) -> Result<Answer, Flaw> {
        let asked = self.plain(method, target, body);
        let answer = self.ask(&asked, &[status], NO_STEP)?;
        self.compared(&asked, &answer)
            .map_err(|words| Flaw::Wrong(format!("{}: {words}", asked.title())))?;
        Ok(answer)
    }

    /// Lists without a page, without a category, and behind the last page.
    fn lists(&mut self) -> Result<(), Flaw> {
        for target in [
            "/products",
            "/products?page=2",
            "/products?category=c3",
            "/products?category=c3&page=6",
            "/products?category=none",
        ] {
            self.edge(("GET", target, ""), 200)?;
        }
        for page in ["0", "-1", "x"] {
            self.edge(("GET", &format!("/products?category=c3&page={page}"), ""), 422)?;
        }
        Ok(())
    }

    /// A name of 100 characters that are not ASCII and a category of as many, the least and the highest
    /// price.
    fn longest(&mut self) -> Result<(), Flaw> {
        let sign = self.fresh_name();
        let name = format!("{sign}\"\\é{}", "ü".repeat(97 - sign.len()));
        let category = "ç".repeat(100);
        for price in [0, 1_000_000] {
            let body = json!({ "name": name, "category": category, "price": price }).to_string();
            let answer = self.edge(("POST", "/products", &body), 201)?;
            let id = parsed(&answer).map_err(Flaw::Wrong)?["id"].to_string();
            self.edge(("DELETE", &format!("/products/{id}"), ""), 204)?;
            self.edge(("DELETE", &format!("/products/{id}"), ""), 404)?;
            self.edge(("PUT", &format!("/products/{id}"), &body), 404)?;
        }
        Ok(())
    }

    /// What must be refused, and leaves nothing behind.
    fn refusals(&mut self) -> Result<(), Flaw> {
        let name = self.fresh_name();
        let long = format!("{name}{}", "x".repeat(101 - name.len()));
        let with = |key: &str, value: Value| {
            let mut body = json!({ "name": name, "category": REFUSED, "price": 1 });
            body[key] = value;
            if let Some(fields) = body.as_object_mut() {
                fields.retain(|_, value| !value.is_null());
            }
            body.to_string()
        };
        let invalid = [
            with("name", Value::Null),
            with("name", "".into()),
            with("name", 7.into()),
            with("name", long.into()),
            with("category", Value::Null),
            with("category", "".into()),
            with("category", "x".repeat(101).into()),
            with("category", json!([REFUSED])),
            with("price", Value::Null),
            with("price", (-1).into()),
            with("price", 1_000_001.into()),
            with("price", 1.5.into()),
            with("price", "1".into()),
            with("price", true.into()),
        ];
        let before = self.table.count(REFUSED).map_err(Flaw::Wrong)?;
        for body in &invalid {
            self.edge(("POST", "/products", body), 422)?;
            self.edge(("PUT", "/products/7", body), 422)?;
        }
        let taken = with("name", "product 0008".into());
        self.edge(("POST", "/products", &taken), 409)?;
        self.edge(("PUT", "/products/7", &taken), 409)?;
        for target in ["/products/0", "/products/abc", "/products/99999999999"] {
            self.edge(("GET", target, ""), 404)?;
            self.edge(("PUT", target, &with("price", 1.into())), 404)?;
            self.edge(("DELETE", target, ""), 404)?;
        }
        let after = self.table.count(REFUSED).map_err(Flaw::Wrong)?;
        if after == before {
            return Ok(());
        }
        Err(Flaw::Wrong(format!(
            "{} rows were written by requests that were refused",
            after - before
        )))
    }

    /// A name that nobody has.
    fn fresh_name(&mut self) -> String {
        format!("{:016x}", self.draw.bits())
    }
}
