package pippin;

import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jboss.resteasy.reactive.RestPath;

/** The workloads that need nothing but the router and the clock. */
@Path("/")
@Produces(MediaType.TEXT_PLAIN)
public class PlainResource {
  private static final String DEVICE_BODY = "x".repeat(1024);

  @GET
  public String hello() {
    return "Hello World!";
  }

  @GET
  @Path("/hola/{name}")
  public String hola(@RestPath String name) {
    return "Hola " + name;
  }

  /** Waits 95 to 105 ms; a delayed Uni holds no thread. */
  @GET
  @Path("/device")
  public Uni<String> device() {
    long wait = ThreadLocalRandom.current().nextLong(95_000_000, 105_000_000);
    return Uni.createFrom().item(DEVICE_BODY).onItem().delayIt().by(Duration.ofNanos(wait));
  }
}
