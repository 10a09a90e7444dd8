// What the page holds packed: gzip, four bytes in five letters, unpacked when it is asked for.
tailscope.unpack = (() => {
  const known = new Map();

  const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%:()*+-;.=,?@^_`{|}~";
  const VALUES = new Uint8Array(128);
  [...LETTERS].forEach((letter, value) => { VALUES[letter.charCodeAt(0)] = value; });

  // As dashboards/page/templates.py packs. The last group may be short: it goes on with the last letter.
  function bytesOf(letters) {
    const groups = Math.ceil(letters.length / 5), bytes = new Uint8Array(4 * groups);
    for (let group = 0; group < groups; group += 1) {
      let word = 0;
      for (let at = 5 * group; at < 5 * group + 5; at += 1) {
        word = word * 85 + (at < letters.length ? VALUES[letters.charCodeAt(at)] : 84);
      }
      for (let at = 3; at >= 0; at -= 1) { bytes[4 * group + at] = word % 256; word = Math.floor(word / 256); }
    }
    return bytes.subarray(0, bytes.length - (5 * groups - letters.length));
  }

  async function read(id) {
    const packed = document.getElementById(id);
    if (!packed) return null;
    const bytes = bytesOf(packed.textContent.trim());
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  const text = (id) => {
    if (!known.has(id)) known.set(id, read(id));
    return known.get(id);
  };
  // Parsed anew each time: who draws may change what it gets.
  const json = async (id) => JSON.parse((await text(id)) ?? "null");

  const SAMPLES = ["x", "y", "customdata"];
  // A row of numbers or keys from its steps, as dashboards/figures/figure.py has them.
  function row(values) {
    let sum = 0;
    if (values?.steps) return Float64Array.from(values.steps, (step) => (sum += step) / values.over);
    if (values?.columns) {
      const columns = values.columns.map(row);
      return Array.from(columns[0], (_, place) => columns.map((column) => column[place]));
    }
    const key = (value) => (value < 0 ? `@${-1 - value}` : String(value));
    return values?.named ? values.named.map((step) => key(sum += step)) : values;
  }
  async function figure(id) {
    const found = await json(id);
    for (const trace of found.data) {
      for (const name of SAMPLES) if (name in trace) trace[name] = row(trace[name]);
    }
    return found;
  }

  let library = null;
  // The plotting library, run once.
  function plotly() {
    library = library ?? text("plotly").then((source) => new Promise((done, fail) => {
      const script = document.createElement("script");
      script.onload = done;
      script.onerror = () => fail(new Error("The plotting library did not come."));
      Object.assign(script, source === null ? { src: "plotly.js" } : { textContent: source });
      document.head.append(script);
      if (source !== null) done();
    }));
    return library;
  }
  return { text, json, figure, plotly };
})();
