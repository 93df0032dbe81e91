package pippin;

import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.client.HttpClient;
import io.micronaut.http.client.annotation.Client;
import reactor.core.publisher.Mono;

/** Asks the slow upstream; there only when the upstream is. */
@Controller
@Requires(property = "micronaut.http.services.upstream.url")
public class ProxyController {
  private final HttpClient client;

  public ProxyController(@Client("upstream") HttpClient client) {
    this.client = client;
  }

  @Get("/api/proxy/")
  @Produces(MediaType.TEXT_PLAIN)
  public Mono<HttpResponse<String>> proxy() {
    return Mono.from(client.exchange(HttpRequest.GET("/slow").accept(MediaType.TEXT_PLAIN_TYPE), String.class))
        .map(answer -> HttpResponse.<String>status(answer.status()).body(answer.body()));
  }
}
