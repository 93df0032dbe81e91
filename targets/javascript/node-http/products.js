const isText = (value) => typeof value === "string" && value.length >= 1 && value.length <= 100;

const isProduct = (value) =>
  isText(value?.name) && isText(value.category) && Number.isInteger(value.price) && value.price >= 0 && value.price <= 1_000_000;

/** What a body says, or nothing where it is no JSON or no product. */
async function productOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  try {
    const value = JSON.parse(Buffer.concat(pieces));
    return isProduct(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const notFound = { status: 404, value: { error: "there is no such product" } };
const unprocessable = { status: 422, value: { error: "a product has a name, a category and a price" } };
const found = (rows) => (rows[0] ? { status: 200, value: rows[0] } : notFound);

async function list(pool, query) {
  const category = query.get("category");
  const page = query.get("page") ?? "1";
  if (!/^0*[1-9]\d{0,8}$/.test(page)) return { status: 422, value: { error: "page is a number of at least 1" } };
  const where = category ? "WHERE category = $2" : "";
  const values = category ? [(page - 1) * 20, category] : [(page - 1) * 20];
  const sql = `SELECT id, name, category, price FROM products ${where} ORDER BY id LIMIT 20 OFFSET $1`;
  return { status: 200, value: (await pool.query(sql, values)).rows };
}

async function create(pool, request) {
  const product = await productOf(request);
  if (!product) return unprocessable;
  const sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price";
  const { rows } = await pool.query(sql, [product.name, product.category, product.price]);
  return { status: 201, value: rows[0], headers: { Location: `/products/${rows[0].id}` } };
}

async function change(pool, id, request) {
  const product = await productOf(request);
  if (!product) return unprocessable;
  const sql = "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price";
  return found((await pool.query(sql, [product.name, product.category, product.price, id])).rows);
}

async function remove(pool, id) {
  const { rowCount } = await pool.query("DELETE FROM products WHERE id = $1", [id]);
  return rowCount === 0 ? notFound : { status: 204 };
}

async function dispatch(pool, request, id, query) {
  const method = `${request.method === "HEAD" ? "GET" : request.method} ${id === undefined ? "all" : "one"}`;
  if (method === "GET all") return list(pool, new URLSearchParams(query));
  if (method === "POST all") return create(pool, request);
  if (id !== undefined && !(/^\d{1,10}$/.test(id) && Number(id) < 2 ** 31)) return notFound;
  if (method === "GET one") return found((await pool.query("SELECT id, name, category, price FROM products WHERE id = $1", [id])).rows);
  if (method === "PUT one") return change(pool, id, request);
  if (method === "DELETE one") return remove(pool, id);
  return { status: 405, value: { error: "Method Not Allowed" } };
}

/** The status, value and headers of the answer to a request for all products or for that with this id. */
export async function products(pool, request, id, query) {
  try {
    return await dispatch(pool, request, id, query);
  } catch (error) {
    if (error.code === "23505") return { status: 409, value: { error: "the name is taken" } };
    throw error;
  }
}
