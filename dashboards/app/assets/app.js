"use strict";
// What the app does without asking its server: addresses, the picker, themes, pictures, cursors.
window.tailscope = window.tailscope || {};
tailscope.app = (() => {
  // These say how a page looks, not what is on it: they need nothing from the server.
  const OWN = ["show", "pin", "theme"];

  const query = () => new URLSearchParams(location.search);

  function tell() {
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));  // what dcc.Location listens to
  }

  function go(href) {
    const target = new URL(href, location.href), asked = query();
    for (const name of OWN) {
      if (!target.searchParams.has(name)) {
        asked.getAll(name).forEach((value) => target.searchParams.append(name, value));
      }
    }
    history.pushState({}, "", target);
    tell();
    window.scrollTo(0, 0);
  }

  function replace(change) {
    const asked = query();
    change(asked);
    const words = asked.toString();
    history.replaceState({}, "", location.pathname + (words ? `?${words}` : "") + location.hash);
    tell();
  }

  function theme() {
    const asked = query().get("theme");
    if (asked === "dark" || asked === "light") return asked;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  function dress() {
    const name = theme();
    document.documentElement.dataset.theme = name;
    document.documentElement.style.colorScheme = name;
    document.body.dataset.agThemeMode = name;
    return name;
  }

  // The picker --------------------------------------------------------------

  // What the picker stands in, once for each page; its own script fills it.
  function furnish(root) {
    if (root.childElementCount) return;
    root.innerHTML = '<summary>allocators: <span class="count"></span></summary><div class="tools">' +
      '<input type="search" placeholder="search" aria-label="Search allocators">' +
      '<button type="button" class="all">show all</button>' +
      '<button type="button" class="reset">worst, best and pinned</button></div>' +
      '<div class="chips" role="group" aria-label="Allocators in the figures"></div>';
  }

  // The address names what was chosen; a name that is not here is of another page.
  function state(entries) {
    const named = (word) => {
      const names = new Set(query().getAll(word));
      return new Set(entries.filter((one) => names.has(one.name)).map((one) => one.entry));
    };
    const pinned = named("pin"), asked = named("show");
    const none = query().getAll("show").includes("");
    return { shown: asked.size || none ? asked : tailscope.picker.first(entries, pinned), pinned };
  }

  function keep(entries, { shown, pinned }) {
    const names = (chosen) => entries.filter((one) => chosen.has(one.entry)).map((one) => one.name);
    replace((asked) => {
      asked.delete("show");
      asked.delete("pin");
      names(pinned).forEach((name) => asked.append("pin", name));
      if (shown === null) return;
      if (shown.size) names(shown).forEach((name) => asked.append("show", name));
      else asked.append("show", "");
    });
  }

  function choose(entries) {
    const now = state(entries), root = document.getElementById("picker");
    tailscope.paint.assign([...now.shown]);
    if (root) {
      furnish(root);
      tailscope.picker.draw(root, entries, now, (next) => keep(entries, next));
    }
    document.querySelectorAll("div[data-entry]").forEach((one) => {
      one.hidden = !now.shown.has(Number(one.dataset.entry));
    });
    return [...now.shown];
  }

  // Pictures ----------------------------------------------------------------

  function picture(button) {
    const plot = button.closest("figure").querySelector(".js-plotly-plot");
    if (!plot) return;
    const { title, subtitle, picture: format } = button.dataset;
    const wide = plot.clientWidth || 1100, words = `${title}<br><sub>${subtitle}</sub>`;
    const layout = { ...plot.layout, title: { text: words, x: 0.01, xanchor: "left", font: { size: 16 } },
      margin: { ...plot.layout.margin, t: (plot.layout.margin?.t ?? 12) + 56 } };
    window.Plotly.downloadImage({ data: plot.data, layout }, {
      format, width: wide, height: plot.clientHeight + 56, scale: format === "png" ? 2 : 1,
      filename: title.replace(/[^\w.-]+/g, "_"),
    });
  }

  // What is clicked ---------------------------------------------------------

  document.addEventListener("click", (event) => {
    const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    const link = event.target.closest("a[href^='/']");
    if (link && plain && !link.hasAttribute("download") && !event.defaultPrevented) {
      event.preventDefault();
      go(link.getAttribute("href"));
      return;
    }
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.picture) picture(button);
    else if (button.matches(".theme")) {
      replace((asked) => asked.set("theme", theme() === "dark" ? "light" : "dark"));
    } else if (button.dataset.span) span(button.dataset.span.split(" ").map(Number));
  });

  // The grid moves from cell to cell by arrow keys, and knows nothing of the links in them.
  document.addEventListener("keydown", (event) => {
    const link = event.key === "Enter" && event.target.matches(".ag-cell") && event.target.querySelector("a[href]");
    if (!link) return;
    event.preventDefault();
    link.click();
  });

  function span(range) {
    const plot = document.querySelector("#waveform .js-plotly-plot");
    if (plot) window.Plotly.relayout(plot, { "xaxis.range[0]": range[0], "xaxis.range[1]": range[1] });
  }

  // Paper ---------------------------------------------------------------------

  // It is light, and has a width of its own: 186 mm of A4 between the margins.
  const PAPER_PX = 690, plots = () => document.querySelectorAll(".js-plotly-plot");

  window.addEventListener("beforeprint", () => {
    const root = document.documentElement;
    root.classList.toggle("dark-figures", theme() === "dark");
    root.dataset.theme = root.style.colorScheme = document.body.dataset.agThemeMode = "light";
    plots().forEach((one) => window.Plotly.relayout(one, { width: PAPER_PX, autosize: false }));
  });
  window.addEventListener("afterprint", () => {
    dress();
    plots().forEach((one) => window.Plotly.relayout(one, { width: null, autosize: true }));
  });

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);

  return { go, dress, choose };
})();

