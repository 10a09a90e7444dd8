// The words of docs/reference/words.md on a page: underlined, told on hover, and at a click, since a
// finger cannot hover.
(() => {
  const box = tailscope.element("p", "", "meaning");
  box.setAttribute("role", "status");
  document.addEventListener("click", (event) => {
    const term = event.target.closest?.("dfn.term");
    if (!term) return box.remove();
    box.replaceChildren(tailscope.element("b", term.textContent), `: ${term.title}`);
    document.body.append(box);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") box.remove();
  });
})();
