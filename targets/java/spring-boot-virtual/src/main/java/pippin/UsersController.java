package pippin;

import java.util.List;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Ten rows through JdbcClient and HikariCP; there only when the database is. */
@RestController
@ConditionalOnProperty("spring.datasource.url")
public class UsersController {
  private final JdbcClient database;

  public UsersController(JdbcClient database) {
    this.database = database;
  }

  @GetMapping("/api/users/")
  public List<User> users() {
    return database.sql("SELECT id, name, email FROM users ORDER BY id").query(User.class).list();
  }
}
