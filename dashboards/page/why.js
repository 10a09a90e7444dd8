// Why a sample took so long: what the time went to below the waveform, on its axis; lists; and the
// heap with what its search visited. dashboards/page/embedded.py packs it.
tailscope.why = (() => {
  const { element, number } = tailscope;
  const SVG = "http://www.w3.org/2000/svg", ROW_PX = 17;

  function drawn(name, places, className, words) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(places)) made.setAttribute(key, value);
    if (className) made.setAttribute("class", className);
    if (words) {
      const title = document.createElementNS(SVG, "title");
      title.textContent = words;
      made.append(title);
    }
    return made;
  }

  const capital = (words) => words[0].toUpperCase() + words.slice(1);

  // The sentence on top; of several explanations one each, with what it is on.
  function sentences(several) {
    const known = several.filter((one) => one.anatomy);
    return known.map((one) => {
      const subject = known.length > 1 ? `${capital(one.words)}: ` : "";
      return element("p", subject + one.anatomy.sentence, "lead why");
    });
  }

  const share = (cycles, whole) => `${number.format((100 * cycles) / Math.max(whole, 1))} %`;

  // What the time went to, on the time axis of a waveform ---------------------------------------

  // Where cycle 0 and a cycle's width lie on the waveform's axis, in µs from sample `zero`.
  function scaleOf(explained, rate, zero) {
    const begin = ((explained.start_sample - zero) * 1e6) / rate;
    const whole = ((explained.end_sample - explained.start_sample) * 1e6) / rate;
    return { begin, per: whole / Math.max(explained.anatomy.cycles, 1) };
  }

  const loopOf = ({ source, place }) => `the loop at ${source || place}`;

  function bars({ anatomy: { loop, calls, cycles, sources }, parts }) {
    const found = [];
    const band = (what, words, begin, length) => found.push({ row: 0, begin, length, text: "", className: `band went-${what}`,
      words: `${words}: ${number.format(length)} cycles, ${share(length, cycles)}` });
    for (const { what, words, begin_cycle: begin, cycles: length } of parts) band(what, words, begin - parts[0].begin_cycle, length);
    for (const [begin, length] of loop?.stretches ?? []) band("loop", loopOf(loop), begin, length);
    for (const { depth, name, begin_cycle: begin, cycles: length, own_cycles: own, source } of calls) {
      const line = source ? `\nmost of it at ${source}${sources[source] ? `: ${sources[source]}` : ""}` : "";
      const words = `${name}: ${number.format(length)} cycles, ${share(length, cycles)}; ` +
        `${number.format(own)} its own${line}`;
      found.push({ row: depth + 1, begin, length, className: "call", words, text: name });
    }
    return found;
  }

  // `plot` is the waveform. The strip follows its axis wherever a reader zooms.
  function strip(explained, plot, rate, zero) {
    const { begin, per } = scaleOf(explained, rate, zero);
    const box = element("div", undefined, "strip"), inside = element("div", undefined, "inside");
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", `${explained.words}: ${explained.anatomy.sentence}`);
    const parts = bars(explained).map((bar) => {
      const made = element("span", bar.text, bar.className);
      made.title = bar.words;
      made.style.top = `${bar.row ? bar.row * ROW_PX + 6 : 0}px`;
      inside.append(made);
      return [made, begin + bar.begin * per, begin + (bar.begin + bar.length) * per];
    });
    const rows = Math.max(0, ...explained.anatomy.calls.map(({ depth }) => depth + 1));
    inside.style.height = `${(rows + 1) * ROW_PX + 6}px`;
    box.append(inside);
    function place() {
      const { xaxis } = plot._fullLayout ?? {};
      if (!xaxis || !box.isConnected) return;
      const [low, high] = xaxis.range, width = xaxis._length;
      inside.style.marginLeft = `${xaxis._offset}px`;
      inside.style.width = `${width}px`;
      const at = (time) => ((time - low) * width) / (high - low);
      for (const [made, from, to] of parts) {
        const left = Math.max(at(from), 0), right = Math.min(at(to), width);
        made.hidden = right <= 0 || left >= width;
        made.style.left = `${left}px`;
        made.style.width = `${Math.max(right - left, 1)}px`;
      }
    }
    return { box, place };
  }

  function key(className, words) {
    const made = element("span");
    made.append(element("i", undefined, className), words);
    return made;
  }

  function legend({ anatomy: { cycles, loop }, parts }) {
    const box = element("p", undefined, "keys"), sums = new Map(loop ? [[loopOf(loop), ["loop", loop.cycles]]] : []);
    for (const { what, words, cycles: length } of parts) sums.set(words, [what, (sums.get(words)?.[1] ?? 0) + length]);
    for (const [name, [what, sum]] of sums) {
      box.append(key(`went-${what}`, `${name}: ${number.format(sum)} cycles, ${share(sum, cycles)}`));
    }
    return box;
  }

  // Below the waveform `plot`, whose zero is sample `zero`: the strips of all explanations.
  function attach(box, plot, several, rate, zero) {
    const strips = several.filter((one) => one.anatomy).map((one) => {
      const made = strip(one, plot, rate, zero), group = element("div", undefined, "strip-group");
      group.append(element("h3", `${capital(one.words)}, by what the time went to`), made.box, legend(one));
      box.append(group);
      return made;
    });
    const place = () => strips.forEach((one) => one.place());
    if (!strips.length) return place;
    box.append(element("p", "The band: what the time went to, and in it the loop. Below it the calls, the outermost first. " +
      "Both lie on the waveform's time.", "hint"));
    for (const event of ["plotly_relayout", "plotly_relayouting", "plotly_afterplot"]) plot.on?.(event, place);
    new ResizeObserver(place).observe(plot);
    place();
    return place;
  }

  // The heap -----------------------------------------------------------------------------------

  const hex = (address) => `0x${address.toString(16).padStart(8, "0")}`;

  // Where a byte of the region lies: its address, or its offset where nobody knows the address.
  const whereOf = (search) => (offset) => (search ? hex(search.region_address + offset) : number.format(offset));

  function ordinals(search) {
    const first = new Map();
    (search?.visited ?? []).forEach(({ offset }, at) => { if (!first.has(offset)) first.set(offset, at + 1); });
    return first;
  }

  // The region in rows from left to right, as a page is read.
  function heapMap(explained) {
    const rows = 6, bytes = explained.heap.region_bytes / rows, search = explained.anatomy?.search;
    const svg = drawn("svg", { viewBox: `0 0 ${bytes} ${rows}`, preserveAspectRatio: "none", role: "img",
      "aria-label": explained.heap.note });
    const visited = ordinals(search?.blocks ? search : null), where = whereOf(search);
    for (const { offset, bytes: size, what } of explained.heap.pieces) {
      const looked = visited.get(offset);
      const words = `${what}: ${number.format(size)} bytes at ${where(offset)}` +
        `${looked ? `, visited as number ${number.format(looked)}` : ""}`;
      const className = looked ? `${what} visited` : what;
      for (let at = offset; at < offset + size;) {
        const row = Math.floor(at / bytes), end = Math.min(offset + size, Math.ceil((row + 1) * bytes));
        svg.append(drawn("rect", { x: at - row * bytes, y: row + 0.08, width: end - at, height: 0.84 }, className, words));
        at = end;
      }
    }
    return svg;
  }

  // The part of the region that the search read, and downwards what it visited, one after the other.
  function searchMap(explained, words) {
    const { search } = explained.anatomy, { visited } = search;
    const wide = Math.min(1000, document.documentElement.clientWidth - 24), top = 12, high = 16, down = 110, where = whereOf(search);
    const low = Math.min(...visited.map(({ offset }) => offset));
    const last = Math.max(...visited.map(({ offset, bytes }) => offset + Math.max(bytes, 8)));
    const top_of = Math.min(last + Math.ceil((last - low) / 40), explained.heap.region_bytes);
    const x = (offset) => ((Math.min(Math.max(offset, low), top_of) - low) * wide) / (top_of - low);
    const svg = drawn("svg", { viewBox: `0 0 ${wide} ${top + high + down + 14}`, role: "img", class: "search",
      "aria-label": words });
    for (const { offset, bytes: size, what } of explained.heap.pieces) {
      if (offset + size <= low || offset >= top_of) continue;
      svg.append(drawn("rect", { x: x(offset).toFixed(2), y: top, height: high,
        width: Math.max(x(offset + size) - x(offset), 0.6).toFixed(2) }, what, `${what}: ${number.format(size)} bytes at ${where(offset)}`));
    }
    const step = (down - 14) / Math.max(visited.length - 1, 12), y = (at) => top + high + 8 + at * step;
    const middle = ({ offset, bytes }) => x(offset + bytes / 2);
    svg.append(drawn("polyline", { points: visited.map((one, at) => `${middle(one).toFixed(1)},${y(at).toFixed(1)}`).join(" ") }, "path"));
    const noun = search.blocks ? "block" : "read";
    visited.forEach((one, at) => {
      const size = one.bytes ? ` of ${number.format(one.bytes)} bytes` : "";
      svg.append(drawn("circle", { cx: middle(one).toFixed(1), cy: y(at).toFixed(1), r: 2.2 }, "look",
        `${noun} ${number.format(at + 1)} of ${number.format(visited.length)}${size} at ${where(one.offset)}`));
    });
    const places = element("p", undefined, "ends");
    places.append(element("span", where(low)), element("span", where(top_of)));
    return [places, svg];
  }

  // All explanations of a sample, with the maps of their heaps.
  function explanations(several) {
    return several.map((one) => {
      const made = element("template");
      made.innerHTML = one.html;
      const looked = made.content.querySelector(".looked");
      made.content.querySelector(".visits")?.replaceWith(...searchMap(one, looked?.textContent));
      made.content.querySelector(".region")?.replaceWith(heapMap(one));
      return made.content;
    });
  }

  return { sentences, attach, explanations };
})();
