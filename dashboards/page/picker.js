// The allocator picker: one chip for each entry, shared by all figures of a page.
tailscope.picker = (() => {
  const FIRST = 6, { element } = tailscope;

  // What is shown before anybody chose: all where they are few, else the worst and the best of those
  // that keep the same waiting, interrupts or tasks, and the pinned.
  function first(entries, pinned) {
    if (entries.length <= FIRST) return new Set(entries.map(({ entry }) => entry));
    const sorted = worstFirst(entries), of = (who) => sorted.filter((one) => one.who === who);
    const ends = [...new Set(sorted.map(({ who }) => who))].map(of).flatMap((lane) => [lane[0], lane[lane.length - 1]]);
    const wanted = [...ends, ...sorted.filter(({ entry }) => pinned.has(entry))].map(({ entry }) => entry);
    return new Set([...new Set(wanted)].slice(0, FIRST));
  }

  const worstFirst = (entries) => [...entries].sort((a, b) => (b.worst ?? -1) - (a.worst ?? -1));

  function chip({ entry, name, told }, { shown, pinned }, act) {
    const box = element("span", "", "chip"), switches = element("button", "", "switch");
    switches.type = "button";
    switches.dataset.entry = entry;
    switches.setAttribute("aria-pressed", String(shown.has(entry)));
    switches.title = "click: show or hide; double-click: show only this one";
    const swatch = element("span", "", "swatch");
    if (shown.has(entry)) swatch.style.background = `var(--run-${entry})`;
    switches.append(swatch, element("span", name, "name"), element("span", told, "worst"));
    switches.addEventListener("click", (event) => {
      // The second click of two is the whole choice: it undoes the first.
      if (event.detail > 1) act({ solo: entry });
      else act({ toggle: entry });
    });
    const pin = element("button", pinned.has(entry) ? "★" : "☆", "pin");
    pin.type = "button";
    pin.dataset.pin = entry;
    pin.setAttribute("aria-pressed", String(pinned.has(entry)));
    pin.setAttribute("aria-label", `Pin ${name}`);
    pin.addEventListener("click", () => act({ pin: entry }));
    box.append(switches, pin);
    box.dataset.name = name.toLowerCase();
    return box;
  }

  // Fills `root` with a chip for each of `entries` ({entry, name, worst, told}). `state` has Sets
  // `shown` and `pinned`; `onChange` gets the new one.
  function draw(root, entries, state, onChange) {
    const act = ({ toggle, solo, pin, all, reset }) => {
      const shown = new Set(state.shown), pinned = new Set(state.pinned);
      const flip = (set, entry) => { if (!set.delete(entry)) set.add(entry); };
      if (toggle !== undefined) flip(shown, toggle);
      if (pin !== undefined) { flip(pinned, pin); if (pinned.has(pin)) shown.add(pin); }
      if (solo !== undefined) return onChange({ shown: new Set([solo]), pinned });
      if (all) return onChange({ shown: new Set(entries.map(({ entry }) => entry)), pinned });
      if (reset) return onChange({ shown: null, pinned });
      return onChange({ shown, pinned });
    };
    const focused = root.contains(document.activeElement) ? document.activeElement : null;
    const again = focused?.dataset.entry !== undefined ? `[data-entry="${focused.dataset.entry}"]`
      : focused?.dataset.pin !== undefined ? `[data-pin="${focused.dataset.pin}"]` : null;
    const chips = root.querySelector(".chips"), search = root.querySelector("input");
    chips.replaceChildren(...worstFirst(entries).map((entry) => chip(entry, state, act)));
    const filter = () => chips.querySelectorAll(".chip").forEach((one) => {
      one.hidden = !one.dataset.name.includes(search.value.trim().toLowerCase());
    });
    search.oninput = filter;
    filter();
    root.querySelector(".all").onclick = () => act({ all: true });
    root.querySelector(".reset").onclick = () => act({ reset: true });
    root.querySelector(".count").textContent = `${state.shown.size} of ${entries.length} shown`;
    if (again) chips.querySelector(again)?.focus();
  }
  return { draw, first };
})();
