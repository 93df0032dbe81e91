package pippin;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The tables through HikariCP and the JDBC driver of PostgreSQL. */
final class Users {
  /** A row of the table. */
  public record User(int id, String name, String email) {}

  final HikariDataSource pool;

  Users(Map<String, String> env) {
    URI url = URI.create(env.get("DATABASE_URL"));
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath());
    String[] login = url.getUserInfo().split(":", 2);
    config.setUsername(login[0]);
    if (login.length > 1) config.setPassword(login[1]);
    config.setMaximumPoolSize(Integer.parseInt(env.getOrDefault("DATABASE_POOL", "10")));
    pool = new HikariDataSource(config);
  }

  List<User> all() throws SQLException {
    try (var connection = pool.getConnection();
        var statement = connection.prepareStatement("SELECT id, name, email FROM users ORDER BY id");
        var rows = statement.executeQuery()) {
      List<User> users = new ArrayList<>();
      while (rows.next()) users.add(new User(rows.getInt("id"), rows.getString("name"), rows.getString("email")));
      return users;
    }
  }

  List<Message> messages() throws SQLException {
    try (var connection = pool.getConnection();
        var statement = connection.prepareStatement("SELECT id, text FROM messages");
        var rows = statement.executeQuery()) {
      List<Message> messages = new ArrayList<>();
      while (rows.next()) messages.add(new Message(rows.getInt("id"), rows.getString("text")));
      return messages;
    }
  }

  void close() {
    pool.close();
  }
}
