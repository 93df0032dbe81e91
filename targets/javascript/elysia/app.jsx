import { sleep } from "bun";
import { html, Html } from "@elysiajs/html";
import { Elysia, NotFoundError, t } from "elysia";
import { Messages, Page } from "./page.jsx";

const deviceBody = "x".repeat(1024);

function catalogue(n) {
  const items = [];
  for (let id = 1; id <= 12; id += 1) {
    items.push({ id, name: `Item ${id} <of> page ${n} & more`, price: id * n });
  }
  return { n, title: `Page ${n}`, items };
}

/** The application with the routes whose services (an SQL client, an upstream's base URL) are there. */
export function createApp({ sql, upstream }) {
  const app = new Elysia({ serve: { reusePort: true } })
    .use(html())
    .get("/", () => "Hello World!")
    .get("/hola/:name", ({ params }) => `Hola ${params.name}`)
    .get("/page/:n", ({ params }) => <Page {...catalogue(params.n)} />, { params: t.Object({ n: t.Integer() }) })
    // Timers may be up to 1 ms early: 96 to 105 wait 95 to 105 ms.
    .get("/device", async () => {
      await sleep(96 + Math.floor(Math.random() * 10));
      return deviceBody;
    });

  if (sql) {
    app.get("/api/users/", () => sql`SELECT id, name, email FROM users ORDER BY id`);
    // In the order of their texts: JavaScript compares UTF-16 code units.
    app.get("/messages", async ({ query }) => {
      const messages = [...(await sql`SELECT id, text FROM messages`), { id: 0, text: query.add }];
      messages.sort((a, b) => (a.text < b.text ? -1 : 1));
      return <Messages messages={messages} />;
    });
  }

  if (upstream) {
    app.get("/api/proxy/", async ({ status }) => {
      const answer = await fetch(`${upstream}/slow`);
      return status(answer.status, await answer.text());
    });
  }

  return app;
}
