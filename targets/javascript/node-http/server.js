// Pippin's workloads on `node:http` alone: what Node costs before any framework is added. WebSockets are those of the package `ws`, as Node
// has no server for them. cluster.js starts several of these on one port.
import cluster from "node:cluster";
import crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import zlib from "node:zlib";
import pg from "pg";
import { WebSocket, WebSocketServer } from "ws";
import { readItems, withTotals } from "./items.js";
import { products } from "./products.js";

const { HOST, PORT, WORKERS, DATABASE_URL, DATABASE_POOL, UPSTREAM_URL, ITEMS_FILE } = process.env;
const { PROTOCOL, TLS_CERTIFICATE, TLS_KEY } = process.env;

// DATABASE_POOL is for the whole target, so the processes of a cluster share it out.
function poolSize() {
  const processes = cluster.isWorker ? Number(WORKERS ?? 1) : 1;
  return Math.max(1, Math.floor(Number(DATABASE_POOL ?? 10) / processes));
}

const pool = DATABASE_URL && new pg.Pool({ connectionString: DATABASE_URL, max: poolSize() });
pool?.on("error", (error) => console.error(error));

const items = ITEMS_FILE && readItems(ITEMS_FILE);

const deviceBody = "x".repeat(1024);

function send(response, status, type, body, headers = {}) {
  response.writeHead(status, { ...headers, "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
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

const gzip = promisify(zlib.gzip);
const brotli = promisify(zlib.brotliCompress);
// Its default quality, 11, is for answers that are packed once: one of a thousand items would take seconds.
const whileTheClientWaits = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

// Which coding a client accepts is found as in the guide of `node:zlib`, which reads no weights.
async function json(response, n, query) {
  const list = withTotals(items, Number(n), Number(new URLSearchParams(query).get("m")));
  if (!list) return sendText(response, 404, "Not Found");
  const text = JSON.stringify(list);
  const accepted = response.req.headers["accept-encoding"] ?? "";
  const answer = (body, headers) => send(response, 200, "application/json", body, { Vary: "Accept-Encoding", ...headers });
  if (/\bbr\b/.test(accepted)) return answer(await brotli(text, whileTheClientWaits), { "Content-Encoding": "br" });
  if (/\bgzip\b/.test(accepted)) return answer(await gzip(text), { "Content-Encoding": "gzip" });
  answer(text, {});
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

// Sends an event each 100 ms: its number, and the milliseconds since 1970.
function events(response) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  let n = 0;
  const send = () => {
    response.write(`data: ${n} ${Date.now()}\n\n`);
    n += 1;
    if (n < 100) return;
    clearInterval(timer);
    response.end();
  };
  const timer = setInterval(send, 100);
  response.on("close", () => clearInterval(timer));
  send();
}

// Digests the body as it comes.
async function upload(request, response) {
  const hash = crypto.createHash("sha256");
  let length = 0;
  for await (const piece of request) {
    hash.update(piece);
    length += piece.length;
  }
  sendText(response, 200, `${length} ${hash.digest("hex")}`);
}

async function answerProducts(request, response, id, query) {
  const { status, value, headers } = await products(pool, request, id, query);
  if (status === 204) return response.writeHead(204).end();
  send(response, status, "application/json", JSON.stringify(value), headers);
}

function route(request, response) {
  const [path, query] = request.url.split("?", 2);
  const product = pool && /^\/products(?:\/([^/]+))?$/.exec(path);
  if (product) return answerProducts(request, response, product[1], query);
  if (request.method === "POST") {
    return path === "/upload" ? upload(request, response) : sendText(response, 404, "Not Found");
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    return sendText(response, 405, "Method Not Allowed");
  }
  if (path === "/") return sendText(response, 200, "Hello World!");
  const named = /^\/hola\/([^/]+)$/.exec(path);
  if (named) return hola(response, named[1]);
  const listed = items && /^\/json\/(\d+)$/.exec(path);
  if (listed) return json(response, listed[1], query);
  if (path === "/api/users/" && pool) return users(response);
  if (path === "/api/proxy/" && UPSTREAM_URL) return proxy(response);
  if (path === "/device") return device(response);
  if (path === "/events" && request.method === "GET") return events(response);
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

// The WebSockets of a path; what they do with each message. The package answers pings and closes by itself.
function sockets(handle) {
  const all = new WebSocketServer({ noServer: true });
  all.on("connection", (socket) => {
    socket.on("message", (data, isBinary) => handle(socket, data, { binary: isBinary }));
    socket.on("error", (error) => console.error(error));
  });
  return all;
}

// Echoes every message as it came.
const echoes = sockets((socket, data, options) => socket.send(data, options));

// Sends every message to all that are connected.
const room = sockets((_socket, data, options) => {
  for (const client of room.clients) {
    if (client.readyState === WebSocket.OPEN) client.send(data, options);
  }
});

const socketsOf = { "/ws": echoes, "/broadcast": room };

server.on("upgrade", (request, stream, head) => {
  const all = socketsOf[request.url.split("?", 1)[0]];
  if (!all) return stream.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  all.handleUpgrade(request, stream, head, (socket) => all.emit("connection", socket, request));
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
  for (const all of Object.values(socketsOf)) {
    for (const socket of all.clients) socket.close(1001);
  }
  if (!server.closeIdleConnections) return;
  // Kept-alive connections become idle as their last answers go out; nothing else would end them for 5 s.
  setInterval(() => server.closeIdleConnections(), 50).unref();
});
