package pippin;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import io.javalin.http.Context;
import io.javalin.http.NotFoundResponse;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Products: listed, read, added, changed and removed. */
final class Products {
  /** A row of the table. */
  public record Product(int id, String name, String category, int price) {}

  /** What clients send. */
  public record Input(String name, String category, Integer price) {}

  /** By default Jackson takes "7" and 7.5 for a whole number, and 7 for a text. */
  static final JsonMapper STRICT =
      JsonMapper.builder()
          .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
          .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
          .withCoercionConfig(
              LogicalType.Textual,
              texts ->
                  texts
                      .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
          .build();

  private final DataSource pool;

  Products(DataSource pool) {
    this.pool = pool;
  }

  private List<Product> query(String sql, Object... values) throws SQLException {
    try (var connection = pool.getConnection();
        var statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) statement.setObject(i + 1, values[i]);
      List<Product> products = new ArrayList<>();
      try (var rows = statement.executeQuery()) {
        while (rows.next()) products.add(new Product(rows.getInt(1), rows.getString(2), rows.getString(3), rows.getInt(4)));
      }
      return products;
    }
  }

  private Product queryOne(String sql, Object... values) throws SQLException {
    return query(sql, values).stream().findFirst().orElseThrow(NotFoundResponse::new);
  }

  private static int id(Context context) {
    return context.pathParamAsClass("id", Integer.class).getOrThrow(errors -> new NotFoundResponse());
  }

  private static boolean isText(String text) {
    return text != null && !text.isEmpty() && text.length() <= 100;
  }

  /** The body; where it is none, Javalin's validation throws. */
  private static Input body(Context context) {
    return context
        .bodyValidator(Input.class)
        .check(sent -> isText(sent.name()), "name has 1 to 100 characters")
        .check(sent -> isText(sent.category()), "category has 1 to 100 characters")
        .check(sent -> sent.price() != null && sent.price() >= 0 && sent.price() <= 1_000_000, "price is 0 to 1000000")
        .get();
  }

  void list(Context context) throws SQLException {
    int page =
        context
            .queryParamAsClass("page", Integer.class)
            .check(n -> n == null || n >= 1, "page is at least 1")
            .getOrDefault(1);
    String category = context.queryParam("category");
    context.json(
        category == null
            ? query("SELECT id, name, category, price FROM products ORDER BY id LIMIT 20 OFFSET ?", (page - 1) * 20L)
            : query(
                "SELECT id, name, category, price FROM products WHERE category = ? ORDER BY id LIMIT 20 OFFSET ?",
                category,
                (page - 1) * 20L));
  }

  void read(Context context) throws SQLException {
    context.json(queryOne("SELECT id, name, category, price FROM products WHERE id = ?", id(context)));
  }

  void create(Context context) throws SQLException {
    Input sent = body(context);
    String sql = "INSERT INTO products (name, category, price) VALUES (?, ?, ?) RETURNING id, name, category, price";
    Product product = queryOne(sql, sent.name(), sent.category(), sent.price());
    context.status(201).header("Location", "/products/" + product.id()).json(product);
  }

  void change(Context context) throws SQLException {
    int id = id(context);
    Input sent = body(context);
    String sql = "UPDATE products SET name = ?, category = ?, price = ? WHERE id = ? RETURNING id, name, category, price";
    context.json(queryOne(sql, sent.name(), sent.category(), sent.price(), id));
  }

  void remove(Context context) throws SQLException {
    queryOne("DELETE FROM products WHERE id = ? RETURNING id, name, category, price", id(context));
    context.status(204);
  }

  static void failed(SQLException error, Context context) {
    boolean isTaken = "23505".equals(error.getSQLState());
    context.status(isTaken ? 409 : 500).result(isTaken ? "the name is taken" : error.toString());
  }
}
