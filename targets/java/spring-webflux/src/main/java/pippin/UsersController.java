package pippin;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.MediaType;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;

/** Ten rows through R2DBC and its pool; there only when the database is. */
@RestController
@ConditionalOnProperty("spring.r2dbc.url")
public class UsersController {
  private final DatabaseClient database;

  public UsersController(DatabaseClient database) {
    this.database = database;
  }

  @GetMapping(path = "/api/users/", produces = MediaType.APPLICATION_JSON_VALUE)
  public Flux<User> users() {
    return database.sql("SELECT id, name, email FROM users ORDER BY id").mapProperties(User.class).all();
  }
}
