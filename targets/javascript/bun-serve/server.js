// One process of Bun.serve with Bun's own routes, SQL client and fetch; main.js starts several of them.
import { SQL } from "bun";

const { HOST, PORT, WORKERS, DATABASE_URL, DATABASE_POOL, UPSTREAM_URL } = process.env;

// DATABASE_POOL is for the whole target, so the processes share it out.
const poolSize = Math.max(1, Math.floor(Number(DATABASE_POOL ?? 10) / Number(WORKERS ?? 1)));
const sql = DATABASE_URL ? new SQL(DATABASE_URL, { max: poolSize }) : undefined;

const deviceBody = "x".repeat(1024);

const routes = {
  "/": () => new Response("Hello World!"),

  "/hola/:name": (request) => new Response(`Hola ${request.params.name}`),

  // Timers may be up to 1 ms early: 96 to 105 wait 95 to 105 ms.
  "/device": async () => {
    await Bun.sleep(96 + Math.floor(Math.random() * 10));
    return new Response(deviceBody);
  },

  // An event each 100 ms: its number, and the milliseconds since 1970.
  "/events": () => new Response(events(), { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } }),
};

async function* events() {
  for (let n = 0; n < 100; n += 1) {
    if (n > 0) await Bun.sleep(100);
    yield `data: ${n} ${Date.now()}\n\n`;
  }
}

if (sql) {
  routes["/api/users/"] = async () => Response.json(await sql`SELECT id, name, email FROM users ORDER BY id`);
}

if (UPSTREAM_URL) {
  routes["/api/proxy/"] = async () => {
    const answer = await fetch(`${UPSTREAM_URL}/slow`);
    return new Response(await answer.text(), { status: answer.status });
  };
}

const server = Bun.serve({
  hostname: HOST,
  port: Number(PORT),
  reusePort: true,
  routes,
  fetch: () => new Response("Not Found", { status: 404 }),
});

process.on("SIGTERM", async () => {
  await server.stop();
  await sql?.close();
  process.exit(0);
});
