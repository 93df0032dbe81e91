import process from "node:process";
import { defineEventHandler } from "h3";
import { plain } from "../../utils/plain";

// `$fetch` is Nitro's own client; a second try would hide a failure.
export default defineEventHandler(async (event) => {
  const body = await $fetch<string>(`${process.env.UPSTREAM_URL}/slow`, { responseType: "text", retry: false });
  return plain(event, body);
});
