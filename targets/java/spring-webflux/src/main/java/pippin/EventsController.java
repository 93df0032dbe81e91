package pippin;

import java.time.Duration;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;

/** A stream of server-sent events. */
@RestController
public class EventsController {
  /** An event each 100 ms: its number, and the milliseconds since 1970. */
  @GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
  public Flux<String> events() {
    return Flux.interval(Duration.ZERO, Duration.ofMillis(100)).take(100).map(n -> n + " " + System.currentTimeMillis());
  }
}
