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
  dialog.querySelector("h2").textContent = group.split("|").join(", ");
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

// Save a figure: all of its charts and its legend as one drawing, with the colours that the page has now.

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "display"];
const SVG = document.querySelector("svg") && document.querySelector("svg").namespaceURI;

function withStyles(source) {
  const copy = source.cloneNode(true);
  const from = [source, ...source.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    for (const name of DRAWN) to[index].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style"]) to[index].removeAttribute(name);
  });
  return copy;
}

function element(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawingOf(figure) {
  const panels = [...figure.querySelectorAll(".panel")], colours = getComputedStyle(document.body);
  const across = Math.min(panels.length, 3), width = 480 * across, ink = colours.color;
  const words = { fill: ink, "font-family": "system-ui, sans-serif" };
  const parts = [];
  panels.forEach((panel, index) => {
    const x = 480 * (index % across) + 10, y = 340 * Math.floor(index / across) + 50;
    const chart = withStyles(panel.querySelector("svg"));
    for (const [key, value] of Object.entries({ x, y: y + 8, width: 460, height: 300 })) chart.setAttribute(key, value);
    parts.push(element("text", { ...words, x: x + 10, y, "font-size": 14, "font-weight": 600 }, panel.querySelector("h3").textContent), chart);
  });
  let x = 20, y = 340 * Math.ceil(panels.length / across) + 60;
  for (const button of figure.querySelectorAll(".legend button:not([aria-pressed=true])")) {
    const room = 50 + 8 * button.textContent.length;
    if (x + room > width) { x = 20; y += 24; }
    const key = withStyles(button.querySelector("svg"));
    for (const [name, value] of Object.entries({ x, y: y - 10, width: 26, height: 13 })) key.setAttribute(name, value);
    parts.push(key, element("text", { ...words, x: x + 32, y, "font-size": 13 }, button.textContent));
    x += room;
  }
  const height = y + 16, title = figure.querySelector("figcaption").textContent;
  const ground = element("rect", { width, height, fill: colours.backgroundColor });
  const heading = element("text", { ...words, x: 20, y: 22, "font-size": 17, "font-weight": 600 }, title);
  return element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": "system-ui, sans-serif" }, ground, heading, ...parts);
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function painted(text, width, height, scale) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width * scale, height * scale];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      resolve(canvas);
    };
    image.onerror = reject;
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  });
}

// The smallest PDF there is: one page with one JPEG.
function pdfOf(canvas, width, height) {
  const jpeg = atob(canvas.toDataURL("image/jpeg", 0.95).split(",")[1]);
  const draw = `q ${width} 0 0 ${height} 0 0 cm /I Do Q`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Resources<</XObject<</I 4 0 R>>>>/Contents 5 0 R>>`,
    `<</Type/XObject/Subtype/Image/Width ${canvas.width}/Height ${canvas.height}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode/Length ${jpeg.length}>>stream\n${jpeg}\nendstream`,
    `<</Length ${draw.length}>>stream\n${draw}\nendstream`,
  ];
  let text = "%PDF-1.4\n";
  const places = objects.map((body, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return String(place).padStart(10, "0") + " 00000 n \n";
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`;
  return new Blob([Uint8Array.from(text, (character) => character.charCodeAt(0))], { type: "application/pdf" });
}

async function fileOf(figure, kind) {
  const drawing = drawingOf(figure);
  const [width, height] = ["width", "height"].map((name) => Number(drawing.getAttribute(name)));
  const text = new XMLSerializer().serializeToString(drawing);
  if (kind === "svg") return new Blob([text], { type: "image/svg+xml" });
  const canvas = await painted(text, width, height, 2);
  if (kind === "pdf") return pdfOf(canvas, width, height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

for (const line of document.querySelectorAll(".save")) line.hidden = false; // without this script they would do nothing
for (const button of document.querySelectorAll("[data-save]")) {
  button.addEventListener("click", async () => {
    const figure = button.closest("figure");
    download(`${figure.id}.${button.dataset.save}`, await fileOf(figure, button.dataset.save));
  });
}
