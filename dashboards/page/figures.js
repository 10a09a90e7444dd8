// Draws the figures of the page when they come into sight, with the colours of the theme and the
// chosen runs, and draws them again when either changes.
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
  const inSight = new Set(), stale = new Set();
  let chosen = () => null, clicked = null;

  function fitted(figure) {
    if (!narrow) return figure;
    // A finger that drags over a figure wants to scroll the page.
    figure.layout.dragmode = false;
    for (const annotation of figure.layout.annotations ?? []) annotation.font.size = 10;
    return figure;
  }

  async function draw(element) {
    stale.delete(element);
    const [figure] = await Promise.all([
      tailscope.unpack.figure(`data-${element.id}`), tailscope.unpack.plotly(),
    ]);
    const painted = fitted(tailscope.paint.paint(figure, chosen(), element.clientWidth || undefined));
    const first = !element.classList.contains("js-plotly-plot");
    element.style.minHeight = `${painted.layout.height}px`;
    element.unpainted = figure;
    await Plotly.react(element, painted.data, painted.layout, config);
    if (first && clicked) element.on("plotly_click", clicked);
    if (first && figure.layout.meta?.curves) emphasise(element);
    element.dataset.drawn = "yes";
  }

  // The curve under the pointer stands out of the grey ones.
  function emphasise(element) {
    const pathOf = (curve) => [...element.querySelectorAll(".scatterlayer .trace")]
      .find((one) => one.__data__?.[0]?.trace.index === curve)?.querySelector(".js-line");
    let path = null, before = "";
    const back = () => {
      if (path) path.style.cssText = before;
      path = null;
    };
    element.on("plotly_hover", ({ points: [point] }) => {
      back();
      path = pathOf(point.curveNumber) ?? null;
      if (!path) return;
      before = path.style.cssText;
      path.style.strokeWidth = "3px";
      if (point.data.mode === "lines") path.style.stroke = getComputedStyle(document.documentElement).getPropertyValue("--ink");
    });
    element.on("plotly_unhover", back);
  }

  const drawStale = () => Promise.all([...inSight].filter((one) => stale.has(one)).map(draw));

  const observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) inSight.add(target); else inSight.delete(target);
    }
    drawStale();
  }, { rootMargin: "300px" });

  // Begins to watch the figures in `root`.
  function watch(root) {
    for (const element of root.querySelectorAll(".plot")) {
      stale.add(element);
      observer.observe(element);
    }
  }

  // What is drawn is out of date.
  function refresh() {
    for (const element of document.querySelectorAll(".plot")) {
      stale.add(element);
      delete element.dataset.drawn;
    }
    return drawStale();
  }

  // What is shown is drawn, in sight or not: who prints does not scroll.
  async function drawShown() {
    for (const element of document.querySelectorAll(".plot")) {
      if (element.checkVisibility() && stale.has(element)) await draw(element);
    }
  }

  // A file of `text` or of a Blob, handed to the reader.
  function save(name, content, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  const escaped = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

  // A picture stands alone: with title, provenance, and the reasons of a run that is not complete.
  function titled(element) {
    const of = (selector) => [...element.closest("figure").querySelectorAll(selector)].map((one) => escaped(one.textContent));
    const small = [...of(".subtitle"), ...of(".badge")].map((text) => `<sub>${text}</sub>`);
    const text = [...of("figcaption h3, figcaption h4"), ...small].join("<br>");
    const title = { text, x: 0.01, xanchor: "left", y: 1, yref: "container", yanchor: "top", pad: { t: 8 }, font: { size: 15 } };
    const legend = { ...element.layout.legend, y: 1 - 52 / (element.layout.height + 60) };
    return { title, legend };
  }

  async function saveImage(element, format) {
    if (stale.has(element) || !element.dataset.drawn) await draw(element);
    const scale = format === "png" ? 2 : 1;
    const { width, height } = element.getBoundingClientRect();
    const told = titled(element);
    const picture = { data: element.data, layout: { ...element.layout, ...told, margin: { ...element.layout.margin, t: 96 } }, config };
    const address = await Plotly.toImage(picture, { format, width, height: height + 60, scale });
    const [head, body] = [address.slice(0, address.indexOf(",")), address.slice(address.indexOf(",") + 1)];
    const bytes = head.includes("base64")
      ? Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0)) : decodeURIComponent(body);
    save(`${element.dataset.name}.${format}`, new Blob([bytes], { type: head.slice(5).split(";")[0] }));
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-save]");
    if (!button) return;
    const { save: format, of } = button.dataset;
    if (format === "copy") {
      await navigator.clipboard.writeText(await tailscope.unpack.text(of));
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 2_000);
    } else if (format === "csv") save(`${button.dataset.name}.csv`, await tailscope.unpack.text(of), "text/csv");
    else await saveImage(document.getElementById(of), format);
  });

  // Enter opens the instant of a figure's greatest time, as a click on its point does.
  document.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Enter" || !target.dataset.drawn || !clicked) return;
    let worst = null;
    for (const data of target.data.filter(({ meta }) => meta?.run && meta.ns)) {
      data[data.meta.ns].forEach((value, place) => {
        if (value > (worst?.value ?? 0)) worst = { data, value, customdata: data.customdata?.[place], x: data.x[place] };
      });
    }
    if (worst) clicked({ points: [worst] });
  });

  const shown = () => [...document.querySelectorAll(".plot")].filter((one) => one.checkVisibility() && one.unpainted);
  // At once: who prints does not wait.
  function repaint(size) {
    for (const element of shown()) {
      const { data, layout } = fitted(tailscope.paint.paint(element.unpainted, chosen()));
      Plotly.react(element, data, { ...layout, ...size }, config);
    }
  }

  let theme = null;
  function toPaper() {
    document.querySelectorAll("details:not(.verbatim):not(.folded)").forEach((details) => { details.open = true; });
    theme = tailscope.dark.mediaText;
    tailscope.dark.mediaText = "not all";
    repaint({ width: PAPER_PX, autosize: false });
  }
  function fromPaper() {
    tailscope.dark.mediaText = theme;
    repaint({});
  }
  // A browser's menu does not wait for figures out of sight, which are not drawn yet. A key can.
  window.addEventListener("keydown", async (event) => {
    const held = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    if (!held || event.key.toLowerCase() !== "p") return;
    event.preventDefault();
    await drawShown();
    window.print();
  });
  window.addEventListener("beforeprint", toPaper);
  window.addEventListener("afterprint", fromPaper);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh());

  // `choice` gives the Set of chosen entries, null for all; `onClick` gets Plotly's events.
  function start(choice, onClick) {
    chosen = choice;
    clicked = onClick;
    watch(document);
  }
  return { start, watch, refresh, drawShown, save, config, narrow };
})();
