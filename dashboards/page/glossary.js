"use strict";
// The words of docs/reference/words.md on a page: underlined, told on hover, and at a click, since a
// finger cannot hover.
window.tailscope = window.tailscope || {};
tailscope.glossary = (() => {
  let box = null;

  function tell(term) {
    box = box ?? document.createElement("p");
    box.className = "meaning";
    box.setAttribute("role", "status");
    const word = document.createElement("b");
    word.textContent = term.textContent;
    box.replaceChildren(word, `: ${term.title}`);
    document.body.append(box);
  }

  document.addEventListener("click", (event) => {
    const term = event.target.closest?.("dfn.term");
    if (term) tell(term);
    else box?.remove();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") box?.remove();
  });

  // `pieces` are [text, what it means or nothing], as dashboards/glossary.py makes them.
  function nodes(pieces) {
    return pieces.map(([text, means]) => {
      if (!means) return document.createTextNode(text);
      const term = document.createElement("dfn");
      term.className = "term";
      term.title = means;
      term.textContent = text;
      return term;
    });
  }

  // The same of `text` by the words that a page has in #words: [[spelling, meaning], …].
  let words = null, spelled = null;
  function read() {
    words = new Map(JSON.parse(document.getElementById("words")?.textContent ?? "[]"));
    const some = [...words.keys()].sort((a, b) => b.length - a.length)
      .map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    spelled = new RegExp(`(?<![\\w.-])(${some.join("|")})(?![\\w-]|\\.\\w)`);
  }

  function marked(text) {
    if (!words) read();
    if (!words.size) return [document.createTextNode(text)];
    const told = new Set(), pieces = [];
    for (const piece of text.split(spelled)) {
      const means = words.get(piece), first = means && !told.has(means);
      if (first) told.add(means);
      pieces.push([piece, first ? means : ""]);
    }
    return nodes(pieces);
  }

  return { marked };
})();
