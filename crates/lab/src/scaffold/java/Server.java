// Replace the JDK's own server by the framework. Only `hello` is served so far.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

public class Server {
    public static void main(String[] arguments) throws Exception {
        var address = new InetSocketAddress(System.getenv("HOST"), Integer.parseInt(System.getenv("PORT")));
        var server = HttpServer.create(address, 1024);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            var found = exchange.getRequestURI().getPath().equals("/");
            var body = (found ? "Hello World!" : "").getBytes();
            var silent = exchange.getRequestMethod().equals("HEAD") || body.length == 0;
            exchange.getResponseHeaders().set("Content-Type", "text/plain");
            exchange.sendResponseHeaders(found ? 200 : 404, silent ? -1 : body.length);
            if (!silent) {
                exchange.getResponseBody().write(body);
            }
            exchange.close();
        });
        server.start();
    }
}
