package pippin;

import io.quarkus.qute.Template;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.jboss.resteasy.reactive.RestPath;

/** The rendered page, with Qute. */
@Path("/page/{n}")
public class PageResource {
  private final Template page;

  public PageResource(Template page) {
    this.page = page;
  }

  @GET
  @Produces(MediaType.TEXT_HTML)
  public Uni<String> page(@RestPath int n) {
    return page.data("n", n, "items", Item.ofPage(n)).createUni();
  }
}
