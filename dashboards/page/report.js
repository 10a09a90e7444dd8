// The report: which page is shown, of which scenario, with which runs. All of it stands in the
// address: #/ramp?scenario=mem_frag&show=seglist&pin=tlsf, #/run/<id>, #/sample/<run>/<key>?at=0,40.
(() => {
  const { copy, element, figures, instant, number } = tailscope;
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.querySelector("main"), picker = document.getElementById("picker"), unknown = document.getElementById("unknown");
  const names = new Map(data.scenarios.flatMap(({ runs }) => runs.map(({ entry, name }) => [entry, name])));
  // All pages one below the other, as paper has them.
  const ALL = "all";
  // So many runs are shown before anybody chose.
  const FIRST = 6;
  const POLL_MS = 2_000, ANSWER_MS = 60_000;
  // What an address says that leaves them out: the first scenario and the report's own limit, and of
  // an instant nothing beside it, all of it, and cursors of no choice.
  const UNSEEN = { at: "", cursors: "" }, ALONE = { beside: "", ...UNSEEN };
  const USUAL = { scenario: data.scenarios[0]?.name, limit: data.limit, find: "", ...ALONE };
  let address = null, shown = [];

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  function read() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s), texts = new URLSearchParams(query);
    const [page, ...rest] = (path || data.everywhere[0]).split("/").map(decoded);
    return { ...USUAL, ...Object.fromEntries(texts), page, rest, show: texts.getAll("show"), pin: texts.getAll("pin") };
  }

  function write({ page, rest = [], show, pin, ...texts }) {
    const query = new URLSearchParams([...show.map((name) => ["show", name]), ...pin.map((name) => ["pin", name])]);
    for (const name of Object.keys(USUAL)) if (texts[name] !== USUAL[name] && (page === "sample" || !(name in ALONE))) query.set(name, texts[name]);
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
    let answer;
    try {
      answer = await fetch(`${path}${path.includes("?") ? "&" : "?"}${location.search.slice(1)}`, { signal: AbortSignal.timeout(ANSWER_MS) });
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
    // Not by Map.groupBy, which browsers of before late 2023 lack, Firefox ESR 115 among them.
    const laneOf = ({ who }) => entries.filter((entry) => entry.who === who);
    return entries.length <= FIRST ? entries : entries.filter((entry) => [laneOf(entry)[0], laneOf(entry).at(-1)].includes(entry));
  }

  // One chip for each run of the scenario, the worst first; what is chosen is drawn.
  function choose() {
    const entries = scenarioOf(address.scenario)?.runs ?? [];
    const named = (some) => [...names.keys()].filter((entry) => some.includes(names.get(entry))), asked = named(address.show);
    figures.chosen = address.page === ALL && !asked.length ? null
      : new Set([...asked.length ? asked : first(entries).map(({ entry }) => entry), ...named(address.pin)]);
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
        alter(detail > 1 || shiftKey ? { show: [name] } : { show: [...now].map((other) => names.get(other)), pin: pins });
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
    const others = [...address.show, ...address.pin].filter((name) => ![...names.values()].includes(name));
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
    const what = key.startsWith("@") ? `stimulus at sample ${number.format(key.slice(1))}` : `operation ${key}`;
    return { run, sample: { ...sample, explained: explained.map((place) => run.explained[place]) }, title: `${run.name}: ${what}` };
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
    const others = (scenarioOf(address.scenario)?.runs ?? []).filter(({ instant: [run] }) => run && run !== id);
    const select = document.getElementById("beside");
    select.replaceChildren(new Option("nothing", ""), ...others.map(({ name, told, instant: where }) => new Option(`${name}, ${told}`, where.join("/"))));
    select.value = address.beside;
    select.parentElement.hidden = !others.length;
    const slash = address.beside.lastIndexOf("/");
    const second = slash < 0 ? [] : [await sampleOf(address.beside.slice(0, slash), address.beside.slice(slash + 1))];
    if (moment === address) await instant.draw(section.querySelector(".instant"), [one, ...second], address, look);
  }

  async function show() {
    address = read();
    const moment = address, own = data.scenarios.find(({ runs }) => runs.some(({ id }) => id === address.rest[0]));
    if (own && ["run", "sample"].includes(address.page)) address.scenario = own.name;
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
    const [key] = [point.customdata ?? point.x].flat();
    if (run) location.hash = write({ ...address, ...UNSEEN, page: "sample", rest: [run, key] });
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
      const id = decodeURIComponent(row.querySelector('th a[href^="#/run/"]')?.hash.slice(6) ?? "");
      if (!id) continue;
      const choice = Object.assign(element("input"), { type: "checkbox", checked: picked.has(id) });
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
