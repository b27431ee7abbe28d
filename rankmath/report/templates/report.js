"use strict";
(() => {
  const $ = (id) => document.getElementById(id);

  // -- theme: the system's, unless the reader has chosen one; the choice is kept where the browser allows it
  const root = document.documentElement;
  const button = $("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = (value) => {
    try {
      if (value !== undefined) window.localStorage.setItem("rankmath-theme", value);
      return window.localStorage.getItem("rankmath-theme");
    } catch {
      return value ?? null;
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  const chosen = kept();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept(root.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  button.hidden = false;
  show();

  // -- filters
  const form = $("filters");
  const body = $("table").tBodies[0];
  const rows = Array.from(body.rows, (row) => ({ row, text: row.textContent.toLowerCase() }));
  const filter = () => {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const { value: status } = $("status");
    const { value: paper } = $("paper");
    const { value: outcome } = $("outcome");
    let count = 0;
    for (const { row, text } of rows) {
      const fits =
        (!status || row.dataset.status === status) &&
        (!paper || row.dataset.paper === paper) &&
        (!outcome || (outcome === "!" ? row.dataset.registered === "no" : row.dataset.outcome === outcome)) &&
        words.every((word) => text.includes(word));
      row.hidden = !fits;
      count += fits;
    }
    $("shown").textContent = `${count} of ${rows.length} statements shown`;
  };
  // Some ways of choosing from a list change it without an input event.
  for (const happens of ["input", "change"]) form.addEventListener(happens, filter);
  form.addEventListener("reset", () => window.setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
  // A link to a line that is filtered away shows it.
  window.addEventListener("hashchange", () => {
    const row = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    if (row && row.hidden) {
      form.reset();
      filter();
      row.scrollIntoView();
    }
  });

  // -- sorting: numbers by size, words by letters; what has no value comes last
  const headers = Array.from($("table").tHead.rows[0].cells);
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    return text === "" || text === "–" ? null : Number.isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
  for (const [column, header] of headers.entries()) {
    header.firstElementChild.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      for (const other of headers) other.setAttribute("aria-sort", "none");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = Array.from(body.rows, (row) => [value(row, column), row]);
      keyed.sort(([a], [b]) => (a === null ? (b === null ? 0 : 1) : b === null ? -1 : down ? compare(b, a) : compare(a, b)));
      body.append(...keyed.map(([, row]) => row));
    });
  }
})();
