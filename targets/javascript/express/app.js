import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import compression from "compression";
import express from "express";
import { withTotals } from "./items.js";
import { productRoutes } from "./products.js";

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

/** The application with the routes whose services (a `pg` pool, an upstream's base URL, items, a folder of files) are there. */
export function createApp({ pool, upstream, items, files }) {
  const app = express();
  app.set("views", new URL("./views", import.meta.url).pathname);
  app.set("view engine", "ejs");

  app.get("/", (request, response) => {
    response.type("text/plain").send("Hello World!");
  });

  app.get("/hola/:name", (request, response) => {
    response.type("text/plain").send(`Hola ${request.params.name}`);
  });

  app.get("/page/:n", (request, response, next) => {
    const n = Number(request.params.n);
    if (!Number.isSafeInteger(n)) return next();
    response.render("page", catalogue(n));
  });

  // Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
  app.get("/device", async (request, response) => {
    await sleep(96 + Math.floor(Math.random() * 10));
    response.type("text/plain").send(deviceBody);
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

  // Digests the body as it comes.
  app.post("/upload", async (request, response) => {
    const hash = createHash("sha256");
    let length = 0;
    for await (const piece of request) {
      hash.update(piece);
      length += piece.length;
    }
    response.type("text/plain").send(`${length} ${hash.digest("hex")}`);
  });

  if (pool) {
    app.get("/api/users/", async (request, response) => {
      const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
      response.json(rows);
    });

    app.get("/messages", async (request, response) => {
      const { rows } = await pool.query("SELECT id, text FROM messages");
      response.render("messages", withAdded(rows, request.query.add));
    });

    app.use("/products", productRoutes(pool));
  }

  if (items) {
    // For clients that accept a coding, of this route alone.
    app.get("/json/:n", compression(), (request, response, next) => {
      const list = withTotals(items, Number(request.params.n), Number(request.query.m));
      if (!list) return next();
      response.json(list);
    });
  }

  if (files) app.use("/static", express.static(files));

  if (upstream) {
    app.get("/api/proxy/", async (request, response) => {
      const answer = await fetch(`${upstream}/slow`);
      response.status(answer.status).type("text/plain").send(await answer.text());
    });
  }

  return app;
}
