const text = { type: "string", minLength: 1, maxLength: 100 };
const price = { type: "integer", minimum: 0, maximum: 1_000_000 };
const product = { type: "object", properties: { id: { type: "integer" }, name: text, category: text, price } };
const body = { type: "object", required: ["name", "category", "price"], properties: { name: text, category: text, price } };
const querystring = {
  type: "object",
  properties: { category: { type: "string" }, page: { type: "string", pattern: "^0*[1-9][0-9]{0,8}$", default: "1" } },
};

/** The routes of products below their path; a plugin, so that its handler of errors is its own. */
export async function products(app) {
  // Fastify's own answer to what its schemas and its parser refuse is 400.
  app.setErrorHandler((error, request, reply) => {
    if (error.statusCode === 400) error.statusCode = 422;
    if (error.code === "23505") error.statusCode = 409;
    reply.send(error);
  });

  // Any other id matches no route.
  const one = "/:id(^[0-9]{1,10}$)";
  const isId = async (request, reply) => {
    if (Number(request.params.id) >= 2 ** 31) reply.callNotFound();
  };

  app.get("/", { schema: { querystring, response: { 200: { type: "array", items: product } } } }, async (request) => {
    const { category, page } = request.query;
    const where = category ? "WHERE category = $2" : "";
    const values = category ? [(page - 1) * 20, category] : [(page - 1) * 20];
    const sql = `SELECT id, name, category, price FROM products ${where} ORDER BY id LIMIT 20 OFFSET $1`;
    return (await app.pg.query(sql, values)).rows;
  });

  app.get(one, { onRequest: isId, schema: { response: { 200: product } } }, async (request, reply) => {
    const sql = "SELECT id, name, category, price FROM products WHERE id = $1";
    const { rows } = await app.pg.query(sql, [request.params.id]);
    return rows[0] ?? reply.callNotFound();
  });

  app.post("/", { schema: { body, response: { 201: product } } }, async (request, reply) => {
    const { name, category, price } = request.body;
    const sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price";
    const { rows } = await app.pg.query(sql, [name, category, price]);
    return reply.code(201).header("Location", `/products/${rows[0].id}`).send(rows[0]);
  });

  app.put(one, { onRequest: isId, schema: { body, response: { 200: product } } }, async (request, reply) => {
    const { name, category, price } = request.body;
    const sql = "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price";
    const { rows } = await app.pg.query(sql, [name, category, price, request.params.id]);
    return rows[0] ?? reply.callNotFound();
  });

  app.delete(one, { onRequest: isId }, async (request, reply) => {
    const { rowCount } = await app.pg.query("DELETE FROM products WHERE id = $1", [request.params.id]);
    return rowCount === 0 ? reply.callNotFound() : reply.code(204).send();
  });
}
