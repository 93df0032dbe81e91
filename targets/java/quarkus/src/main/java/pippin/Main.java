package pippin;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.net.URI;
import java.util.Map;

/** Pippin's workloads on Quarkus, with Qute, the reactive PostgreSQL client and Vert.x's web client. */
@QuarkusMain
public final class Main {
  public static void main(String[] arguments) {
    configure(System.getenv());
    Quarkus.run(arguments);
  }

  /** Pippin's environment in the names that Quarkus knows. */
  private static void configure(Map<String, String> env) {
    System.setProperty("quarkus.http.host", env.get("HOST"));
    System.setProperty("quarkus.http.port", env.get("PORT"));
    if (!env.containsKey("DATABASE_URL")) {
      System.setProperty("quarkus.datasource.active", "false");
      return;
    }
    URI url = URI.create(env.get("DATABASE_URL"));
    String[] login = url.getUserInfo().split(":", 2);
    System.setProperty(
        "quarkus.datasource.reactive.url", "postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath());
    System.setProperty("quarkus.datasource.username", login[0]);
    if (login.length > 1) System.setProperty("quarkus.datasource.password", login[1]);
    System.setProperty("quarkus.datasource.reactive.max-size", env.getOrDefault("DATABASE_POOL", "10"));
  }
}
