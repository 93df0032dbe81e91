// WORKERS processes share the port; one that dies is replaced until the whole target is stopped.
import cluster from "node:cluster";
import process from "node:process";

const workers = Number(process.env.WORKERS ?? 1);
let stopping = false;

cluster.setupPrimary({ exec: new URL("./server.js", import.meta.url).pathname });
for (let i = 0; i < workers; i += 1) cluster.fork();

cluster.on("exit", (worker, code) => {
  if (stopping) return;
  console.error(`worker ${worker.process.pid} ended with ${code}`);
  cluster.fork();
});

process.on("SIGTERM", () => {
  stopping = true;
  for (const worker of Object.values(cluster.workers)) worker.process.kill("SIGTERM");
});
