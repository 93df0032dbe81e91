package pippin;

import java.io.IOException;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** A stream of server-sent events. */
@RestController
public class EventsController {
  /** An event each 100 ms: its number, and the milliseconds since 1970. */
  @GetMapping("/events")
  public SseEmitter events() {
    SseEmitter emitter = new SseEmitter(0L);
    Thread.startVirtualThread(() -> send(emitter));
    return emitter;
  }

  private static void send(SseEmitter emitter) {
    try {
      for (int n = 0; n < 100; n++) {
        if (n > 0) Thread.sleep(100);
        emitter.send(n + " " + System.currentTimeMillis());
      }
      emitter.complete();
    } catch (IOException | InterruptedException error) {
      emitter.completeWithError(error);
    }
  }
}
