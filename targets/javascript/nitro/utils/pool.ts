import cluster from "node:cluster";
import process from "node:process";
import pg from "pg";

const { DATABASE_URL, DATABASE_POOL, WORKERS } = process.env;

// DATABASE_POOL is for the whole target, so the processes of a cluster share it out.
const processes = cluster.isWorker ? Number(WORKERS ?? 1) : 1;
const max = Math.max(1, Math.floor(Number(DATABASE_POOL ?? 10) / processes));

/** The connections of this process, each opened when it is first needed. */
export const pool = new pg.Pool({ connectionString: DATABASE_URL, max });
pool.on("error", (error) => console.error(error));
