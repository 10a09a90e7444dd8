"use strict";
// What all scripts of a page have in common: the place of what they offer each other, the elements
// that they make, and numbers as they are read.
const tailscope = {
  number: new Intl.NumberFormat("en", { maximumFractionDigits: 1 }),

  element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  },
};
