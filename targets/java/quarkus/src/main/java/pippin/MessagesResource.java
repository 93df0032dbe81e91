package pippin;

import io.quarkus.qute.Template;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import jakarta.enterprise.inject.Instance;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.stream.StreamSupport;
import org.jboss.resteasy.reactive.RestQuery;

/** The messages and an added one, with Qute. */
@Path("/messages")
public class MessagesResource {
  private final Template messages;
  // Made when it is first asked for: without a database the data source is not active.
  private final Instance<Pool> pool;

  public MessagesResource(Template messages, Instance<Pool> pool) {
    this.messages = messages;
    this.pool = pool;
  }

  @GET
  @Produces(MediaType.TEXT_HTML)
  public Uni<String> messages(@RestQuery String add) {
    return pool.get()
        .query("SELECT id, text FROM messages")
        .execute()
        .map(
            rows ->
                StreamSupport.stream(rows.spliterator(), false)
                    .map(row -> new Message(row.getInteger("id"), row.getString("text")))
                    .toList())
        .chain(rows -> messages.data("messages", Message.withAdded(rows, add)).createUni());
  }
}
