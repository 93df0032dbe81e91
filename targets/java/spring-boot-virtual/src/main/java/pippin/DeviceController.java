package pippin;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A device that answers after a while. */
@RestController
public class DeviceController {
  private static final String BODY = "x".repeat(1024);

  /** Waits 95 to 105 ms; a virtual thread that sleeps holds no thread of the system. */
  @GetMapping(path = "/device", produces = MediaType.TEXT_PLAIN_VALUE)
  public String device() throws InterruptedException {
    long wait = ThreadLocalRandom.current().nextLong(95_000_000, 105_000_000);
    TimeUnit.NANOSECONDS.sleep(wait);
    return BODY;
  }
}
