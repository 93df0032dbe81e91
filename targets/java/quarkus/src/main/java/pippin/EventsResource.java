package pippin;

import io.smallrye.mutiny.Multi;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Duration;
import org.jboss.resteasy.reactive.RestStreamElementType;

/** A stream of server-sent events. */
@Path("/events")
public class EventsResource {
  /** An event each 100 ms: its number, and the milliseconds since 1970. */
  @GET
  @Produces(MediaType.SERVER_SENT_EVENTS)
  @RestStreamElementType(MediaType.TEXT_PLAIN)
  public Multi<String> events() {
    return Multi.createFrom()
        .ticks()
        .every(Duration.ofMillis(100))
        .select()
        .first(100)
        .map(n -> n + " " + System.currentTimeMillis());
  }
}
