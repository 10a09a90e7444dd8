// A sheet shows all its figures with all their runs.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  tailscope.paint.assign(data.entries);
  tailscope.theme();
  tailscope.figures.start(() => null, null);
})();
