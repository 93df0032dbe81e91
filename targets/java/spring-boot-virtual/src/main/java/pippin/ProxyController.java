package pippin;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

/** Asks the slow upstream; there only when the upstream is. */
@RestController
@ConditionalOnProperty("upstream.url")
public class ProxyController {
  private final RestClient client;

  public ProxyController(RestClient.Builder builder, @Value("${upstream.url}") String base) {
    client = builder.baseUrl(base).build();
  }

  @GetMapping("/api/proxy/")
  public ResponseEntity<String> proxy() {
    ResponseEntity<String> answer = client.get().uri("/slow").retrieve().toEntity(String.class);
    return ResponseEntity.status(answer.getStatusCode()).contentType(MediaType.TEXT_PLAIN).body(answer.getBody());
  }
}
