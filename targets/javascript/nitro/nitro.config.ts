import { defineNitroConfig } from "nitropack/config";

export default defineNitroConfig({
  compatibilityDate: "2026-11-23",
  // One folder for each preset: the server of one process, and that of node:cluster.
  output: { dir: "{{ rootDir }}/.output/{{ preset }}" },
});
