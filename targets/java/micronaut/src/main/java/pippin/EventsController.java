package pippin;

import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.sse.Event;
import java.time.Duration;
import reactor.core.publisher.Flux;

/** A stream of server-sent events. */
@Controller
public class EventsController {
  /** An event each 100 ms: its number, and the milliseconds since 1970. */
  @Get(uri = "/events", produces = MediaType.TEXT_EVENT_STREAM)
  public Flux<Event<String>> events() {
    return Flux.interval(Duration.ZERO, Duration.ofMillis(100))
        .take(100)
        .map(n -> Event.of(n + " " + System.currentTimeMillis()));
  }
}
