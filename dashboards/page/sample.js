"use strict";
// One sample of a report: its waveform with two cursors and its facts, from what
// dashboards/page/embedded.py packs; why.js has what explains it.
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
    const told = [];
    const add = (name, words) => {
      if (name in facts) told.push(words(number.format(facts[name])));
    };
    const sure = (quantity) => (quantity in run.budgets ? ` ±${number.format(run.budgets[quantity])} ns` : "");
    if ("kind" in facts) {
      const describe = Object.hasOwn(kinds, facts.kind) ? kinds[facts.kind] : () => `operation of kind ${facts.kind}`;
      told.push(describe(number.format(facts.size), facts.call));
    } else told.push(facts.control ? "stimulus of the control interrupt" : "stimulus outside any operation");
    if (facts.label && facts.label !== facts.call) told.push(facts.label);
    else add("depth", (value) => `depth ${value}`);
    add("trial", (value) => `trial ${value}`);
    add("wire_critical_ns", (value) => `critical section ${value} ns${sure(facts.kind === "F" ? "free_critical_ns" : "critical_ns")} on the wire`);
    if (facts.clocks) told.push(facts.clocks);
    add("probes", (value) => `${value} probes`);
    const latency = sure(facts.control ? "control_latency_ns" : "interrupt_latency_ns");
    add("isr_latency_ns", (value) => `${"kind" in facts ? "worst interrupt in it" : "latency"} ${value} ns${latency}`);
    add("task_latency_ns", (value) => `task latency ${value} ns${sure("task_latency_ns")}`);
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

  // Paper is light, whatever the screen is: the sample on the page is drawn again before and after.
  // Heard from the first sample on, so that the page's script has changed the theme by then.
  let again = null;
  function onPaper(draw) {
    if (!again) ["beforeprint", "afterprint"].forEach((event) => globalThis.addEventListener(event, () => again()));
    again = draw;
  }

  // The cursors begin at `span`, else at the longest critical section.
  function waveform(box, run, window, span, strips) {
    const us = (samples) => (samples * 1e6) / run.samplerate_hz;
    const back = (time) => Math.round((time * run.samplerate_hz) / 1e6);
    const figure = structuredClone(run.panel), shades = [], changes = new Map();
    let section = null;
    for (const trace of figure.data) {
      const [samples, values] = levels(window, trace.meta.channel);
      samples.forEach((sample) => changes.set(sample, [...(changes.get(sample) ?? []), trace.name]));
      trace.x = samples.map(us);
      trace.y = values.map((level) => level + trace.meta.base);
      if (trace.meta.allocator) trace.line.color = `var(--run-${run.entry})`;
      if (trace.name !== "CRIT") continue;
      section = longest([samples, values]);
      values.slice(0, -1).forEach((level, i) => {
        if (level) shades.push({ type: "rect", xref: "x", yref: "paper", x0: us(samples[i]), x1: us(samples[i + 1]), y0: 0, y1: 1, fillcolor: `var(--run-${run.entry}-12)`, line: { width: 0 }, layer: "below" });
      });
    }
    const edges = [...changes.keys()].sort((a, b) => a - b);
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
    box.append(plot, strips, bar);

    const lines = () => cursors.map((sample, which) => ({
      type: "line", xref: "x", yref: "paper", x0: us(sample), x1: us(sample), y0: 0, y1: 1,
      line: { color: "var(--cursor)", width: 1.5, dash: which ? "dash" : "solid" },
      label: { text: "AB"[which], textposition: "end", textangle: 0, font: { color: "var(--cursor)", size: 12 } },
    }));
    function tell() {
      cursors.forEach((sample, which) => { inputs[which].value = us(sample).toFixed(3); });
      const samples = cursors[1] - cursors[0];
      const ns = (samples * 1e9) / run.samplerate_hz, edge = (sample) => changes.get(sample) ?? [];
      const budget = tailscope.between.budget(run.budgets, run.samplerate_hz, edge(cursors[0]), edge(cursors[1]));
      between.textContent = `Δt ${number.format(ns)} ns ±${number.format(budget)} ns, ${number.format(samples)} samples`;
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
    const config = { ...(tailscope.figures?.config ?? { responsive: true, displaylogo: false }), scrollZoom: true };
    const painted = tailscope.paint.resolve(figure);
    onPaper(() => {
      if (!plot.isConnected) return;
      const { data, layout } = tailscope.paint.resolve({ ...figure, layout: { ...figure.layout, shapes: [...shades, ...lines()] } });
      Plotly.react(plot, data, { ...layout, xaxis: { ...layout.xaxis, range: [...plot.layout.xaxis.range], autorange: false } }, config);
    });
    return Plotly.newPlot(plot, painted.data, painted.layout, config).then(() => {
      let down = null;
      plot.addEventListener("pointerdown", ({ clientX }) => { down = clientX; }, true);
      plot.addEventListener("click", (event) => {
        const inside = event.target.closest?.(".nsewdrag") || event.target.classList?.contains("nsewdrag");
        if (inside && Math.abs(event.clientX - down) < 4) setNearer(event);
      }, true);
      return plot;
    });
  }

  // Fills `box` with the sample `data` of `run`; its title is the page's own.
  async function draw(box, run, data) {
    const facts = element("p", undefined, "facts");
    facts.append(...tailscope.glossary.marked(factsOf(run, data.facts)));
    const explained = data.explained ?? [];
    box.replaceChildren(...tailscope.why.sentences(explained), facts);
    const strips = element("div", undefined, "strips");
    const plot = await waveform(box, run, data.window, spanOf(explained, data.window), strips);
    tailscope.why.attach(strips, plot, explained, run.samplerate_hz, data.window[2]);
    box.append(...tailscope.why.explanations(explained));
  }
  return { draw, titleOf };
})();
