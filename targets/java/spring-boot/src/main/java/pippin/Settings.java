package pippin;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/** Pippin's environment in the names that Spring Boot knows. */
final class Settings {
  static Map<String, Object> from(Map<String, String> env) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("server.address", env.get("HOST"));
    settings.put("server.port", env.get("PORT"));
    if (env.containsKey("DATABASE_URL")) {
      URI url = URI.create(env.get("DATABASE_URL"));
      String[] login = url.getUserInfo().split(":", 2);
      settings.put("spring.datasource.url", "jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath());
      settings.put("spring.datasource.username", login[0]);
      if (login.length > 1) settings.put("spring.datasource.password", login[1]);
      settings.put("spring.datasource.hikari.maximum-pool-size", env.getOrDefault("DATABASE_POOL", "10"));
    } else {
      // Without a database there is nothing to make a pool of.
      settings.put("spring.autoconfigure.exclude", "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
    }
    if (env.containsKey("ITEMS_FILE")) {
      settings.put("items.file", env.get("ITEMS_FILE"));
      settings.put("server.compression.enabled", "true");
    }
    if (env.containsKey("STATIC_FOLDER")) {
      settings.put("spring.mvc.static-path-pattern", "/static/**");
      settings.put("spring.web.resources.static-locations", "file:" + env.get("STATIC_FOLDER") + "/");
    }
    return settings;
  }
}
