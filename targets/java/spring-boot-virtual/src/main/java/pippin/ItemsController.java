package pippin;

import java.io.File;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.json.JsonMapper;

/** Items of the data file; there only when the file is. */
@RestController
@ConditionalOnProperty("items.file")
public class ItemsController {
  private final DataFile file;

  public ItemsController(JsonMapper mapper, @Value("${items.file}") File path) {
    file = new DataFile(mapper, path);
  }

  @GetMapping("/json/{n:[0-9]+}")
  public DataFile.Answer items(@PathVariable int n, @RequestParam long m) {
    return file.first(n, m);
  }
}
