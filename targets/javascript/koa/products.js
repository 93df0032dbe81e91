import { bodyParser } from "@koa/bodyparser";
import Router from "@koa/router";

const isText = (value) => typeof value === "string" && value.length >= 1 && value.length <= 100;

const isProduct = (value) =>
  isText(value?.name) && isText(value.category) && Number.isInteger(value.price) && value.price >= 0 && value.price <= 1_000_000;

const body = bodyParser({ enableTypes: ["json"], onError: (error, ctx) => ctx.throw(422, error.message) });

function checkBody(ctx, next) {
  ctx.assert(isProduct(ctx.request.body), 422, "a product has a name, a category and a price");
  return next();
}

async function conflicts(ctx, next) {
  try {
    await next();
  } catch (error) {
    if (error.code !== "23505") throw error;
    ctx.throw(409, "the name is taken");
  }
}

/** The routes of products. */
export function productRoutes(pool) {
  const router = new Router({ prefix: "/products" });

  // Any other id is none of a product: what has no body is 404.
  router.param("id", (id, ctx, next) => (/^\d{1,10}$/.test(id) && Number(id) < 2 ** 31 ? next() : undefined));

  router.get("/", async (ctx) => {
    const { category, page = "1" } = ctx.query;
    ctx.assert(/^0*[1-9]\d{0,8}$/.test(page), 422, "page is a number of at least 1");
    const where = category ? "WHERE category = $2" : "";
    const values = category ? [(page - 1) * 20, category] : [(page - 1) * 20];
    const sql = `SELECT id, name, category, price FROM products ${where} ORDER BY id LIMIT 20 OFFSET $1`;
    ctx.body = (await pool.query(sql, values)).rows;
  });

  router.get("/:id", async (ctx) => {
    const { rows } = await pool.query("SELECT id, name, category, price FROM products WHERE id = $1", [ctx.params.id]);
    if (rows[0]) ctx.body = rows[0];
  });

  router.post("/", body, checkBody, conflicts, async (ctx) => {
    const { name, category, price } = ctx.request.body;
    const sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price";
    const { rows } = await pool.query(sql, [name, category, price]);
    ctx.status = 201;
    ctx.set("Location", `/products/${rows[0].id}`);
    ctx.body = rows[0];
  });

  router.put("/:id", body, checkBody, conflicts, async (ctx) => {
    const { name, category, price } = ctx.request.body;
    const sql = "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price";
    const { rows } = await pool.query(sql, [name, category, price, ctx.params.id]);
    if (rows[0]) ctx.body = rows[0];
  });

  router.delete("/:id", async (ctx) => {
    const { rowCount } = await pool.query("DELETE FROM products WHERE id = $1", [ctx.params.id]);
    if (rowCount) ctx.status = 204;
  });

  return router.routes();
}
