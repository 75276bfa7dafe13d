"use strict";
// Small mends of the theme's pages, for readers with keyboards and screen readers.
document.addEventListener("DOMContentLoaded", () => {
  // What scrolls sideways can be reached by keyboard: a box without anything to focus in it gets a place in the order of tabs.
  for (const box of document.querySelectorAll("pre, .pst-scrollable-table-container, .math, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth && !box.hasAttribute("tabindex")) box.tabIndex = 0;
  }
  // The words on a button, which a narrow window hides, are its name.
  for (const button of document.querySelectorAll(".search-button__button[aria-label]")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim() || "Search");
  }
  // The toggle of a branch of the sidebar says what it opens.
  for (const summary of document.querySelectorAll("nav summary:not([aria-label])")) {
    const link = summary.closest("li") && summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", `Show pages below ${link ? link.textContent.trim() : "this one"}`);
  }
  // A card of the gallery is a link over a picture; its words stand beside the link, and are its name.
  for (const card of document.querySelectorAll(".sphx-glr-thumbcontainer")) {
    const link = card.querySelector("a"), title = card.querySelector(".sphx-glr-thumbnail-title");
    if (link && title) link.setAttribute("aria-label", title.textContent.trim());
  }
  // docutils gives references a role that a list may not hold.
  for (const reference of document.querySelectorAll("[role=doc-biblioentry], [role=list].citation-list, .citation-list")) {
    reference.removeAttribute("role");
  }
});
