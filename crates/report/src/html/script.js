"use strict";
// Sorting, the choice of theme, saving of charts. The page reads without any of it.
(() => {
  const root = document.documentElement;

  // Theme: automatic, light, dark. Storage may be forbidden where the page is a file.
  const button = document.querySelector("button.theme");
  const stored = { get() { try { return localStorage.getItem("pippin-theme"); } catch { return null; } }, set(v) { try { localStorage.setItem("pippin-theme", v); } catch { /* not kept */ } } };
  const themes = ["automatic", "light", "dark"];
  const apply = (theme) => {
    if (theme === "automatic") { delete root.dataset.theme; } else { root.dataset.theme = theme; }
    if (button) { button.textContent = `Theme: ${theme}`; }
  };
  let theme = themes.includes(stored.get()) ? stored.get() : "automatic";
  apply(theme);
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      stored.set(theme);
      apply(theme);
    });
  }

  // Sorting by any column; unknown figures stay at the end.
  const number = (text) => { const m = text.replace(/,/g, "").match(/-?\d+(\.\d+)?/); return m ? Number(m[0]) : null; };
  const factor = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 };
  const value = (cell) => {
    if (!cell) { return null; }
    if (cell.dataset.value !== undefined) { const v = Number(cell.dataset.value); return Number.isNaN(v) ? cell.dataset.value : v; }
    // What is unknown comes last.
    if (!cell.classList.contains("number")) { const text = cell.textContent.trim(); return text === "–" ? null : text; }
    const unit = cell.textContent.trim().match(/(ns|µs|ms|s|B|KiB|MiB|GiB)$/);
    const n = number(cell.textContent);
    return n === null ? null : n * (unit ? factor[unit[1]] : 1);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  // The address holds what is chosen, so that a link shows what I see.
  window.pippinAddress = (change) => {
    const address = new URL(location.href);
    change(address.searchParams);
    // A page that is kept as a file may not change its address in every browser.
    try { history.replaceState(null, "", address); } catch { /* the choice holds all the same */ }
  };
  // How the table of results is sorted: ?sort=p99, or ?sort=-p99 for the greatest first.
  const asked = new URLSearchParams(location.search).get("sort") ?? "";
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, index) => {
      // A column of boxes to choose from has no order.
      if (head.classList.contains("choice")) { return; }
      const press = document.createElement("button");
      press.type = "button";
      press.textContent = head.textContent;
      head.replaceChildren(press);
      const sort = (down) => {
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        table.dispatchEvent(new Event("sorting"));
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => ({ row, key: value(row.cells[index]) }));
        rows.sort((a, b) => (a.key === null) - (b.key === null) || (a.key === null ? 0 : (down ? -1 : 1) * compare(a.key, b.key)));
        body.append(...rows.map((entry) => entry.row));
        table.dispatchEvent(new Event("sorted"));
      };
      const isOfResults = table.classList.contains("headline");
      press.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        sort(down);
        if (isOfResults) { window.pippinAddress((chosen) => chosen.set("sort", `${down ? "-" : ""}${press.textContent}`)); }
      });
      // Once all scripts have seen the order of the ranks.
      if (isOfResults && asked.replace(/^-/, "") === press.textContent) {
        document.addEventListener("DOMContentLoaded", () => sort(asked.startsWith("-")));
      }
    });
  }

  // Which targets the charts show: all, none, or the first of the table.
  for (const field of document.querySelectorAll("fieldset.show")) {
    const boxes = [...field.querySelectorAll("input")];
    const choose = (most) => boxes.forEach((box, place) => { box.checked = place < most; box.dispatchEvent(new Event("change", { bubbles: true })); });
    const choices = [["All", boxes.length], ["None", 0], ...(boxes.length > 5 ? [["Top 5", 5]] : [])];
    field.append(...choices.map(([name, most]) => {
      const press = document.createElement("button");
      press.type = "button";
      press.textContent = name;
      press.addEventListener("click", () => choose(most));
      return press;
    }));
  }

  // Saving a chart as it is shown, on the page's own ground.
  const picture = (figure) => {
    const all = [...figure.querySelectorAll(".chart svg")];
    // Where the browser has drawn it anew, all of them are hidden; the first is the widest.
    const svg = all.find((one) => one.getClientRects().length > 0) ?? all[0];
    const copy = svg.cloneNode(true);
    const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
    from.forEach((one, i) => {
      const style = getComputedStyle(one);
      for (const name of ["fill", "stroke"]) { if (one.hasAttribute(name)) { to[i].setAttribute(name, style[name]); } }
      if (style.display === "none") { to[i].setAttribute("display", "none"); }
    });
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    paper.setAttribute("width", "100%");
    paper.setAttribute("height", "100%");
    paper.setAttribute("fill", getComputedStyle(root).getPropertyValue("--paper").trim());
    copy.prepend(paper);
    return { text: new XMLSerializer().serializeToString(copy), width: Number(svg.getAttribute("width")), height: Number(svg.getAttribute("height")) };
  };
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  // Figures of a run under way are put in anew each second.
  window.pippinFigures = (within) => { for (const bar of within.querySelectorAll("figure .save")) { bar.hidden = false; } };
  window.pippinFigures(document);
  document.addEventListener("click", (event) => {
    const kind = event.target.dataset.save;
    if (!kind) { return; }
    const figure = event.target.closest("figure");
    const { text, width, height } = picture(figure);
    if (kind === "svg") { save(new Blob([text], { type: "image/svg+xml" }), `${figure.dataset.name}.svg`); return; }
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = width * 2;
      canvas.height = height * 2;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, `${figure.dataset.name}.png`), "image/png");
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  });
})();
