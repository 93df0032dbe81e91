(() => {
  // The part of the page that tells of runs under way is asked for anew each second; the server answers 204 once there is none.
  const panel = document.querySelector("[data-live]");
  if (!panel) { return; }
  // Whoever reads with the keyboard, or has scrolled a table sideways, stays where they are.
  const name = (one) => one.getAttribute("href") ?? one.getAttribute("aria-label");
  const regions = () => [...panel.querySelectorAll(".scroll")];
  function replace(text) {
    const focused = panel.contains(document.activeElement) ? name(document.activeElement) : null;
    const scrolled = new Map(regions().map((region) => [name(region), region.scrollLeft]));
    panel.innerHTML = text;
    window.pippinPlots?.(panel);
    window.pippinFigures?.(panel);
    regions().forEach((region) => { region.scrollLeft = scrolled.get(name(region)) ?? 0; });
    if (focused) { [...panel.querySelectorAll("a, .scroll")].find((one) => name(one) === focused)?.focus({ preventScroll: true }); }
  }
  // Whoever has zoomed into a chart, or is about to, keeps it until "Show all".
  const held = () => panel.querySelector(".tools button:not([hidden]), .u-over:active") !== null;
  const later = () => setTimeout(ask, 1000);
  async function ask() {
    if (document.hidden) { later(); return; }
    try {
      const answer = await fetch(panel.dataset.live, { cache: "no-store" });
      if (answer.status === 204) { location.reload(); return; }
      panel.classList.toggle("lost", !answer.ok);
      const text = await answer.text();
      if (answer.ok && !held()) { replace(text); }
    } catch { panel.classList.add("lost"); }
    later();
  }
  later();
})();
