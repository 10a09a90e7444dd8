"use strict";
// What the page holds packed: gzip in base64, unpacked when it is asked for.
window.tailscope = window.tailscope || {};
tailscope.unpack = (() => {
  const known = new Map();

  async function read(id) {
    const packed = document.getElementById(id);
    if (!packed) return null;
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  const text = (id) => {
    if (!known.has(id)) known.set(id, read(id));
    return known.get(id);
  };
  // Parsed anew each time: who draws may change what it gets.
  const json = async (id) => JSON.parse((await text(id)) ?? "null");

  let library = null;
  // The plotting library, run once.
  function plotly() {
    library = library ?? text("plotly").then((source) => {
      const script = document.createElement("script");
      script.textContent = source;
      document.head.append(script);
    });
    return library;
  }
  return { text, json, plotly };
})();
