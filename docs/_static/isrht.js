"use strict";
// What scrolls sideways can be reached by keyboard: a box without anything to focus in it gets a place in the order of tabs.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("pre, .pst-scrollable-table-container, .math, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth && !box.hasAttribute("tabindex")) box.tabIndex = 0;
  }
});
