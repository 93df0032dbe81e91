import { Hono } from "hono";
import { validator } from "hono/validator";

const isText = (value) => typeof value === "string" && value.length >= 1 && value.length <= 100;

const isProduct = (value) =>
  isText(value?.name) && isText(value.category) && Number.isInteger(value.price) && value.price >= 0 && value.price <= 1_000_000;

const body = validator("json", (value, c) =>
  isProduct(value) ? value : c.json({ error: "a product has a name, a category and a price" }, 422),
);

const query = validator("query", ({ category, page = "1" }, c) =>
  /^0*[1-9]\d{0,8}$/.test(page) ? { category, page } : c.json({ error: "page is a number of at least 1" }, 422),
);

/** The routes of products below their path. */
export function products(pool) {
  const app = new Hono();

  // Hono's own answer to a body that is no JSON is 400.
  app.onError((error, c) => {
    if (error.status === 400) return c.json({ error: error.message }, 422);
    if (error.code === "23505") return c.json({ error: "the name is taken" }, 409);
    console.error(error);
    return c.text("Internal Server Error", 500);
  });

  // Any other id matches no route.
  app.use("/:id", (c, next) => (Number(c.req.param("id")) < 2 ** 31 ? next() : c.notFound()));

  app.get("/", query, async (c) => {
    const { category, page } = c.req.valid("query");
    const where = category ? "WHERE category = $2" : "";
    const values = category ? [(page - 1) * 20, category] : [(page - 1) * 20];
    const sql = `SELECT id, name, category, price FROM products ${where} ORDER BY id LIMIT 20 OFFSET $1`;
    return c.json((await pool.query(sql, values)).rows);
  });

  app.get("/:id{[0-9]+}", async (c) => {
    const { rows } = await pool.query("SELECT id, name, category, price FROM products WHERE id = $1", [c.req.param("id")]);
    return rows[0] ? c.json(rows[0]) : c.notFound();
  });

  app.post("/", body, async (c) => {
    const { name, category, price } = c.req.valid("json");
    const sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price";
    const { rows } = await pool.query(sql, [name, category, price]);
    return c.json(rows[0], 201, { Location: `/products/${rows[0].id}` });
  });

  app.put("/:id{[0-9]+}", body, async (c) => {
    const { name, category, price } = c.req.valid("json");
    const sql = "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price";
    const { rows } = await pool.query(sql, [name, category, price, c.req.param("id")]);
    return rows[0] ? c.json(rows[0]) : c.notFound();
  });

  app.delete("/:id{[0-9]+}", async (c) => {
    const { rowCount } = await pool.query("DELETE FROM products WHERE id = $1", [c.req.param("id")]);
    return rowCount === 0 ? c.notFound() : c.body(null, 204);
  });

  return app;
}
