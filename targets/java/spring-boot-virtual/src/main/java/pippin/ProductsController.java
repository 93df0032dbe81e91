package pippin;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Min;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.annotation.HandlerMethodValidationException;
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException;

/** Products through JdbcClient; there only when the database is. */
@RestController
@RequestMapping("/products")
@ConditionalOnProperty("spring.datasource.url")
public class ProductsController {
  private final JdbcClient database;

  public ProductsController(JdbcClient database) {
    this.database = database;
  }

  @GetMapping
  public List<Product> list(
      @RequestParam(required = false) String category, @RequestParam(defaultValue = "1") @Min(1) int page) {
    String where = category == null ? "" : "WHERE category = :category";
    return database
        .sql("SELECT id, name, category, price FROM products " + where + " ORDER BY id LIMIT 20 OFFSET :skipped")
        .param("category", category)
        .param("skipped", (page - 1) * 20L)
        .query(Product.class)
        .list();
  }

  @GetMapping("/{id}")
  public ResponseEntity<Product> read(@PathVariable int id) {
    String sql = "SELECT id, name, category, price FROM products WHERE id = ?";
    return ResponseEntity.of(database.sql(sql).param(id).query(Product.class).optional());
  }

  @PostMapping
  public ResponseEntity<Product> create(@Valid @RequestBody Product.Input sent) {
    String sql = "INSERT INTO products (name, category, price) VALUES (?, ?, ?) RETURNING id, name, category, price";
    Product product =
        database.sql(sql).params(sent.name(), sent.category(), sent.price()).query(Product.class).single();
    return ResponseEntity.created(URI.create("/products/" + product.id())).body(product);
  }

  @PutMapping("/{id}")
  public ResponseEntity<Product> change(@PathVariable int id, @Valid @RequestBody Product.Input sent) {
    String sql =
        "UPDATE products SET name = ?, category = ?, price = ? WHERE id = ? RETURNING id, name, category, price";
    Optional<Product> changed =
        database.sql(sql).params(sent.name(), sent.category(), sent.price(), id).query(Product.class).optional();
    return ResponseEntity.of(changed);
  }

  @DeleteMapping("/{id}")
  public ResponseEntity<Void> remove(@PathVariable int id) {
    int removed = database.sql("DELETE FROM products WHERE id = ?").param(id).update();
    return removed == 0 ? ResponseEntity.notFound().build() : ResponseEntity.noContent().build();
  }

  /** Spring's own answer is 400. */
  @ResponseStatus(HttpStatus.UNPROCESSABLE_CONTENT)
  @ExceptionHandler({
    HandlerMethodValidationException.class, HttpMessageNotReadableException.class, MethodArgumentNotValidException.class
  })
  public void invalid() {}

  /** An id or a page that is no number. */
  @ExceptionHandler
  public ResponseEntity<Void> noNumber(MethodArgumentTypeMismatchException error) {
    boolean isId = error.getName().equals("id");
    return ResponseEntity.status(isId ? HttpStatus.NOT_FOUND : HttpStatus.UNPROCESSABLE_CONTENT).build();
  }

  @ResponseStatus(HttpStatus.CONFLICT)
  @ExceptionHandler(DuplicateKeyException.class)
  public void taken() {}
}
