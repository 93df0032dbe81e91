// WORKERS processes of server.js on one port: the kernel shares out the connections (SO_REUSEPORT).
const workers = Number(process.env.WORKERS ?? 1);
let stopping = false;

function start() {
  return Bun.spawn({ cmd: [process.execPath, "server.js"], stdio: ["ignore", "inherit", "inherit"], onExit });
}

const children = new Set();

function onExit(child, code) {
  children.delete(child);
  if (stopping) return;
  console.error(`worker ${child.pid} ended with ${code}`);
  children.add(start());
}

for (let i = 0; i < workers; i += 1) children.add(start());

process.on("SIGTERM", () => {
  stopping = true;
  for (const child of children) child.kill("SIGTERM");
});
