// One Fastify process; cluster.js starts several of them on one port.
import cluster from "node:cluster";
import fs from "node:fs";
import process from "node:process";
import { createApp } from "./app.js";
import { readItems } from "./items.js";

const { HOST, PORT, WORKERS, DATABASE_URL, DATABASE_POOL, UPSTREAM_URL, ITEMS_FILE, STATIC_FOLDER } = process.env;
const { PROTOCOL, TLS_CERTIFICATE, TLS_KEY } = process.env;

// DATABASE_POOL is for the whole target, so the processes of a cluster share it out.
function poolSize() {
  const processes = cluster.isWorker ? Number(WORKERS ?? 1) : 1;
  return Math.max(1, Math.floor(Number(DATABASE_POOL ?? 10) / processes));
}

const database = DATABASE_URL ? { connectionString: DATABASE_URL, max: poolSize() } : undefined;
const https = TLS_CERTIFICATE && { cert: fs.readFileSync(TLS_CERTIFICATE), key: fs.readFileSync(TLS_KEY) };
const server = PROTOCOL ? { http2: true, ...(https && { https }) } : {};
const items = ITEMS_FILE && readItems(ITEMS_FILE);
const app = createApp({ database, upstream: UPSTREAM_URL, items, files: STATIC_FOLDER, server });
await app.listen({ host: HOST, port: Number(PORT) });

let stopping = false;

// The primary passes the signal on, and whoever signals the whole process group sends it twice.
process.on("SIGTERM", async () => {
  if (stopping) return;
  stopping = true;
  await app.close();
  if (cluster.isWorker) cluster.worker.disconnect();
});
