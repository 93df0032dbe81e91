import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import compress from "@fastify/compress";
import postgres from "@fastify/postgres";
import fastifyStatic from "@fastify/static";
import view from "@fastify/view";
import ejs from "ejs";
import Fastify from "fastify";
import { withTotals } from "./items.js";
import { products } from "./products.js";

const deviceBody = "x".repeat(1024);
const plainText = "text/plain; charset=utf-8";

function catalogue(n) {
  const items = [];
  for (let id = 1; id <= 12; id += 1) {
    items.push({ id, name: `Item ${id} <of> page ${n} & more`, price: id * n });
  }
  return { n, title: `Page ${n}`, items };
}

const userList = {
  type: "array",
  items: {
    type: "object",
    properties: { id: { type: "integer" }, name: { type: "string" }, email: { type: "string" } },
  },
};

const item = {
  type: "object",
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    category: { type: "string" },
    price: { type: "integer" },
    quantity: { type: "integer" },
    active: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    rating: { type: "object", properties: { score: { type: "number" }, count: { type: "integer" } } },
    total: { type: "integer" },
  },
};

const itemList = { type: "object", properties: { count: { type: "integer" }, items: { type: "array", items: item } } };

/** The rows and an added one, in the order of their texts: JavaScript compares UTF-16 code units. */
function withAdded(rows, text) {
  const messages = [...rows, { id: 0, text }];
  messages.sort((a, b) => (a.text < b.text ? -1 : 1));
  return { title: "Messages", messages };
}

/** An event each 100 ms: its number, and the milliseconds since 1970. */
async function* events() {
  for (let n = 0; n < 100; n += 1) {
    if (n > 0) await sleep(100);
    yield `data: ${n} ${Date.now()}\n\n`;
  }
}

/**
 * The application with the routes whose services (`database`, options of a `pg` pool; an upstream's base URL; items; a folder of files) are there.
 * `server` is what Fastify is told of its server.
 */
export function createApp({ database, upstream, items, files, server }) {
  // By default a text that looks like a number is taken for one where a schema asks for a number.
  const app = Fastify({ ...server, ajv: { customOptions: { coerceTypes: false } } });
  app.register(view, { engine: { ejs }, root: new URL("./views", import.meta.url).pathname, layout: "layout.ejs" });

  app.get("/", (request, reply) => {
    reply.type(plainText).send("Hello World!");
  });

  app.get("/hola/:name", (request, reply) => {
    reply.type(plainText).send(`Hola ${request.params.name}`);
  });

  app.get("/page/:n", (request, reply) => {
    const n = Number(request.params.n);
    if (!Number.isSafeInteger(n)) return reply.callNotFound();
    return reply.view("page.ejs", catalogue(n));
  });

  // Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
  app.get("/device", async (request, reply) => {
    await sleep(96 + Math.floor(Math.random() * 10));
    return reply.type(plainText).send(deviceBody);
  });

  app.get("/events", (request, reply) =>
    reply.type("text/event-stream").header("Cache-Control", "no-store").send(Readable.from(events())));

  // A parser that hands on the stream: the body is digested as it comes.
  app.addContentTypeParser("application/octet-stream", (request, payload, done) => done(null, payload));
  app.post("/upload", { bodyLimit: 20_000_000 }, async (request, reply) => {
    const hash = createHash("sha256");
    let length = 0;
    for await (const piece of request.body) {
      hash.update(piece);
      length += piece.length;
    }
    return reply.type(plainText).send(`${length} ${hash.digest("hex")}`);
  });

  if (database) {
    app.register(postgres, database);
    app.get("/api/users/", { schema: { response: { 200: userList } } }, async () => {
      const { rows } = await app.pg.query("SELECT id, name, email FROM users ORDER BY id");
      return rows;
    });
    app.get("/messages", async (request, reply) => {
      const { rows } = await app.pg.query("SELECT id, text FROM messages");
      return reply.view("messages.ejs", withAdded(rows, request.query.add));
    });
    app.register(products, { prefix: "/products" });
  }

  if (items) {
    // The plugin packs the answers of this scope alone, for clients that accept a coding.
    app.register(async (scope) => {
      await scope.register(compress);
      scope.get("/json/:n", { schema: { response: { 200: itemList } } }, (request, reply) => {
        const list = withTotals(items, Number(request.params.n), Number(request.query.m));
        return list ? reply.send(list) : reply.callNotFound();
      });
    });
  }

  if (files) app.register(fastifyStatic, { root: files, prefix: "/static/" });

  if (upstream) {
    app.get("/api/proxy/", async (request, reply) => {
      const answer = await fetch(`${upstream}/slow`);
      return reply.code(answer.status).type(plainText).send(await answer.text());
    });
  }

  return app;
}
