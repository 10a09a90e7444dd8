// The switch between light and dark: when the style's dark rule holds. Until it is used, the page
// follows the system.
tailscope.dark = [...document.styleSheets[0].cssRules].find(({ media }) => media?.mediaText.includes("dark")).media;
tailscope.theme = (onChange = () => tailscope.figures.refresh()) => {
  const { dark } = tailscope, button = document.getElementById("theme"), system = window.matchMedia(dark.mediaText);
  const isDark = () => window.matchMedia(dark.mediaText).matches;
  const tell = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    dark.mediaText = isDark() ? "not all" : "all";
    tell();
    onChange();
  });
  system.addEventListener("change", tell);
  tell();
};
