package pippin;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** A device that answers after a while. */
@RestController
public class DeviceController {
  private static final String BODY = "x".repeat(1024);

  /** Waits 95 to 105 ms; a delayed Mono holds no thread. */
  @GetMapping(path = "/device", produces = MediaType.TEXT_PLAIN_VALUE)
  public Mono<String> device() {
    long wait = ThreadLocalRandom.current().nextLong(95_000_000, 105_000_000);
    return Mono.delay(Duration.ofNanos(wait)).map(done -> BODY);
  }
}
