import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import render from "@koa/ejs";
import Router from "@koa/router";
import Koa from "koa";
import compress from "koa-compress";
import conditional from "koa-conditional-get";
import mount from "koa-mount";
import serve from "koa-static";
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

/** An event each 100 ms: its number, and the milliseconds since 1970. */
async function* events() {
  for (let n = 0; n < 100; n += 1) {
    if (n > 0) await sleep(100);
    yield `data: ${n} ${Date.now()}\n\n`;
  }
}

/** The application with the routes whose services (a `pg` pool, an upstream's base URL, items, a folder of files) are there. */
export function createApp({ pool, upstream, items, files }) {
  const app = new Koa();
  render(app, { root: new URL("./views", import.meta.url).pathname, layout: "layout", viewExt: "ejs" });
  const router = new Router();

  router.get("/", (ctx) => {
    ctx.body = "Hello World!";
  });

  router.get("/hola/:name", (ctx) => {
    ctx.body = `Hola ${ctx.params.name}`;
  });

  router.get("/page/:n", async (ctx) => {
    const n = Number(ctx.params.n);
    if (!Number.isSafeInteger(n)) return;
    await ctx.render("page", catalogue(n));
  });

  // Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
  router.get("/device", async (ctx) => {
    await sleep(96 + Math.floor(Math.random() * 10));
    ctx.body = deviceBody;
  });

  router.get("/events", (ctx) => {
    ctx.set("Cache-Control", "no-store");
    ctx.type = "text/event-stream";
    ctx.body = Readable.from(events());
  });

  // Digests the body as it comes.
  router.post("/upload", async (ctx) => {
    const hash = createHash("sha256");
    let length = 0;
    for await (const piece of ctx.req) {
      hash.update(piece);
      length += piece.length;
    }
    ctx.body = `${length} ${hash.digest("hex")}`;
  });

  if (pool) {
    router.get("/api/users/", async (ctx) => {
      const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
      ctx.body = rows;
    });

    router.get("/messages", async (ctx) => {
      const { rows } = await pool.query("SELECT id, text FROM messages");
      await ctx.render("messages", withAdded(rows, ctx.query.add));
    });
  }

  if (pool) app.use(productRoutes(pool));

  if (items) {
    // For clients that accept a coding, of this route alone.
    router.get("/json/:n", compress(), (ctx) => {
      const list = withTotals(items, Number(ctx.params.n), Number(ctx.query.m));
      if (list) ctx.body = list;
    });
  }

  if (files) app.use(mount("/static", new Koa().use(conditional()).use(serve(files))));

  if (upstream) {
    router.get("/api/proxy/", async (ctx) => {
      const answer = await fetch(`${upstream}/slow`);
      ctx.status = answer.status;
      ctx.body = await answer.text();
    });
  }

  return app.use(router.routes());
}
