"use strict";
// Draws every figure of the page, and hands on what other scripts of the page need.
const figures = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const narrow = window.matchMedia("(max-width: 640px)").matches;
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: narrow ? false : "hover",
    // Nothing in this page talks to a server, so neither does a button.
    plotlyServerURL: "",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud"],
  };

  function draw(element, figure) {
    if (narrow) {
      // A finger that drags over a figure wants to scroll the page.
      figure.layout.dragmode = false;
      for (const annotation of figure.layout.annotations ?? []) annotation.font.size = 10;
      // What a trace has for narrow screens, such as shorter labels.
      for (const trace of figure.data) Object.assign(trace, trace.meta?.narrow);
    }
    return Plotly.newPlot(element, figure.data, figure.layout, config);
  }

  const plots = Object.entries(data.plots).map(([id, figure]) => {
    const element = document.getElementById(id);
    return { element, drawn: draw(element, figure) };
  });
  // Paper has a width of its own: 186 mm of A4 between the margins.
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    plots.forEach(({ element }) => Plotly.relayout(element, { width: 690 }));
  });
  window.addEventListener("afterprint", () => {
    plots.forEach(({ element }) => Plotly.relayout(element, { width: null, autosize: true }));
  });
  return { data, narrow, config, plots };
})();
