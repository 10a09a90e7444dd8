// What the report draws figures with. A figure comes with tokens for colours and with
// every run's traces; it leaves with the colours of the theme and the traces of the chosen runs.
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

  // Gives each chosen entry a colour by its number alone, so that it keeps it whoever else is chosen,
  // and dash and symbol, no two alike while there are enough. Those that are not chosen have none.
  function assign(entries) {
    const size = paletteSize(), dashes = new Set(), symbols = new Set(), root = document.documentElement.style;
    looks.clear();
    for (const entry of assigned) root.removeProperty(`--run-${entry}`);
    assigned = [...entries].sort((a, b) => a - b);
    for (const entry of assigned) {
      looks.set(entry, { dash: free(DASHES, entry, dashes), symbol: free(SYMBOLS, entry, symbols) });
      root.setProperty(`--run-${entry}`, entry < size ? `var(--palette-${entry})` : further(entry));
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
  const SAMPLES = new Set(["x", "y", "customdata"]);

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
  function choose(figure, chosen, widthPx = USUAL_PX) {
    const named = (one) => isChosen((NAMED.exec(one.name ?? "") ?? [])[1], chosen);
    const layout = { ...figure.layout };
    if (layout.meta?.time) layout.xaxis = { ...layout.xaxis, type: painting.time };
    for (const kind of ["annotations", "shapes"]) {
      if (layout[kind]) layout[kind] = layout[kind].filter(named);
    }
    const shown = namedOnce(figure.data.filter((trace) => isChosen(trace.meta?.entry, chosen)))
      .map(looking).map(telling);
    const grey = others(figure, chosen), data = [...grey, ...shown];
    limited(layout);
    if (layout.meta?.curves || (chosen?.size ?? 0) > FEW) {
      const labels = ends(data, new Set(grey), layout, widthPx);
      if (labels.length) Object.assign(layout, { showlegend: false, annotations: [...layout.annotations ?? [], ...labels] });
    }
    // A figure with rows is as high as those that are left.
    if (layout.meta?.row_px) {
      const rows = data.reduce((sum, trace) => sum + (trace.meta?.rows ?? 0), 0);
      layout.height = layout.meta.around_px + layout.meta.row_px * Math.max(rows, 1);
    }
    return { ...figure, data, layout };
  }

  // The line of a reader's limit, through each axis that has durations in µs: not that of a capture,
  // whose time counts from an operation's start, which is no wait's.
  function limited(layout) {
    if (painting.limit === null) return;
    const lines = Object.keys(layout).filter((name) => /^[xy]axis/.test(name) && /^(?!time ).*\(µs\)/.test(layout[name].title?.text ?? "")).map((name) => {
      const own = name.replace("axis", ""), across = own[0] === "x", other = across ? "y" : "x";
      const rest = own.slice(1);
      return { type: "line", [`${own[0]}ref`]: own, [`${other}ref`]: `${other}${rest} domain`, [`${own[0]}0`]: painting.limit,
        [`${own[0]}1`]: painting.limit, [`${other}0`]: 0, [`${other}1`]: 1, line: { color: "var(--cursor)", width: 1.5, dash: "dash" } };
    });
    layout.shapes = [...layout.shapes ?? [], ...lines];
  }

  // More than so many have no legend: each line has its name at its end.
  const FEW = 8;
  // More than so many grey lines are one grey area.
  const MOST_GREY = 100;

  // Of a figure of curves, those that are not chosen: thin and grey below the others.
  function others({ data, layout }, chosen) {
    if (!layout.meta?.curves || chosen === null) return [];
    const found = data.filter(({ meta }) => meta?.curve && !isChosen(meta.entry, chosen));
    if (found.length > MOST_GREY) return [];
    return found.map((trace) => telling({
      ...trace, mode: "lines", line: { ...trace.line, color: "var(--off)", dash: "solid", width: 1 },
    }));
  }

  const LETTER_PX = 6.6, LINE_PX = 14, USUAL_PX = 1100, BESIDE_PX = 100, AROUND_PX = 70, NARROW_PX = 640;

  // The axis of a trace as far as its values go: from, to, and where a value stands between 0 and 1.
  function scaleOf(data, layout, way, name) {
    const axis = layout[name.replace(way, `${way}axis`)] ?? {}, log = axis.type === "log";
    const of = (value) => (log ? Math.log10(value) : value);
    let low = axis.rangemode === "tozero" && !log ? 0 : Infinity, high = -Infinity;
    for (const trace of data) {
      if ((trace[`${way}axis`] ?? way) !== name) continue;
      for (const value of trace[way] ?? []) {
        const there = of(value);
        if (Number.isFinite(there)) [low, high] = [Math.min(low, there), Math.max(high, there)];
      }
    }
    if (axis.range) [low, high] = axis.range;
    const [begin, end] = axis.domain ?? [0, 1];
    return { of, place: (value) => begin + (end - begin) * ((of(value) - low) / (high - low || 1)) };
  }

  const apart = (one, other) => one.right < other.left || other.right < one.left
    || one.bottom > other.top || other.bottom > one.top;

  // Labels at the ends of the lines that the legend would name; none that would hide another.
  function ends(data, grey, layout, widthPx) {
    const height = (layout.height ?? 400) - AROUND_PX, taken = [], labels = [];
    const inside = layout.meta?.curves, plotPx = widthPx - BESIDE_PX;
    const narrow = widthPx < NARROW_PX;
    const named = data.filter((one) => one.meta?.entry !== undefined && !one.meta.shared && !(narrow && grey.has(one))
      && one.showlegend !== false && one.mode?.includes("lines") && one.x?.length);
    const placed = named.map((trace) => {
      const [x, y] = ["x", "y"].map((way) => scaleOf(data, layout, way, trace[`${way}axis`] ?? way));
      const { x: xs, y: ys } = trace, last = xs.length - 1;
      const [begin, end] = layout[(trace.yaxis ?? "y").replace("y", "yaxis")]?.domain ?? [0, 1];
      return { trace, floor: height * begin, end, at: [x.of(xs[last]), y.of(ys[last])],
        px: plotPx * x.place(xs[last]), py: height * y.place(ys[last]) };
    });
    // Lines that all end at the right have their names beside the plot.
    if (!inside) layout.margin = { ...layout.margin, r: 20 + LETTER_PX * Math.max(...named.map((one) => one.name.length), 0) };
    // The chosen ones first.
    placed.sort((a, b) => grey.has(a.trace) - grey.has(b.trace) || b.px - a.px);
    for (const { trace, floor, end, at, px, py } of placed) {
      const text = grey.has(trace) ? trace.name.split(", max ")[0] : trace.name;
      const width = LETTER_PX * text.length, left = inside && px + width + 12 > plotPx + 10;
      // To the left of its end a name would lie on its own line.
      for (const up of [...(left ? [] : [0]), 1, -1, 2, -2, 3, -3, 4, -4, 5, 6, 7, 8]) {
        const middle = py + up * LINE_PX, from = left ? px - width - 12 : px + 8;
        const box = { left: from, right: from + width, bottom: middle - LINE_PX / 2, top: middle + LINE_PX / 2 };
        if (middle < floor + 4 || middle > height * (end ?? 1) || !taken.every((other) => apart(box, other))) continue;
        taken.push(box);
        labels.push({
          text, x: at[0], y: at[1], xref: trace.xaxis ?? "x", yref: trace.yaxis ?? "y",
          xanchor: left ? "right" : "left", xshift: left ? -8 : 8, yshift: up * LINE_PX, showarrow: false,
          font: { size: 11, color: grey.has(trace) ? "var(--muted)" : trace.line?.color ?? "var(--ink)" },
        });
        break;
      }
    }
    return labels;
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
  // Axes have times in µs; hovering tells all that is known, in ns: %{hovertext}.
  function telling(trace) {
    const axis = trace.meta?.ns;
    if (!axis) return trace;
    const hovertext = Array.from(trace[axis] ?? [], (us) => (us === null ? "" : `${ns.format(us * 1000)} ns`));
    return { ...trace, hovertext };
  }

  // `limit` is the reader's, in µs; null for none. `time` is the scale of curves of how often.
  const painting = { assign, choose, resolve, limit: null, time: "log",
    paint: (figure, chosen, widthPx) => resolve(choose(figure, chosen, widthPx)) };
  return painting;
})();
