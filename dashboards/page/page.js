"use strict";
(() => {
  const { data, narrow, config, plots } = figures;
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  // What an operation was, by its kind (docs/SPEC.md, section 4).
  const kinds = {
    A: (bytes) => `allocation of ${bytes} bytes`,
    O: (bytes) => `allocation of ${bytes} bytes, out of memory`,
    F: (bytes) => `free of ${bytes} bytes`,
    N: (bytes) => `nothing to free: its ${bytes} bytes had not been allocated`,
    E: (bytes) => `free of ${bytes} bytes, refused by the allocator`,
    K: (_, call) => (call === "empty" ? "empty critical section" : `${call}, a call of the kernel`),
  };

  // A point's key: customdata, or its first column; without any, the operation on the x axis.
  function keyOf(point) {
    const key = Array.isArray(point.customdata) ? point.customdata[0] : point.customdata;
    return String(key ?? point.x);
  }

  function choose(event) {
    const point = event.points[0];
    const run = point.data.meta && point.data.meta.run;
    if (run) location.hash = `select=${encodeURIComponent(run)}:${encodeURIComponent(keyOf(point))}`;
  }

  function selection() {
    const match = /^#select=([^:]*):(.*)$/.exec(location.hash);
    if (!match) return null;
    try {
      return { run: decodeURIComponent(match[1]), key: decodeURIComponent(match[2]) };
    } catch {
      return null;
    }
  }

  function factsOf(run, key) {
    const operation = run.operations[key];
    if (!operation) return "";
    const resolution = number.format(1e9 / run.samplerate_hz);
    const { kind, size, call } = operation;
    const describe = Object.hasOwn(kinds, kind) ? kinds[kind] : () => `operation of kind ${kind}`;
    const facts = [describe(number.format(size), call)];
    const add = (name, words) => {
      if (name in operation) facts.push(words(number.format(operation[name])));
    };
    if (operation.label && operation.label !== call) facts.push(operation.label);
    else add("depth", (value) => `depth ${value}`);
    add("trial", (value) => `trial ${value}`);
    add("wire_critical_ns", (value) => `critical section ${value} ns ±${resolution} ns on the wire`);
    add("dwt_cycles", (value) => `${value} cycles by DWT`);
    add("disagreement_cycles", (value) => `wire minus DWT ${value} cycles`);
    add("probes", (value) => `${value} probes`);
    add("isr_latency_ns", (value) => `worst interrupt in it ${value} ns`);
    add("live", (value) => `${value} blocks live after it`);
    add("bytes_in_use", (value) => `${value} bytes in use`);
    return facts.join(" · ");
  }

  function titleOf(run, key) {
    const outside = key.startsWith("@");
    const what = outside ? `stimulus at sample ${number.format(Number(key.slice(1)))}` : `operation ${key}`;
    return `${run.name}: ${what}`;
  }

  // Levels of one channel as [times in µs, levels], its changes and both ends.
  function levels(window, channel, samplerate) {
    const [start, end, zero, distances, words] = window;
    const times = [], values = [];
    let sample = start, last = -1;
    distances.forEach((distance, i) => {
      sample += distance;
      const level = (words[i] >> channel) & 1;
      if (level === last) return;
      times.push(((sample - zero) * 1e6) / samplerate);
      values.push(level);
      last = level;
    });
    times.push(((end - zero) * 1e6) / samplerate);
    values.push(last);
    return [times, values];
  }

  function shading(times, values, colour) {
    return values.slice(0, -1).flatMap((level, i) => level === 0 ? [] : [{
      type: "rect", xref: "x", yref: "paper", x0: times[i], x1: times[i + 1], y0: 0, y1: 1,
      fillcolor: colour, line: { width: 0 }, layer: "below",
    }]);
  }

  function drawWindow(run, window) {
    const figure = structuredClone(data.panel);
    for (const trace of figure.data) {
      const [times, values] = levels(window, trace.meta.channel, run.samplerate_hz);
      trace.x = times;
      trace.y = values.map((level) => level + trace.meta.base);
      if (trace.meta.allocator) trace.line.color = run.colour;
      if (trace.name === "CRIT") figure.layout.shapes = shading(times, values, run.tint);
    }
    if (narrow) figure.layout.dragmode = false;
    Plotly.react("selected-plot", figure.data, figure.layout, config);
  }

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function table(title, rows) {
    const box = element("div"), body = element("table");
    for (const cells of rows) {
      const row = element("tr");
      cells.forEach((cell) => row.append(element("td", cell, typeof cell === "number" ? "count" : "")));
      row.querySelectorAll(".count").forEach((cell) => {
        cell.textContent = number.format(cell.textContent);
      });
      body.append(row);
    }
    box.append(element("h4", title), body);
    return box;
  }

  // The region in rows from left to right, as a page is read.
  function heapMap(explained) {
    const rows = 6, svgName = "http://www.w3.org/2000/svg", bytes = explained.region_bytes / rows;
    const svg = document.createElementNS(svgName, "svg");
    svg.setAttribute("viewBox", `0 0 ${bytes} ${rows}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", explained.note);
    for (const [offset, size, what] of explained.pieces) {
      for (let at = offset; at < offset + size;) {
        const row = Math.floor(at / bytes);
        const end = Math.min(offset + size, Math.ceil((row + 1) * bytes));
        const piece = document.createElementNS(svgName, "rect");
        const place = { x: at - row * bytes, y: row + 0.08, width: end - at, height: 0.84 };
        for (const [name, value] of Object.entries(place)) piece.setAttribute(name, value);
        piece.setAttribute("class", what);
        const words = document.createElementNS(svgName, "title");
        words.textContent = `${what}: ${number.format(size)} bytes at ${number.format(offset)}`;
        piece.append(words);
        svg.append(piece);
        at = end;
      }
    }
    return svg;
  }

  function explanation(explained) {
    const box = element("div", undefined, "explained");
    box.append(element("h3", `Explained: ${explained.words}`));
    if (explained.place) box.append(element("p", explained.place));
    explained.unknown.forEach((sentence) => box.append(element("p", sentence)));
    if (!explained.pieces) return box;
    const [instructions, cycles] = [explained.instructions, explained.cycles].map(number.format);
    const edges = explained.begins ? ` from ${explained.begins} to ${explained.ends}` : "";
    box.append(element("p", `${instructions} instructions in ${cycles} cycles${edges}, replayed on the ` +
      "virtual board and equal to the capture to the sample."));
    const columns = element("div", undefined, "columns");
    const totals = ([name, count, executions, source, text]) =>
      [count, `${number.format(executions)} ×`, name, source, text];
    columns.append(
      table("what the time went to", explained.parts.map((part) => [part.cycles, part.words, part.place])),
      table("cycles by function", explained.functions.map(totals)),
      table("call stack", explained.stack),
      table("most expensive instructions", explained.dearest.map(totals)),
      table("most expensive source lines", explained.lines.map(totals)),
    );
    const legend = "heap before it: live blocks dark, free blocks light, the unknown grey";
    box.append(columns, element("h4", legend), heapMap(explained), element("p", explained.note));
    return box;
  }

  function show() {
    const chosen = selection();
    const panel = document.getElementById("selected");
    const run = chosen && Object.hasOwn(data.runs, chosen.run) ? data.runs[chosen.run] : null;
    panel.hidden = !run;
    document.body.classList.toggle("selecting", Boolean(run));
    if (!run) return;
    const known = Object.hasOwn(run.windows, chosen.key);
    document.getElementById("selected-title").textContent = titleOf(run, chosen.key);
    document.getElementById("selected-facts").textContent = known
      ? factsOf(run, chosen.key)
      : "No waveform of it is stored in this report. It keeps those of the " +
        `${Object.keys(run.windows).length} most telling operations and interrupts of this run; ` +
        "the whole capture is in the run folder.";
    document.getElementById("selected-plot").hidden = !known;
    if (known) drawWindow(run, run.windows[chosen.key]);
    const explained = Object.hasOwn(run.explained, chosen.key) ? run.explained[chosen.key] : [];
    document.getElementById("selected-explained").replaceChildren(...explained.map(explanation));
  }

  function close() {
    history.replaceState(null, "", location.pathname + location.search);
    show();
  }

  plots.forEach(({ element, drawn }) => drawn.then(() => element.on("plotly_click", choose)));
  window.addEventListener("hashchange", show);
  window.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  document.getElementById("selected-close").addEventListener("click", close);
  show();
})();
