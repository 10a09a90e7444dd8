// The report: which page is shown, of which scenario, with which runs. All of it stands in the
// address: #/ramp?scenario=mem_frag&show=seglist&pin=tlsf, #/run/<id>, #/sample/<run>/<key>?at=0,40.
(() => {
  const { copy, element, figures, instant } = tailscope;
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.querySelector("main"), picker = document.getElementById("picker"), unknown = document.getElementById("unknown");
  const names = new Map(data.entries.map(({ entry, name }) => [entry, name]));
  // All pages one below the other, as paper has them.
  const ALL = "all";
  // So many runs are shown before anybody chose.
  const FIRST = 6;
  const POLL_MS = 2_000, ANSWER_MS = 60_000;
  // What an instant has beside it; its zoom and its cursors, in µs.
  const SEEN = ["beside", "at", "cursors"], UNSEEN = { at: "", cursors: "" };
  let address = null, shown = [];

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  function read() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s), asked = new URLSearchParams(query);
    const [page, ...rest] = (path || (data.scenarios.length ? "overview" : data.everywhere[0])).split("/").map(decoded);
    return { page, rest, scenario: asked.get("scenario") ?? data.scenarios[0]?.name, show: asked.getAll("show"), pin: asked.getAll("pin"),
      limit: asked.get("limit") ?? data.limit, ...Object.fromEntries(["find", ...SEEN].map((name) => [name, asked.get(name) ?? ""])) };
  }

  function write({ page, rest = [], scenario, show, pin, limit, ...texts }) {
    const query = new URLSearchParams([...show.map((name) => ["show", name]), ...pin.map((name) => ["pin", name])]);
    if (scenario && scenario !== data.scenarios[0]?.name) query.set("scenario", scenario);
    if (limit !== data.limit) query.set("limit", limit);
    for (const name of ["find", ...page === "sample" ? SEEN : []]) if (texts[name]) query.set(name, texts[name]);
    return `#/${[page, ...rest].map(encodeURIComponent).join("/")}${query.size ? `?${query}` : ""}`;
  }

  // The same page, seen otherwise: all but its figures, or drawn anew.
  function look(change) {
    address = { ...address, ...change };
    history.replaceState(null, "", write(address));
    followed();
  }
  function alter(change) {
    look(change);
    reveal();
    return figures.refresh().then(followed);
  }

  // What the server of a served report answers. Raises an Error with a sentence.
  async function ask(path) {
    const search = location.search.slice(1);
    let answer;
    try {
      answer = await fetch(search ? `${path}${path.includes("?") ? "&" : "?"}${search}` : path, { signal: AbortSignal.timeout(ANSWER_MS) });
    } catch {
      throw new Error("The app has ended, or does not answer: start ./lab app again, and open the address that it prints.");
    }
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer;
  }

  const packOf = async (id) => {
    if (!Object.hasOwn(data.runs, id)) throw new Error(`This report has no run named ${id}.`);
    return (await figures.json(data.runs[id]))[id];
  };
  const scenarioOf = (name) => data.scenarios.find((scenario) => scenario.name === name);

  // The sections that the address names, filled. Raises an Error with a sentence.
  async function sections() {
    const { page, rest: [id = ""], scenario } = address, every = [...document.querySelectorAll("section.page")];
    if (page === "run") {
      const section = every.find(({ dataset }) => dataset.page === "run");
      section.innerHTML = data.served ? await (await ask(`run?id=${encodeURIComponent(id)}`)).text() : (await packOf(id)).html;
      return [section];
    }
    if (page !== "sample" && !data.everywhere.includes(page) && !scenarioOf(scenario)) throw new Error(`This report has no scenario named ${scenario}.`);
    const found = page === ALL ? every.filter(({ dataset }) => dataset.scenario || ["overview", "matrix", "history"].includes(dataset.page))
      : every.filter(({ dataset }) => dataset.page === page && (dataset.scenario ?? scenario) === scenario);
    if (!found.length) throw new Error(`This report has no page of that name: ${location.hash}`);
    for (const section of found.filter(({ dataset }) => dataset.ask)) {
      section.innerHTML = await (data.served ? (await ask(section.dataset.ask)).text() : figures.text(section.dataset.ask));
      delete section.dataset.ask;
      if (section.dataset.page === "runs") attach(section);
    }
    return found;
  }

  // What is shown before anybody chose: all where they are few, else the worst and the best of those
  // that keep the same waiting, interrupts or tasks.
  function first(entries) {
    if (entries.length <= FIRST) return entries;
    // Not by Map.groupBy, which browsers of before late 2023 lack, Firefox ESR 115 among them.
    return [...new Set(entries.map(({ who }) => who))].flatMap((who) => {
      const lane = entries.filter((entry) => entry.who === who);
      return [lane[0], lane.at(-1)];
    });
  }

  // One chip for each run of the scenario, the worst first; what is chosen is drawn.
  function choose() {
    const worst = scenarioOf(address.scenario)?.worst ?? {};
    const entries = Object.keys(worst).map((entry) => ({ entry: Number(entry), name: names.get(Number(entry)), ...worst[entry] }));
    entries.sort((a, b) => (b.ns ?? -1) - (a.ns ?? -1));
    const named = (some) => data.entries.filter(({ name }) => some.includes(name)), asked = named(address.show);
    figures.chosen = address.page === ALL && !asked.length ? null
      : new Set([...asked.length ? asked : first(entries), ...named(address.pin)].map(({ entry }) => entry));
    picker.hidden = address.page === ALL || !shown.some((section) => section.dataset.scenario && section.querySelector(".plot"));
    picker.querySelector(".count").textContent = `${entries.filter(({ entry }) => figures.chosen?.has(entry)).length} of ${entries.length} shown`;
    const { entry: focused, pin: pinning } = document.activeElement?.dataset ?? {}, search = picker.querySelector("input");
    search.value = address.find;
    search.oninput = () => {
      look({ find: search.value });
      choose();
    };
    picker.querySelector(".chips").replaceChildren(...entries.map(({ entry, name, told }) => {
      const pair = copy("pair").firstElementChild, [chip, pin] = pair.children, [swatch, ...words] = chip.children;
      const pressed = figures.chosen?.has(entry), pinned = address.pin.includes(name), pins = address.pin.filter((other) => other !== name);
      pair.hidden = !name.toLowerCase().includes(address.find.trim().toLowerCase());
      pin.dataset.pin = chip.dataset.entry = entry;
      pin.ariaPressed = pinned;
      pin.ariaLabel = `Pin ${name}: always shown`;
      pin.textContent = pinned ? "★" : "☆";
      pin.addEventListener("click", () => alter({ pin: pinned ? pins : [...pins, name] }));
      // Not by ariaPressed, which those browsers may lack as well: the style looks for the attribute.
      chip.setAttribute("aria-pressed", String(pressed));
      if (pressed) swatch.style.background = `var(--palette-${entry % 8})`;
      [name, told].forEach((text, place) => { words[place].textContent = text; });
      chip.addEventListener("click", ({ detail, shiftKey }) => {
        const now = new Set(figures.chosen);
        if (!now.delete(entry)) now.add(entry);
        // The second click of two is the whole choice.
        if (detail > 1 || shiftKey) alter({ show: [name] });
        else alter({ show: [...now].map((other) => names.get(other)), pin: pins });
      });
      return pair;
    }));
    picker.querySelector(`[data-entry="${focused}"], [data-pin="${pinning}"]`)?.focus();
    picker.querySelector(".all").onclick = () => alter({ show: entries.map(({ name }) => name) });
    picker.querySelector(".reset").onclick = () => alter({ show: [] });
  }

  // A reader's limit in ns: null for none, NaN for what is no time.
  const UNITS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6 };
  function limitOf(text) {
    const [, digits, unit = "us"] = /^([0-9]+(?:\.[0-9]+)?) *(ns|us|µs|ms)?$/.exec(text) ?? [];
    return text === "" ? null : Number(digits) * UNITS[unit];
  }

  // Draws the line of the limit, and says who stays within it.
  function judge() {
    const limit = limitOf(address.limit.trim()), some = limit !== null && !Number.isNaN(limit);
    document.getElementById("limit").value = address.limit;
    document.getElementById("limit-wrong").hidden = limit === null || some;
    figures.limit = some ? limit / 1e3 : null;
    for (const row of document.querySelectorAll("[data-within]")) row.classList.toggle("over", some && Number(row.dataset.within) > limit);
    for (const box of document.querySelectorAll(".by-limit")) {
      box.hidden = !some;
      const steps = [...box.children], holds = steps.filter((step) => Number(step.dataset.from) <= limit).pop();
      for (const step of steps) step.hidden = step !== holds;
      if (some) holds.firstElementChild.textContent = `Under ${address.limit.trim()}:`;
    }
  }

  function reveal() {
    for (const section of document.querySelectorAll("section.page")) {
      section.hidden = !shown.includes(section);
      section.classList.toggle("follows", shown.indexOf(section) > 0);
    }
    judge();
    choose();
    for (const link of document.querySelectorAll("nav a[data-page]")) {
      link.hidden = link.dataset.all === undefined && !scenarioOf(address.scenario)?.pages.includes(link.dataset.page);
      link.href = write({ ...address, rest: [], page: link.dataset.page });
      link.ariaCurrent = link.dataset.page === address.page ? "page" : null;
    }
    document.getElementById("scenario").value = address.scenario;
    const heading = shown[0].querySelector("h2")?.textContent ?? "";
    document.title = [heading, shown[0].dataset.scenario, "Tailscope"].filter(Boolean).join(" · ");
    const others = [...address.show, ...address.pin].filter((name) => !data.entries.some((entry) => entry.name === name));
    note(others.length ? `This report has no run named ${others.join(", ")}.` : "");
  }

  function note(words) {
    const box = document.getElementById("note");
    box.hidden = !words;
    box.textContent = words;
  }

  // A run with its sample `key`. Raises an Error with a sentence.
  async function sampleOf(id, key) {
    const run = data.served ? await (await ask(`sample?id=${encodeURIComponent(id)}&key=${encodeURIComponent(key)}`)).json() : await packOf(id);
    if (!Object.hasOwn(run.samples, key)) {
      throw new Error(data.served ? `The capture does not show ${key}, so there is no waveform.`
        : `No waveform of ${key} is stored in this report. It keeps those of the ${Object.keys(run.samples).length} most telling ` +
          "operations and interrupts of this run; the whole capture is in the run folder.");
    }
    const { explained, ...sample } = run.samples[key];
    return { run, sample: { ...sample, explained: explained.map((place) => run.explained[place]) }, title: instant.titleOf(run, key) };
  }

  async function samplePage(section, [id = "", key = ""]) {
    const one = await sampleOf(id, key), moment = address;
    section.querySelector("h2").textContent = one.title;
    const place = (other) => Number(other.replace("@", ""));
    // The stored operations, or stimuli, before and after it.
    const alike = Object.keys(one.run.samples).filter((other) => other.startsWith("@") === key.startsWith("@")).sort((a, b) => place(a) - place(b));
    const at = alike.indexOf(key), around = one.run.around ?? { previous: alike[at - 1], next: alike[at + 1] };
    for (const link of section.querySelectorAll("[data-step]")) {
      const other = around[link.dataset.step];
      link.hidden = other === undefined;
      if (other !== undefined) link.href = write({ ...address, ...UNSEEN, rest: [id, other] });
    }
    section.querySelector(".of-run").href = write({ ...address, page: "run", rest: [id] });
    // The other runs of the scenario, each with its longest wait, to lay beside this instant.
    const others = Object.entries(scenarioOf(address.scenario)?.worst ?? {}).filter(([, { instant: [run] }]) => run && run !== id);
    const select = document.getElementById("beside");
    select.replaceChildren(new Option("nothing", ""), ...others.map(([entry, { told, instant: where }]) => new Option(`${names.get(Number(entry))}, ${told}`, where.join("/"))));
    select.value = address.beside;
    select.parentElement.hidden = !others.length;
    const slash = address.beside.lastIndexOf("/");
    const second = slash < 0 ? [] : [await sampleOf(address.beside.slice(0, slash), address.beside.slice(slash + 1))];
    if (moment === address) await instant.draw(section.querySelector(".instant"), [one, ...second], address, look);
  }

  async function show() {
    address = read();
    const moment = address, [id = ""] = address.rest;
    if (["run", "sample"].includes(address.page) && Object.hasOwn(data.scenario_of, id)) address.scenario = data.scenario_of[id];
    try {
      const found = await sections();
      if (moment !== address) return;  // the reader went on meanwhile
      shown = found;
      reveal();
      if (address.page === "sample") {
        await samplePage(shown[0], address.rest);
        if (moment === address) reveal();
      }
      await figures.refresh();
    } catch (error) {
      if (moment !== address) return;
      unknown.querySelector("p").textContent = error.message;
      shown = [unknown];
      reveal();
    }
    if (moment === address) followed();
  }

  // The page is what its address says.
  function followed() {
    document.body.dataset.shown = location.hash || "#/overview";
  }

  figures.clicked = ({ event, points: [point] }) => {
    const { run: of, runs } = point.data.meta ?? {}, run = of ?? runs?.[point.pointNumber];
    const plot = event.target.closest(".plot");
    if (plot.nearest) return plot.nearest(point.x);
    const key = Array.isArray(point.customdata) ? point.customdata[0] : point.customdata ?? point.x;
    if (run) location.hash = write({ ...address, ...UNSEEN, page: "sample", rest: [run, String(key)] });
  };

  document.getElementById("scenario").addEventListener("change", ({ target }) => {
    const there = scenarioOf(target.value), stays = data.everywhere.includes(address.page) || there.pages.includes(address.page);
    location.hash = write({ ...address, rest: [], scenario: target.value, page: stays ? address.page : there.pages[0] ?? "overview" });
  });
  document.getElementById("beside").addEventListener("change", ({ target }) => {
    location.hash = write({ ...address, ...UNSEEN, beside: target.value });
  });
  document.addEventListener("keydown", ({ key, target, altKey, ctrlKey, metaKey }) => {
    const step = { ArrowLeft: "previous", ArrowRight: "next" }[key], link = main.querySelector(`[data-step="${step}"]`);
    if (address.page !== "sample" || !link || link.hidden || altKey || ctrlKey || metaKey) return;
    if (!target.closest("input, select, .scroll, pre")) link.click();
  });
  document.getElementById("limit").addEventListener("change", ({ target }) => alter({ limit: target.value }));
  window.addEventListener("hashchange", () => {
    window.scrollTo(0, 0);
    show().then(() => main.querySelector("section.page:not([hidden]) h2")?.focus({ preventScroll: true }));
  });

  // Of a served report, the table of all runs: searched, two of them compared, some of them shown.
  const picked = new Set();
  function attach(section) {
    section.querySelector(".page-head").after(copy("choices"));
    const [search, compare, alone] = section.querySelector(".choices").children;
    const rows = [...section.querySelectorAll("tbody tr:not(.group)")];
    function tell() {
      const query = new URLSearchParams([...picked].map((run) => ["run", run]));
      compare.hidden = picked.size !== 2;
      compare.href = `compare?${query}`;
      alone.hidden = !picked.size;
      alone.href = `?${query}#/overview`;
    }
    for (const row of rows) {
      const id = decodeURIComponent(row.querySelector('th a[href^="#/run/"]')?.hash.slice(6) ?? ""), choice = element("input");
      if (!id) continue;
      choice.type = "checkbox";
      choice.checked = picked.has(id);
      choice.setAttribute("aria-label", `Choose ${id}`);
      choice.addEventListener("change", () => {
        if (choice.checked) picked.add(id); else picked.delete(id);
        tell();
      });
      row.cells[0].prepend(choice, " ");
    }
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    });
    tell();
  }

  // What goes on, for that table: HTML of the server's own making.
  if (data.served) setInterval(async () => {
    const [section] = shown, lead = section?.querySelector(".lead");
    if (section === unknown && !document.hidden) return show();  // the app may have been started again
    if (document.hidden || section?.dataset.page !== "runs" || !lead) return;
    try {
      const { counted, boxes } = await (await ask("live")).json();
      note("");
      section.querySelector(".live").innerHTML = boxes;
      if (lead.textContent.trim() !== counted) {
        section.dataset.ask = "runs";
        await show();
      }
    } catch (error) {
      note(error.message);
    }
  }, POLL_MS);
  show();
})();
