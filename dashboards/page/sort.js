// A table of the report is sorted by the column whose heading is chosen, by mouse or keyboard: the
// greatest first, and with the next click the least. Groups stay; what is missing comes last.
tailscope.sort = (() => {
  const words = new Intl.Collator("en", { numeric: true });
  const NUMBER = /^[-−+]?[\d,]*\.?\d+/;

  // A value as it is read; a time as hovering tells it, which is more exact.
  function valueOf(cell, numeric) {
    const read = (cell.querySelector("a, abbr") ?? cell.firstChild)?.textContent.trim() ?? "";
    if (!numeric) return read || null;
    const found = NUMBER.exec(cell.title) ?? NUMBER.exec(read);
    return found ? Number(found[0].replaceAll(",", "").replace("−", "-")) : null;
  }

  function order(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "number" ? a - b : words.compare(a, b));
  }

  function sort(heading) {
    const table = heading.closest("table"), place = [...heading.parentNode.children].indexOf(heading);
    const numeric = heading.classList.contains("number");
    const before = heading.getAttribute("aria-sort");
    const first = numeric ? "descending" : "ascending", second = numeric ? "ascending" : "descending";
    const now = before === first ? second : first, sign = now === "ascending" ? 1 : -1;
    heading.parentNode.querySelectorAll("[aria-sort]").forEach((one) => one.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", now);
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
      const keyed = rows.map((row) => ({ row, value: valueOf(row.cells[place], numeric) }));
      keyed.sort((one, other) => order(one.value, other.value, sign));
      body.append(...keyed.map(({ row }) => row));
    }
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button.sort");
    if (button) sort(button.closest("th"));
  });
  return { sort };
})();
