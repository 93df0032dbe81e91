// Opens pages of Pippin in a real Chromium and checks what no test of text can: charts are drawn, sorting and themes work, the keyboard
// reaches everything, nothing is wider than a telephone, no error is logged and no request leaves the machine.
//
//   npm install && node check.mjs OUT PAGE...     PAGE: file:///... or http://127.0.0.1:...
//
// Screenshots (light at 1400, 1200, 800 and 390 px, dark at 1400 and 390 px) and a print are put into OUT. The rules of WCAG 2.2 AA are those of axe-core.
import { chromium } from "playwright-core";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
// Pages of paper for the report of a run.
const MOST_PAPER = 4;

const [out, ...pages] = process.argv.slice(2);
if (!out || pages.length === 0) { console.error("usage: node check.mjs OUT PAGE..."); process.exit(2); }
mkdirSync(out, { recursive: true });

const failures = [];
const expect = (condition, what) => { if (!condition) { failures.push(what); console.log(`  FAILED ${what}`); } };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// A page asks each second for news of a run under way, which replace its figures. They are held, and let through only where a check
// looks at them, so that no figure leaves the page between two steps.
const NEWS = /\/live(\?|$)/;
const newsOf = new Map();

async function whileNewsFlow(page, name, look) {
  const news = newsOf.get(page);
  news.flows = true;
  news.held.splice(0).forEach((route) => route.continue());
  await look();
  news.flows = false;
  // The page asks again once it shows the answer before.
  expect(await within(10, () => news.held.length > 0), `${name}: the page goes on asking`);
}

async function open(address, options) {
  const page = await browser.newPage(options);
  const news = { flows: false, held: [] };
  newsOf.set(page, news);
  await page.route(NEWS, (route) => (news.flows ? route.continue() : news.held.push(route)));
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

// Whether this comes to hold: a busy machine may take its time.
async function within(seconds, holds) {
  for (const until = Date.now() + seconds * 1000; Date.now() < until; await new Promise((done) => setTimeout(done, 50))) {
    if (await holds()) { return true; }
  }
  return holds();
}

async function charts(page, name) {
  const drawn = await page.$$eval("figure .chart", (all) => all.map((chart) => {
    const seen = (one) => one.getClientRects().length > 0;
    const svg = [...chart.querySelectorAll("svg")].find(seen);
    const canvas = chart.querySelector("canvas");
    // Something other than an empty canvas.
    const inked = canvas ? new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size : 0;
    const marks = svg ? svg.querySelectorAll("polyline, polygon, path, rect, circle").length : inked;
    const text = svg?.querySelector("text");
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 0;
    const letters = text ? Number.parseFloat(getComputedStyle(text).fontSize) * scale : 14;
    return { title: chart.closest("figure").dataset.name, alt: chart.getAttribute("aria-label") ?? "", marks, letters, width: (svg ?? canvas)?.getBoundingClientRect().width ?? 0, both: Boolean(svg && canvas) };
  }));
  for (const chart of drawn) {
    expect(chart.marks > 2 && chart.width > 200 && chart.alt.length > 20 && !chart.both, `${name}: chart ${JSON.stringify(chart)} is drawn once and has words`);
    expect(chart.letters >= 12, `${name}: the letters of ${chart.title} have ${chart.letters.toFixed(1)} px`);
  }
  return drawn.length;
}

// Pointing at a chart tells values; dragging zooms it, and all that are linked with it; the button shows all again.
async function pointing(page, name) {
  const figures = page.locator("figure:has(.chart.drawn):visible");
  if (await figures.count() === 0) { return; }
  const linked = page.locator("figure[data-name$=over-time]:has(.chart.drawn)");
  const figure = await linked.count() > 0 ? linked.first() : figures.first();
  await figure.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
  const box = await figure.locator(".u-over").boundingBox();
  const [middle, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(middle, y);
  const value = figure.locator(".tools .value").first();
  expect(await within(10, async () => /\d/.test(await value.innerText())), `${name}: pointing at a chart tells a value`);
  await page.mouse.down();
  await page.mouse.move(middle + box.width / 4, y, { steps: 5 });
  await page.mouse.up();
  const shown = page.locator("figure .tools button:not([hidden])");
  const wanted = await linked.count() > 0 ? await linked.count() : 1;
  expect(await within(10, async () => await shown.count() >= wanted), `${name}: ${await shown.count()} of ${wanted} linked charts are zoomed`);
  if (await page.locator("[data-live]").count() > 0) {
    await whileNewsFlow(page, name, async () => { for (const _ of [1, 2]) { await page.waitForResponse(NEWS); } });
    expect(await shown.count() >= wanted, `${name}: news leave zoomed charts as they are`);
  }
  await figure.locator(".tools button").click();
  expect(await within(10, async () => await shown.count() === 0), `${name}: and show all again`);
}

// Lines have their names at their ends, none over another; a hidden target takes its name along.
async function ends(page, name) {
  const of = () => page.$$eval("figure.by-target .u-wrap", (all) => all.map((wrap) => wrap.parentElement.dataset.names ?? ""));
  const places = (text) => text.split(" ").filter(Boolean).map(Number);
  const found = (await of()).map(places);
  for (const one of found) { expect(one.every((place, i) => i === 0 || place - one[i - 1] >= 15), `${name}: names at ${one} px cover each other`); }
  const box = page.locator("fieldset.show input").first();
  if (found.flat().length === 0 || await box.count() === 0) { return; }
  await box.uncheck();
  const fewer = async () => (await of()).map(places).flat().length < found.flat().length;
  expect(await within(10, fewer), `${name}: a hidden target has no name in the charts`);
  await box.check();
}

async function accessible(page, name) {
  await page.evaluate(AXE);
  const found = await page.evaluate((tags) => window.axe.run(document, { runOnly: { type: "tag", values: tags } }), WCAG);
  for (const violation of found.violations) {
    expect(false, `${name}: ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")} (${violation.nodes.length})`);
  }
}

// How many pages a PDF has: its objects of the type Page.
const paper = (pdf) => (pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g) ?? []).length;

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
  // Equal rows keep their order, and those without a value stand last in both directions.
  const valued = (column) => column.filter((text) => !["", "–"].includes(text.trim()));
  const inOrder = (before, after) => Number.isNaN(before) || Number.isNaN(after) || after >= before;
  const sorted = (column, sign) => valued(column).map((text) => sign * Number(text)).every((n, i, all) => i === 0 || inOrder(all[i - 1], n));
  expect(sorted(up, 1), `${name}: ascending after one press: ${up}`);
  expect(sorted(down, -1), `${name}: descending after two: ${down}`);
  const [rising, falling] = [up, down].map(valued);
  expect(JSON.stringify(falling) === JSON.stringify([...rising].reverse()) || new Set(rising).size < rising.length, `${name}: not the other way round after two: ${down}`);
  for (const column of [up, down]) {
    const first = valued(column);
    expect(first.length === 0 || JSON.stringify(column.slice(0, first.length)) === JSON.stringify(first), `${name}: a row without a value is not last: ${column}`);
  }
}

