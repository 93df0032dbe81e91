import { setTimeout as sleep } from "node:timers/promises";
import { createEventStream, getRouterParam, H3 } from "h3";

const deviceBody = "x".repeat(1024);

function plain(event, text) {
  event.res.headers.set("content-type", "text/plain; charset=utf-8");
  return text;
}

/** The application with the routes whose services (a `pg` pool, an upstream's base URL) are there. */
export function createApp({ pool, upstream }) {
  const app = new H3();

  // h3's router takes a HEAD of its own.
  const hello = (event) => plain(event, "Hello World!");
  app.get("/", hello).head("/", hello);

  const hola = (event) => plain(event, `Hola ${getRouterParam(event, "name", { decode: true })}`);
  app.get("/hola/:name", hola).head("/hola/:name", hola);

  // Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
  app.get("/device", async (event) => {
    await sleep(96 + Math.floor(Math.random() * 10));
    return plain(event, deviceBody);
  });

  // An event each 100 ms: its number, and the milliseconds since 1970.
  app.get("/events", (event) => {
    const stream = createEventStream(event);
    const send = async () => {
      for (let n = 0; n < 100; n += 1) {
        if (n > 0) await sleep(100);
        await stream.push(`${n} ${Date.now()}`);
      }
      await stream.close();
    };
    send().catch(() => stream.close());
    return stream.send();
  });

  if (pool) {
    app.get("/api/users/", async () => {
      const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
      return rows;
    });
  }

  if (upstream) {
    app.get("/api/proxy/", async (event) => {
      const answer = await fetch(`${upstream}/slow`);
      event.res.status = answer.status;
      return plain(event, await answer.text());
    });
  }

  return app;
}
