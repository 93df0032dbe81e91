// Opens pages of Pippin in a real Chromium and checks what no test of text can: charts are drawn, sorting and themes work, the keyboard
// reaches everything, nothing is wider than a telephone, no error is logged and no request leaves the machine.
//
//   npm install && node check.mjs OUT PAGE...     PAGE: file:///... or http://127.0.0.1:...
//
// Screenshots (light, dark, telephone, print) are put into OUT.
import { chromium } from "playwright-core";
import { mkdirSync } from "node:fs";

const [out, ...pages] = process.argv.slice(2);
if (!out || pages.length === 0) { console.error("usage: node check.mjs OUT PAGE..."); process.exit(2); }
mkdirSync(out, { recursive: true });

const failures = [];
const expect = (condition, what) => { if (!condition) { failures.push(what); console.log(`  FAILED ${what}`); } };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function open(address, options) {
  const page = await browser.newPage(options);
  page.on("console", (message) => expect(message.type() !== "error", `${address}: console: ${message.text()}`));
  page.on("pageerror", (error) => expect(false, `${address}: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    const here = ["file:", "data:", "blob:"].includes(url.protocol) || ["127.0.0.1", "localhost"].includes(url.hostname);
    expect(here, `${address}: asked for ${request.url()}`);
  });
  const started = Date.now();
  await page.goto(address, { waitUntil: "load" });
  return { page, ms: Date.now() - started };
}

async function charts(page, name) {
  const drawn = await page.$$eval("figure .chart", (all) => all.map((chart) => {
    const svg = [...chart.querySelectorAll("svg")].find((one) => one.getClientRects().length > 0);
    const marks = svg ? svg.querySelectorAll("polyline, rect, circle").length : 0;
    return { alt: chart.getAttribute("aria-label") ?? "", marks, width: svg?.getBoundingClientRect().width ?? 0 };
  }));
  expect(drawn.every((chart) => chart.marks > 2 && chart.width > 200 && chart.alt.length > 20), `${name}: every chart is drawn and has words`);
  return drawn.length;
}

async function sorting(page, name) {
  // Those within closed details are neither seen nor reached.
  const table = page.locator("table.sortable:visible").first();
  const head = table.locator("thead th button");
  if (await head.count() < 3) { return; }
  const column = async () => table.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.cells[2].dataset.value ?? row.cells[2].textContent));
  // By keyboard: the button is focused and pressed.
  await head.nth(2).focus();
  await page.keyboard.press("Enter");
  const up = await column();
  await page.keyboard.press("Enter");
  const down = await column();
  const numbers = up.map(Number);
  expect(numbers.every((n, i) => i === 0 || Number.isNaN(n) || n >= numbers[i - 1]), `${name}: ascending after one press: ${up}`);
  expect(JSON.stringify(down) === JSON.stringify([...up].reverse()) || new Set(up).size < up.length, `${name}: descending after two`);
}

async function themes(page, name) {
  const button = page.locator("button.theme:not([hidden])");
  if (await button.count() === 0) { return; }
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const line = () => page.evaluate(() => { const one = document.querySelector("figure svg rect[fill], figure svg polyline[stroke]"); return one ? getComputedStyle(one).fill + getComputedStyle(one).stroke : ""; });
  const [before, lineBefore] = [await ground(), await line()];
  await button.click();
  await button.click();
  expect(await ground() !== before, `${name}: the dark theme changes the ground`);
  expect(lineBefore === "" || await line() !== lineBefore, `${name}: and the colours of the charts`);
  await button.click();
}

async function hiding(page, name) {
  const box = page.locator("fieldset.show input").first();
  if (await box.count() === 0) { return; }
  const shown = () => page.$$eval(".by-target svg polyline", (all) => all.filter((one) => getComputedStyle(one).display !== "none").length);
  const before = await shown();
  await box.focus();
  await page.keyboard.press("Space");
  expect(await shown() < before, `${name}: a target can be hidden`);
  await page.keyboard.press("Space");
  expect(await shown() === before, `${name}: and shown again`);
}

async function saving(page, name) {
  const button = page.locator("figure [data-save=png]").first();
  if (await button.count() === 0) { return; }
  for (const kind of ["svg", "png"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`figure [data-save=${kind}]`).first().click()]);
    expect(download.suggestedFilename().endsWith(`.${kind}`), `${name}: a chart is saved as ${kind}`);
  }
}

// A run under way changes by itself: the figures are others a few seconds later, on the same page.
async function news(page, name) {
  if (await page.locator("[data-live]").count() === 0) { return; }
  const told = () => page.locator("[data-live]").innerText();
  await page.evaluate(() => { window.here = true; });
  const before = await told();
  await page.waitForTimeout(2500);
  expect(await page.evaluate(() => window.here === true), `${name}: the page was not loaded anew`);
  expect(await told() !== before, `${name}: what is told of the run under way changes`);
}

for (const address of pages) {
  const name = address.replace(/^.*\/\/[^/]*\//, "").replace(/\.html$/, "").replace(/[^A-Za-z0-9-]+/g, "_").slice(-40) || "index";
  const { page, ms } = await open(address, { viewport: { width: 1240, height: 900 }, colorScheme: "light" });
  const count = await charts(page, name);
  await news(page, name);
  await page.screenshot({ path: `${out}/${name}-light.png`, fullPage: true });
  await themes(page, name);
  await hiding(page, name);
  await saving(page, name);
  await sorting(page, name);
  await page.pdf({ path: `${out}/${name}.pdf`, format: "A4" });
  const bytes = (await page.content()).length;
  await page.close();

  const dark = await open(address, { viewport: { width: 1240, height: 900 }, colorScheme: "dark" });
  await dark.page.screenshot({ path: `${out}/${name}-dark.png`, fullPage: true });
  await dark.page.close();

  const phone = await open(address, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
  await charts(phone.page, `${name} on a telephone`);
  const over = await phone.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(over <= 0, `${name}: ${over} px wider than a telephone`);
  await phone.page.screenshot({ path: `${out}/${name}-phone.png`, fullPage: true });
  await phone.page.close();
  console.log(`${name}: ${count} charts, ${(bytes / 1000).toFixed(0)} kB, loaded in ${ms} ms`);
}
await browser.close();
if (failures.length > 0) { console.log(`${failures.length} failures`); process.exit(1); }
console.log("all well");
