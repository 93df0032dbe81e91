"use strict";
// Which rows of the ranked table are shown, in which groups, and which of them are marked. Ranks stay those among all targets.
(() => {
  const bar = document.querySelector(".filter.rows");
  const table = document.querySelector("table.headline");
  if (!bar || !table) { return; }
  const body = table.tBodies[0];
  const all = [...body.rows];
  const control = (name) => bar.querySelector(`[data-rows=${name}]`);
  const wanted = (name) => control(name)?.value ?? "";

  const fits = (row) => {
    const text = wanted("text").trim().toLowerCase();
    return row.querySelector("th").textContent.toLowerCase().includes(text)
      && ["language", "kind"].every((name) => wanted(name) === "" || row.dataset[name] === wanted(name));
  };
  const heading = (name, count) => {
    const row = document.createElement("tr");
    row.className = "group";
    const cell = document.createElement("th");
    cell.scope = "rowgroup";
    cell.colSpan = table.tHead.rows[0].cells.length;
    cell.textContent = `${name} (${count})`;
    row.append(cell);
    return row;
  };
  const show = () => {
    for (const row of body.querySelectorAll("tr.group")) { row.remove(); }
    const shown = [...body.rows].filter((row) => { row.hidden = !fits(row); return !row.hidden; });
    control("count").textContent = shown.length === all.length ? "" : `${shown.length} of ${all.length} targets; ranks are those among all`;
    const by = wanted("group");
    if (by === "") { return; }
    const groups = new Map();
    for (const row of shown) { groups.set(row.dataset[by], [...(groups.get(row.dataset[by]) ?? []), row]); }
    for (const [name, rows] of groups) { body.append(heading(name, rows.length), ...rows); }
  };
  // What is chosen stands in the address: ?kind=micro&language=go.
  const controls = [...bar.querySelectorAll("input, select")];
  const remember = () => window.pippinAddress((chosen) => {
    for (const one of controls) {
      if (one.value === "") { chosen.delete(one.dataset.rows); } else { chosen.set(one.dataset.rows, one.value); }
    }
  });
  bar.hidden = false;
  bar.addEventListener("input", (event) => {
    // Without groups the order is that of the ranks again.
    if (event.target === control("group")) { body.append(...all); }
    show();
    remember();
  });
  const asked = new URLSearchParams(location.search);
  for (const one of controls) {
    const value = asked.get(one.dataset.rows);
    // A value that this page does not offer changes nothing.
    if (value && (one.tagName === "INPUT" || [...one.options].some((option) => option.value === value))) { one.value = value; }
  }
  if (controls.some((one) => one.value !== "")) { show(); }
  // Groups end where rows are sorted anew, and are made again.
  table.addEventListener("sorting", () => { for (const row of body.querySelectorAll("tr.group")) { row.remove(); } });
  table.addEventListener("sorted", show);

  // A press on a name marks its row.
  for (const row of all) {
    const name = row.querySelector("th .name");
    const press = document.createElement("button");
    press.type = "button";
    press.className = "name";
    press.append(...name.childNodes);
    press.title = "Mark this row";
    press.setAttribute("aria-pressed", "false");
    press.addEventListener("click", () => press.setAttribute("aria-pressed", String(row.classList.toggle("marked"))));
    name.replaceWith(press);
  }
})();
