package pippin;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.enterprise.inject.Instance;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.List;
import java.util.stream.StreamSupport;

/** Ten rows through the reactive PostgreSQL client and its pool. */
@Path("/api/users/")
public class UsersResource {
  /** A row of the table. */
  public record User(int id, String name, String email) {
    static User of(Row row) {
      return new User(row.getInteger("id"), row.getString("name"), row.getString("email"));
    }
  }

  // Made when it is first asked for: without a database the data source is not active.
  private final Instance<Pool> pool;

  public UsersResource(Instance<Pool> pool) {
    this.pool = pool;
  }

  @GET
  public Uni<List<User>> users() {
    return pool.get()
        .query("SELECT id, name, email FROM users ORDER BY id")
        .execute()
        .map(rows -> StreamSupport.stream(rows.spliterator(), false).map(User::of).toList());
  }
}
