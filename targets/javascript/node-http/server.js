// Pippin's workloads on `node:http` alone: what Node costs before any framework is added. WebSockets are those of the package `ws`, as Node
// has no server for them. cluster.js starts several of these on one port.
import cluster from "node:cluster";
import fs from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { WebSocketServer } from "ws";

const { HOST, PORT, WORKERS, DATABASE_URL, DATABASE_POOL, UPSTREAM_URL } = process.env;
const { PROTOCOL, TLS_CERTIFICATE, TLS_KEY } = process.env;

// DATABASE_POOL is for the whole target, so the processes of a cluster share it out.
function poolSize() {
  const processes = cluster.isWorker ? Number(WORKERS ?? 1) : 1;
  return Math.max(1, Math.floor(Number(DATABASE_POOL ?? 10) / processes));
}

const pool = DATABASE_URL && new pg.Pool({ connectionString: DATABASE_URL, max: poolSize() });
pool?.on("error", (error) => console.error(error));

const deviceBody = "x".repeat(1024);

function send(response, status, type, body) {
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
  response.end(response.req.method === "HEAD" ? undefined : body);
}

function sendText(response, status, body) {
  send(response, status, "text/plain; charset=utf-8", body);
}

function hola(response, encodedName) {
  let name;
  try {
    name = decodeURIComponent(encodedName);
  } catch {
    return sendText(response, 400, "Bad Request");
  }
  sendText(response, 200, `Hola ${name}`);
}

async function users(response) {
  const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
  send(response, 200, "application/json", JSON.stringify(rows));
}

function proxy(response) {
  return new Promise((resolve, reject) => {
    const request = http.get(`${UPSTREAM_URL}/slow`, (answer) => {
      const chunks = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const type = answer.headers["content-type"] ?? "text/plain";
        resolve(send(response, answer.statusCode, type, Buffer.concat(chunks)));
      });
    });
    request.on("error", reject);
  });
}

// Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
async function device(response) {
  await sleep(96 + Math.floor(Math.random() * 10));
  sendText(response, 200, deviceBody);
}

function route(request, response) {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return sendText(response, 405, "Method Not Allowed");
  }
  const path = request.url.split("?", 1)[0];
  if (path === "/") return sendText(response, 200, "Hello World!");
  const named = /^\/hola\/([^/]+)$/.exec(path);
  if (named) return hola(response, named[1]);
  if (path === "/api/users/" && pool) return users(response);
  if (path === "/api/proxy/" && UPSTREAM_URL) return proxy(response);
  if (path === "/device") return device(response);
  return sendText(response, 404, "Not Found");
}

async function handle(request, response) {
  try {
    await route(request, response);
  } catch (error) {
    console.error(error);
    sendText(response, 500, "Internal Server Error");
  }
}

function createServer() {
  const isSecured = TLS_CERTIFICATE && TLS_KEY;
  const tls = isSecured && { cert: fs.readFileSync(TLS_CERTIFICATE), key: fs.readFileSync(TLS_KEY) };
  if (PROTOCOL === "h2c") return http2.createServer(handle);
  if (PROTOCOL === "h2") return http2.createSecureServer(tls, handle);
  return tls ? https.createServer(tls, handle) : http.createServer(handle);
}

const server = createServer();

// Echoes every message as it came. The package answers pings and closes by itself.
const sockets = new WebSocketServer({ server, path: "/ws" });
sockets.on("connection", (socket) => {
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  socket.on("error", (error) => console.error(error));
});

// The connections of HTTP/2, which end when they are told so.
const sessions = new Set();
server.on("session", (session) => {
  sessions.add(session);
  session.on("close", () => sessions.delete(session));
});

server.listen({ host: HOST, port: Number(PORT) });

let stopping = false;

// The primary passes the signal on, and whoever signals the whole process group sends it twice.
process.on("SIGTERM", () => {
  if (stopping) return;
  stopping = true;
  server.close(async () => {
    await pool?.end();
    if (cluster.isWorker) cluster.worker.disconnect();
  });
  for (const session of sessions) session.close();
  for (const socket of sockets.clients) socket.close(1001);
  if (!server.closeIdleConnections) return;
  // Kept-alive connections become idle as their last answers go out; nothing else would end them for 5 s.
  setInterval(() => server.closeIdleConnections(), 50).unref();
});
