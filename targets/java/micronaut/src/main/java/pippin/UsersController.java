package pippin;

import io.micronaut.context.annotation.Requires;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Ten rows through HikariCP; there only when the database is. */
@Controller
@Requires(property = "datasources.default.url")
public class UsersController {
  private final DataSource pool;

  public UsersController(DataSource pool) {
    this.pool = pool;
  }

  @Get("/api/users/")
  @ExecuteOn(TaskExecutors.BLOCKING)
  public List<User> users() throws SQLException {
    try (var connection = pool.getConnection();
        var statement = connection.prepareStatement("SELECT id, name, email FROM users ORDER BY id");
        var rows = statement.executeQuery()) {
      List<User> users = new ArrayList<>();
      while (rows.next()) users.add(new User(rows.getInt("id"), rows.getString("name"), rows.getString("email")));
      return users;
    }
  }
}
