"use strict";
// Draws the charts of the page anew with uPlot, so that they can be pointed at, zoomed and linked. What stands in the page without it stays for paper and for readers
// of the words: the picture, its alternative text and its table.
(() => {
  const { uPlot } = window;
  if (!uPlot) { return; }
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim() || "#888";
  const FONT = '14px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

  // Figures as the rest of the page writes them.
  const digits = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 12 });
  const scaled = (value, steps) => {
    const [factor, unit] = steps.find(([least]) => Math.abs(value) >= least) ?? steps.at(-1);
    return `${digits(value / factor)} ${unit}`;
  };
  const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const SIZES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]];
  const quantile = (place) => `${((1 - 10 ** -place) * 100).toFixed(Math.max(0, Math.ceil(place - 1e-9) - 2 + (Number.isInteger(place) ? 0 : 1)))} %`;
  const write = {
    seconds: (value) => `${digits(value)} s`,
    ns: (value) => scaled(value, TIMES),
    count: (value) => (Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : digits(value)),
    share: (value) => `${digits(value * 100)} %`,
    cores: (value) => `${Math.round(value * 100)} %`,
    bytes: (value) => scaled(value, SIZES),
    quantile,
  };
  const onAxis = {
    ...write,
    seconds: digits,
    count: (value) => (Math.abs(value) >= 1e6 ? `${digits(value / 1e6)}M` : Math.abs(value) >= 1e4 ? `${digits(value / 1e3)}k` : digits(value)),
  };

  // All that are drawn; those that left the page are dropped.
  let drawn = [];
  const alive = () => { drawn = drawn.filter((one) => one.figure.isConnected || (one.plot.destroy(), false)); return drawn; };
  const linked = (one) => alive().filter((other) => other === one || (one.data.link && other.data.link === one.data.link));
  const reach = (one) => { const xs = one.plot.data[0]; return { min: xs[0], max: xs.at(-1) }; };

  // One row of places for all curves; where a curve has none there is a gap that the line bridges.
  function table(curves) {
    const places = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
    const at = new Map(places.map((place, index) => [place, index]));
    const column = (curve, values) => { const out = Array(places.length).fill(null); curve.x.forEach((x, i) => { out[at.get(x)] = values[i]; }); return out; };
    return { places, column };
  }

  // Names at the ends of the lines, as the drawing has them; where they have no room, those below the chart do.
  const NAME = 16;
  const measure = document.createElement("canvas").getContext("2d");
  const named = (data) => data.curves.filter((curve) => curve.name && !curve.name.endsWith(", generator"));
  function room(data, width) {
    measure.font = FONT;
    const widths = named(data).map((curve) => measure.measureText(curve.name).width + 26);
    const widest = Math.max(0, ...widths);
    return widths.length > 1 && widths.length <= 10 && widest <= width * 0.38 ? widest : 0;
  }
  function spread(ends, gap, top, bottom) {
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((end, i) => { end.place = Math.max(end.y, i > 0 ? ends[i - 1].place + gap : top); });
    for (let i = ends.length - 1, most = bottom; i >= 0; i -= 1) { ends[i].place = Math.min(ends[i].place, most); most = ends[i].place - gap; }
    return ends;
  }
  function names(plot, data) {
    const { ctx, bbox } = plot;
    const found = room(data, plot.width) === 0 ? [] : named(data).flatMap((curve) => {
      const part = curve.parts.at(-1);
      const [xs, ys] = [plot.data[0], plot.data[part]];
      let last = xs.length - 1;
      while (last >= 0 && ((ys[last] ?? null) === null || xs[last] > plot.scales.x.max)) { last -= 1; }
      if (last < 0 || !plot.series[part].show) { return []; }
      const y = Math.min(bbox.top + bbox.height, Math.max(bbox.top, plot.valToPos(ys[last], "y", true)));
      return [{ curve, y, x: Math.max(bbox.left, plot.valToPos(xs[last], "x", true)) }];
    });
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.font = `${14 * ratio}px ${FONT.slice(FONT.indexOf(" ") + 1)}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.lineWidth = ratio;
    ctx.setLineDash([]);
    const right = bbox.left + bbox.width;
    for (const { curve, x, y, place } of spread(found, NAME * ratio, bbox.top, bbox.top + bbox.height)) {
      ctx.strokeStyle = colour(curve.colour);
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(right + 4 * ratio, y);
      ctx.lineTo(right + 14 * ratio, place);
      ctx.stroke();
      ctx.fillStyle = colour("--ink");
      ctx.fillText(curve.name, right + 18 * ratio, place);
    }
    ctx.restore();
    plot.root.dataset.names = found.map(({ place }) => Math.round(place / ratio)).join(" ");
  }

  function options(data, size) {
    const series = [{}];
    const bands = [];
    const columns = [];
    const places = table(data.curves);
    const positive = (values) => (data.y.log ? values.map((value) => (value > 0 ? value : null)) : values);
    data.curves.forEach((curve) => {
      const add = (values, extra) => { columns.push(positive(places.column(curve, values))); series.push({ spanGaps: true, points: { show: false }, ...extra }); return series.length - 1; };
      const parts = [];
      if (curve.low.length > 0) {
        const none = { stroke: "transparent", width: 0 };
        const [high, low] = [add(curve.high, none), add(curve.low, none)];
        parts.push(high, low);
        bands.push({ series: [high, low], fill: () => `${colour(curve.colour)}2e` });
      }
      const stroke = () => colour(curve.colour);
      parts.push(add(curve.y, {
        stroke,
        width: curve.joined ? 2 : 0,
        dash: curve.dashes.length > 0 ? curve.dashes : undefined,
        paths: curve.steps ? uPlot.paths.stepped({ align: 1 }) : curve.joined ? undefined : () => null,
        points: { show: curve.marks, size: 8, stroke, fill: stroke },
      }));
      curve.parts = parts;
    });
    const axis = (of, more) => ({
      font: FONT, stroke: () => colour("--ink"), label: of.title, labelFont: FONT, labelSize: 22,
      grid: { stroke: () => colour("--grid"), width: 1 }, ticks: { stroke: () => colour("--axis"), width: 1 },
      values: (_, splits) => splits.map((value) => (value === null ? null : onAxis[of.unit](value))),
      ...(of.log ? { splits: rounds, filter: (_, splits) => splits } : {}), ...more,
    });
    // Half of the requests, and each further nine; fewer where they have no room.
    const nines = (plot, _, min, max) => {
      const all = [0, Math.log10(2), ...Array.from({ length: Math.max(0, Math.floor(max)) }, (_unused, i) => i + 1)].filter((place) => place >= min && place <= max);
      const inner = all.filter((place) => place >= 1);
      const each = Math.ceil(inner.length / Math.max(1, plot.bbox.width / devicePixelRatio / 80 - 2));
      const half = plot.bbox.width / devicePixelRatio / Math.max(1, max - min) >= 130;
      return all.filter((place) => (place >= 1 ? inner.indexOf(place) % each === 0 : place === 0 || half));
    };
    // Where a range holds too few round values: the multiples of a round step.
    const even = (min, max, step) => Array.from({ length: Math.floor(max / step) - Math.ceil(min / step) + 1 }, (_, i) => (Math.ceil(min / step) + i) * step);
    // Round values within each power of ten, as many as have room.
    const rounds = (plot, index, min, max) => {
      const room = (index === 0 ? plot.bbox.width / 80 : plot.bbox.height / 30) / devicePixelRatio;
      // Sizes are round in KiB, MiB and GiB.
      if ((index === 0 ? data.x : data.y).unit === "bytes") {
        const doubled = Array.from({ length: 48 }, (_, i) => 2 ** i).filter((value) => value >= min && value <= max);
        const each = Math.ceil(doubled.length / Math.max(3, room));
        return doubled.length > 2 ? doubled.filter((_, i) => i % each === 0) : even(min, max, 2 ** Math.floor(Math.log2((max - min) / 3)));
      }
      const powers = Array.from({ length: Math.ceil(Math.log10(max)) - Math.floor(Math.log10(min)) + 1 }, (_, i) => Math.floor(Math.log10(min)) + i);
      const within = (steps) => powers.flatMap((power) => steps.map((step) => step * 10 ** power)).filter((value) => value >= min && value <= max);
      const choices = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]].map(within);
      const found = choices.find((values) => values.length <= Math.max(3, room)) ?? choices.at(-1);
      if (found.length > 2) { return found; }
      const power = 10 ** Math.floor(Math.log10((max - min) / 3));
      return even(min, max, [5, 2, 1].map((step) => step * power).find((step) => step * 3 <= max - min) ?? power);
    };
    const upright = (plot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.strokeStyle = colour("--axis");
      ctx.setLineDash([3, 5]);
      data.verticals.forEach((value) => {
        const x = plot.valToPos(value, "x", true);
        if (x >= bbox.left && x <= bbox.left + bbox.width) { ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke(); }
      });
      ctx.restore();
    };
    return {
      columns: [places.places, ...columns],
      options: {
        ...size,
        legend: { show: false },
        padding: [10, (plot) => Math.max(44, room(data, plot.width)), 0, 0],
        series,
        bands,
        scales: {
          x: { time: false, distr: data.x.log ? 3 : 1, range: (_, min, max) => (min === max ? [min - 0.5, max + 0.5] : [min, max]) },
          y: data.y.log ? { distr: 3, range: (_, min, max) => [(min ?? 1) / 1.15, (max ?? 10) * 1.15] } : { range: (_, min, max) => [Math.min(0, min ?? 0), (max || 1) * 1.06] },
        },
        axes: [axis(data.x, data.x.unit === "quantile" ? { splits: nines } : {}), axis(data.y, { size: 78 })],
        cursor: { y: false, sync: data.link ? { key: data.link, scales: ["x", null] } : undefined, drag: { x: true, y: false, dist: 8 }, points: { size: 8 } },
        hooks: { draw: [upright, (plot) => names(plot, data)] },
      },
    };
  }

  // The nearest value of a curve to a place: curves need not have a value at each.
  function nearest(column, index) {
    for (let step = 0; step < column.length; step += 1) {
      const found = column[index - step] ?? column[index + step];
      if (found !== null && found !== undefined) { return found; }
    }
    return null;
  }

  function element(kind, className, text = "") { const one = document.createElement(kind); one.className = className; one.textContent = text; return one; }

  function tools(one) {
    const bar = element("div", "tools");
    // What is pointed at changes with every move: a screen reader has the table instead.
    const values = element("div", "tools");
    values.setAttribute("aria-hidden", "true");
    const place = element("span", "at");
    const cells = one.data.curves.filter((curve) => curve.name).map((curve) => {
      const cell = element("span", "value");
      const swatch = element("span", "swatch");
      // As the line is drawn: two targets may share a colour and differ in their strokes.
      let from = 0;
      const stops = curve.dashes.map((length, nth) => `${nth % 2 ? "transparent" : `var(${curve.colour})`} ${from}px ${from += length}px`);
      swatch.style.background = stops.length > 0 ? `repeating-linear-gradient(90deg, ${stops.join(", ")})` : `var(${curve.colour})`;
      // Two lines of a target in one colour need one name until there are values.
      cell.classList.toggle("generator", curve.name.endsWith(", generator"));
      const figure = document.createElement("b");
      cell.append(swatch, document.createTextNode(`${curve.name} `), figure);
      return { curve, cell, figure };
    });
    values.append(place, ...cells.map(({ cell }) => cell));
    const back = element("button", "", "Show all");
    back.type = "button";
    back.hidden = true;
    back.addEventListener("click", () => zoom(one, null));
    bar.append(values, back);
    return {
      bar,
      zoomed(is) { back.hidden = !is; },
      point(index) {
        place.textContent = index === null || index === undefined ? "" : write[one.data.x.unit](one.plot.data[0][index]);
        cells.forEach(({ curve, cell, figure }) => {
          const part = curve.parts.at(-1);
          const value = index === null || index === undefined ? null : nearest(one.plot.data[part], index);
          figure.textContent = value === null ? "" : write[one.data.y.unit](value);
          cell.classList.toggle("off", !one.plot.series[part].show);
          cell.classList.toggle("pointed", value !== null);
        });
      },
    };
  }

  function zoom(one, range) {
    linked(one).forEach((other) => {
      other.plot.setScale("x", range ?? reach(other));
      other.tools.zoomed(range !== null);
    });
  }

  function draw(figure, source) {
    const chart = figure.querySelector(".chart");
    if (!chart || chart.classList.contains("drawn")) { return; }
    const one = { figure, data: JSON.parse(source.textContent) };
    if (one.data.curves.length === 0) { return; }
    const room = element("div", "plot");
    room.setAttribute("aria-hidden", "true");
    chart.append(room);
    chart.classList.add("drawn");
    const size = () => ({ width: Math.max(240, room.clientWidth), height: Math.round(Math.min(440, Math.max(210, room.clientWidth * 0.34))) });
    const made = options(one.data, size());
    made.options.hooks.setCursor = [(plot) => one.tools?.point(plot.cursor.idx)];
    made.options.hooks.setSelect = [(plot) => {
      const { left, width } = plot.select;
      if (width > 0) { zoom(one, { min: plot.posToVal(left, "x"), max: plot.posToVal(left + width, "x") }); }
    }];
    one.plot = new uPlot(made.options, made.columns, room);
    one.tools = tools(one);
    one.tools.point(null);
    chart.after(one.tools.bar);
    one.plot.over.addEventListener("dblclick", () => zoom(one, null));
    new ResizeObserver(() => { const now = size(); if (now.width !== one.plot.width) { one.plot.setSize(now); } }).observe(room);
    drawn.push(one);
    one.data.curves.forEach((curve) => hide(one, curve));
  }

  // The boxes above the charts show and hide targets by their colour.
  const box = (curve) => document.getElementById(curve.colour.replace("--s", "show"));
  function hide(one, curve) {
    const show = box(curve)?.checked ?? true;
    curve.parts.forEach((part) => { if (one.plot.series[part].show !== show) { one.plot.setSeries(part, { show }); } });
    one.tools.point(one.plot.cursor.idx);
  }
  document.addEventListener("change", (event) => {
    if (!event.target.closest?.("fieldset.show")) { return; }
    alive().filter((one) => one.figure.classList.contains("by-target")).forEach((one) => one.data.curves.filter((curve) => box(curve) === event.target).forEach((curve) => hide(one, curve)));
  });

  const anew = () => alive().forEach((one) => one.plot.redraw(false, true));
  new MutationObserver(anew).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", anew);

  window.pippinPlots = (within) => { alive(); within.querySelectorAll("figure .plot-data, figure + .plot-data").forEach((source) => draw(source.closest("figure"), source)); };
  window.pippinPlots(document);
})();
