// One NestJS process; cluster.js starts several of them on one port.
import "reflect-metadata";
import cluster from "node:cluster";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { AppModule } from "./app.module.js";

const { HOST, PORT, STATIC_FOLDER } = process.env;
const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ["warn", "error", "fatal"] });
app.setBaseViewsDir(new URL("../views", import.meta.url).pathname);
app.setViewEngine("hbs");
if (STATIC_FOLDER) app.useStaticAssets(STATIC_FOLDER, { prefix: "/static/" });
const server = await app.listen(Number(PORT), HOST!);

let stopping = false;

// The primary passes the signal on, and whoever signals the whole process group sends it twice.
process.on("SIGTERM", async () => {
  if (stopping) return;
  stopping = true;
  // Kept-alive connections become idle as their last answers go out; nothing else would end them for 5 s.
  setInterval(() => server.closeIdleConnections(), 50).unref();
  await app.close();
  if (cluster.isWorker) cluster.worker!.disconnect();
});
