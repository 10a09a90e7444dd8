"use strict";
// What the report and the app draw figures with. A figure comes with tokens for colours and with
// every run's traces; it leaves with the colours of the theme and the traces of the chosen runs.
window.tailscope = window.tailscope || {};
tailscope.paint = (() => {
  const TOKEN = /^var\((--[a-z0-9-]+)\)$/, RUN = /^--run-(\d+)(?:-(\d+))?$/;
  const NAMED = /^entry-(\d+)$/;

  const style = () => getComputedStyle(document.documentElement);
  const variable = (name) => style().getPropertyValue(name).trim();

  function palette() {
    const colours = [];
    for (let colour; (colour = variable(`--palette-${colours.length}`));) colours.push(colour);
    return colours;
  }

  // Colours beyond the palette: hues by the golden angle, so that none comes twice.
  function further(number) {
    const lightness = variable("--further-lightness") || "42%";
    return hex(`hsl(${(number * 137.508) % 360}, 55%, ${lightness})`);
  }

  function hex(colour) {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = colour;
    return context.fillStyle;
  }

  // Gives each chosen entry a colour of its own. An entry prefers the place of its own number, so
  // that it keeps its colour when others come and go.
  function assign(entries) {
    const colours = palette(), taken = new Set(), root = document.documentElement.style;
    for (const entry of [...entries].sort((a, b) => a - b)) {
      let place = entry % colours.length;
      for (let tries = 0; taken.has(place) && tries < colours.length; tries += 1) {
        place = (place + 1) % colours.length;
      }
      if (taken.has(place)) place = colours.length + taken.size;
      taken.add(place);
      root.setProperty(`--run-${entry}`, place < colours.length ? colours[place] : further(place));
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
    const data = figure.data.filter((trace) => isChosen(trace.meta?.entry, chosen));
    return { ...figure, data, layout };
  }

  return { assign, choose, resolve, paint: (figure, chosen) => resolve(choose(figure, chosen)) };
})();
