package pippin;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.ext.web.handler.FileSystemAccess;
import io.vertx.ext.web.handler.StaticHandler;
import io.vertx.ext.web.templ.pebble.PebbleTemplateEngine;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Pippin's workloads on Vert.x-Web, with Pebble, Vert.x's PostgreSQL client and its web client. */
final class Server extends VerticleBase {
  private static final String DEVICE_BODY = "x".repeat(1024);

  private final Map<String, String> env = System.getenv();
  private PebbleTemplateEngine templates;
  private Pool pool;
  private WebClient client;
  private JsonArray items;

  @Override
  public Future<?> start() {
    templates = PebbleTemplateEngine.create(vertx);
    Router router = Router.router(vertx);
    // A HEAD is routed like the GET of the same path; Vert.x sends no body for it.
    router.route("/").handler(context -> plain(context, "Hello World!"));
    router.route("/hola/:name").handler(context -> plain(context, "Hola " + context.pathParam("name")));
    router.get("/page/:n").handler(this::page);
    router.get("/device").handler(this::device);
    router.get("/events").handler(this::events);
    router.post("/upload").handler(Server::upload);
    if (env.containsKey("DATABASE_URL")) {
      pool = openPool();
      router.get("/api/users/").handler(this::users);
      router.get("/messages").handler(this::messages);
      new Products(pool, router);
    }
    if (env.containsKey("ITEMS_FILE")) {
      items = vertx.fileSystem().readFileBlocking(env.get("ITEMS_FILE")).toJsonArray();
      router.get("/json/:n").handler(this::items);
    }
    if (env.containsKey("STATIC_FOLDER")) {
      StaticHandler files = StaticHandler.create(FileSystemAccess.ROOT, env.get("STATIC_FOLDER"));
      router.route("/static/*").handler(files.setCacheEntryTimeout(500));
    }
    if (env.containsKey("UPSTREAM_URL")) {
      // By default the client would make 5 calls at once and let the others wait.
      client = WebClient.create(vertx, new WebClientOptions(), new PoolOptions().setHttp1MaxSize(65_535));
      router.get("/api/proxy/").handler(this::proxy);
    }
    // For clients that accept a coding. It looks at every request, so it is there only with the route that uses it.
    HttpServerOptions options = new HttpServerOptions().setCompressionSupported(items != null);
    return vertx
        .createHttpServer(options)
        .requestHandler(router)
        .listen(Integer.parseInt(env.get("PORT")), env.get("HOST"));
  }

  /** One pool, shared by all verticles. */
  private Pool openPool() {
    int size = Integer.parseInt(env.getOrDefault("DATABASE_POOL", "10"));
    return PgBuilder.pool()
        .connectingTo(PgConnectOptions.fromUri(env.get("DATABASE_URL")))
        .with(new io.vertx.sqlclient.PoolOptions().setMaxSize(size).setShared(true).setName("users"))
        .using(vertx)
        .build();
  }

  private static void plain(RoutingContext context, String text) {
    context.response().putHeader("content-type", "text/plain; charset=utf-8").end(text);
  }

  private void page(RoutingContext context) {
    int n;
    try {
      n = Integer.parseInt(context.pathParam("n"));
    } catch (NumberFormatException error) {
      context.next();
      return;
    }
    templates
        .render(Map.of("n", n, "items", Item.ofPage(n)), "templates/page.peb")
        .onSuccess(page -> context.response().putHeader("content-type", "text/html; charset=utf-8").end(page))
        .onFailure(context::fail);
  }

  /** Waits 95 to 105 ms; a timer holds no thread. */
  private void device(RoutingContext context) {
    vertx.setTimer(ThreadLocalRandom.current().nextInt(95, 106), timer -> plain(context, DEVICE_BODY));
  }

  /** An event each 100 ms: its number, and the milliseconds since 1970. */
  private void events(RoutingContext context) {
    HttpServerResponse response = context.response().setChunked(true);
    response.putHeader("content-type", "text/event-stream").putHeader("cache-control", "no-store");
    AtomicInteger number = new AtomicInteger();
    response.write(event(0));
    long timer =
        vertx.setPeriodic(
            100,
            id -> {
              int n = number.incrementAndGet();
              response.write(event(n));
              if (n == 99) {
                vertx.cancelTimer(id);
                response.end();
              }
            });
    response.closeHandler(closed -> vertx.cancelTimer(timer));
  }

  private static String event(int n) {
    return "data: " + n + " " + System.currentTimeMillis() + "\n\n";
  }

  /** Digests the body as it comes. */
  private static void upload(RoutingContext context) {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException error) {
      context.fail(error);
      return;
    }
    AtomicLong length = new AtomicLong();
    context
        .request()
        .handler(
            piece -> {
              digest.update(piece.getBytes());
              length.addAndGet(piece.length());
            })
        .endHandler(end -> plain(context, length + " " + HexFormat.of().formatHex(digest.digest())));
  }

  private void users(RoutingContext context) {
    pool.query("SELECT id, name, email FROM users ORDER BY id")
        .execute()
        .onSuccess(
            rows -> {
              JsonArray users = new JsonArray();
              for (Row row : rows) {
                users.add(
                    new JsonObject()
                        .put("id", row.getInteger("id"))
                        .put("name", row.getString("name"))
                        .put("email", row.getString("email")));
              }
              context.json(users);
            })
        .onFailure(context::fail);
  }

  private void messages(RoutingContext context) {
    pool.query("SELECT id, text FROM messages")
        .execute()
        .compose(
            rows -> {
              List<Message> messages = new ArrayList<>();
              for (Row row : rows) messages.add(new Message(row.getInteger("id"), row.getString("text")));
              messages = Message.withAdded(messages, context.request().getParam("add"));
              return templates.render(Map.of("messages", messages), "templates/messages.peb");
            })
        .onSuccess(page -> context.response().putHeader("content-type", "text/html; charset=utf-8").end(page))
        .onFailure(context::fail);
  }

  /** The first n items of the data file, each with its price times quantity times m. */
  private void items(RoutingContext context) {
    int n;
    long m;
    try {
      n = Integer.parseInt(context.pathParam("n"));
      m = Long.parseLong(context.request().getParam("m"));
    } catch (NumberFormatException error) {
      context.next();
      return;
    }
    JsonArray list = new JsonArray();
    for (int i = 0; i < Math.min(n, items.size()); i++) {
      JsonObject item = items.getJsonObject(i);
      list.add(item.copy().put("total", item.getLong("price") * item.getLong("quantity") * m));
    }
    context.json(new JsonObject().put("count", list.size()).put("items", list));
  }

  private void proxy(RoutingContext context) {
    client
        .getAbs(env.get("UPSTREAM_URL") + "/slow")
        .send()
        .onSuccess(
            answer -> {
              context.response().setStatusCode(answer.statusCode());
              plain(context, answer.bodyAsString());
            })
        .onFailure(context::fail);
  }
}
