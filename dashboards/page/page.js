"use strict";
// What all pages have in common: elements and numbers as they are read, the switch between light and
// dark, the words that a click explains, tables that sort, and what they save.
const tailscope = {
  number: new Intl.NumberFormat("en", { maximumFractionDigits: 1 }),

  element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  },

  // A copy of what the page's template of this id has.
  copy: (id) => document.getElementById(id).content.cloneNode(true),

  // When the style's dark rule holds. Until the switch is used, the page follows the system.
  dark: [...document.styleSheets[0].cssRules].find(({ media }) => media?.mediaText.includes("dark")).media,
};

(() => {
  const button = document.getElementById("theme"), system = window.matchMedia(tailscope.dark.mediaText);
  const isDark = () => window.matchMedia(tailscope.dark.mediaText).matches;
  function changed() {
    button.setAttribute("aria-pressed", String(isDark()));
    tailscope.figures?.refresh();
  }
  button.addEventListener("click", () => {
    tailscope.dark.mediaText = isDark() ? "not all" : "all";
    changed();
  });
  system.addEventListener("change", changed);
  changed();

  // The words of docs/reference/words.md: told on hover, and at a click, since a finger cannot hover.
  const meaning = tailscope.element("p", "", "meaning");
  meaning.setAttribute("role", "status");
  document.addEventListener("click", ({ target }) => {
    meaning.remove();
    const term = target.closest("dfn.term"), heading = target.closest("button.sort")?.closest("th");
    if (heading) sort(heading);
    if (!term) return;
    meaning.replaceChildren(tailscope.element("b", term.textContent), `: ${term.title}`);
    document.body.append(meaning);
  });

  // A value as it is read; a time as hovering tells it, which is more exact. What is missing is least.
  const words = new Intl.Collator("en", { numeric: true });
  function valueOf(cell, numeric) {
    const read = (cell.querySelector("a, abbr") ?? cell.firstChild)?.textContent.trim() ?? "";
    if (!numeric) return read;
    const value = parseFloat((cell.title || read).replace(/[,≥ ]/g, "").replace("−", "-"));
    return Number.isNaN(value) ? -Infinity : value;
  }

  // Sorts by the column of a heading: the greatest first, and with the next click the least.
  function sort(heading) {
    const place = heading.cellIndex, numeric = heading.classList.contains("number");
    const first = numeric ? "descending" : "ascending", second = numeric ? "ascending" : "descending";
    const now = heading.getAttribute("aria-sort") === first ? second : first;
    heading.parentNode.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", now);
    for (const body of heading.closest("table").tBodies) {
      const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
      const value = (row) => valueOf(row.cells[place], numeric);
      rows.sort((a, b) => (numeric ? value(a) - value(b) : words.compare(value(a), value(b))));
      body.append(...(now === "ascending" ? rows : rows.reverse()));
    }
  }
})();