(() => {
  const { go, dress } = tailscope.app;
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const nothing = () => window.dash_clientside.no_update;
  let last = null;

  // How often the overview asks: a run under way is drawn twice a second.
  const LIVE_MS = 500;
  const POLL_MS = 2000;
  const pace = (boxes) => (JSON.stringify(boxes || []).includes('"Progress"') ? LIVE_MS : POLL_MS);

  // Where we are, without what the server need not know.
  function place(pathname, search) {
    dress();
    const asked = new URLSearchParams(search);
    ["show", "pin", "theme"].forEach((name) => asked.delete(name));
    const found = JSON.stringify([pathname, asked.toString()]);
    if (found === last) return nothing();
    wait(pathname, last !== null);
    last = found;
    return JSON.parse(found);
  }

  // What is seen while the server makes a page: which one it is, and that it is under way.
  // Who followed a link goes on from the new page, not from the top of the window.
  function wait(pathname, followed) {
    const content = document.getElementById("content");
    document.querySelectorAll("#nav a").forEach((one) => {
      if (one.href && new URL(one.href).pathname === pathname) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    });
    content.setAttribute("aria-busy", "true");
    const over = new MutationObserver(() => {
      content.removeAttribute("aria-busy");
      over.disconnect();
      if (followed) content.focus({ preventScroll: true });
    });
    over.observe(content, { childList: true });
  }

  function choose(entries) {
    dress();
    return tailscope.app.choose(entries ?? []);
  }

  function paint(figure, numbers) {
    if (!figure || !numbers) return nothing();
    return tailscope.paint.paint(figure, new Set(numbers));
  }

  // A click on a point opens its operation or interrupt.
  function open(clicked, figure, runs) {
    const point = clicked?.points?.[0];
    const run = point && figure.data[point.curveNumber]?.meta?.run;
    const identity = run && runs && Object.hasOwn(runs, run) ? runs[run] : null;
    if (identity === null) return nothing();
    const key = Array.isArray(point.customdata) ? point.customdata[0] : point.customdata;
    go(`/sample/${encodeURIComponent(identity)}/${encodeURIComponent(String(key ?? point.x))}`);
    return nothing();
  }

  function cursor(name, x) {
    const line = { color: "var(--link)", width: 1.5, dash: name === "A" ? "solid" : "dash" };
    return { type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line,
      label: { text: name, textposition: "end", textangle: 0, yanchor: "bottom",
        font: { color: "var(--link)" } } };
  }

  // The waveform with its cursors, at samples `a` and `b`, and what lies between them.
  function waveform(figure, numbers, a, b, wire) {
    if (!figure || !wire) return [nothing(), nothing()];
    const { zero, samplerate_hz: rate, core_hz: core } = wire;
    const at = (sample) => ((sample - zero) * 1e6) / rate;
    const placed = [["A", a], ["B", b]].filter(([, sample]) => Number.isFinite(sample));
    const shapes = [...(figure.layout.shapes ?? []), ...placed.map(([name, x]) => cursor(name, at(x)))];
    const layout = { ...figure.layout, shapes };
    const drawn = tailscope.paint.resolve({ ...figure, layout });
    if (placed.length < 2) return [drawn, "Place A and B: click at an edge, or type a sample."];
    const samples = b - a, ns = (samples * 1e9) / rate;
    const cycles = core ? `, ${number.format((samples * core) / rate)} cycles` : "";
    const edge = (sample) => figure.data
      .filter(({ x }) => tailscope.paint.numbers(x).some((time) => Math.abs(time - at(sample)) * rate < 5e5))
      .map(({ name }) => name);
    const budget = tailscope.between.budget(wire.budgets, rate, edge(a), edge(b));
    const words = `Δt = ${number.format(ns)} ns ±${number.format(budget)} ns ` +
      `(${number.format(samples)} samples${cycles})`;
    return [drawn, words];
  }

  // What explains the sample; its strips follow the waveform, which may not be drawn yet.
  function why(several, wire) {
    if (!several) return nothing();
    const [top, strips, rest] = ["sentences", "strips", "why"].map((id) => document.getElementById(id));
    const { pathname } = location, run = pathname.split("/")[2];
    top?.replaceChildren(...tailscope.why.sentences(several));
    rest?.replaceChildren(...tailscope.why.explanations(several, (key) => `/sample/${run}/${key}`));
    strips?.replaceChildren();
    if (!strips || !wire || !several.length) return nothing();
    (function draw() {
      if (!strips.isConnected || location.pathname !== pathname) return;
      const plot = document.querySelector("#waveform .js-plotly-plot");
      if (!plot?._fullLayout?.xaxis?.range) requestAnimationFrame(draw);
      else tailscope.why.attach(strips, plot, several, wire.samplerate_hz, wire.zero);
    })();
    return nothing();
  }

  function mark(clicked, which, wire) {
    const point = clicked?.points?.[0];
    if (!point || !wire) return [nothing(), nothing(), nothing()];
    const sample = wire.zero + Math.round((point.x * wire.samplerate_hz) / 1e6);
    return which === "A" ? [sample, nothing(), "B"] : [nothing(), sample, "A"];
  }

  // Leads from the chosen rows of the overview to pages on them. What is filtered out is not chosen.
  function compare(rows, seen) {
    const visible = new Set((seen ?? rows ?? []).map((row) => row.id)), chosen = rows ?? [];
    const kept = chosen.filter((row) => visible.has(row.id)), gone = chosen.length - kept.length;
    const query = kept.map((row) => `run=${encodeURIComponent(row.id)}`).join("&");
    const finished = kept.every((row) => row.state === "finished");
    const words = !chosen.length ? "Choose two runs to compare them, or several for the matrix."
      : gone ? `${gone} chosen, but filtered out, so left out.`
      : kept.length === 1 ? "Choose one more to compare the two."
      : kept.length === 2 && !finished ? "Only finished runs can be compared." : "";
    return [`/compare?${query}`, "Compare the two", kept.length !== 2 || !finished,
      `/matrix?${query}`, `Show the ${kept.length} chosen in the matrix`, !kept.length, words];
  }

  // The grid shows the rows that have all words of the search box, in any column.
  function find(words, options) {
    return { ...options, quickFilterText: words ?? "" };
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    tailscope: { place, choose, paint, open, waveform, why, mark, compare, find, pace },
  });

  // The overview's cells. AG Grid finds these by name.
  const cells = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  const link = (href, text, title) => React.createElement("a", { href, title, tabIndex: -1 }, text);
  const VERDICTS = { complete: "complete", truncated: "truncated", inconclusive: "inconclusive", "under way": "going" };
  const classOf = (verdict) => `verdict ${VERDICTS[verdict] ?? "inconclusive"}`;
  cells.RunLink = ({ data, value }) => {
    const name = link(`/run/${encodeURIComponent(data.id)}`, value ?? data.id, data.id);
    // On a narrow screen the verdict's own column is out of sight.
    if (!["truncated", "inconclusive"].includes(data.verdict)) return name;
    return React.createElement("span", {}, name, React.createElement("small", { className: classOf(data.verdict) }, ` ${data.verdict}`));
  };
  cells.SampleLink = ({ data, value, colDef }) => {
    if (value === null || value === undefined) return "–";
    const name = colDef.field.replace(/_max$/, ""), key = data[`${name}_key`], budget = data[`${name}_budget`];
    const text = number.format(value), title = budget === null ? text : `${text} ns ±${number.format(budget)} ns`;
    if (!key) return React.createElement("span", { title }, text);
    return link(`/sample/${encodeURIComponent(data.id)}/${encodeURIComponent(key)}`, text, title);
  };
  cells.Verdict = ({ data, value }) => React.createElement("span",
    { className: classOf(value), title: data.reason ?? data.problem ?? "" }, value);
  const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  // Tab leaves the cells, or a reader without a mouse would walk through all of them.
  functions.leave = () => false;
  // How long ago, roughly: `3 min`, `2 h`, `5 days`. Of a time such as 2026-11-23 12:08:25, in UTC.
  functions.age = (time) => {
    const seconds = (Date.now() - Date.parse(`${String(time).replace(" ", "T")}Z`)) / 1000;
    if (!Number.isFinite(seconds)) return "–";
    const units = [[86_400, "day"], [3_600, "h"], [60, "min"]];
    const [length, unit] = units.find(([one]) => seconds >= one) ?? [1, "s"];
    const many = Math.max(0, Math.floor(seconds / length));
    return `${many} ${unit}${unit === "day" && many !== 1 ? "s" : ""}`;
  };
  functions.grouped = (value) => (value === null || value === undefined ? "–" : number.format(value));
})();
