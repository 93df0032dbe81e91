import fs from "node:fs";

/** The items of the data file. */
export function readItems(path) {
  return JSON.parse(fs.readFileSync(path, "utf8"));
}

/** The first `n` of all items, each with its price times quantity times `m`; nothing if these are no whole numbers. */
export function withTotals(all, n, m) {
  if (!Number.isSafeInteger(n) || !Number.isSafeInteger(m)) return undefined;
  const items = all.slice(0, n).map((item) => ({ ...item, total: item.price * item.quantity * m }));
  return { count: items.length, items };
}
