package pippin;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** A stream of server-sent events. */
@RestController
public class EventsController {
  private final ScheduledExecutorService clock =
      Executors.newScheduledThreadPool(Runtime.getRuntime().availableProcessors());

  /** An event each 100 ms: its number, and the milliseconds since 1970. Between two it holds no thread. */
  @GetMapping("/events")
  public SseEmitter events() {
    SseEmitter emitter = new SseEmitter(0L);
    AtomicInteger number = new AtomicInteger();
    ScheduledFuture<?> ticks =
        clock.scheduleAtFixedRate(() -> send(emitter, number.getAndIncrement()), 0, 100, TimeUnit.MILLISECONDS);
    emitter.onCompletion(() -> ticks.cancel(false));
    return emitter;
  }

  private static void send(SseEmitter emitter, int n) {
    try {
      if (n < 100) emitter.send(n + " " + System.currentTimeMillis());
      if (n == 99) emitter.complete();
    } catch (IOException | IllegalStateException error) {
      emitter.completeWithError(error);
    }
  }
}
