package pippin;

import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.mutiny.core.Vertx;
import io.vertx.mutiny.ext.web.client.WebClient;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/** Asks the slow upstream. */
@Path("/api/proxy/")
public class ProxyResource {
  private final WebClient client;
  private final String base = System.getenv("UPSTREAM_URL");

  public ProxyResource(Vertx vertx) {
    // By default the client would make 5 calls at once and let the others wait.
    client = WebClient.create(vertx, new WebClientOptions().setMaxPoolSize(65_535));
  }

  @GET
  @Produces(MediaType.TEXT_PLAIN)
  public Uni<Response> proxy() {
    if (base == null) return Uni.createFrom().item(Response.status(Response.Status.NOT_FOUND).build());
    return client
        .getAbs(base + "/slow")
        .send()
        .map(answer -> Response.status(answer.statusCode()).entity(answer.bodyAsString()).build());
  }
}
