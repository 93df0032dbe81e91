package pippin;

import io.micronaut.runtime.Micronaut;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/** Pippin's workloads on Micronaut, with Thymeleaf, HikariCP and Micronaut's HTTP client. */
public final class Main {
  public static void main(String[] arguments) {
    Micronaut.build(arguments)
        .mainClass(Main.class)
        .banner(false)
        .properties(settings(System.getenv()))
        .start();
  }

  /** Pippin's environment in the names that Micronaut knows. */
  private static Map<String, Object> settings(Map<String, String> env) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("micronaut.server.host", env.get("HOST"));
    settings.put("micronaut.server.port", env.get("PORT"));
    if (env.containsKey("DATABASE_URL")) {
      URI url = URI.create(env.get("DATABASE_URL"));
      String[] login = url.getUserInfo().split(":", 2);
      settings.put("datasources.default.url", "jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath());
      settings.put("datasources.default.driver-class-name", "org.postgresql.Driver");
      settings.put("datasources.default.username", login[0]);
      if (login.length > 1) settings.put("datasources.default.password", login[1]);
      settings.put("datasources.default.maximum-pool-size", env.getOrDefault("DATABASE_POOL", "10"));
    }
    if (env.containsKey("UPSTREAM_URL")) {
      settings.put("micronaut.http.services.upstream.url", env.get("UPSTREAM_URL"));
    }
    return settings;
  }
}
