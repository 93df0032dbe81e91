import cluster from "node:cluster";
import { Module, type MiddlewareConsumer, type NestModule } from "@nestjs/common";
import compression from "compression";
import pg from "pg";
import { EventsController } from "./events.controller.js";
import { ItemsController } from "./items.controller.js";
import { MessagesController } from "./messages.controller.js";
import { PageController } from "./page.controller.js";
import { PlainController } from "./plain.controller.js";
import { ProxyController } from "./proxy.controller.js";
import { UploadController } from "./upload.controller.js";
import { UsersController } from "./users.controller.js";

const { WORKERS, DATABASE_URL, DATABASE_POOL, UPSTREAM_URL, ITEMS_FILE } = process.env;

// DATABASE_POOL is for the whole target, so the processes of a cluster share it out.
function poolSize() {
  const processes = cluster.isWorker ? Number(WORKERS ?? 1) : 1;
  return Math.max(1, Math.floor(Number(DATABASE_POOL ?? 10) / processes));
}

function openPool() {
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: poolSize() });
  pool.on("error", (error) => console.error(error));
  return pool;
}

/** The controllers whose services (a database, an upstream, items) are there. */
@Module({
  controllers: [
    PlainController,
    EventsController,
    PageController,
    UploadController,
    ...(DATABASE_URL ? [UsersController, MessagesController] : []),
    ...(ITEMS_FILE ? [ItemsController] : []),
    ...(UPSTREAM_URL ? [ProxyController] : []),
  ],
  providers: DATABASE_URL ? [{ provide: "POOL", useFactory: openPool }] : [],
})
export class AppModule implements NestModule {
  /** For clients that accept a coding, of this controller alone. */
  configure(consumer: MiddlewareConsumer) {
    if (ITEMS_FILE) consumer.apply(compression()).forRoutes(ItemsController);
  }
}