// A long table: a search, a choice, groups that last when rows are sorted, and marked rows.
async function choosing(page, name) {
  const bar = page.locator(".filter.rows:not([hidden])");
  if (await bar.count() === 0) { return; }
  const rows = () => page.locator("table.headline tbody tr:not(.group):visible").count();
  const groups = page.locator("table.headline tbody tr.group");
  const all = await rows();
  const first = await page.locator("table.headline tbody .name").first().innerText();
  await bar.locator("input").fill(first.toUpperCase());
  expect(await rows() >= 1 && await rows() < all, `${name}: the search leaves ${await rows()} of ${all} rows`);
  expect(/^\d+ of \d+ targets/.test(await bar.locator("output").innerText()), `${name}: and says so`);
  await bar.locator("input").fill("");
  for (const select of await bar.locator("select:not([data-rows=group])").all()) {
    await select.selectOption({ index: 1 });
    expect(await rows() >= 1 && await rows() < all, `${name}: a choice leaves ${await rows()} of ${all} rows`);
    await select.selectOption({ index: 0 });
  }
  // The address holds the choice, and a link to it shows the same.
  const language = bar.locator("[data-rows=language]");
  if (await language.count() > 0) {
    await language.selectOption({ index: 1 });
    const left = await rows();
    const chosen = new URL(page.url());
    chosen.searchParams.set("language", await language.inputValue());
    await page.goto(chosen.href);
    expect(await rows() === left && left < all, `${name}: a link with a choice shows ${await rows()} rows and not ${left}`);
    await language.selectOption({ index: 0 });
    expect(await rows() === all, `${name}: and all of them without`);
  }
  // So does the address hold the order.
  const names = () => page.locator("table.headline tbody .name").allInnerTexts();
  const ordered = new URL(page.url());
  ordered.searchParams.delete("sort");
  await page.goto(ordered.href);
  const ranked = await names();
  const head = page.locator("table.headline thead button", { hasText: /^p99$/ });
  await head.click();
  await head.click();
  const sorted = await names();
  expect(JSON.stringify(sorted) !== JSON.stringify(ranked), `${name}: two presses sort`);
  ordered.searchParams.set("sort", "-p99");
  await page.goto(ordered.href);
  expect(JSON.stringify(await names()) === JSON.stringify(sorted), `${name}: a link with an order shows it`);
  ordered.searchParams.delete("sort");
  await page.goto(ordered.href);
  expect(JSON.stringify(await names()) === JSON.stringify(ranked), `${name}: and the ranks without`);
  await bar.locator("[data-rows=group]").selectOption({ index: 1 });
  const made = await groups.count();
  expect(made > 1, `${name}: rows are shown in ${made} groups`);
  await page.locator("table.headline thead button").nth(3).click();
  expect(await groups.count() === made && await rows() === all, `${name}: sorting keeps groups and rows`);
  await bar.locator("[data-rows=group]").selectOption({ index: 0 });
  expect(await groups.count() === 0 && await page.locator("table.headline tbody .name").first().innerText() === first, `${name}: without groups the ranks order again`);
  await page.locator("table.headline button.name").first().click();
  expect(await page.locator("table.headline tr.marked").count() === 1, `${name}: a press on a name marks its row`);
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
  // The pictures follow by style rules, seen or not; what the script has drawn tells it by its values.
  const shown = () => page.evaluate(() => {
    const hidden = document.createElement("style");
    hidden.textContent = ".chart>div{display:block!important}";
    document.head.append(hidden);
    const count = [...document.querySelectorAll(".by-target svg polyline")].filter((one) => getComputedStyle(one).display !== "none").length;
    hidden.remove();
    return count - document.querySelectorAll(".tools .value.off").length;
  });
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
  await whileNewsFlow(page, name, async () => {
    expect(await within(60, async () => await told() !== before), `${name}: what is told of the run under way changes`);
  });
  expect(await page.evaluate(() => window.here === true), `${name}: the page was not loaded anew`);
}

