import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import Hapi from "@hapi/hapi";
import Inert from "@hapi/inert";
import Vision from "@hapi/vision";
import Handlebars from "handlebars";
import { withTotals } from "./items.js";

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

/** The server with the routes whose services (a `pg` pool, an upstream's base URL, items, a folder of files) are there. */
export async function createServer({ host, port, pool, upstream, items, files }) {
  const server = Hapi.server({ host, port });
  await server.register([Vision, Inert]);
  server.views({
    engines: { hbs: Handlebars },
    path: new URL("./views", import.meta.url).pathname,
    layout: true,
  });
  const plain = (h, text) => h.response(text).type("text/plain");
  const get = (path, handler) => server.route({ method: "GET", path, handler });

  get("/", (request, h) => plain(h, "Hello World!"));

  get("/hola/{name}", (request, h) => plain(h, `Hola ${request.params.name}`));

  get("/page/{n}", (request, h) => {
    const n = Number(request.params.n);
    if (!Number.isSafeInteger(n)) return h.response().code(404);
    return h.view("page", catalogue(n));
  });

  // Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
  get("/device", async (request, h) => {
    await sleep(96 + Math.floor(Math.random() * 10));
    return plain(h, deviceBody);
  });

  // Digests the body as it comes. By default hapi takes whole bodies of at most 1 MiB.
  server.route({
    method: "POST",
    path: "/upload",
    options: { payload: { output: "stream", parse: false, maxBytes: 20_000_000 } },
    handler: async (request, h) => {
      const hash = createHash("sha256");
      let length = 0;
      for await (const piece of request.payload) {
        hash.update(piece);
        length += piece.length;
      }
      return plain(h, `${length} ${hash.digest("hex")}`);
    },
  });

  if (pool) {
    get("/api/users/", async () => {
      const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
      return rows;
    });

    get("/messages", async (request, h) => {
      const { rows } = await pool.query("SELECT id, text FROM messages");
      return h.view("messages", withAdded(rows, request.query.add));
    });
  }

  if (items) {
    // hapi itself packs for clients that accept a coding.
    get("/json/{n}", (request, h) => {
      const list = withTotals(items, Number(request.params.n), Number(request.query.m));
      return list ?? h.response().code(404);
    });
  }

  if (files) get("/static/{file*}", { directory: { path: files } });

  if (upstream) {
    get("/api/proxy/", async (request, h) => {
      const answer = await fetch(`${upstream}/slow`);
      return plain(h, await answer.text()).code(answer.status);
    });
  }

  return server;
}
