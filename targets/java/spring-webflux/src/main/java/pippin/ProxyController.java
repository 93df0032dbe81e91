package pippin;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** Asks the slow upstream; there only when the upstream is. */
@RestController
@ConditionalOnProperty("upstream.url")
public class ProxyController {
  private final WebClient client;

  public ProxyController(WebClient.Builder builder, @Value("${upstream.url}") String base) {
    // By default the pool would open 500 connections and let the other calls wait.
    ConnectionProvider connections = ConnectionProvider.create("upstream", 65_535);
    client = builder.baseUrl(base).clientConnector(new ReactorClientHttpConnector(HttpClient.create(connections))).build();
  }

  @GetMapping("/api/proxy/")
  public Mono<ResponseEntity<String>> proxy() {
    return client
        .get()
        .uri("/slow")
        .exchangeToMono(answer -> answer.toEntity(String.class))
        .map(
            answer ->
                ResponseEntity.status(answer.getStatusCode())
                    .contentType(MediaType.TEXT_PLAIN)
                    .body(answer.getBody()));
  }
}
