// One sample of a report, or two on one time axis: waveforms with two cursors, what the time went to,
// and the heap with what its search visited, from what dashboards/page/embedded.py packs.
tailscope.instant = (() => {
  const { copy, element, figures, number } = tailscope, data = JSON.parse(document.getElementById("data").textContent);
  const LANE = 1.45, LANE_PX = 34, CALL = 1;
  const BARE = { ticks: "", showline: false, showgrid: false, fixedrange: true };
  const WENT = { loop: "var(--palette-1)", masked: "var(--palette-0)", exception: "var(--palette-3)", scheduler: "var(--palette-2)" };
  const HEAP = { live: "var(--ink)", free: "var(--heap-free)", unknown: "var(--off)" };
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const share = (cycles, whole) => `${number.format(cycles)} cycles, ${number.format((100 * cycles) / Math.max(whole, 1))} %`;

  // A figure of this page: a box, drawn with the look of all figures.
  function plotOf(traces, layout, className, ariaLabel) {
    const figure = { data: traces, layout: { template: { layout: data.look }, ...layout } };
    return Object.assign(element("div", undefined, `plot ${className}`), { tabIndex: 0, role: "group", ariaLabel, figure });
  }

  // Levels of one channel as [samples, levels]: its changes, and both ends.
  function levels([start, end, , distances, words], channel) {
    const samples = [], values = [];
    let sample = start;
    distances.forEach((distance, i) => {
      sample += distance;
      const level = (words[i] >> channel) & 1;
      if (level === values.at(-1)) return;
      samples.push(sample);
      values.push(level);
    });
    return [[...samples, end], [...values, values.at(-1)]];
  }

  // The lanes of all instants, one below the other: two lie on one time whose zero is the stimulus of
  // each, where both have one. Shaded: critical; `section` is the longest of these, else all there is.
  function lanesOf(instants) {
    const traces = [], annotations = [], ticks = [], critical = [], edges = [];
    const aligned = instants.length > 1 && instants.every(({ sample }) => sample.stimulus !== null);
    let base = 0;
    const scales = instants.map(({ run, sample }, place) => {
      const zero = aligned ? sample.stimulus : sample.window[2], us = (at) => ((at - zero) * 1e6) / run.samplerate_hz;
      const top = base + LANE;
      if (place || instants.length > 1) {
        annotations.push({ text: escaped(instants[place].title), x: 0, xref: "paper", xanchor: "left", y: top, yanchor: "bottom", showarrow: false });
      }
      run.channels.forEach((name, channel) => {
        const [samples, values] = levels(sample.window, channel), x = samples.map(us), own = ["CRIT", "OP"].includes(name);
        const color = own ? run.colour : name === "SYNC" ? "var(--muted)" : "var(--ink)";
        traces.push({ x, y: values.map((level) => level + base), name: escaped(name), mode: "lines", hovertemplate: "%{x:.3f} µs", line: { shape: "hv", width: 1.4, color } });
        ticks.push([base + 0.5, escaped(name)]);
        edges.push(...x);
        if (name === "CRIT") values.slice(0, -1).forEach((level, i) => { if (level) critical.push({ x0: x[i], x1: x[i + 1], y0: top - LANE * run.channels.length, y1: top, fillcolor: run.colour }); });
        base -= LANE;
      });
      base -= 1;
      return us;
    });
    const shapes = critical.map((section) => ({ type: "rect", ...section, opacity: 0.12, line: { width: 0 }, layer: "below" }));
    const [{ x0, x1 }] = [...critical.sort((a, b) => b.x1 - b.x0 - (a.x1 - a.x0)), { x0: Math.min(...edges), x1: Math.max(...edges) }];
    return { traces, shapes, annotations, ticks, base, aligned, us: scales[0], section: [x0, x1] };
  }

  // What the time went to, below the lanes and on their time: the parts, in them the loop, and the
  // calls, outermost first.
  function addStrip(lanes, { anatomy: { loop, calls, cycles, sources }, parts, start_sample: start, end_sample: end }) {
    const per = (lanes.us(end) - lanes.us(start)) / Math.max(cycles, 1), rows = [];
    const band = (what, words, begin, length) => rows.push({ depth: 0, begin, length, color: WENT[what] ?? "var(--off)", text: "",
      told: escaped(`${words}: ${share(length, cycles)}`) });
    for (const { what, words, begin_cycle: begin, cycles: length } of parts) band(what, words, begin - parts[0].begin_cycle, length);
    for (const [begin, length] of loop?.stretches ?? []) band("loop", `the loop at ${loop.source || loop.place}`, begin, length);
    for (const { depth, name, begin_cycle: begin, cycles: length, own_cycles: own, source } of calls) {
      const line = source && `<br>${escaped(`most of it at ${source}${sources[source] ? `: ${sources[source]}` : ""}`)}`;
      const told = escaped(`${name}: ${share(length, cycles)}; ${number.format(own)} its own`) + line;
      rows.push({ depth: depth + 1, begin, length, color: "var(--wash)", text: escaped(name), told });
    }
    const deepest = Math.max(...rows.map(({ depth }) => depth)), of = (value) => rows.map(value);
    lanes.ticks.push([lanes.base + 0.6, "went to"], ...(deepest ? [[lanes.base + 0.6 - CALL, "calls"]] : []));
    lanes.traces.push({
      type: "bar", orientation: "h", width: 0.9 * CALL, base: of(({ begin }) => lanes.us(start) + begin * per), x: of(({ length }) => length * per),
      y: of(({ depth }) => lanes.base + 0.6 - CALL * depth), text: of(({ text }) => text), hovertext: of(({ told }) => told), hoverinfo: "text",
      textposition: "inside", insidetextanchor: "start", textangle: 0, textfont: { color: "var(--ink)", size: 11 },
      marker: { color: of(({ color }) => color), line: { color: "var(--muted)", width: 0.5 } }, name: "went to",
    });
    lanes.base -= CALL * (deepest + 1);
  }

  const numbers = (text) => [text.split(",").map(Number)].find((pair) => pair.length === 2 && pair.every(Number.isFinite));
  const joined = (times) => times.map((time) => Number(time.toFixed(4))).join();

  // The waveforms, with two cursors that begin at the longest critical section or at what is explained,
  // if not where `seen` has them; `look` is told of others, and of a zoom.
  function waveform(instants, known, seen, look) {
    const lanes = lanesOf(instants), [{ run, sample }] = instants;
    if (known.length) addStrip(lanes, known[0]);
    const [first] = sample.explained, span = first?.start_sample === undefined ? null : [lanes.us(first.start_sample), lanes.us(first.end_sample)];
    const cursors = [...(numbers(seen.cursors) ?? span ?? lanes.section)], sampleUs = 1e6 / run.samplerate_hz;
    const plot = plotOf(lanes.traces, {
      height: 70 + LANE_PX * (1 - lanes.base / LANE), hoverdistance: 40, margin: { t: 22, b: 44 }, annotations: lanes.annotations, uniformtext: { mode: "hide", minsize: 9 },
      xaxis: { title: { text: `time${lanes.aligned ? " since the stimulus" : ""} (µs)` }, range: numbers(seen.at) },
      yaxis: { tickvals: lanes.ticks.map(([at]) => at), ticktext: lanes.ticks.map(([, name]) => name), range: [lanes.base + 1, LANE], ...BARE },
      showlegend: false,
    }, "wave", "Pins over time");
    const bar = copy("cursors"), between = bar.querySelector(".between"), inputs = bar.querySelectorAll("input");
    inputs.forEach((input, which) => {
      input.step = sampleUs;
      input.addEventListener("change", () => move(which, Math.round(Number(input.value) / sampleUs) * sampleUs));
    });
    function tell() {
      cursors.forEach((time, which) => { inputs[which].value = time.toFixed(3); });
      const us = cursors[1] - cursors[0], budget = Math.max(...instants.map((instant) => instant.run.budget_ns));
      between.textContent = `Δt ${number.format(us * 1e3)} ns ±${number.format(budget)} ns, ${number.format(Math.round(us / sampleUs))} samples`;
      plot.figure.layout.shapes = [...lanes.shapes, ...cursors.map((time, which) => ({
        type: "line", x0: time, x1: time, yref: "paper", y0: 0, y1: 1, line: { color: "var(--cursor)", width: 1.5, dash: which ? "dash" : "solid" },
        label: { text: "AB"[which], textposition: "end", textangle: 0, font: { color: "var(--cursor)", size: 12 } },
      }))];
    }
    function move(which, time) {
      cursors[which] = time;
      tell();
      look({ cursors: joined(cursors) });
      figures.draw(plot);
    }
    tell();
    plot.moved = (change) => {
      const { range, autorange } = plot.layout.xaxis;
      if (Object.keys(change).some((name) => name.startsWith("xaxis"))) look({ at: autorange ? "" : joined(range) });
    };
    plot.nearest = (time) => move(Math.abs(cursors[0] - time) <= Math.abs(cursors[1] - time) ? 0 : 1, time);
    return [plot, bar];
  }

  // The heap, with what its search visited downwards, the first at the top; at first the part of it
  // that was visited.
  function heapOf({ heap, anatomy }) {
    const { search } = anatomy ?? {}, visited = search?.visited ?? [];
    const where = (offset) => (search ? `0x${(search.region_address + offset).toString(16).padStart(8, "0")}` : number.format(offset));
    const told = (words, { offset, bytes }) => `${words}: ${number.format(bytes)} bytes at ${where(offset)}`;
    const traces = Object.entries(HEAP).map(([name, color]) => {
      const pieces = heap.pieces.filter(({ what }) => what === name);
      return {
        type: "bar", orientation: "h", name, base: pieces.map(({ offset }) => offset), x: pieces.map(({ bytes }) => bytes), y: pieces.map(() => 0), width: 0.9,
        marker: { color, line: { width: 0 } }, hovertext: pieces.map((piece) => told(name, piece)), hoverinfo: "text",
      };
    });
    const noun = search?.blocks ? "block" : "read", down = 6 / Math.max(visited.length, 12);
    traces.push({
      name: "visited", mode: "lines+markers", x: visited.map(({ offset, bytes }) => offset + bytes / 2), y: visited.map((_, at) => -1 - at * down),
      line: { color: "var(--palette-0)", width: 0.8 }, marker: { color: "var(--palette-0)", size: 5 }, hoverinfo: "text",
      hovertext: visited.map((place, at) => told(`${noun} ${at + 1} of ${visited.length}`, place)),
    });
    const low = Math.min(...visited.map(({ offset }) => offset)), high = Math.max(...visited.map(({ offset, bytes }) => offset + Math.max(bytes, 8)));
    const range = visited.length ? [low, high + (high - low) / 40] : [0, heap.region_bytes];
    return plotOf(traces, {
      height: visited.length ? 260 : 130, showlegend: true, margin: { t: 40 }, barmode: "overlay",
      xaxis: { title: { text: search ? `bytes from ${where(0)}` : "bytes" }, range },
      yaxis: { showticklabels: false, ...BARE },
    }, "heap-map", "The heap");
  }

  // Fills `box` with the instants, one or two of {run, sample, title}.
  async function draw(box, instants, seen, look) {
    const [{ run, sample: { explained } }] = instants;
    const known = explained.filter(({ anatomy }) => anatomy);
    const sentences = known.map(({ anatomy, words }) =>
      element("p", known.length > 1 ? `${words[0].toUpperCase()}${words.slice(1)}: ${anatomy.sentence}` : anatomy.sentence, "lead why"));
    const facts = instants.map(({ sample: { facts: innerHTML } }) => Object.assign(element("p", undefined, "facts"), { innerHTML }));
    const parts = explained.map((explanation) => {
      const made = Object.assign(element("div"), { innerHTML: explanation.html });
      made.querySelector(".heap-map")?.replaceWith(heapOf(explanation));
      return made;
    });
    box.replaceChildren(...sentences, ...facts, ...waveform(instants, known, seen, look), ...parts,
      element("p", `The whole capture in PulseView: ./lab pulseview ${run.folder} --worst`, "hint"));
    await figures.refresh();
  }
  return { draw };
})();
