package pippin;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The messages and an added one, with Thymeleaf; there only when the database is. */
@Controller
@ConditionalOnProperty("spring.datasource.url")
public class MessagesController {
  private final JdbcClient database;

  public MessagesController(JdbcClient database) {
    this.database = database;
  }

  @GetMapping("/messages")
  public String messages(@RequestParam String add, Model model) {
    var rows = database.sql("SELECT id, text FROM messages").query(Message.class).list();
    model.addAttribute("messages", Message.withAdded(rows, add));
    return "messages";
  }
}
