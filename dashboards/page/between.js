"use strict";
// How sure the time between two cursors is: as sure as the quantity that these edges bound.
window.tailscope = window.tailscope || {};
tailscope.between = (() => {
  // The channels of a quantity's two edges (docs/reference/words.md). A width is of one channel.
  const QUANTITIES = [
    ["CRIT", "CRIT", "critical_ns"],
    ["OP", "OP", "critical_ns"],
    ["STIM", "ISR", "interrupt_latency_ns"],
    ["STIM", "TASK", "task_latency_ns"],
    ["CTRL", "CISR", "control_latency_ns"],
  ];

  // `from` and `to` are the channels that change at each cursor. Of other edges, and of places
  // without one, the widest budget of the run holds; without any, a sample at each end.
  function budget(budgets, samplerate, from, to) {
    const found = QUANTITIES.find(([first, last, name]) => name in budgets &&
      ((from.includes(first) && to.includes(last)) || (from.includes(last) && to.includes(first))));
    if (found) return budgets[found[2]];
    const known = QUANTITIES.map(([, , name]) => budgets[name]).filter((value) => value !== undefined);
    return Math.max((known.length ? 0 : 2e9 / samplerate), ...known);
  }

  return { budget };
})();
