package pippin;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.RoutingHandler;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.server.handlers.GracefulShutdownHandler;
import io.undertow.util.Headers;
import io.undertow.util.Methods;
import io.undertow.util.SameThreadExecutor;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Pippin's workloads on Undertow, with HikariCP and the HTTP client of the JDK. */
public final class Main {
  private static final String DEVICE_BODY = "x".repeat(1024);

  public static void main(String[] arguments) {
    Map<String, String> env = System.getenv();
    RoutingHandler routes = Handlers.routing();
    routes.get("/", Main::hello).add(Methods.HEAD, "/", Main::hello);
    routes.get("/hola/{name}", Main::hola).add(Methods.HEAD, "/hola/{name}", Main::hola);
    routes.get("/device", Main::device);
    if (env.containsKey("DATABASE_URL")) routes.get("/api/users/", users(new Users(env)));
    if (env.containsKey("UPSTREAM_URL")) routes.get("/api/proxy/", proxy(env.get("UPSTREAM_URL")));

    GracefulShutdownHandler graceful = Handlers.gracefulShutdown(routes);
    Undertow server =
        Undertow.builder()
            .addHttpListener(Integer.parseInt(env.get("PORT")), env.get("HOST"))
            .setHandler(graceful)
            .build();
    server.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(graceful, server)));
  }

  /** Lets the requests under way finish, for 5 s at most. */
  private static void stop(GracefulShutdownHandler graceful, Undertow server) {
    graceful.shutdown();
    try {
      graceful.awaitShutdown(5_000);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    server.stop();
  }

  private static void plain(HttpServerExchange exchange, String text) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain; charset=utf-8");
    exchange.getResponseSender().send(text);
  }

  private static void hello(HttpServerExchange exchange) {
    plain(exchange, "Hello World!");
  }

  private static void hola(HttpServerExchange exchange) {
    plain(exchange, "Hola " + exchange.getQueryParameters().get("name").getFirst());
  }

  /** Waits 95 to 105 ms; a timer of the connection's own thread holds no other. */
  private static void device(HttpServerExchange exchange) {
    long wait = ThreadLocalRandom.current().nextLong(95_000, 105_000);
    exchange.dispatch(
        SameThreadExecutor.INSTANCE,
        () -> exchange.getIoThread().executeAfter(() -> plain(exchange, DEVICE_BODY), wait, TimeUnit.MICROSECONDS));
  }

  /** JDBC waits, so that a thread of the worker's pool does. */
  private static HttpHandler users(Users users) {
    ObjectMapper json = new ObjectMapper();
    return new BlockingHandler(
        exchange -> {
          exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
          exchange.getResponseSender().send(json.writeValueAsString(users.all()));
        });
  }

  private static HttpHandler proxy(String base) {
    HttpClient client = HttpClient.newHttpClient();
    HttpRequest request = HttpRequest.newBuilder(URI.create(base + "/slow")).build();
    return exchange ->
        exchange.dispatch(
            SameThreadExecutor.INSTANCE,
            () ->
                client
                    .sendAsync(request, BodyHandlers.ofString())
                    .whenComplete(
                        (answer, error) -> {
                          exchange.setStatusCode(error == null ? answer.statusCode() : 500);
                          plain(exchange, error == null ? answer.body() : error.toString());
                        }));
  }
}
