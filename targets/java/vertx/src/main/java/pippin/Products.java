package pippin;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.function.Consumer;

/** Products: listed, read, added, changed and removed. */
final class Products {
  private final Pool pool;

  Products(Pool pool, Router router) {
    this.pool = pool;
    // An id that is no number of 32 bits matches no route, or no row.
    String one = "/products/(?<id>[0-9]{1,18})";
    router.get("/products").handler(this::list);
    router.post("/products").handler(BodyHandler.create()).handler(this::create);
    router.getWithRegex(one).handler(this::read);
    router.putWithRegex(one).handler(BodyHandler.create()).handler(this::change);
    router.deleteWithRegex(one).handler(this::remove);
  }

  private static JsonObject object(Row row) {
    return new JsonObject()
        .put("id", row.getInteger("id"))
        .put("name", row.getString("name"))
        .put("category", row.getString("category"))
        .put("price", row.getInteger("price"));
  }

  /** `fail` would log each of them. */
  private static void refuse(RoutingContext context, int status) {
    context.response().setStatusCode(status).end();
  }

  private static boolean isText(Object value) {
    return value instanceof String text && !text.isEmpty() && text.length() <= 100;
  }

  /** Name, category and price of the body, or null where it is no product. */
  private static Tuple sent(RoutingContext context) {
    try {
      JsonObject body = context.body().asJsonObject();
      if (body == null || !isText(body.getValue("name")) || !isText(body.getValue("category"))) return null;
      if (!(body.getValue("price") instanceof Integer price) || price < 0 || price > 1_000_000) return null;
      return Tuple.of(body.getString("name"), body.getString("category"), price);
    } catch (DecodeException | ClassCastException error) {
      return null;
    }
  }

  /** Hands on the row that the statement returns, or answers with what the database said. */
  private void one(RoutingContext context, String sql, Tuple values, Consumer<JsonObject> answer) {
    pool.preparedQuery(sql)
        .execute(values)
        .onSuccess(
            rows -> {
              if (rows.size() == 0) refuse(context, 404);
              else answer.accept(object(rows.iterator().next()));
            })
        .onFailure(
            error -> {
              if (error instanceof PgException refused && "23505".equals(refused.getSqlState())) refuse(context, 409);
              else context.fail(error);
            });
  }

  private static long id(RoutingContext context) {
    return Long.parseLong(context.pathParam("id"));
  }

  private void list(RoutingContext context) {
    String page = context.request().getParam("page", "1");
    if (!page.matches("0*[1-9][0-9]{0,8}")) {
      refuse(context, 422);
      return;
    }
    long skipped = (Long.parseLong(page) - 1) * 20;
    String category = context.request().getParam("category");
    String where = category == null ? "" : "WHERE category = $2";
    pool.preparedQuery("SELECT id, name, category, price FROM products " + where + " ORDER BY id LIMIT 20 OFFSET $1")
        .execute(category == null ? Tuple.of(skipped) : Tuple.of(skipped, category))
        .onSuccess(
            rows -> {
              JsonArray products = new JsonArray();
              for (Row row : rows) products.add(object(row));
              context.json(products);
            })
        .onFailure(context::fail);
  }

  private void read(RoutingContext context) {
    String sql = "SELECT id, name, category, price FROM products WHERE id = $1::bigint";
    one(context, sql, Tuple.of(id(context)), context::json);
  }

  private void create(RoutingContext context) {
    Tuple sent = sent(context);
    if (sent == null) {
      refuse(context, 422);
      return;
    }
    String sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price";
    one(
        context,
        sql,
        sent,
        product -> {
          context.response().setStatusCode(201).putHeader("location", "/products/" + product.getInteger("id"));
          context.json(product);
        });
  }

  private void change(RoutingContext context) {
    Tuple sent = sent(context);
    if (sent == null) {
      refuse(context, 422);
      return;
    }
    String sql =
        "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4::bigint RETURNING id, name, category, price";
    one(context, sql, sent.addLong(id(context)), context::json);
  }

  private void remove(RoutingContext context) {
    String sql = "DELETE FROM products WHERE id = $1::bigint RETURNING id, name, category, price";
    one(context, sql, Tuple.of(id(context)), product -> context.response().setStatusCode(204).end());
  }
}
