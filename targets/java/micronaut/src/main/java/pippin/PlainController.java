package pippin;

import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Mono;

/** The workloads that need nothing but the router and the clock. */
@Controller
@Produces(MediaType.TEXT_PLAIN)
public class PlainController {
  private static final String DEVICE_BODY = "x".repeat(1024);

  @Get("/")
  public String hello() {
    return "Hello World!";
  }

  @Get("/hola/{name}")
  public String hola(String name) {
    return "Hola " + name;
  }

  /** Waits 95 to 105 ms; a delayed Mono holds no thread. */
  @Get("/device")
  public Mono<String> device() {
    long wait = ThreadLocalRandom.current().nextLong(95_000_000, 105_000_000);
    return Mono.delay(Duration.ofNanos(wait)).map(done -> DEVICE_BODY);
  }
}
