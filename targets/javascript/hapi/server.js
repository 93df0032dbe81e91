// One hapi process; cluster.js starts several of them on one port.
import cluster from "node:cluster";
import process from "node:process";
import pg from "pg";
import { createServer } from "./app.js";
import { readItems } from "./items.js";

const { HOST, PORT, WORKERS, DATABASE_URL, DATABASE_POOL, UPSTREAM_URL, ITEMS_FILE, STATIC_FOLDER } = process.env;

// DATABASE_POOL is for the whole target, so the processes of a cluster share it out.
function poolSize() {
  const processes = cluster.isWorker ? Number(WORKERS ?? 1) : 1;
  return Math.max(1, Math.floor(Number(DATABASE_POOL ?? 10) / processes));
}

const pool = DATABASE_URL ? new pg.Pool({ connectionString: DATABASE_URL, max: poolSize() }) : undefined;
pool?.on("error", (error) => console.error(error));
const items = ITEMS_FILE && readItems(ITEMS_FILE);

const server = await createServer({ host: HOST, port: Number(PORT), pool, upstream: UPSTREAM_URL, items, files: STATIC_FOLDER });
await server.start();

let stopping = false;

// The primary passes the signal on, and whoever signals the whole process group sends it twice.
process.on("SIGTERM", async () => {
  if (stopping) return;
  stopping = true;
  await server.stop();
  await pool?.end();
  if (cluster.isWorker) cluster.worker.disconnect();
});
