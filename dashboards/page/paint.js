"use strict";
// What the report and the app draw figures with. A figure comes with tokens for colours and with
// every run's traces; it leaves with the colours of the theme and the traces of the chosen runs.
window.tailscope = window.tailscope || {};
tailscope.paint = (() => {
  const TOKEN = /^var\((--[a-z0-9-]+)\)$/, RUN = /^--run-(\d+)(?:-(\d+))?$/;
  const NAMED = /^entry-(\d+)$/;

  const style = () => getComputedStyle(document.documentElement);
  const variable = (name) => style().getPropertyValue(name).trim();

  function paletteSize() {
    let size = 0;
    while (variable(`--palette-${size}`)) size += 1;
    return size;
  }

  function hex(colour) {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = colour;
    return context.fillStyle;
  }

  // Colours beyond the palette: hues by the golden angle, so that none comes twice.
  const further = (place) => `hsl(${((place * 137.508) % 360).toFixed(1)}, 55%, var(--further-lightness))`;

  // As dashboards/loaded/series.py names them. A line that means something by its dashes, such as a
  // bound, gives their lengths instead.
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star"];

  let assigned = [];
  // By entry: its dash and its symbol.
  const looks = new Map();

  // What of `choices` the entry at `place` has: none twice while there are enough for all.
  function free(choices, place, taken) {
    let at = place % choices.length;
    for (let tries = 0; taken.has(at) && tries < choices.length; tries += 1) at = (at + 1) % choices.length;
    if (assigned.length > choices.length) at = place % choices.length;
    taken.add(at);
    return choices[at];
  }

  // Gives each chosen entry a colour of its own. An entry prefers the place of its own number, so
  // that it keeps its colour when others come and go. Those that are not chosen have none.
  function assign(entries) {
    const size = paletteSize(), taken = new Set(), root = document.documentElement.style;
    const dashes = new Set(), symbols = new Set();
    looks.clear();
    for (const entry of assigned) root.removeProperty(`--run-${entry}`);
    assigned = [...entries].sort((a, b) => a - b);
    for (const entry of assigned) {
      let place = entry % size;
      for (let tries = 0; taken.has(place) && tries < size; tries += 1) place = (place + 1) % size;
      if (taken.has(place)) place = size + taken.size;
      taken.add(place);
      looks.set(entry, { dash: free(DASHES, place, dashes), symbol: free(SYMBOLS, place, symbols) });
      root.setProperty(`--run-${entry}`, place < size ? `var(--palette-${place})` : further(place));
    }
  }

  function alpha(colour, percent) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex(colour).slice(at, at + 2), 16));
    return `rgba(${red},${green},${blue},${percent / 100})`;
  }

  function colourOf(name, known) {
    if (known.has(name)) return known.get(name);
    const run = RUN.exec(name);
    const plain = variable(run ? `--run-${run[1]}` : name) || variable("--muted");
    const colour = run && run[2] ? alpha(plain, Number(run[2])) : plain;
    known.set(name, colour);
    return colour;
  }

  // These hold samples, never colours.
  const SAMPLES = new Set(["x", "y", "customdata", "bdata"]);

  // A copy of `value` with every token resolved. Samples and numbers are shared, not copied.
  function resolve(value, known = new Map()) {
    if (typeof value === "string") {
      const token = value.startsWith("var(") ? TOKEN.exec(value) : null;
      return token ? colourOf(token[1], known) : value;
    }
    if (Array.isArray(value)) {
      return typeof value[0] === "number" ? value : value.map((one) => resolve(one, known));
    }
    if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(Object.entries(value).map(
      ([name, one]) => [name, SAMPLES.has(name) ? one : resolve(one, known)]));
  }

  function isChosen(entry, chosen) {
    return entry === undefined || chosen === null || chosen.has(Number(entry));
  }

  // `figure` with the traces, annotations and shapes of the chosen entries (a Set; null for all).
  function choose(figure, chosen) {
    const named = (one) => isChosen((NAMED.exec(one.name ?? "") ?? [])[1], chosen);
    const layout = { ...figure.layout };
    for (const kind of ["annotations", "shapes"]) {
      if (layout[kind]) layout[kind] = layout[kind].filter(named);
    }
    const data = namedOnce(figure.data.filter((trace) => isChosen(trace.meta?.entry, chosen)))
      .map(looking).map(telling);
    // A figure with rows is as high as those that are left.
    if (layout.meta?.row_px) {
      const rows = data.reduce((sum, trace) => sum + (trace.meta?.rows ?? 0), 0);
      layout.height = layout.meta.around_px + layout.meta.row_px * Math.max(rows, 1);
    }
    return { ...figure, data, layout };
  }

  // Of traces whose entry in the legend stands for all runs, the first has it.
  function namedOnce(data) {
    const told = new Set();
    return data.map((trace) => {
      if (!trace.meta?.shared) return trace;
      const first = trace.showlegend !== false && !told.has(trace.legendgroup);
      if (first) told.add(trace.legendgroup);
      return { ...trace, showlegend: first };
    });
  }

  // `trace` with the dash and the symbol that its run has among those that are chosen.
  function looking(trace) {
    const look = looks.get(trace.meta?.entry);
    if (!look) return trace;
    const { line, marker } = trace, own = {};
    if (DASHES.includes(line?.dash)) own.line = { ...line, dash: look.dash };
    if (SYMBOLS.includes(marker?.symbol)) own.marker = { ...marker, symbol: look.symbol };
    return { ...trace, ...own };
  }

  const ns = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const KINDS = { f8: Float64Array, f4: Float32Array };

  // The numbers of a property, which may be packed as Plotly's script takes them.
  function numbers(values) {
    if (!values?.bdata) return values ?? [];
    const bytes = Uint8Array.from(atob(values.bdata), (letter) => letter.charCodeAt(0));
    return new KINDS[values.dtype](bytes.buffer);
  }

  // Axes have times in µs; hovering tells all that is known, in ns: %{hovertext}.
  function telling(trace) {
    const axis = trace.meta?.ns;
    if (!axis) return trace;
    const hovertext = Array.from(numbers(trace[axis]), (us) => (us === null ? "" : `${ns.format(us * 1000)} ns`));
    return { ...trace, hovertext };
  }

  return { assign, choose, resolve, paint: (figure, chosen) => resolve(choose(figure, chosen)) };
})();
