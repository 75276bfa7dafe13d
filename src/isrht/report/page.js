"use strict";
// Sort tables, name points on hover, switch series, and show the records behind a number. The page reads well without.

const number = (cell) => {
  const value = cell.dataset.value;
  return value === undefined ? null : Number.isNaN(Number(value)) ? value : Number(value);
};

function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

function sortBy(header) {
  const table = header.closest("table");
  const column = [...header.parentNode.children].indexOf(header);
  const down = header.getAttribute("aria-sort") === "ascending";
  for (const other of header.parentNode.children) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, value: number(row.cells[column]) }));
  rows.sort((a, b) => (a.value === null || b.value === null ? compare(a.value, b.value) : (down ? -1 : 1) * compare(a.value, b.value)));
  body.append(...rows.map((entry) => entry.row));
}

for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => sortBy(button.parentNode));
}

const tip = document.getElementById("tip");
document.addEventListener("pointermove", (event) => {
  const point = event.target.closest ? event.target.closest(".pt") : null;
  const title = point && point.querySelector("title");
  tip.style.display = title ? "block" : "none";
  if (!title) return;
  tip.textContent = title.textContent;
  const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 6);
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 6) + "px";
});

for (const button of document.querySelectorAll(".legend button")) {
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    const off = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(off));
    const name = CSS.escape(button.dataset.series);
    for (const part of button.closest("figure").querySelectorAll(`svg.chart [data-series="${name}"]`)) {
      part.classList.toggle("off", off);
    }
  });
}

const stored = JSON.parse(document.getElementById("records").textContent);
const dialog = document.getElementById("behind");

function recordsOf(group) {
  const at = Object.fromEntries(stored.columns.map((name, index) => [name, index]));
  return stored.rows.filter((row) => [row[at.set], row[at.method], row[at.r], row[at.protocol]].join("|") === group);
}

function showRecords(group) {
  const shown = stored.columns.filter((name) => !["set", "method", "r", "protocol"].includes(name));
  const index = shown.map((name) => stored.columns.indexOf(name));
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const name of shown) head.appendChild(document.createElement("th")).textContent = name;
  const body = table.createTBody();
  for (const row of recordsOf(group)) {
    const line = body.insertRow();
    for (const place of index) line.insertCell().textContent = row[place] === null ? "–" : row[place];
  }
  dialog.querySelector("h3").textContent = group.split("|").join(", ");
  dialog.querySelector(".scroll").replaceChildren(table);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const source = event.target.closest ? event.target.closest("[data-group]") : null;
  if (source && source.dataset.group && !dialog.contains(source)) showRecords(source.dataset.group);
});
for (const cell of document.querySelectorAll("td[data-group]")) {
  cell.tabIndex = 0;
  cell.addEventListener("keydown", (event) => {
    if (event.key === "Enter") showRecords(cell.dataset.group);
  });
}
