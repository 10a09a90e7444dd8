// One sample of a report, or two on one time axis: waveforms with two cursors and facts, from what
// dashboards/page/embedded.py packs; why.js has what explains it.
tailscope.sample = (() => {
  const { element, number } = tailscope;

  function titleOf(run, key) {
    const what = key.startsWith("@") ? `stimulus at sample ${number.format(Number(key.slice(1)))}` : `operation ${key}`;
    return `${run.name}: ${what}`;
  }

  // How sure the time between two cursors is: as sure as the quantity that these edges bound.
  // The channels of a quantity's two edges (docs/reference/words.md). A width is of one channel.
  const BETWEEN = [
    ["CRIT", "CRIT", "critical_ns"],
    ["OP", "OP", "critical_ns"],
    ["STIM", "ISR", "interrupt_latency_ns"],
    ["STIM", "TASK", "task_latency_ns"],
    ["CTRL", "CISR", "control_latency_ns"],
  ];

  // `from` and `to` are the channels that change at each cursor. Of other edges, and of places
  // without one, the widest budget of the run holds; without any, a sample at each end.
  function budgetOf(budgets, samplerate, from, to) {
    const found = BETWEEN.find(([first, last, name]) => name in budgets &&
      ((from.includes(first) && to.includes(last)) || (from.includes(last) && to.includes(first))));
    if (found) return budgets[found[2]];
    const known = BETWEEN.map(([, , name]) => budgets[name]).filter((value) => value !== undefined);
    return Math.max((known.length ? 0 : 2e9 / samplerate), ...known);
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

  // From where to where the sample that is explained lies, in µs; null if unknown.
  function spanOf([explained], us) {
    const { start_sample: start, end_sample: end } = explained ?? {};
    return start === undefined ? null : [us(start), us(end)];
  }

  // Paper is light, whatever the screen is: the sample on the page is drawn again before and after.
  // Heard from the first sample on, so that the page's script has changed the theme by then.
  let again = null;
  function onPaper(draw) {
    if (!again) ["beforeprint", "afterprint"].forEach((event) => globalThis.addEventListener(event, () => again()));
    again = draw;
  }

  // Two instants lie on one time axis whose zero is the stimulus of each, where both have one.
  function timed(instants) {
    const aligned = instants.length > 1 && instants.every(({ sample }) => sample.stimulus !== null);
    return instants.map((instant) => {
      const zero = aligned ? instant.sample.stimulus : instant.sample.window[2];
      return { ...instant, zero, aligned, us: (sample) => ((sample - zero) * 1e6) / instant.run.samplerate_hz };
    });
  }

  // The lanes of all instants, one below the other: traces, their shades, their edges by time, the axis.
  function lanesOf(instants) {
    const traces = [], shades = [], changes = new Map(), ticks = { tickvals: [], ticktext: [] }, titles = [];
    let top = 0;
    for (const { run, sample: { window }, us, title } of instants) {
      const panel = structuredClone(run.panel), { yaxis } = panel.layout, height = yaxis.range[1];
      const shift = instants.length > 1 ? top - height : 0;
      if (instants.length > 1) titles.push({ text: title, x: 0, xref: "paper", xanchor: "left", y: top, yanchor: "bottom", showarrow: false, font: { size: 12 } });
      let section = null;
      for (const trace of panel.data) {
        const [samples, values] = levels(window, trace.meta.channel);
        const times = samples.map((sample) => us(sample + window[2]));
        times.forEach((time) => changes.set(time, [...(changes.get(time) ?? []), trace.name]));
        trace.x = times;
        trace.y = values.map((level) => level + trace.meta.base + shift);
        if (trace.meta.allocator) trace.line.color = `var(--run-${run.entry})`;
        traces.push(trace);
        if (trace.name !== "CRIT") continue;
        section = longest([times, values]);
        values.slice(0, -1).forEach((level, i) => {
          if (level) shades.push({ type: "rect", x0: times[i], x1: times[i + 1], y0: shift - 0.3, y1: shift + height, fillcolor: `var(--run-${run.entry}-12)`, line: { width: 0 }, layer: "below" });
        });
      }
      traces[traces.length - 1].section = section;
      ticks.tickvals.push(...yaxis.tickvals.map((value) => value + shift));
      ticks.ticktext.push(...yaxis.ticktext);
      top = shift - 1.6;
    }
    const [{ run: { panel: { layout } } }] = instants;
    const range = [instants.length > 1 ? top + 1.3 : layout.yaxis.range[0], instants.length > 1 ? 0.9 : layout.yaxis.range[1]];
    return { traces, shades, changes, titles, yaxis: { ...layout.yaxis, ...ticks, range } };
  }

  // The cursors begin where `seen` says, else at `span`, else at the longest critical section. `look`
  // hears of zoom and cursors.
  function waveform(box, instants, span, strips, seen, look) {
    const [{ run, aligned }] = instants, { traces, shades, changes, titles, yaxis } = lanesOf(instants);
    const figure = { data: traces, layout: structuredClone(run.panel.layout) };
    const sampleUs = 1e6 / run.samplerate_hz, edges = [...changes.keys()].sort((a, b) => a - b), section = traces.find((one) => one.section)?.section;
    const numbersOf = (text) => { const found = (text ?? "").split(",").map(Number); return found.length === 2 && found.every(Number.isFinite) ? found : null; };
    const whole = [edges[0], edges[edges.length - 1]];
    const cursors = numbersOf(seen.cursors) ?? [...(span ?? section ?? whole)];
    const plot = element("div", undefined, "wave"), bar = element("div", undefined, "cursors");
    const inputs = ["A", "B"].map((name, which) => {
      const label = element("label", `cursor ${name} (µs) `), input = element("input");
      input.type = "number";
      input.step = String(sampleUs);
      input.addEventListener("change", () => {
        if (input.value !== "") move(which, Math.round(Number(input.value) / sampleUs) * sampleUs);
      });
      label.append(input);
      bar.append(label);
      return input;
    });
    const between = element("output", "", "between");
    const buttons = [
      ["whole", () => whole],
      ["one sample at A", () => [cursors[0] - 4 * sampleUs, cursors[0] + 4 * sampleUs]],
    ].map(([words, range]) => {
      const button = element("button", words);
      button.type = "button";
      button.addEventListener("click", () => Plotly.relayout(plot, { "xaxis.range": range() }));
      return button;
    });
    bar.append(between, ...buttons);
    bar.append(element("span", "A click sets the nearer cursor, at an edge if one is near. ← and → lead to the neighbours.", "hint"));
    box.append(plot, strips, bar);

    const lines = () => cursors.map((time, which) => ({
      type: "line", xref: "x", yref: "paper", x0: time, x1: time, y0: 0, y1: 1,
      line: { color: "var(--cursor)", width: 1.5, dash: which ? "dash" : "solid" },
      label: { text: "AB"[which], textposition: "end", textangle: 0, font: { color: "var(--cursor)", size: 12 } },
    }));
    function tell() {
      cursors.forEach((time, which) => { inputs[which].value = time.toFixed(3); });
      const ns = (cursors[1] - cursors[0]) * 1e3, edge = (time) => changes.get(time) ?? [];
      const budgets = instants.map((one) => budgetOf(one.run.budgets, one.run.samplerate_hz, edge(cursors[0]), edge(cursors[1])));
      between.textContent = `Δt ${number.format(ns)} ns ±${number.format(Math.max(...budgets))} ns, ${number.format(Math.round(ns / 1e3 / sampleUs))} samples`;
    }
    function move(which, time) {
      cursors[which] = time;
      tell();
      look({ cursors: cursors.map((one) => Number(one.toFixed(4))).join(",") });
      Plotly.relayout(plot, { shapes: tailscope.paint.resolve([...shades, ...lines()]) });
    }
    function setNearer(event) {
      const { xaxis } = plot._fullLayout, left = plot.getBoundingClientRect().left + xaxis._offset;
      const pointed = Math.round(xaxis.p2d(event.clientX - left) / sampleUs) * sampleUs, reach = xaxis.p2d(8) - xaxis.p2d(0);
      const near = edges.reduce((a, b) => (Math.abs(b - pointed) < Math.abs(a - pointed) ? b : a));
      const time = Math.abs(near - pointed) <= reach ? near : pointed;
      move(Math.abs(cursors[0] - time) <= Math.abs(cursors[1] - time) ? 0 : 1, time);
    }
    tell();
    // Room for the names of the cursors.
    Object.assign(figure.layout, { yaxis, shapes: [...shades, ...lines()], annotations: titles, height: figure.layout.height * instants.length });
    figure.layout.margin.t = 22;
    if (aligned) figure.layout.xaxis.title.text = "time since the stimulus (µs)";
    const zoom = numbersOf(seen.at);
    if (zoom) Object.assign(figure.layout.xaxis, { range: zoom, autorange: false });
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
      plot.on("plotly_relayout", (change) => {
        if (!Object.keys(change).some((name) => name.startsWith("xaxis"))) return;
        const { range, autorange } = plot.layout.xaxis;
        look({ at: autorange ? "" : range.map((end) => Number(end.toFixed(4))).join(",") });
      });
      return plot;
    });
  }

  // Fills `box` with an instant {run, sample, title}, and with `second` beside it where there is one.
  async function draw(box, first, second, seen = {}, look = () => {}) {
    const instants = timed(second ? [first, second] : [first]), explained = first.sample.explained ?? [];
    const facts = instants.map(({ sample }) => {
      const told = element("p", undefined, "facts");
      told.innerHTML = sample.facts;
      return told;
    });
    box.replaceChildren(...tailscope.why.sentences(explained), ...facts);
    const strips = element("div", undefined, "strips"), [{ run, zero, us }] = instants;
    const plot = await waveform(box, instants, spanOf(explained, us), strips, seen, look);
    tailscope.why.attach(strips, plot, explained, run.samplerate_hz, zero);
    box.append(...tailscope.why.explanations(explained));
    box.append(element("p", `The whole capture in PulseView: ./lab pulseview ${run.folder} --worst`, "hint"));
  }
  return { draw, titleOf };
})();
