import express from "express";

const isText = (value) => typeof value === "string" && value.length >= 1 && value.length <= 100;

const isProduct = (value) =>
  isText(value?.name) && isText(value.category) && Number.isInteger(value.price) && value.price >= 0 && value.price <= 1_000_000;

function checkBody(request, response, next) {
  if (isProduct(request.body)) return next();
  response.status(422).json({ error: "a product has a name, a category and a price" });
}

/** The routes of products below their path. */
export function productRoutes(pool) {
  const router = express.Router();
  router.use(express.json());

  // Any other id is none of a product: the next route is that of 404.
  router.param("id", (request, response, next, id) => {
    next(/^\d{1,10}$/.test(id) && Number(id) < 2 ** 31 ? undefined : "route");
  });

  router.get("/", async (request, response) => {
    const { category, page = "1" } = request.query;
    if (!/^0*[1-9]\d{0,8}$/.test(page)) return response.status(422).json({ error: "page is a number of at least 1" });
    const where = category ? "WHERE category = $2" : "";
    const values = category ? [(page - 1) * 20, category] : [(page - 1) * 20];
    const sql = `SELECT id, name, category, price FROM products ${where} ORDER BY id LIMIT 20 OFFSET $1`;
    response.json((await pool.query(sql, values)).rows);
  });

  router.get("/:id", async (request, response, next) => {
    const sql = "SELECT id, name, category, price FROM products WHERE id = $1";
    const { rows } = await pool.query(sql, [request.params.id]);
    if (rows.length === 0) return next();
    response.json(rows[0]);
  });

  router.post("/", checkBody, async (request, response) => {
    const { name, category, price } = request.body;
    const sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price";
    const { rows } = await pool.query(sql, [name, category, price]);
    response.status(201).location(`/products/${rows[0].id}`).json(rows[0]);
  });

  router.put("/:id", checkBody, async (request, response, next) => {
    const { name, category, price } = request.body;
    const sql = "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price";
    const { rows } = await pool.query(sql, [name, category, price, request.params.id]);
    if (rows.length === 0) return next();
    response.json(rows[0]);
  });

  router.delete("/:id", async (request, response, next) => {
    const { rowCount } = await pool.query("DELETE FROM products WHERE id = $1", [request.params.id]);
    if (rowCount === 0) return next();
    response.status(204).end();
  });

  router.use((error, request, response, next) => {
    if (error.type === "entity.parse.failed") return response.status(422).json({ error: error.message });
    if (error.code === "23505") return response.status(409).json({ error: "the name is taken" });
    next(error);
  });

  return router;
}
