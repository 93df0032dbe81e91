package pippin;

import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;

/** The rendered page, with Thymeleaf. */
@Controller
public class PageController {
  @GetMapping("/page/{n:[0-9]+}")
  public String page(@PathVariable int n, Model model) {
    model.addAttribute("n", n);
    model.addAttribute("items", Item.ofPage(n));
    return "page";
  }
}
