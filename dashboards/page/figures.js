// Unpacks what the page holds packed, and draws its figures, with the colours of the theme and the
// traces of the chosen runs.
tailscope.figures = (() => {
  const narrow = window.matchMedia("(max-width: 640px)").matches;
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: narrow ? false : "hover",
    // Nothing in this page talks to a server, so neither does a button.
    plotlyServerURL: "",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud", "toImage"],
  };
  // Of more runs than this the curves are grey, with their names at their ends and no legend.
  const FEW = 6, NAMES_PX = narrow ? 60 : 110, LETTER_PX = 7.5, LINE_PX = 13;
  // Paper has a width of its own: 186 mm of A4 between the margins.
  const PAPER_PX = 690;

  // As dashboards/page/templates.py packs: gzip in base64, unpacked once it is asked for.
  const unpacked = new Map();
  function text(id) {
    if (!unpacked.has(id)) {
      const bytes = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (letter) => letter.charCodeAt(0));
      unpacked.set(id, new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
    }
    return unpacked.get(id);
  }
  // A value as it was before its columns were packed in place of its rows.
  function withRows(_, value) {
    if (typeof value?.columns !== "object") return value;
    const columns = Object.entries(value.columns);
    const rows = columns[0][1].map((_, place) => Object.fromEntries(columns.map(([name, column]) => [name, column[place]])));
    return value.keys === null ? rows : Object.fromEntries(value.keys.map((key, place) => [key, rows[place]]));
  }
  const json = async (id) => JSON.parse(await text(id), withRows);

  let library = null;
  // The plotting library, run once: packed in the page, or with its server.
  function plotly() {
    library ??= (async () => {
      const packed = document.getElementById("plotly"), script = document.createElement("script");
      const loaded = new Promise((done, fail) => {
        Object.assign(script, { onload: done, onerror: () => fail(new Error("The plotting library did not come.")) });
      });
      Object.assign(script, packed ? { textContent: await text("plotly") } : { src: "plotly.js" });
      document.head.append(script);
      if (!packed) await loaded;
    })();
    return library;
  }

  // A copy of `value` with every colour of the theme in it.
  function resolve(value) {
    const theme = getComputedStyle(document.documentElement);
    return JSON.parse(JSON.stringify(value).replace(/"var\((--[\w-]+)\)"/g, (_, name) => `"${theme.getPropertyValue(name).trim()}"`));
  }

  // The line of a reader's limit, through each axis that has durations in µs: not that of a capture,
  // whose time counts from an operation's start, which is no wait's.
  function limits(layout) {
    const axes = Object.keys(layout).filter((name) => /^(?!time ).*\(µs\)/.test(layout[name]?.title?.text ?? ""));
    return painting.limit === null ? [] : axes.map((name) => {
      const [way, across] = name[0] === "x" ? "xy" : "yx", own = name.replace("axis", "");
      return { type: "line", [`${way}ref`]: own, [`${across}ref`]: `${own.replace(way, across)} domain`, [`${way}0`]: painting.limit,
        [`${way}1`]: painting.limit, [`${across}0`]: 0, [`${across}1`]: 1, line: { color: "var(--cursor)", width: 1.5, dash: "dash" } };
    });
  }

  const isCurve = ({ mode, showlegend, meta }) => meta?.entry !== undefined && showlegend !== false && mode?.includes("lines");
  const isMany = (data) => new Set(data.filter(isCurve).map(({ meta }) => meta.entry)).size > FEW;
  const GREY = "var(--off)";

  // The names at the ends of the curves of a figure that is drawn, none upon another.
  function names({ _fullData: traces, _fullLayout: layout }) {
    const boxes = [];
    return traces.filter(isCurve).map(({ name, x, y, xaxis, yaxis }) => {
      const text = name.split(", max ")[0], width = LETTER_PX * text.length, [across, up] = [xaxis, yaxis].map((id) => layout[id.replace(/[xy]/, "$&axis")]);
      const [x0, y0] = [x.at(-1), y.at(-1)], at = across.d2p(x0), isLeft = at + width > across._length + NAMES_PX;
      const left = isLeft ? at - width : at;
      let bottom = up.d2p(y0) - LINE_PX / 2;
      while (boxes.some((box) => Math.abs(box.bottom - bottom) < LINE_PX && box.left < left + width && left < box.right)) bottom -= LINE_PX;
      boxes.push({ left, right: left + width, bottom });
      return { text, x: across.d2r(x0), y: up.d2r(y0), xref: xaxis, yref: yaxis, xanchor: isLeft ? "right" : "left", xshift: isLeft ? -6 : 6,
        yshift: up.d2p(y0) - bottom, showarrow: false, font: { size: 11, color: "var(--muted)" } };
    });
  }

  // The curve under the pointer has its colour, the others of many are grey.
  function light(element, entry) {
    const { data, lit, figure } = element, own = chosenOf(figure.data);
    if (!isMany(own) || lit === entry) return;
    const at = [...data.keys()].filter((place) => [entry, lit].includes(data[place].meta?.entry));
    const colours = (part) => resolve(at.map((place) => (data[place].meta.entry === entry ? own[place][part]?.color : GREY)));
    element.lit = entry;
    if (at.length) Plotly.restyle(element, { "line.color": colours("line"), "marker.color": colours("marker") }, at);
  }

  const chosenOf = (data) => data.filter(({ meta }) => meta?.entry === undefined || !painting.chosen || painting.chosen.has(meta.entry));

  function painted({ data, layout }) {
    let shown = chosenOf(data);
    // A zoom stays. A figure with rows is as high as those that are left.
    const own = { ...layout, uirevision: true, shapes: [...layout.shapes ?? [], ...limits(layout)] };
    if (narrow) own.dragmode = false;  // a finger that drags over a figure wants to scroll the page
    if (layout.meta?.row_px) {
      own.height = layout.meta.around_px + layout.meta.row_px * shown.reduce((sum, { meta }) => sum + (meta?.rows ?? 0), 0);
    }
    if (isMany(shown)) {
      Object.assign(own, { showlegend: false, margin: { ...layout.margin, r: NAMES_PX } });
      const grey = ({ line, marker, error_x: bars }) => ({ line: { ...line, color: GREY }, marker: { ...marker, color: GREY }, error_x: { ...bars, color: GREY } });
      shown = shown.map((trace) => (trace.meta?.entry === undefined ? trace : { ...trace, ...grey(trace) }));
    }
    return resolve({ data: shown, layout: own });
  }

  function react(element, size) {
    const { data, layout } = painted(element.figure);
    element.style.minHeight = `${layout.height}px`;
    delete element.lit;
    const drawn = Plotly.react(element, data, { ...layout, ...size }, config);
    return isMany(data) ? Plotly.relayout(element, { annotations: resolve(names(element)) }) : drawn;
  }

  async function draw(element) {
    element.figure ??= await json(`data-${element.id}`);
    await plotly();
    const first = !element.classList.contains("js-plotly-plot");
    await react(element, {});
    if (first) {
      element.on("plotly_click", (event) => painting.clicked(event));
      element.on("plotly_relayout", (change) => element.moved?.(change));
      element.on("plotly_hover", ({ points: [{ data }] }) => light(element, data.meta?.entry));
      element.on("plotly_unhover", () => light(element));
    }
    element.dataset.drawn = "yes";
  }

  const shown = () => [...document.querySelectorAll(".plot")].filter((element) => element.checkVisibility());
  let pass = 0;
  // Draws all figures that are shown; what was drawn before is out of date.
  async function refresh() {
    pass += 1;
    const now = pass, elements = shown();
    for (const element of elements) delete element.dataset.drawn;
    for (const element of elements) if (now === pass) await draw(element);
  }

  function save(name, content) {
    const link = tailscope.element("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
    link.download = name;
    link.click();
  }

  // A picture stands alone: with title, provenance, and the reasons of a run that is not complete.
  function picture(element, format) {
    const of = (selector) => [...element.closest("figure").querySelectorAll(selector)].map((part) => part.textContent.replace(/</g, "&lt;"));
    const { data, layout } = painted(element.figure), height = layout.height + 60;
    const small = [...of(".subtitle"), ...of(".badge")].map((words) => `<sub>${words}</sub>`);
    const title = { text: [...of("h3, h4"), ...small].join("<br>"), x: 0.01, y: 1, yref: "container", yanchor: "top", pad: { t: 8 }, font: { size: 15 } };
    const around = { title, annotations: element.layout.annotations, margin: { ...layout.margin, t: 96 }, legend: { ...layout.legend, y: 1 - 52 / height } };
    return Plotly.downloadImage({ data, layout: { ...layout, ...around }, config },
      { format, filename: element.dataset.name, width: element.clientWidth, height, scale: format === "png" ? 2 : 1 });
  }
  document.addEventListener("click", async ({ target }) => {
    const { save: format, of, name, csv } = target.closest("button[data-save]")?.dataset ?? {};
    if (format === "csv") save(`${name}.csv`, csv);
    else if (format) await picture(document.getElementById(of), format);
  });

  // Of a figure in focus the arrows go through its points, from the greatest down, and Enter opens one.
  document.addEventListener("keydown", (event) => {
    const { key, target: element } = event, step = { ArrowRight: 1, ArrowLeft: -1, Enter: 0 }[key];
    if (step === undefined || !element.dataset.drawn) return;
    const points = element._fullData.flatMap(({ meta, x, y, xaxis, yaxis, customdata }, curveNumber) => {
      if (!meta?.run && !meta?.runs) return [];
      const isTime = /\((µs|cycles)\)/.test(element._fullLayout[yaxis.replace("y", "yaxis")].title?.text), data = element.data[curveNumber];
      return Array.from(isTime ? y : x, (value, pointNumber) => ({ value, x: x[pointNumber], customdata: customdata?.[pointNumber], data, curveNumber, pointNumber, subplot: xaxis + yaxis }));
    }).filter(({ value }) => Number.isFinite(value)).sort((a, b) => b.value - a.value);
    if (!points.length) return;
    event.preventDefault();
    element.place = Math.min(Math.max((element.place ?? (step ? -1 : 0)) + step, 0), points.length - 1);
    const point = points[element.place];
    if (!step) return painting.clicked({ event, points: [point] });
    light(element, point.data.meta.entry);
    Plotly.Fx.hover(element, [point], point.subplot);
  });

  // At once: who prints does not wait.
  function repaint(size) {
    for (const element of shown().filter(({ dataset }) => dataset.drawn)) {
      react(element, size);
    }
  }
  let screen = null;
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not(.verbatim)").forEach((details) => { details.open = true; });
    screen = tailscope.dark.mediaText;
    tailscope.dark.mediaText = "not all";
    repaint({ width: PAPER_PX, autosize: false });
  });
  window.addEventListener("afterprint", () => {
    tailscope.dark.mediaText = screen;
    repaint({});
  });

  // `chosen` is the Set of entries to draw, null for all; `limit` a reader's, in µs, null for none;
  // `clicked` gets Plotly's events.
  window.addEventListener("load", refresh);
  const painting = { chosen: null, limit: null, clicked: () => {}, draw, json, text, refresh };
  return painting;
})();
