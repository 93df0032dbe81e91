// The pictures of the README, taken in a real Chromium:
//
//   node pictures.mjs terminal IN.ansi OUT.png TITLE     what a terminal shows, from its text with SGR sequences (ECMA-48)
//   node pictures.mjs page REPORT.html FOLDER            report.png and charts.png of a run's page
//
// A terminal's picture shows what stands in the file and nothing else.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";

const COLOURS = ["#22262b", "#e5636a", "#58b368", "#d9a13b", "#5c9ee8", "#b583d6", "#3fb3b3", "#d6d9dd"];
const BRIGHT = ["#6b727b", "#ff8389", "#7ed491", "#f2c464", "#86bdf7", "#d2a5ee", "#66d2d2", "#ffffff"];
const [INK, GROUND] = ["#d6d9dd", "#14171b"];

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// One colour of a list of SGR parameters, which it shortens: 38;5;N and 38;2;R;G;B.
function wide(codes) {
  if (codes.shift() === 2) { return `rgb(${codes.splice(0, 3).join(",")})`; }
  const index = codes.shift();
  if (index < 8) { return COLOURS[index]; }
  if (index < 16) { return BRIGHT[index - 8]; }
  if (index >= 232) { const grey = 8 + (index - 232) * 10; return `rgb(${grey},${grey},${grey})`; }
  const part = (n) => (n === 0 ? 0 : 55 + n * 40);
  const cube = index - 16;
  return `rgb(${part(Math.floor(cube / 36))},${part(Math.floor(cube / 6) % 6)},${part(cube % 6)})`;
}

function apply(style, codes) {
  while (codes.length > 0) {
    const code = codes.shift();
    if (code === 0) { Object.keys(style).forEach((key) => delete style[key]); }
    else if (code === 1) { style.bold = true; }
    else if (code === 2) { style.dim = true; }
    else if (code === 7) { style.inverse = true; }
    else if (code === 9) { style.struck = true; }
    else if (code === 22) { delete style.bold; delete style.dim; }
    else if (code === 27) { delete style.inverse; }
    else if (code === 29) { delete style.struck; }
    else if (code >= 30 && code <= 37) { style.ink = COLOURS[code - 30]; }
    else if (code === 38) { style.ink = wide(codes); }
    else if (code === 39) { delete style.ink; }
    else if (code >= 40 && code <= 47) { style.ground = COLOURS[code - 40]; }
    else if (code === 48) { style.ground = wide(codes); }
    else if (code === 49) { delete style.ground; }
    else if (code >= 90 && code <= 97) { style.ink = BRIGHT[code - 90]; }
  }
}

function span(style, text) {
  if (text === "") { return ""; }
  const [ink, ground] = style.inverse ? [style.ground ?? GROUND, style.ink ?? INK] : [style.ink, style.ground];
  const rules = [ink && `color:${ink}`, ground && `background:${ground}`, style.bold && "font-weight:700", style.dim && "opacity:.62", style.struck && "text-decoration:line-through"].filter(Boolean);
  return rules.length > 0 ? `<span style="${rules.join(";")}">${escape(text)}</span>` : escape(text);
}

function html(ansi) {
  const style = {};
  let out = "";
  let from = 0;
  for (const match of ansi.matchAll(/\x1b\[([0-9;:]*)([A-Za-z])|\x1b[()][A-Z0-9]|[\x0e\x0f\r]/g)) {
    out += span(style, ansi.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") { apply(style, (match[1] || "0").split(/[;:]/).map(Number)); }
    else if (match[2]) { throw new Error(`a sequence that is no SGR: ${JSON.stringify(match[0])}`); }
  }
  return out + span(style, ansi.slice(from));
}

async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

async function terminal(browser, input, out, title) {
  const lines = readFileSync(input, "utf8").replace(/\s+$/, "");
  const page = await browser.newPage({ deviceScaleFactor: 2 });
  await page.setContent(`<!doctype html><style>
    body{margin:0;background:${GROUND};display:inline-block}
    .bar{display:flex;align-items:center;gap:7px;padding:10px 14px;background:#22262b;font:13px system-ui,sans-serif;color:#a4abb5}
    .bar i{width:11px;height:11px;border-radius:50%;background:#565d67}
    .bar span{margin-left:8px}
    pre{margin:0;padding:14px 18px 18px;color:${INK};font:14px/normal "DejaVu Sans Mono","Liberation Mono",monospace;font-variant-ligatures:none}
    </style><div class="bar"><i></i><i></i><i></i><span>${escape(title)}</span></div><pre>${html(lines)}</pre>`);
  await page.locator("body").screenshot({ path: out });
}

async function report(browser, address, folder) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1150 }, colorScheme: "light" });
  await page.goto(address);
  await page.screenshot({ path: `${folder}/report.png` });
  const clip = async (name) => (await page.locator(`#chart-${name}`).boundingBox());
  const [first, last] = [await clip("percentiles"), await clip("distribution")];
  if (first && last) {
    await page.screenshot({ path: `${folder}/charts.png`, fullPage: true, clip: { x: first.x - 12, y: first.y - 12, width: first.width + 24, height: last.y + last.height - first.y + 24 } });
  }
}

const [kind, input, out, title] = process.argv.slice(2);
const browser = await launch();
if (kind === "terminal" && title) { await terminal(browser, input, out, title); }
else if (kind === "page" && out) { await report(browser, new URL(input, "file://").href, out); }
else { console.error("usage: node pictures.mjs terminal IN.ansi OUT.png TITLE | page REPORT.html FOLDER"); process.exitCode = 2; }
await browser.close();
