// One process of Hono on Bun.serve, with Bun's own SQL client; main.js starts several of them.
import { SQL } from "bun";
import { createApp } from "./app.js";

const { HOST, PORT, WORKERS, DATABASE_URL, DATABASE_POOL, UPSTREAM_URL } = process.env;

// DATABASE_POOL is for the whole target, so the processes share it out.
const poolSize = Math.max(1, Math.floor(Number(DATABASE_POOL ?? 10) / Number(WORKERS ?? 1)));
const sql = DATABASE_URL ? new SQL(DATABASE_URL, { max: poolSize }) : undefined;

const server = Bun.serve({
  hostname: HOST,
  port: Number(PORT),
  reusePort: true,
  fetch: createApp({ sql, upstream: UPSTREAM_URL }).fetch,
});

process.on("SIGTERM", async () => {
  await server.stop();
  await sql?.close();
  process.exit(0);
});
