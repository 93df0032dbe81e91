package pippin;

import io.micronaut.context.annotation.Requires;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.views.View;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** The messages and an added one, with Thymeleaf; there only when the database is. */
@Controller
@Requires(property = "datasources.default.url")
public class MessagesController {
  private final DataSource pool;

  public MessagesController(DataSource pool) {
    this.pool = pool;
  }

  @View("messages")
  @Get("/messages")
  @ExecuteOn(TaskExecutors.BLOCKING)
  public Map<String, Object> messages(@QueryValue String add) throws SQLException {
    try (var connection = pool.getConnection();
        var statement = connection.prepareStatement("SELECT id, text FROM messages");
        var rows = statement.executeQuery()) {
      List<Message> messages = new ArrayList<>();
      while (rows.next()) messages.add(new Message(rows.getInt("id"), rows.getString("text")));
      return Map.of("messages", Message.withAdded(messages, add));
    }
  }
}
