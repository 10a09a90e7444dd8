// The table of all runs of a served report: searched, two of them compared, some of them shown.
tailscope.runs = (() => {
  const chosen = new Set(), { element } = tailscope;

  const idOf = (row) => decodeURIComponent(row.querySelector('th a[href^="#/run/"]')?.hash.slice(6) ?? "");
  const query = (runs) => runs.map((run) => `run=${encodeURIComponent(run)}`).join("&");

  // Puts a box to choose before each run, and what can be done with those chosen above the table.
  function attach(section) {
    const bar = element("p", "", "choices"), search = element("input"), box = element("div", "", "live");
    search.type = "search";
    search.placeholder = "search all columns";
    search.setAttribute("aria-label", "Search the runs");
    const compare = element("a", "compare the two"), show = element("a", "show these alone");
    bar.append(search, compare, show);
    box.setAttribute("aria-live", "polite");
    section.querySelector(".page-head").after(box, bar);
    const rows = [...section.querySelectorAll("tbody tr:not(.group)")];
    function tell() {
      compare.hidden = chosen.size !== 2;
      compare.href = `compare?${query([...chosen])}`;
      show.hidden = !chosen.size;
      show.href = `?${query([...chosen])}#/overview`;
    }
    for (const row of rows) {
      const id = idOf(row);
      if (!id) continue;
      const choice = element("input");
      choice.type = "checkbox";
      choice.checked = chosen.has(id);
      choice.setAttribute("aria-label", `Choose ${id}`);
      choice.addEventListener("change", () => {
        if (choice.checked) chosen.add(id); else chosen.delete(id);
        tell();
      });
      row.cells[0].prepend(choice, " ");
    }
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    });
    tell();
  }

  // What is under way; `boxes` is HTML of the server's own making.
  function live(section, boxes) {
    section.querySelector(".live").innerHTML = boxes;
  }
  return { attach, live };
})();
