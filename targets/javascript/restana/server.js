// Pippin's workloads on restana, with pg and fetch.
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import restana from "restana";

const { HOST, PORT, DATABASE_URL, DATABASE_POOL, UPSTREAM_URL } = process.env;
const deviceBody = "x".repeat(1024);

const service = restana();
const plain = (response, text, status = 200) =>
  response.send(text, status, { "content-type": "text/plain; charset=utf-8" });

const hello = (request, response) => plain(response, "Hello World!");
service.get("/", hello);
service.head("/", hello);

// restana gives the parts of a path as they were sent.
const hola = (request, response) => plain(response, `Hola ${decodeURIComponent(request.params.name)}`);
service.get("/hola/:name", hola);
service.head("/hola/:name", hola);

// Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
service.get("/device", async (request, response) => {
  await sleep(96 + Math.floor(Math.random() * 10));
  plain(response, deviceBody);
});

let pool;
if (DATABASE_URL) {
  pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(DATABASE_POOL ?? 10) });
  pool.on("error", (error) => console.error(error));
  service.get("/api/users/", async (request, response) => {
    const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
    response.send(rows);
  });
}

if (UPSTREAM_URL) {
  service.get("/api/proxy/", async (request, response) => {
    const answer = await fetch(`${UPSTREAM_URL}/slow`);
    plain(response, await answer.text(), answer.status);
  });
}

await service.start(Number(PORT), HOST);
process.once("SIGTERM", async () => {
  service.getServer().closeIdleConnections();
  await service.close();
  await pool?.end();
});
