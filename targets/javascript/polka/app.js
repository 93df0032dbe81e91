import { setTimeout as sleep } from "node:timers/promises";
import polka from "polka";

const deviceBody = "x".repeat(1024);
const plainText = { "Content-Type": "text/plain; charset=utf-8" };

/** The application with the routes whose services (a `pg` pool, an upstream's base URL) are there. */
export function createApp({ pool, upstream }) {
  const app = polka();

  // Polka's router does not decode what it takes out of the path, and has no HEAD of its own for a GET.
  const answers = {
    "/": (request, response) => response.writeHead(200, plainText).end("Hello World!"),
    "/hola/:name": (request, response) =>
      response.writeHead(200, plainText).end(`Hola ${decodeURIComponent(request.params.name)}`),
  };
  for (const [path, answer] of Object.entries(answers)) app.get(path, answer).head(path, answer);

  // Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
  app.get("/device", async (request, response) => {
    await sleep(96 + Math.floor(Math.random() * 10));
    response.writeHead(200, plainText).end(deviceBody);
  });

  // An event each 100 ms: its number, and the milliseconds since 1970.
  app.get("/events", async (request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    for (let n = 0; n < 100 && !response.destroyed; n += 1) {
      if (n > 0) await sleep(100);
      response.write(`data: ${n} ${Date.now()}\n\n`);
    }
    response.end();
  });

  if (pool) {
    app.get("/api/users/", async (request, response) => {
      const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(rows));
    });
  }

  if (upstream) {
    app.get("/api/proxy/", async (request, response) => {
      const answer = await fetch(`${upstream}/slow`);
      response.writeHead(answer.status, plainText).end(await answer.text());
    });
  }

  return app;
}
