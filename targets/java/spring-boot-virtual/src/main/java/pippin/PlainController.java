package pippin;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The workloads that need nothing but the router. */
@RestController
public class PlainController {
  private static final String PLAIN = MediaType.TEXT_PLAIN_VALUE + ";charset=UTF-8";

  @GetMapping(path = "/", produces = PLAIN)
  public String hello() {
    return "Hello World!";
  }

  @GetMapping(path = "/hola/{name}", produces = PLAIN)
  public String hola(@PathVariable String name) {
    return "Hola " + name;
  }
}
