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
  // Paper has a width of its own: 186 mm of A4 between the margins.
  const PAPER_PX = 690;

  // As dashboards/page/templates.py packs: gzip in base64, unpacked once it is asked for.
  const unpacked = new Map();
  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }
  function text(id) {
    if (!unpacked.has(id)) unpacked.set(id, unpack(document.getElementById(id)));
    return unpacked.get(id);
  }
  const json = async (id) => JSON.parse(await text(id));

  let library = null;
  // The plotting library, run once: packed in the page, or with its server.
  function plotly() {
    library ??= (async () => {
      const packed = document.getElementById("plotly"), script = document.createElement("script");
      const loaded = new Promise((done, fail) => {
        Object.assign(script, { onload: done, onerror: () => fail(new Error("The plotting library did not come.")) });
      });
      Object.assign(script, packed ? { textContent: await unpack(packed) } : { src: "plotly.js" });
      document.head.append(script);
      if (!packed) await loaded;
    })();
    return library;
  }

  // A copy of `value` with every colour of the theme in it.
  function resolve(value) {
    if (typeof value === "string") {
      return value.startsWith("var(") ? getComputedStyle(document.documentElement).getPropertyValue(value.slice(4, -1)).trim() : value;
    }
    if (Array.isArray(value)) return value.map(resolve);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, resolve(part)]));
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

  function painted({ data, layout }) {
    const { chosen } = painting;
    const shown = data.filter(({ meta }) => meta?.entry === undefined || !chosen || chosen.has(meta.entry));
    // A zoom stays. A figure with rows is as high as those that are left.
    const own = { ...layout, uirevision: true, shapes: [...layout.shapes ?? [], ...limits(layout)] };
    if (narrow) own.dragmode = false;  // a finger that drags over a figure wants to scroll the page
    if (layout.meta?.row_px) {
      own.height = layout.meta.around_px + layout.meta.row_px * shown.reduce((sum, { meta }) => sum + (meta?.rows ?? 0), 0);
    }
    return resolve({ data: shown, layout: own });
  }

  async function draw(element) {
    element.figure ??= await json(`data-${element.id}`);
    await plotly();
    const { data, layout } = painted(element.figure), first = !element.classList.contains("js-plotly-plot");
    element.style.minHeight = `${layout.height}px`;
    await Plotly.react(element, data, layout, config);
    if (first) element.on("plotly_click", (event) => painting.clicked(event));
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
    const around = { title, margin: { ...layout.margin, t: 96 }, legend: { ...layout.legend, y: 1 - 52 / height } };
    return Plotly.downloadImage({ data, layout: { ...layout, ...around }, config },
      { format, filename: element.dataset.name, width: element.clientWidth, height, scale: format === "png" ? 2 : 1 });
  }
  document.addEventListener("click", async ({ target }) => {
    const { save: format, of, name } = target.closest("button[data-save]")?.dataset ?? {};
    if (format === "csv") save(`${name}.csv`, await text(of));
    else if (format) await picture(document.getElementById(of), format);
  });

  // At once: who prints does not wait.
  function repaint(size) {
    for (const element of shown().filter(({ dataset }) => dataset.drawn)) {
      const { data, layout } = painted(element.figure);
      Plotly.react(element, data, { ...layout, ...size }, config);
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
  const painting = { chosen: null, limit: null, clicked: () => {}, draw, json, refresh };
  return painting;
})();
