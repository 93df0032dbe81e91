(() => {
  // The part of the page that tells of runs under way is asked for anew each second; the server answers 204 once there is none.
  const panel = document.querySelector("[data-live]");
  if (!panel) { return; }
  const later = () => setTimeout(ask, 1000);
  async function ask() {
    if (document.hidden) { later(); return; }
    try {
      const answer = await fetch(panel.dataset.live, { cache: "no-store" });
      if (answer.status === 204) { location.reload(); return; }
      panel.classList.toggle("lost", !answer.ok);
      if (answer.ok) {
        const focused = panel.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
        panel.innerHTML = await answer.text();
        if (focused) { [...panel.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus(); }
      }
    } catch { panel.classList.add("lost"); }
    later();
  }
  later();
})();
