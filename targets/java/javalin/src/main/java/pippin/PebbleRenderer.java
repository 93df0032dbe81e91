package pippin;

import io.javalin.http.Context;
import io.javalin.rendering.FileRenderer;
import io.pebbletemplates.pebble.PebbleEngine;
import io.pebbletemplates.pebble.loader.ClasspathLoader;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;

/** Pebble behind the interface that Javalin gives for template engines. */
final class PebbleRenderer implements FileRenderer {
  private final PebbleEngine engine = new PebbleEngine.Builder().loader(new ClasspathLoader()).build();

  @Override
  public String render(String file, Map<String, ? extends Object> model, Context context) {
    StringWriter out = new StringWriter();
    try {
      engine.getTemplate(file).evaluate(out, Map.copyOf(model));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return out.toString();
  }
}
