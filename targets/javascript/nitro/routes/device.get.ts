import { setTimeout as sleep } from "node:timers/promises";
import { defineEventHandler } from "h3";
import { plain } from "../utils/plain";

const body = "x".repeat(1024);

// Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
export default defineEventHandler(async (event) => {
  await sleep(96 + Math.floor(Math.random() * 10));
  return plain(event, body);
});
