// Deno.serve, as `deno serve` starts it: the default export answers, one instance a thread with --parallel.
// Routes are matched with the platform's URLPattern; a database pool belongs to each thread.
import pg from "pg";

const DATABASE_URL = Deno.env.get("DATABASE_URL");
const UPSTREAM_URL = Deno.env.get("UPSTREAM_URL");

// DATABASE_POOL is for the whole target, so the threads share it out.
const poolSize = Math.max(
  1,
  Math.floor(Number(Deno.env.get("DATABASE_POOL") ?? 10) / Number(Deno.env.get("WORKERS") ?? 1)),
);
const pool = DATABASE_URL ? new pg.Pool({ connectionString: DATABASE_URL, max: poolSize }) : undefined;
pool?.on("error", (error) => console.error(error));
// Deno ends by itself on this signal, but not before the pool has given its connections back.
Deno.addSignalListener("SIGTERM", () => pool?.end());

const deviceBody = "x".repeat(1024);
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const routes = [
  ["/", () => new Response("Hello World!")],
  ["/hola/:name", ({ name }) => new Response(`Hola ${decodeURIComponent(name)}`)],
  // Timers count whole milliseconds: 96 to 105 wait 95 to 105 ms.
  ["/device", async () => {
    await sleep(96 + Math.floor(Math.random() * 10));
    return new Response(deviceBody);
  }],
];

if (pool) {
  routes.push(["/api/users/", async () => {
    const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
    return Response.json(rows);
  }]);
}

if (UPSTREAM_URL) {
  routes.push(["/api/proxy/", async () => {
    const answer = await fetch(`${UPSTREAM_URL}/slow`);
    return new Response(await answer.text(), { status: answer.status });
  }]);
}

const table = routes.map(([pathname, answer]) => ({ pattern: new URLPattern({ pathname }), answer }));

export default {
  fetch(request) {
    for (const { pattern, answer } of table) {
      const match = pattern.exec(request.url);
      if (match) return answer(match.pathname.groups);
    }
    return new Response("Not Found", { status: 404 });
  },
};
