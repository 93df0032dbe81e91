// How long a list of runs takes from its request until all of it is drawn, in a real Chromium. Prints a table; it judges nothing, because a time says little
// of another machine.
//
//   npm install && node list.mjs http://127.0.0.1:PORT [TIMES]     a server of many runs (docs/decisions/digests.md)
import { chromium } from "playwright-core";

const [site, times = "9"] = process.argv.slice(2);
if (!site) { console.error("usage: node list.mjs http://127.0.0.1:PORT [TIMES]"); process.exit(2); }
const PAGES = [
  "/", "/?page=200", "/?q=axum", "/?q=nothing-has-this", "/?target=c/nginx", "/?plan=hello3", "/?host=bench-1", "/?verdict=SUSPECT",
  "/?state=killed", "/?from=2026-12-01&to=2026-12-31", "/?q=hello&target=go/net-http&verdict=INVALID&host=bench-2", "/compare", "/leaderboard", "/leaderboard?host=bench-1", "/history?target=go/net-http", "/history?target=go/net-http&page=9",
];
// What a script or a collector asks for.
const OTHERS = ["/live", "/metrics"];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
console.log("| page | runs | kB | server ms | drawn ms | slowest ms |\n|---|---:|---:|---:|---:|---:|");
for (const address of PAGES) {
  const [server, drawn] = [[], []];
  let size = 0;
  for (let i = 0; i < Number(times); i += 1) {
    await page.goto(site + address, { waitUntil: "load" });
    // Two frames later what was loaded has been painted.
    const seen = await page.evaluate(() => new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const [entry] = performance.getEntriesByType("navigation");
        done({ server: entry.responseEnd - entry.requestStart, drawn: performance.now(), size: entry.decodedBodySize });
      }));
    }));
    server.push(seen.server);
    drawn.push(seen.drawn);
    size = seen.size;
  }
  const rows = await page.locator("table.runs tbody tr").count();
  console.log(`| ${address} | ${rows} | ${(size / 1000).toFixed(0)} | ${median(server).toFixed(0)} | ${median(drawn).toFixed(0)} | ${Math.max(...drawn).toFixed(0)} |`);
}
await browser.close();
for (const address of OTHERS) {
  const server = [];
  let size = 0;
  for (let i = 0; i < Number(times); i += 1) {
    const began = performance.now();
    size = (await (await fetch(site + address)).text()).length;
    server.push(performance.now() - began);
  }
  console.log(`| ${address} | | ${(size / 1000).toFixed(0)} | ${median(server).toFixed(0)} | | |`);
}
