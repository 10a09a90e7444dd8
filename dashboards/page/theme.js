"use strict";
// The switch between light and dark. Until it is used, the page follows the system.
window.tailscope = window.tailscope || {};
tailscope.theme = (onChange = () => tailscope.figures.refresh()) => {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const tell = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    tell();
    onChange();
  });
  system.addEventListener("change", tell);
  tell();
};