const SIZES = [[1400, 900], [1200, 900], [800, 1000], [390, 844]];
for (const address of pages) {
  const name = address.replace(/^.*\/\/[^/]*\//, "").replace(/\.html$/, "").replace(/[^A-Za-z0-9-]+/g, "_").slice(-40) || "index";
  const { page, ms } = await open(address, { viewport: { width: 1240, height: 900 }, colorScheme: "light" });
  const count = await charts(page, name);
  await news(page, name);
  await accessible(page, name);
  await pointing(page, name);
  await ends(page, name);
  await themes(page, name);
  await hiding(page, name);
  await saving(page, name);
  await choosing(page, name);
  await sorting(page, name);
  const sheets = paper(await page.pdf({ path: `${out}/${name}.pdf`, format: "A4" }));
  expect(!/report|rounds|twenty/.test(name) || sheets <= MOST_PAPER, `${name}: ${sheets} pages of paper, ${MOST_PAPER} are enough`);
  // As it was sent: what the script draws is no part of it.
  const bytes = address.startsWith("file:") ? readFileSync(new URL(address)).length : (await (await fetch(address)).arrayBuffer()).byteLength;
  expect(bytes < 1_000_000, `${name}: ${bytes} bytes are more than a megabyte`);
  await page.close();

  for (const colorScheme of ["light", "dark"]) {
    // One page that is made narrower, as a window is, and a telephone. Other colours do not change how wide things are.
    const [window, phone] = [colorScheme === "light" ? SIZES.slice(0, -1) : SIZES.slice(0, 1), SIZES.slice(-1)];
    for (const [sizes, touch] of [[window, {}], [phone, { deviceScaleFactor: 2, isMobile: true, hasTouch: true }]]) {
      const shown = await open(address, { viewport: { width: sizes[0][0], height: sizes[0][1] }, colorScheme, ...touch });
      for (const [width, height] of sizes) {
        await shown.page.setViewportSize({ width, height });
        await shown.page.waitForTimeout(100);
        await charts(shown.page, `${name} at ${width} px, ${colorScheme}`);
        const over = await shown.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(over <= 0, `${name}: ${over} px wider than ${width} px`);
        await shown.page.screenshot({ path: `${out}/${name}-${width}-${colorScheme}.jpg`, type: "jpeg", fullPage: true });
        // Colours of both themes have enough contrast.
        await accessible(shown.page, `${name} at ${width} px, ${colorScheme}`);
      }
      await shown.page.close();
    }
  }

  // Without a script everything is there to be read.
  const still = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1240, height: 900 } });
  const plain = await still.newPage();
  await plain.goto(address, { waitUntil: "load" });
  const pictures = await plain.locator("figure .chart svg:visible").count();
  // The charts of a run under way come and go with what is loaded just then.
  const sent = await plain.locator("figure .chart").count();
  expect(sent === count || await plain.locator("[data-live]").count() > 0, `${name}: ${count} charts, and ${sent} without a script`);
  expect(pictures >= sent, `${name}: ${pictures} of ${sent} charts are seen without a script`);
  await still.close();
  console.log(`${name}: ${count} charts, ${(bytes / 1000).toFixed(0)} kB, ${sheets} pages of paper, loaded in ${ms} ms`);
}
await browser.close();
if (failures.length > 0) { console.log(`${failures.length} failures`); process.exit(1); }
console.log("all well");
