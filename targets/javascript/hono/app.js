import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { streamSSE } from "hono/streaming";
import { messages, page } from "./page.js";
import { withTotals } from "./items.js";
import { products } from "./products.js";

const deviceBody = "x".repeat(1024);

function catalogue(n) {
  const items = [];
  for (let id = 1; id <= 12; id += 1) {
    items.push({ id, name: `Item ${id} <of> page ${n} & more`, price: id * n });
  }
  return { n, title: `Page ${n}`, items };
}

/** The rows and an added one, in the order of their texts: JavaScript compares UTF-16 code units. */
function withAdded(rows, text) {
  const messages = [...rows, { id: 0, text }];
  messages.sort((a, b) => (a.text < b.text ? -1 : 1));
  return { title: "Messages", messages };
}

/** The application with the routes whose services (a `pg` pool, an upstream's base URL, items) are there. */
export function createApp({ pool, upstream, items }) {
  const app = new Hono();

  app.get("/", (c) => c.text("Hello World!"));

  app.get("/hola/:name", (c) => c.text(`Hola ${c.req.param("name")}`));

  app.get("/page/:n", (c) => {
    const n = Number(c.req.param("n"));
    if (!Number.isSafeInteger(n)) return c.notFound();
    return c.html(page(catalogue(n)));
  });

  // Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
  app.get("/device", async (c) => {
    await sleep(96 + Math.floor(Math.random() * 10));
    return c.text(deviceBody);
  });

  // An event each 100 ms: its number, and the milliseconds since 1970.
  app.get("/events", (c) =>
    streamSSE(c, async (stream) => {
      for (let n = 0; n < 100 && !stream.aborted; n += 1) {
        if (n > 0) await stream.sleep(100);
        await stream.writeSSE({ data: `${n} ${Date.now()}` });
      }
    }));

  if (pool) {
    app.get("/api/users/", async (c) => {
      const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
      return c.json(rows);
    });

    app.get("/messages", async (c) => {
      const { rows } = await pool.query("SELECT id, text FROM messages");
      return c.html(messages(withAdded(rows, c.req.query("add"))));
    });

    app.route("/products", products(pool));
  }

  if (items) {
    // For clients that accept a coding, of this route alone.
    app.get("/json/:n", compress(), (c) => {
      const list = withTotals(items, Number(c.req.param("n")), Number(c.req.query("m")));
      return list ? c.json(list) : c.notFound();
    });
  }

  if (upstream) {
    app.get("/api/proxy/", async (c) => {
      const answer = await fetch(`${upstream}/slow`);
      return c.text(await answer.text(), answer.status);
    });
  }

  return app;
}
