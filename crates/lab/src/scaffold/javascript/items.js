import { readFileSync } from 'node:fs';

/** The items of the data file. */
export function readItems(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** The first `n` of all items, each with its price times quantity times `m`. */
export function withTotals(all, n, m) {
  const items = all.slice(0, n).map((item) => ({ ...item, total: item.price * item.quantity * m }));
  return { count: items.length, items };
}
