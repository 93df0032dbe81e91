// Replace the JDK's own server by the framework. What the JDK itself has the means for is served so far: it has no JSON.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.Executors;

public class Server {
    public static void main(String[] arguments) throws Exception {
        var address = new InetSocketAddress(System.getenv("HOST"), Integer.parseInt(System.getenv("PORT")));
        var server = HttpServer.create(address, 1024);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", Server::answer);
        server.start();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        var path = exchange.getRequestURI().getPath();
        var isPost = exchange.getRequestMethod().equals("POST");
        if (isPost && path.equals("/upload")) {
            send(exchange, 200, digest(exchange.getRequestBody()));
        } else if (!isPost && path.equals("/")) {
            send(exchange, 200, "Hello World!");
        } else {
            send(exchange, 404, "");
        }
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        var body = text.getBytes();
        var silent = exchange.getRequestMethod().equals("HEAD") || body.length == 0;
        exchange.getResponseHeaders().set("Content-Type", "text/plain");
        exchange.sendResponseHeaders(status, silent ? -1 : body.length);
        if (!silent) {
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }

    /** The length and the SHA-256 of a body, digested as it comes. */
    private static String digest(InputStream body) throws IOException {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            var piece = new byte[65_536];
            var length = 0L;
            for (int read; (read = body.read(piece)) >= 0; length += read) {
                digest.update(piece, 0, read);
            }
            return length + " " + HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
