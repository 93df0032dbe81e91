package shop;

import io.javalin.Javalin;
import io.javalin.http.Context;

public class App {
    public static void main(String[] args) {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "7070"));
        Javalin.create()
            .get("/", App::hello)
            .start(port);
    }

    private static void hello(Context context) {
        context.result("Hello World");
    }
}
