"use strict";
// One sample: its waveform with two cursors, its facts, and what explains it. The report and the app
// draw it alike, from what dashboards/page/embedded.py packs.
window.tailscope = window.tailscope || {};
tailscope.sample = (() => {
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const precise = new Intl.NumberFormat("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  // What an operation was, by its kind (docs/reference/records.md).
  const kinds = {
    A: (bytes) => `allocation of ${bytes} bytes`,
    O: (bytes) => `allocation of ${bytes} bytes, out of memory`,
    F: (bytes) => `free of ${bytes} bytes`,
    N: (bytes) => `nothing to free: its ${bytes} bytes had not been allocated`,
    E: (bytes) => `free of ${bytes} bytes, refused by the allocator`,
    K: (_, call) => (call === "empty" ? "empty critical section" : `${call}, a call of the kernel`),
  };

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function titleOf(run, key) {
    const what = key.startsWith("@") ? `stimulus at sample ${number.format(Number(key.slice(1)))}` : `operation ${key}`;
    return `${run.name}: ${what}`;
  }

  function factsOf(run, facts) {
    const resolution = number.format(1e9 / run.samplerate_hz), told = [];
    const add = (name, words) => {
      if (name in facts) told.push(words(number.format(facts[name])));
    };
    if ("kind" in facts) {
      const describe = Object.hasOwn(kinds, facts.kind) ? kinds[facts.kind] : () => `operation of kind ${facts.kind}`;
      told.push(describe(number.format(facts.size), facts.call));
    } else told.push(facts.control ? "stimulus of the control interrupt" : "stimulus outside any operation");
    if (facts.label && facts.label !== facts.call) told.push(facts.label);
    else add("depth", (value) => `depth ${value}`);
    add("trial", (value) => `trial ${value}`);
    add("wire_critical_ns", (value) => `critical section ${value} ns ±${resolution} ns on the wire`);
    add("dwt_cycles", (value) => `${value} cycles by DWT`);
    add("disagreement_cycles", (value) => `wire minus DWT ${value} cycles`);
    add("probes", (value) => `${value} probes`);
    add("isr_latency_ns", (value) => ("kind" in facts ? `worst interrupt in it ${value} ns` : `latency ${value} ns`));
    add("task_latency_ns", (value) => `task latency ${value} ns`);
    add("live", (value) => `${value} blocks live after it`);
    add("bytes_in_use", (value) => `${value} bytes in use`);
    add("sample", (value) => `sample ${value}`);
    if ("sample" in facts) told.push(`${precise.format((facts.sample * 1e3) / run.samplerate_hz)} ms into the capture`);
    return told.join(" · ");
  }

  // Levels of one channel as [samples from zero, levels]: its changes, and both ends.
  function levels(window, channel) {
    const [start, end, zero, distances, words] = window;
    const samples = [], values = [];
    let sample = start, last = -1;
    distances.forEach((distance, i) => {
      sample += distance;
      const level = (words[i] >> channel) & 1;
      if (level === last) return;
      samples.push(sample - zero);
      values.push(level);
      last = level;
    });
    samples.push(end - zero);
    values.push(last);
    return [samples, values];
  }

  // The longest stretch of ones as [from, to]; null without any.
  function longest([samples, values]) {
    let best = null;
    values.slice(0, -1).forEach((level, i) => {
      const stretch = [samples[i], samples[i + 1]];
      if (level && (!best || stretch[1] - stretch[0] > best[1] - best[0])) best = stretch;
    });
    return best;
  }

  // From where to where the sample that is explained lies, from the window's zero; null if unknown.
  function spanOf([explained], [, , zero]) {
    const { start_sample: start, end_sample: end } = explained ?? {};
    return start === undefined ? null : [start - zero, end - zero];
  }

  // The cursors begin at `span`, else at the longest critical section.
  function waveform(box, run, window, span) {
    const us = (samples) => (samples * 1e6) / run.samplerate_hz;
    const back = (time) => Math.round((time * run.samplerate_hz) / 1e6);
    const figure = structuredClone(run.panel), shades = [], places = new Set();
    let section = null;
    for (const trace of figure.data) {
      const [samples, values] = levels(window, trace.meta.channel);
      samples.forEach((sample) => places.add(sample));
      trace.x = samples.map(us);
      trace.y = values.map((level) => level + trace.meta.base);
      if (trace.meta.allocator) trace.line.color = `var(--run-${run.entry})`;
      if (trace.name !== "CRIT") continue;
      section = longest([samples, values]);
      values.slice(0, -1).forEach((level, i) => {
        if (level) shades.push({ type: "rect", xref: "x", yref: "paper", x0: us(samples[i]), x1: us(samples[i + 1]), y0: 0, y1: 1, fillcolor: `var(--run-${run.entry}-12)`, line: { width: 0 }, layer: "below" });
      });
    }
    const edges = [...places].sort((a, b) => a - b);
    const cursors = [...(span ?? section ?? [edges[0], edges[edges.length - 1]])];
    const plot = element("div", undefined, "wave"), bar = element("div", undefined, "cursors");
    const inputs = ["A", "B"].map((name, which) => {
      const label = element("label", `cursor ${name} (µs) `), input = element("input");
      input.type = "number";
      input.step = String(us(1));
      input.addEventListener("change", () => {
        if (input.value !== "") move(which, back(Number(input.value)));
      });
      label.append(input);
      bar.append(label);
      return input;
    });
    const between = element("output", "", "between");
    const buttons = [
      ["whole", () => [us(edges[0]), us(edges[edges.length - 1])]],
      ["one sample at A", () => [us(cursors[0] - 4), us(cursors[0] + 4)]],
    ].map(([words, range]) => {
      const button = element("button", words);
      button.type = "button";
      button.addEventListener("click", () => Plotly.relayout(plot, { "xaxis.range": range() }));
      return button;
    });
    bar.append(between, ...buttons);
    bar.append(element("span", "A click sets the nearer cursor, at an edge if one is near.", "hint"));
    box.append(plot, bar);

    const lines = () => cursors.map((sample, which) => ({
      type: "line", xref: "x", yref: "paper", x0: us(sample), x1: us(sample), y0: 0, y1: 1,
      line: { color: "var(--cursor)", width: 1.5, dash: which ? "dash" : "solid" },
      label: { text: "AB"[which], textposition: "end", textangle: 0, font: { color: "var(--cursor)", size: 12 } },
    }));
    function tell() {
      cursors.forEach((sample, which) => { inputs[which].value = us(sample).toFixed(3); });
      const samples = cursors[1] - cursors[0];
      const ns = (samples * 1e9) / run.samplerate_hz, resolution = 1e9 / run.samplerate_hz;
      between.textContent = `Δt ${number.format(ns)} ns ±${number.format(resolution)} ns, ${number.format(samples)} samples`;
    }
    function move(which, sample) {
      cursors[which] = sample;
      tell();
      Plotly.relayout(plot, { shapes: tailscope.paint.resolve([...shades, ...lines()]) });
    }
    function setNearer(event) {
      const { xaxis } = plot._fullLayout, left = plot.getBoundingClientRect().left + xaxis._offset;
      const pointed = back(xaxis.p2d(event.clientX - left));
      const reach = back(xaxis.p2d(8)) - back(xaxis.p2d(0));
      const near = edges.reduce((a, b) => (Math.abs(b - pointed) < Math.abs(a - pointed) ? b : a));
      const sample = Math.abs(near - pointed) <= reach ? near : pointed;
      move(Math.abs(cursors[0] - sample) <= Math.abs(cursors[1] - sample) ? 0 : 1, sample);
    }
    tell();
    // Room for the names of the cursors.
    figure.layout.margin.t = 22;
    figure.layout.shapes = [...shades, ...lines()];
    if (tailscope.figures?.narrow) figure.layout.dragmode = false;
    const painted = tailscope.paint.resolve(figure);
    const config = tailscope.figures?.config ?? { responsive: true, displaylogo: false };
    return Plotly.newPlot(plot, painted.data, painted.layout, { ...config, scrollZoom: true }).then(() => {
      let down = null;
      plot.addEventListener("pointerdown", ({ clientX }) => { down = clientX; }, true);
      plot.addEventListener("click", (event) => {
        const inside = event.target.closest?.(".nsewdrag") || event.target.classList?.contains("nsewdrag");
        if (inside && Math.abs(event.clientX - down) < 4) setNearer(event);
      }, true);
    });
  }

  function table(title, rows) {
    const box = element("div"), body = element("table");
    for (const cells of rows) {
      const row = element("tr");
      for (const cell of cells) {
        const counted = typeof cell === "number";
        row.append(element("td", counted ? number.format(cell) : cell, counted ? "count" : ""));
      }
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

  // The operations before and after it.
  function beside({ previous, next }) {
    const told = [["Before it", previous], ["After it", next]].filter(([, operation]) => operation);
    return told.map(([where, { seq, words }]) => `${where}: operation ${number.format(seq)}, ${words}.`);
  }

  function explanation(explained) {
    const box = element("div", undefined, "explained");
    box.append(element("h3", `Explained: ${explained.words}`));
    if (explained.place) box.append(element("p", [explained.place, ...beside(explained)].join(" ")));
    explained.unknown.forEach((sentence) => box.append(element("p", sentence)));
    if (!explained.pieces) return box;
    const [instructions, cycles] = [explained.instructions, explained.cycles].map(number.format);
    const edges = explained.begins ? ` from ${explained.begins} to ${explained.ends}` : "";
    box.append(element("p", `${instructions} instructions in ${cycles} cycles${edges}, replayed on the ` +
      "virtual board and equal to the capture to the sample."));
    const columns = element("div", undefined, "columns");
    const totals = ([name, count, executions, source]) =>
      [count, `${number.format(executions)} ×`, name, source];
    const line = ([, count, executions, source, text]) =>
      [count, `${number.format(executions)} ×`, [source, text].join("  ")];
    const part = ({ what, cycles, words, place }) => {
      const by = place && what !== "exception" ? `${words}, by ${place}` : words;
      return [cycles, `${number.format((100 * cycles) / explained.cycles)} %`, by];
    };
    columns.append(
      table("what the time went to", explained.parts.map(part)),
      table("cycles by function", explained.functions.map(totals)),
      table("call stack", explained.stack.map(([place, source]) => [place, source])),
      table("most expensive instructions", explained.dearest.map(totals)),
      table("most expensive source lines", explained.lines.map(line)),
    );
    const legend = "heap before it: live blocks dark, free blocks light, the unknown grey";
    box.append(columns, element("h4", legend), heapMap(explained), element("p", explained.note));
    return box;
  }

  // Fills `box` with the sample `data` of `run`; its title is the page's own.
  async function draw(box, run, data) {
    const facts = element("p", factsOf(run, data.facts), "facts");
    box.replaceChildren(facts);
    const explained = data.explained ?? [];
    await waveform(box, run, data.window, spanOf(explained, data.window));
    box.append(...explained.map(explanation));
  }
  return { draw, titleOf };
})();
