package pippin;

import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.views.View;
import java.util.Map;

/** The rendered page, with Thymeleaf. */
@Controller
public class PageController {
  @View("page")
  @Get("/page/{n}")
  public Map<String, Object> page(int n) {
    return Map.of("n", n, "items", Item.ofPage(n));
  }
}
