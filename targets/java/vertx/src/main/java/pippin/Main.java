package pippin;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;

/** Starts one verticle for each of WORKERS; all of them listen on the same port. */
public final class Main {
  public static void main(String[] arguments) {
    int workers = Integer.parseInt(System.getenv().getOrDefault("WORKERS", "1"));
    Vertx vertx = Vertx.vertx();
    vertx
        .deployVerticle(Server::new, new DeploymentOptions().setInstances(workers))
        .onFailure(
            error -> {
              error.printStackTrace();
              System.exit(1);
            });
    Runtime.getRuntime().addShutdownHook(new Thread(() -> vertx.close().await()));
  }
}
