// The report: which page is shown, of which scenario, with which runs. All of it stands in the
// address: #/ramp?scenario=mem_frag&show=seglist,tlsf&pin=tlsf, #/run/<id>, #/sample/<run>/<key>.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.querySelector("main"), picker = document.getElementById("picker");
  const byName = new Map(data.entries.map(({ entry, name }) => [name, entry]));
  const names = new Map(data.entries.map(({ entry, name }) => [entry, name]));
  // All pages of a scenario one below the other, as paper has them; and those of every scenario.
  const ALL = "all", PRINT = "print", PRINTED = new Set(data.everywhere.filter((page) => page !== "runs"));
  // So many have colours of their own where no picker tells them apart.
  const FEW = 8;
  const POLL_MS = 2_000, ANSWER_MS = 60_000;
  let address = null, chosen = null, shownSections = [];

  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const list = (text) => (text ? text.split(",").map(decoded) : []);

  function read() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [page, ...rest] = (path || (data.scenarios.length ? "overview" : data.everywhere[0])).split("/").map(decoded);
    const told = new Map(query.split("&").filter(Boolean).map((pair) => pair.split(/=(.*)/s)));
    const scenario = list(told.get("scenario"))[0] ?? data.scenarios[0]?.name;
    const show = told.has("show") ? list(told.get("show")) : null;
    const one = (name) => (told.has(name) ? list(told.get(name)).join(",") : undefined);
    return { page, rest, scenario, show, pin: list(told.get("pin")), quantity: one("quantity"), time: one("time"),
      beside: one("beside"), at: one("at"), cursors: one("cursors"), limit: one("limit") ?? data.limit ?? "" };
  }

  function write({ page, rest = [], scenario, show, pin, limit, ...more }) {
    const query = [];
    const joined = (some) => some.map(encodeURIComponent).join(",");
    if (scenario && scenario !== data.scenarios[0]?.name) query.push(`scenario=${encodeURIComponent(scenario)}`);
    if (show) query.push(`show=${joined(show)}`);
    if (pin?.length) query.push(`pin=${joined(pin)}`);
    // What an instant is looked at by is of that instant alone.
    for (const name of ["quantity", "time", ...(page === "sample" ? ["beside", "at", "cursors"] : [])]) {
      if (more[name]) query.push(`${name}=${joined(more[name].split(","))}`);
    }
    if ((limit ?? "") !== (data.limit ?? "")) query.push(`limit=${encodeURIComponent(limit)}`);
    const path = [page, ...rest].map(encodeURIComponent).join("/");
    return `#/${path}${query.length ? `?${query.join("&")}` : ""}`;
  }

  const sectionOf = ({ page, scenario, rest }) => [...document.querySelectorAll("section.page")].find((one) =>
    one.dataset.page === page
      && (one.dataset.scenario === undefined || one.dataset.scenario === scenario)
      && (one.dataset.run === undefined || one.dataset.run === rest[0])) ?? null;

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

  // Of a served report any run has a page, whether or not its figures are shown.
  function sectionOfRun(id) {
    const there = sectionOf({ page: "run", rest: [id] });
    if (there) return there;
    const made = document.createElement("section");
    made.className = "page";
    Object.assign(made.dataset, { page: "run", run: id });
    if (data.served) made.dataset.ask = `run?id=${encodeURIComponent(id)}`;
    main.append(made);
    return made;
  }

  // A page that is not in the document yet: packed in it, or with its server.
  async function fill(section) {
    const { html, run, ask: path, filled } = section.dataset;
    if (filled || !(html || path || run)) return;
    section.dataset.filled = "yes";
    try {
      const words = path ? await (await ask(path)).text()
        : run ? (await tailscope.unpack.json(data.runs[run]))[run] : await tailscope.unpack.text(html);
      section.insertAdjacentHTML("beforeend", words);
    } catch (error) {
      delete section.dataset.filled;
      throw error;
    }
    tailscope.figures.watch(section);
    if (section.dataset.page === "runs") tailscope.runs.attach(section);
  }

  const sectionsOf = ({ scenario }) => [...document.querySelectorAll("section.page")].filter((one) =>
    one.dataset.scenario === undefined ? PRINTED.has(one.dataset.page) : address.page === PRINT || one.dataset.scenario === scenario);
  const severalPages = () => [ALL, PRINT].includes(address.page);

  const entriesOf = (scenario) => {
    const worst = data.scenarios.find(({ name }) => name === scenario)?.worst ?? {};
    return data.entries.filter(({ entry }) => entry in worst)
      .map((one) => ({ ...one, worst: worst[one.entry][0], told: worst[one.entry][1], who: worst[one.entry][3] }));
  };

  const known = (some) => new Set(some.filter((name) => byName.has(name)).map((name) => byName.get(name)));

  function state() {
    const pinned = known(address.pin), entries = entriesOf(address.scenario);
    return { shown: address.show ? known(address.show) : tailscope.picker.first(entries, pinned), pinned };
  }

  function pick({ shown, pinned }) {
    const all = (set) => [...set].sort((a, b) => a - b).map((entry) => names.get(entry));
    alter({ show: shown && all(shown), pin: all(pinned) }, choose);
  }

  // The same page, seen otherwise; `tell` what does not draw itself.
  function alter(change, tell) {
    address = { ...address, ...change };
    history.replaceState(null, "", write(address));
    tell?.();
    navigate();
    return redraw().then(followed);
  }

  async function redraw() {
    await tailscope.figures.refresh();
    if (severalPages()) await tailscope.figures.drawShown();
  }

  // The runs that figures show, their chips, and their colours.
  function choose() {
    const entries = entriesOf(address.scenario), now = state();
    chosen = now.shown;
    const picked = shownSections.some((section) => section.dataset.page !== "history" && section.querySelector(".plot"));
    picker.hidden = !picked;
    tailscope.paint.assign(picked || data.entries.length > FEW ? chosen : byName.values());
    tailscope.picker.draw(picker, entries, now, pick);
    for (const figure of document.querySelectorAll("figure[data-entry]")) {
      figure.hidden = !chosen.has(Number(figure.dataset.entry));
    }
    for (const swatch of document.querySelectorAll(".grid .swatch[data-entry]")) {
      swatch.classList.toggle("off", !chosen.has(Number(swatch.dataset.entry)));
    }
  }

  // Of tables with a choice, the group that the address names, else the first choice.
  function chooseGroups() {
    for (const select of document.querySelectorAll("select.quantity")) {
      const words = [...select.options].map(({ value }) => value);
      const first = select.querySelector("[selected]").value;
      select.value = words.includes(address.quantity) ? address.quantity : first;
      for (const body of select.closest(".table-head").nextElementSibling.querySelectorAll("tbody")) {
        body.hidden = select.value !== "all" && body.dataset.group !== select.value;
      }
    }
  }

  // A reader's limit in ns: null for none, NaN for what is no time.
  const UNITS = { "": 1e3, ns: 1, us: 1e3, "µs": 1e3, ms: 1e6 };
  function limitOf(text) {
    const found = /^([0-9]+(?:\.[0-9]+)?) *(ns|us|µs|ms)?$/.exec(text.trim());
    return text.trim() === "" ? null : found ? Number(found[1]) * UNITS[found[2] ?? ""] : NaN;
  }

  // Draws the line of the limit through the first pictures, and says who stays within it.
  function judge() {
    const limit = limitOf(address.limit), some = limit !== null && !Number.isNaN(limit);
    document.getElementById("limit").value = address.limit;
    document.getElementById("limit-wrong").hidden = limit === null || some;
    tailscope.paint.limit = some ? limit / 1e3 : null;
    tailscope.paint.time = address.time === "linear" ? "linear" : "log";
    for (const button of document.querySelectorAll("button.time")) button.setAttribute("aria-pressed", String(!address.time));
    for (const table of document.querySelectorAll(".dots")) {
      const [low, high] = table.dataset.ends.split(" ").map((end) => Math.log(Number(end)));
      const percent = (100 * (Math.log(limit) - low)) / (high - low);
      table.classList.toggle("limited", some && percent >= 0 && percent <= 100);
      table.style.setProperty("--limit", `${percent}%`);
      for (const row of table.querySelectorAll("[data-within]")) row.classList.toggle("over", some && Number(row.dataset.within) > limit);
    }
    for (const box of document.querySelectorAll(".by-limit")) {
      box.hidden = !some;
      const steps = [...box.children], holds = steps.filter((step) => Number(step.dataset.from) <= limit).pop();
      for (const step of steps) {
        step.hidden = step !== holds;
        step.firstElementChild.textContent = `Under ${address.limit.trim()}:`;
      }
    }
  }

  function navigate() {
    const scenario = data.scenarios.find(({ name }) => name === address.scenario);
    for (const link of document.querySelectorAll("nav a[data-page]")) {
      link.hidden = link.dataset.all === undefined && !scenario?.pages.includes(link.dataset.page);
      link.href = write({ ...address, rest: [], page: link.dataset.page });
      if (link.dataset.page === address.page) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const select = document.getElementById("scenario");
    select.value = address.scenario;
  }

  const refuse = (words) => {
    const section = document.getElementById("unknown");
    section.querySelector("p").textContent = words;
    return section;
  };

  const runOf = async (id, key) => (data.served
    ? (await ask(`sample?id=${encodeURIComponent(id)}&key=${encodeURIComponent(key ?? "")}`)).json()
    : (await tailscope.unpack.json(`${data.runs[id]}-samples`))[id]);

  // What the address holds of an instant: zoom and cursors, in µs.
  function look(seen) {
    address = { ...address, ...seen };
    history.replaceState(null, "", write(address));
    followed();
  }

  // The other runs of the scenario, each with its longest wait, to lay beside this instant.
  function besideChoice(id) {
    const select = document.getElementById("beside"), worst = data.scenarios.find(({ name }) => name === address.scenario)?.worst ?? {};
    const others = Object.entries(worst).filter(([, [, , instant]]) => instant && instant[0] !== id)
      .map(([entry, [, told, instant]]) => new Option(`${names.get(Number(entry))}, ${told}`, instant.join("/")));
    select.replaceChildren(new Option("nothing", ""), ...others);
    select.value = address.beside ?? "";
    if (select.selectedIndex < 0) select.prepend(new Option(address.beside, address.beside, true, true));
    select.parentElement.hidden = !others.length;
  }

  async function secondOf(beside) {
    const at = (beside ?? "").lastIndexOf("/");
    if (at < 0) return null;
    const id = beside.slice(0, at), key = beside.slice(at + 1);
    const run = data.served || Object.hasOwn(data.runs, id) ? await runOf(id, key) : null;
    if (!run || !Object.hasOwn(run.samples, key)) throw new Error(`This report has no instant ${beside} to lay beside.`);
    return { run, sample: run.samples[key], title: tailscope.sample.titleOf(run, key) };
  }

  async function samplePage(section, [id, key]) {
    const run = await runOf(id, key);
    besideChoice(id);
    const known = key !== undefined && Object.hasOwn(run.samples, key);
    section.querySelector("h2").textContent = tailscope.sample.titleOf(run, key ?? "");
    const box = section.querySelector(".instant");
    const around = run.around ?? neighbours(run, key);
    for (const [name, other] of Object.entries(around)) {
      const link = section.querySelector(`[data-step="${name}"]`);
      link.hidden = other === undefined;
      if (other !== undefined) link.href = write({ ...address, page: "sample", rest: [id, other], at: "", cursors: "" });
    }
    section.querySelector(".of-run").href = write({ ...address, page: "run", rest: [id] });
    if (!known) {
      const kept = Object.keys(run.samples).length;
      box.replaceChildren(document.createTextNode(data.served
        ? "The capture does not show it, so there is no waveform."
        : `No waveform of it is stored in this report. It keeps those of the ${kept} most telling ` +
          "operations and interrupts of this run; the whole capture is in the run folder."));
      return;
    }
    const second = await secondOf(address.beside);
    tailscope.paint.assign(new Set([...chosen, run.entry, ...(second ? [second.run.entry] : [])]));
    await tailscope.unpack.plotly();
    await tailscope.sample.draw(box, { run, sample: run.samples[key], title: tailscope.sample.titleOf(run, key) }, second, address, look);
  }

  // The stored operations, or stimuli, before and after `key`.
  function neighbours(run, key = "") {
    const outside = key.startsWith("@"), place = (one) => Number(one.replace("@", ""));
    const alike = Object.keys(run.samples).filter((one) => one.startsWith("@") === outside);
    const sorted = alike.sort((a, b) => place(a) - place(b));
    const before = sorted.filter((one) => place(one) < place(key)), after = sorted.filter((one) => place(one) > place(key));
    return { previous: before[before.length - 1], next: after[0] };
  }

  async function show() {
    address = read();
    const [id] = address.rest;
    const aboutRun = ["run", "sample"].includes(address.page);
    if (aboutRun && Object.hasOwn(data.scenario_of, id ?? "")) address.scenario = data.scenario_of[id];
    const scenario = data.scenarios.find(({ name }) => name === address.scenario);
    let section = severalPages() ? sectionsOf(address)[0] : address.page === "run" ? sectionOfRun(id ?? "") : sectionOf(address);
    if (!scenario && !data.everywhere.includes(address.page) && !(aboutRun && data.served)) {
      section = refuse(`This report has no scenario named ${address.scenario}.`);
    } else if (aboutRun && !data.served && !Object.hasOwn(data.runs, id ?? "")) section = refuse(`This report has no run named ${id ?? ""}.`);
    else if (!section) section = refuse(`This report has no page of that name: ${location.hash}`);
    if (!scenario) address.scenario = data.scenarios[0]?.name;
    shownSections = severalPages() && scenario ? sectionsOf(address) : [section];
    const moment = address;
    try {
      for (const one of shownSections) await fill(one);
      if (moment !== address) return;  // the reader went on meanwhile
      reveal();
      if (section.dataset.page === "sample") {
        await samplePage(section, address.rest);
        document.title = `${section.querySelector("h2").textContent} · Tailscope`;
      }
      else await redraw();
    } catch (error) {
      if (moment !== address) return;
      shownSections = [refuse(error.message)];
      reveal();
    }
    followed();
  }

  function reveal() {
    for (const one of document.querySelectorAll("section.page")) {
      one.hidden = !shownSections.includes(one);
      one.classList.toggle("follows", shownSections.indexOf(one) > 0);
    }
    chooseGroups();
    judge();
    navigate();
    choose();
    const heading = shownSections[0]?.querySelector("h2")?.textContent ?? "";
    document.title = [heading, shownSections[0]?.dataset.scenario, "Tailscope"].filter(Boolean).join(" · ");
    const unknown = (address.show ?? []).concat(address.pin).filter((name) => !byName.has(name));
    note(unknown.length ? `This report has no run named ${unknown.join(", ")}.` : "");
  }

  function note(words) {
    const box = document.getElementById("note");
    box.hidden = !words;
    box.textContent = words;
  }

  // The page is what its address says.
  function followed() {
    document.body.dataset.shown = location.hash || "#/overview";
  }

  // A point's key: customdata, or its first column; without any, the operation on the x axis.
  function keyOf(point) {
    const key = Array.isArray(point.customdata) ? point.customdata[0] : point.customdata;
    return String(key ?? point.x);
  }
  function open({ points: [point] }) {
    const { run: of, runs } = point.data.meta ?? {}, run = of ?? runs?.[point.pointNumber];
    if (run) location.hash = write({ ...address, page: "sample", rest: [run, keyOf(point)] });
  }

  const select = document.getElementById("scenario");
  select.addEventListener("change", () => {
    const next = { ...address, rest: [], scenario: select.value };
    const there = data.scenarios.find(({ name }) => name === select.value);
    const lasting = [ALL, PRINT, ...data.everywhere].includes(next.page) || there.pages.includes(next.page);
    location.hash = write(lasting ? next : { ...next, page: there.pages[0] ?? "overview" });
  });
  document.addEventListener("change", ({ target }) => {
    if (!target.matches("select.quantity")) return;
    address = { ...address, quantity: target.value };
    history.replaceState(null, "", write(address));
    chooseGroups();
    followed();
  });
  document.getElementById("beside").addEventListener("change", ({ target }) => {
    location.hash = write({ ...address, beside: target.value, at: "", cursors: "" });
  });
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    if (!step || address.page !== "sample" || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, [tabindex='0']")) return;
    const link = document.querySelector(`[data-step="${step}"]`);
    if (!link.hidden) link.click();
  });
  document.addEventListener("click", ({ target }) => {
    if (!target.matches("button.time")) return;
    alter({ time: address.time ? "" : "linear" }, judge);
  });
  document.getElementById("limit").addEventListener("change", ({ target }) => alter({ limit: target.value }, judge));
  window.addEventListener("hashchange", () => {
    window.scrollTo(0, 0);
    show().then(() => main.querySelector("section.page:not([hidden]) h2")?.focus({ preventScroll: true }));
  });
  tailscope.theme(() => {
    return address.page === "sample" ? show() : redraw();
  });
  tailscope.figures.start(() => chosen, open);
  show();
  if (!data.served) return;

  // What goes on, for the table of runs; any other page says if nobody answers any more.
  let lost = false;
  setInterval(async () => {
    const section = shownSections[0];
    if (document.hidden) return;
    const watched = section?.dataset.page === "runs";
    try {
      const answer = await ask(watched ? "live" : "alive");
      if (lost) note("");
      lost = false;
      if (!watched) return;
      const { counted, boxes } = await answer.json();
      const lead = section.querySelector(".lead");
      if (section !== shownSections[0] || !lead) return;  // the reader went on, or it is on its way
      if (lead.textContent.trim() === counted) tailscope.runs.live(section, boxes);
      else {
        delete section.dataset.filled;
        section.replaceChildren();
        await show();
      }
    } catch (error) {
      lost = true;
      note(error.message);
    }
  }, POLL_MS);
})();
