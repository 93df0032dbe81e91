package pippin;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.reactive.result.view.Rendering;
import reactor.core.publisher.Mono;

/** The messages and an added one, with Thymeleaf; there only when the database is. */
@Controller
@ConditionalOnProperty("spring.r2dbc.url")
public class MessagesController {
  private final DatabaseClient database;

  public MessagesController(DatabaseClient database) {
    this.database = database;
  }

  @GetMapping("/messages")
  public Mono<Rendering> messages(@RequestParam String add) {
    var rows = database.sql("SELECT id, text FROM messages").mapProperties(Message.class).all().collectList();
    return rows.map(
        messages -> Rendering.view("messages").modelAttribute("messages", Message.withAdded(messages, add)).build());
  }
}
