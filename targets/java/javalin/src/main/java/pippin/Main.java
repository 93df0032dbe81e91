package pippin;

import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.NotFoundResponse;
import io.javalin.http.sse.SseClient;
import io.javalin.http.staticfiles.Location;
import io.javalin.json.JavalinJackson;
import io.javalin.validation.ValidationException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Pippin's workloads on Javalin, with Pebble, HikariCP and the HTTP client of the JDK. */
public final class Main {
  private static final String DEVICE_BODY = "x".repeat(1024);
  private static final ScheduledExecutorService CLOCK =
      Executors.newScheduledThreadPool(Runtime.getRuntime().availableProcessors());

  public static void main(String[] arguments) {
    Map<String, String> env = System.getenv();
    Javalin app =
        Javalin.create(
            config -> {
              config.startup.showJavalinBanner = false;
              config.fileRenderer(new PebbleRenderer());
              config.routes.get("/", context -> context.result("Hello World!"));
              config.routes.get("/hola/{name}", context -> context.result("Hola " + context.pathParam("name")));
              config.routes.get("/page/{n}", Main::page);
              config.routes.get("/device", Main::device);
              config.routes.sse("/events", Main::events);
              config.routes.post("/upload", Main::upload);
              if (env.containsKey("DATABASE_URL")) {
                Users users = new Users(env);
                config.routes.get("/api/users/", context -> context.json(users.all()));
                config.routes.get("/messages", context -> messages(context, users));
                products(config, new Products(users.pool));
                config.events.serverStopped(users::close);
              }
              if (env.containsKey("ITEMS_FILE")) {
                DataFile file = new DataFile(env.get("ITEMS_FILE"));
                config.routes.get("/json/{n}", context -> items(context, file));
              }
              if (env.containsKey("STATIC_FOLDER")) {
                config.staticFiles.add(
                    files -> {
                      files.hostedPath = "/static";
                      files.directory = env.get("STATIC_FOLDER");
                      files.location = Location.EXTERNAL;
                    });
              }
              if (env.containsKey("UPSTREAM_URL")) {
                HttpClient client = HttpClient.newHttpClient();
                HttpRequest request = HttpRequest.newBuilder(URI.create(env.get("UPSTREAM_URL") + "/slow")).build();
                config.routes.get("/api/proxy/", context -> proxy(context, client, request));
              }
            });
    app.start(env.get("HOST"), Integer.parseInt(env.get("PORT")));
    Runtime.getRuntime().addShutdownHook(new Thread(app::stop));
  }

  private static void products(JavalinConfig config, Products products) {
    config.jsonMapper(new JavalinJackson(Products.STRICT, false));
    config.routes.get("/products", products::list);
    config.routes.post("/products", products::create);
    config.routes.get("/products/{id}", products::read);
    config.routes.put("/products/{id}", products::change);
    config.routes.delete("/products/{id}", products::remove);
    // Javalin's own answer is 400.
    config.routes.exception(ValidationException.class, (error, context) -> context.status(422).json(error.getErrors()));
    config.routes.exception(SQLException.class, Products::failed);
  }

  private static void page(Context context) {
    int n;
    try {
      n = Integer.parseInt(context.pathParam("n"));
    } catch (NumberFormatException error) {
      throw new NotFoundResponse();
    }
    context.render("templates/page.peb", Map.of("n", n, "items", Item.ofPage(n)));
  }

  private static void messages(Context context, Users users) throws SQLException {
    List<Message> messages = Message.withAdded(users.messages(), context.queryParam("add"));
    context.render("templates/messages.peb", Map.of("messages", messages));
  }

  private static void items(Context context, DataFile file) {
    int n = context.pathParamAsClass("n", Integer.class).get();
    long m = context.queryParamAsClass("m", Long.class).get();
    context.json(file.first(n, m));
  }

  /** Waits 95 to 105 ms; the future holds no thread. */
  private static void device(Context context) {
    long wait = ThreadLocalRandom.current().nextLong(95_000, 105_000);
    context.future(
        () ->
            CompletableFuture.runAsync(
                () -> context.result(DEVICE_BODY),
                CompletableFuture.delayedExecutor(wait, TimeUnit.MICROSECONDS)));
  }

  /** An event each 100 ms: its number, and the milliseconds since 1970. Between two it holds no thread. */
  private static void events(SseClient client) {
    client.keepAlive();
    AtomicInteger number = new AtomicInteger();
    ScheduledFuture<?> ticks =
        CLOCK.scheduleAtFixedRate(
            () -> {
              int n = number.getAndIncrement();
              client.sendEvent(n + " " + System.currentTimeMillis());
              if (n == 99) client.close();
            },
            0,
            100,
            TimeUnit.MILLISECONDS);
    client.onClose(() -> ticks.cancel(false));
  }

  /** Digests the body as it comes. */
  private static void upload(Context context) throws IOException, NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    InputStream body = context.bodyInputStream();
    byte[] buffer = new byte[64 * 1024];
    long length = 0;
    for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
      digest.update(buffer, 0, read);
      length += read;
    }
    context.result(length + " " + HexFormat.of().formatHex(digest.digest()));
  }

  private static void proxy(Context context, HttpClient client, HttpRequest request) {
    context.future(
        () ->
            client
                .sendAsync(request, BodyHandlers.ofString())
                .thenAccept(answer -> context.status(answer.statusCode()).result(answer.body())));
  }
}
